"""Bounds of sums of squared deviations as arrays; what may overflow is certified one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from exactref_core.arithmetic import states
from exactref_core.arithmetic.accumulation import join
from exactref_core.arithmetic.bound import Bound, magnitude
from exactref_core.arithmetic.brackets import Bracket
from exactref_core.arithmetic.deviation_rows import float_rows
from exactref_core.arithmetic.deviation_rules import Row, error_of, least_error, overshoot
from exactref_core.arithmetic.graph import Indices, Node
from exactref_core.arithmetic.row_algebra import FloatRows
from exactref_core.arithmetic.step_sets import threshold

if TYPE_CHECKING:
    from exactref_core.arithmetic.bounds import FloatBounds

__all__ = ["bound", "rows_at"]

ROWS = FloatRows()
# Terms that one round of arrays works on.
GATHER = 1 << 16
# Terms whose loops add no more than roundings of single steps to most bounds.
FEW = 1 << 11


def rows_at(node: Node, flat: Indices | None) -> Indices:
    """Return the flat indices of the terms of some elements, one row an element."""
    n = node.operands[1].shape[-1]
    places = np.arange(node.size) if flat is None else flat
    return places[:, None] * n + np.arange(n)


def bound(reading: FloatBounds, node: Node, flat: Indices | None) -> Bound:
    """Return the bounds of a node of squared deviations, whole or at flat indices."""
    places = rows_at(node, flat)
    height = max(1, GATHER // max(places.shape[1], 1))
    parts = []
    for start in range(0, max(len(places), 1), height):
        rows = slice(start, start + height)
        chosen = np.arange(node.size)[rows] if flat is None else flat[rows]
        with reading.scope():
            parts.append(row_bounds(reading, node, places[rows], chosen))
    found = parts[0] if len(parts) == 1 else join(parts)
    if flat is not None:
        return found
    return found.map(lambda part: part.reshape(node.shape), (node.size,))


def row_bounds(reading: FloatBounds, node: Node, places: Indices, flat: Indices) -> Bound:
    """Return the bounds of the rows at ``flat``, whose terms are at ``places``."""
    form, source = node.compute, node.operands[1]
    if form is None:
        raise ValueError("a sum of squares has a compute format")
    shape = places.shape
    x = reading.fast.at(source, places.reshape(-1)).map(lambda part: part.reshape(shape))
    given = reading.at(source, places.reshape(-1))
    given = given.map(lambda part: part.reshape(shape), (places.size,))
    value = reading.value(node, flat).map(np.ravel)
    total = magnitude(value)
    if reading.least and places.size <= FEW:
        row = Row(shape[1], magnitude(x), given.error, None, None, None, None, total)
        error = least_error(ROWS, form, reading.flush, reading.standard, row)
    else:
        row = float_rows(x, given.error, total)
        error = error_of(ROWS, form, reading.flush, reading.standard, row)
    error = Bracket(*(np.broadcast_to(end, shape[:1]) for end in (error.low, error.high)))
    size = ROWS.sum(row.terms) + ROWS.sum(row.errors)
    reach = size * 2 * ROWS.power(form.unit_roundoff, shape[1])
    top = threshold(form)[0]
    squares = (row.total + error) * overshoot(reading.standard, shape[1])
    odd = ~(reach.high < top) | ~(squares.high < top)
    if given.states is not None:
        odd = odd | (given.states != states.FINITE).any(axis=-1)
    if given.unsure is not None:
        odd = odd | given.unsure.any(axis=-1)
    none = np.isinf(given.error.low).any(axis=-1)
    low = np.where(none, np.inf, np.where(odd, 0.0, error.low))
    error = Bracket(low, np.where(odd | none, np.inf, error.high))
    sets = np.full(shape[0], states.FINITE, np.uint8) if np.any(odd) else None
    return Bound(error, error, sets, odd if np.any(odd) else None)
