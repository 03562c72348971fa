"""How errors and infinities pass through a maximum, written once for arrays and single numbers.

Of numbers x_i stored within r_i of their exact values, the largest stored one lies between the
largest x_i - r_i and the largest x_i + r_i. With gaps g_i = x* - x_i >= 0 below the exact maximum
x*, that is at most max(r_i - g_i, 0) above x* and min(g_i + r_i) below it, never more than the
largest r_i: a maximum is 1-Lipschitz. A number that may be missing (stored as -inf, or as a NaN
that the rule ignores) holds nothing up; where all may be, one of them is left, at worst the lowest:
max(g_i + r_i). A number that may be stored for an infinity or NaN is at most r_i in size, and
|x*| + r_i away from x*; where the maximum is no number itself, what is stored is measured from 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np

from exactref_core.arithmetic import states

__all__ = ["IGNORE", "NAN_RULES", "PROPAGATE", "missing", "moved", "united"]

PROPAGATE, IGNORE = "propagate", "ignore"
NAN_RULES = (PROPAGATE, IGNORE)


def missing(rule: str, sets: Any) -> Any:
    """Return which numbers may be missing among those that a maximum compares."""
    return (sets & (states.MINUS if rule == PROPAGATE else states.MINUS | states.NAN)) != 0


def moved(algebra: Any, held: Sequence[tuple[Any, Any]], loose: Sequence[tuple[Any, Any]]) -> Any:
    """Return the error of a maximum, given (gap, error) of the numbers that are surely there
    (``held``) and of those that may be missing (``loose``)."""
    above = [algebra.monus(error, gap) for gap, error in (*held, *loose)]
    up = reduce(algebra.maximum, above, algebra.constant(0))
    reach = [gap + error for gap, error in held or loose]
    if not reach:
        return up
    return algebra.maximum(up, reduce(algebra.minimum if held else algebra.maximum, reach))


def united(rule: str, sets: Any) -> Any:
    """Return what maxima along the last axis may be, given what each number may be (IEEE 754).

    Infinities compare as numbers do. A NaN makes the maximum NaN or, ignored, leaves the others.
    """
    sets = np.asarray(sets, np.uint8)
    nan, plus, minus, finite = (
        (sets & bit) != 0 for bit in (states.NAN, states.PLUS, states.MINUS, states.FINITE)
    )
    number = plus | minus | finite
    gone = minus if rule == PROPAGATE else minus | nan
    counted = number.all(axis=-1) if rule == PROPAGATE else np.bool_(True)
    becomes_nan = nan.any(axis=-1) if rule == PROPAGATE else nan.all(axis=-1)
    result = np.where(becomes_nan, states.NAN, 0)
    result = result | np.where(plus.any(axis=-1) & counted, states.PLUS, 0)
    below = (finite | gone).all(axis=-1)
    result = result | np.where(below & finite.any(axis=-1), states.FINITE, 0)
    result = result | np.where(gone.all(axis=-1) & minus.any(axis=-1), states.MINUS, 0)
    sticky = np.bitwise_or.reduce(sets & states.STICKY, axis=-1)
    return (result | sticky).astype(np.uint8)
