"""Bounds of maxima as arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from exactref_core.arithmetic import fast_steps, states
from exactref_core.arithmetic.approx import Approx
from exactref_core.arithmetic.bound import ALGEBRA, Bound, magnitude
from exactref_core.arithmetic.brackets import Bracket
from exactref_core.arithmetic.graph import Indices, Node, sum_terms
from exactref_core.arithmetic.largest_fast import row_values
from exactref_core.arithmetic.largest_rules import missing, united

if TYPE_CHECKING:
    from exactref_core.arithmetic.bounds import FloatBounds

__all__ = ["bound", "row_bounds"]


def row_bounds(reading: FloatBounds, node: Node, flat: Indices | None) -> Bound:
    """Return the bounds of the numbers along the last axis of an operand."""
    if flat is None:
        return reading.whole(node.operands[0])
    places = sum_terms(node, flat)
    found = reading.at(node.operands[0], places.reshape(-1))
    return found.map(lambda part: part.reshape(places.shape), (places.size,))


def bound(reading: FloatBounds, node: Node, flat: Indices | None) -> Bound:
    """Return the bounds of a node of maxima, whole or at flat indices."""
    if flat is not None:
        rows, back = np.unique(flat, return_inverse=True)
        if rows.size < flat.size:  # a row that many elements share is read once
            return bound(reading, node, rows).map(lambda part: part[back], (rows.size,))
    x, given = row_values(reading.fast, node, flat), row_bounds(reading, node, flat)
    shape = x.high.shape
    sets = np.broadcast_to(states.FINITE if given.states is None else given.states, shape)
    error = Bracket(*(np.broadcast_to(end, shape) for end in (given.error.low, given.error.high)))
    gone = missing(node.attrs, sets)
    if np.any(error.high) or np.any(gone) or x.special is not None:
        error = row_errors(x, reading.value(node, flat), error, gone, (sets & states.FINITE) != 0)
    else:
        error = Bracket(np.zeros(shape[:-1]), np.zeros(shape[:-1]))
    plain = given.states is None
    unsure = None
    if given.unsure is not None:
        unsure = np.asarray(np.broadcast_to(given.unsure, shape).any(axis=-1))
    return Bound(error, error, None if plain else united(node.attrs, sets), unsure)


def row_errors(x: Approx, top: Approx, error: Bracket, gone: Any, finite: Any) -> Bracket:
    """Return what `largest_rules` says of rows; ``finite``: where numbers may be stored."""
    gap = magnitude(fast_steps.subtract(None, top.map(lambda part: part[..., None]), x))
    number = np.ones(x.high.shape, bool) if x.special is None else x.special == 0
    above = ALGEBRA.monus(error, gap)
    reach = gap + error
    held = number & ~gone
    anyone = held.any(axis=-1)
    ends = []
    for up, wide in ((above.low, reach.low), (above.high, reach.high)):
        rise = np.where(number, up, 0.0).max(axis=-1)
        least = np.where(held, wide, np.inf).min(axis=-1)
        most = np.where(number, wide, 0.0).max(axis=-1)
        ends.append(np.maximum(rise, np.where(anyone, least, most)))
    if x.special is not None:
        beside = magnitude(top.map(lambda part: part[..., None])) + error
        loose = finite & ~number
        ends = [
            np.maximum(end, np.where(loose, far, 0.0).max(axis=-1))
            for end, far in zip(ends, (beside.low, beside.high), strict=True)
        ]
    if top.special is not None:
        reach = magnitude(x) + error
        given, some = top.special != 0, np.all(finite | gone, axis=-1) & np.any(finite, axis=-1)
        ends = [
            np.where(given, np.where(some, far.max(axis=-1), 0.0), end)
            for end, far in zip(ends, (reach.low, reach.high), strict=True)
        ]
    none = np.isinf(error.low).any(axis=-1)
    return Bracket(np.where(none, np.inf, ends[0]), np.where(none, np.inf, ends[1]))
