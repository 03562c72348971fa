"""Bounds over the computations that are admitted, as arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from exactref_core.arithmetic import states
from exactref_core.arithmetic.bound import ALGEBRA, Bound, merge
from exactref_core.arithmetic.brackets import Bracket

__all__ = ["tame", "union"]


def tame(bound: Bound) -> bool:
    """Return whether a guarded computation counts at all elements."""
    if bound.states is not None and not np.all(bound.states == states.FINITE):
        return False
    return bool(np.all(np.isfinite(bound.error.high)))


def union(one: Bound, other: Bound, guarded: bool) -> Bound:
    """Return the bound over two computations; a guarded one counts where it is tame."""
    sets: Any = other.states
    unsure = other.unsure
    error = other.error
    if guarded:
        tame = np.isfinite(error.low)
        if sets is not None:
            tame = tame & (sets == states.FINITE)
        vague = tame & ~np.isfinite(error.high)
        unsure = vague if unsure is None else unsure | vague
        error = Bracket(np.where(tame, error.low, 0.0), np.where(tame, error.high, 0.0))
        sets = None
    error = ALGEBRA.maximum(one.error, error)
    if not guarded and (sets is None) != (one.states is None):
        sets = states.FINITE if sets is None else sets | states.FINITE
    return Bound(error, error, merge(one.states, sets), merge(one.unsure, unsure))
