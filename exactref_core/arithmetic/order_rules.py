"""How numbers compare, written once: signs of differences, and elements that tie for the largest.

``order`` of two numbers is 1, 0 or -1, the sign of their difference, and another number given to
it where either is NaN: equal infinities are equal. ``ties`` of a row is, at each element that
equals the row's maximum, what it has of 1 that these share (all at the first of them, or equal
shares), and 0 elsewhere. Of stored numbers that err, two compare as the exact ones do where these
are further apart than both errors together; elsewhere nothing is known but the range of the
answers, which are 2 or 1 apart at most.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from exactref_core.arithmetic import states

__all__ = ["SHARE", "SPAN", "Ties", "class_of", "expected", "ranks"]

# How far two answers of `order`, and of `ties`, may be apart.
SPAN, SHARE = 2, 1


@dataclass(frozen=True)
class Ties:
    """The rule of a row's ties: shared by all or left to the first, NaN the largest or left out."""

    first: bool
    ignores_nan: bool


def ranks(special: Any, ignores_nan: bool) -> Any:
    """Return what compares infinities and NaN with numbers, whose rank is 0."""
    nan = np.where(np.isnan(special), -2.0 if ignores_nan else 2.0, 0.0)
    return np.where(np.isnan(special), nan, np.sign(np.nan_to_num(special)))


def class_of(special: Any) -> Any:
    """Return the one class that stored values of exact ones have where nothing errs."""
    return states.of_values(special)


def expected(sets: Any, special: Any) -> Any:
    """Return where a stored value has the class of the exact one and no other."""
    return (np.asarray(sets) & ~np.uint8(states.STICKY)) == class_of(special)
