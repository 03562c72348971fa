"""Bounds of steps that inputs may be flushed before: the union over the choices, as arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from exactref_core.arithmetic import states
from exactref_core.arithmetic.approx import Approx
from exactref_core.arithmetic.bound import ALGEBRA, Bound, magnitude, merge
from exactref_core.arithmetic.brackets import Bracket
from exactref_core.arithmetic.fast_choices import STEPS
from exactref_core.arithmetic.flush_choices import Flushes
from exactref_core.arithmetic.graph import Indices, Node

if TYPE_CHECKING:
    from exactref_core.arithmetic.bounds import FloatBounds

__all__ = ["bound"]


def bound(reading: FloatBounds, node: Node, flat: Indices | None) -> Bound:
    """Return the union over the choices, each counted where what it flushes is subnormal."""
    flushes: Flushes
    flushes, part = node.attrs
    definition = node.operands[0]
    if not reading.flush:
        return reading.get(definition, flat)
    values = [reading.value(x, flat).high for x in flushes.inputs]
    tiny = [(x != 0) & (np.abs(x) < float(flushes.least)) for x in values]
    if not any(np.any(mask) for mask in tiny):
        return reading.get(definition, flat)
    exact = reading.value(definition, flat)
    choices = flushes.choices((bool(np.any(tiny[0])), bool(np.any(tiny[1]))))
    result = reading.get(flushes.node(next(choices), part), flat)
    for choice in choices:
        where = np.all([x for x, flush in zip(tiny, choice, strict=True) if flush], axis=0)
        other = flushes.node(choice, part)
        moved = distance(exact, reading.value(other, flat))
        result = joined(result, reading.get(other, flat), moved, where)
    return result


def distance(x: Approx, y: Approx) -> Bracket:
    """Return the distance of the finite values; an infinity or NaN counts as 0."""
    plain = (Approx(v.high, v.low, v.radius) for v in (x, y))
    return magnitude(STEPS["subtract"](None, *plain))


def joined(one: Bound, other: Bound, moved: Bracket, where: Any) -> Bound:
    """Return the union of one choice with another, whose exact value is ``moved``, in places.

    Nothing is moved where the other choice is never a number.
    """
    numbers = where
    if other.states is not None:
        numbers = where & ((other.states & states.FINITE) != 0)
    error = other.error + moved
    error = Bracket(np.where(numbers, error.low, 0.0), np.where(numbers, error.high, 0.0))
    error = ALGEBRA.maximum(one.error, error)
    sets = one.states
    if other.states is not None or sets is not None:
        mine, theirs = (states.FINITE if s is None else s for s in (sets, other.states))
        sets = np.asarray(mine | np.where(where, theirs, 0), np.uint8)
    unsure = None if other.unsure is None else other.unsure & where
    return Bound(error, error, sets, merge(one.unsure, unsure))
