"""The bounds of a choice by sign, as arrays: those of the branch, where the sign is certain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from exactref_core.arithmetic import states
from exactref_core.arithmetic.bound import ALGEBRA, Bound, either, magnitude, merge
from exactref_core.arithmetic.brackets import Bracket
from exactref_core.arithmetic.graph import Indices, Node

if TYPE_CHECKING:
    from exactref_core.arithmetic.bounds import FloatBounds

__all__ = ["by_sign"]

# Above `rules.NEARLY`, with room for the roundings here.
ROOM = 1 + 2.0**-39


def by_sign(reading: FloatBounds, node: Node, flat: Indices | None) -> Bound:
    """Return the chosen branch's bound, and that of a choice that may flip elsewhere."""
    source, x, y = node.operands
    a, carried = reading.value(source, flat), reading.get(source, flat)
    shape = a.high.shape
    least, most = (np.broadcast_to(e, shape) for e in (carried.error.low, carried.error.high))
    size = magnitude(a)
    sure = ((most == 0) & (np.asarray(a.spread) == 0)) | (size.low > most * ROOM)
    flips = (least > 0) & (least * (1 + 2.0**-41) > size.high)  # for certain, below `rules.NEARLY`
    negative = np.signbit(a.high)
    known = (np.asarray(a.spread) == 0) | (np.asarray(size.low) > 0)
    if a.special is not None:
        given = a.special != 0
        negative = np.where(given, a.special < 0, negative)
        sure, known = sure | given, known | given
    stays = np.zeros(shape, bool)  # NaN, where the exact value takes the same branch
    if carried.states is not None:
        loose = (carried.states & np.where(negative, states.PLUS | states.NAN, states.MINUS)) != 0
        if a.special is not None:
            loose = loose | ((a.special != 0) & ((carried.states & states.FINITE) != 0))
        stays = sure & ~loose & ~negative & ((carried.states & states.NAN) != 0)
        sure, flips = sure & ~loose & ~stays, flips | (loose & known)
    if carried.unsure is not None:
        sure, flips, stays = (part & ~carried.unsure for part in (sure, flips, stays))
    branches = [reading.get(branch, flat) for branch in (x, y)]
    taken = chosen(negative, branches[0], branches[1], shape)
    if np.all(sure):
        return taken
    free = reading.step(node, flat)
    both = ALGEBRA.maximum(branches[0].error, branches[1].error)
    given = reading.value(node, flat).special
    error = either(stays if given is None else stays & (given == 0), both, free.error)
    # Where it is not told whether the choice may flip, any of these answers is possible.
    told = sure | flips | stays
    least = np.minimum(branches[0].error.low, branches[1].error.low)
    low = np.where(told, error.low, np.minimum(least, free.error.low))
    error = Bracket(low, np.where(told, error.high, np.maximum(both.high, free.error.high)))
    unsure = free.unsure if free.states is None else merge(free.unsure, ~told)
    return chosen(~sure, taken, Bound(error, error, free.states, unsure), shape)


def chosen(second: Any, one: Bound, two: Bound, shape: tuple[int, ...]) -> Bound:
    """Return one bound, or the other where ``second``."""

    def pick(first: Any, other: Any, missing: Any) -> Any:
        if first is None and other is None:
            return None
        parts = [missing if part is None else part for part in (other, first)]
        return np.where(second, *(np.broadcast_to(part, shape) for part in parts))

    error = Bracket(
        pick(one.error.low, two.error.low, 0.0), pick(one.error.high, two.error.high, 0.0)
    )
    sets = pick(one.states, two.states, np.uint8(states.FINITE))
    return Bound(error, error, sets, pick(one.unsure, two.unsure, False))
