"""The fast reading of comparisons: double-double differences, unknown where radii overlap."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from exactref_core.arithmetic import fast_steps as steps
from exactref_core.arithmetic.approx import Approx, signs
from exactref_core.arithmetic.graph import Indices, Node
from exactref_core.arithmetic.order_rules import Ties, ranks

if TYPE_CHECKING:
    from exactref_core.arithmetic.fast import FastReading

__all__ = ["counted", "exact", "gaps", "row_places", "top_of"]


def exact(reading: FastReading, node: Node, flat: Indices | None) -> Approx:
    """Return the values of a comparison, whole or at flat indices."""
    if node.verb == "order":
        a, b = (reading.whole(x) if flat is None else reading.at(x, flat) for x in node.operands)
        return order(a, b, node.attrs)
    source = node.operands[0]
    if flat is None:
        return ties(reading.whole(source), node.attrs)
    places, index = row_places(node, flat)
    rows = reading.at(source, places.reshape(-1)).map(lambda part: part.reshape(places.shape))
    return ties(rows, node.attrs).take(index)


def row_places(node: Node, flat: Indices) -> tuple[Indices, Indices]:
    """Return the flat indices of the rows that elements are in, and the elements' among these."""
    n = node.shape[-1]
    rows, back = np.unique(flat // n, return_inverse=True)
    return rows[:, None] * n + np.arange(n), back * n + flat % n


def order(a: Approx, b: Approx, unordered: int) -> Approx:
    """Return the signs of differences."""
    values, unsure = signs(steps.subtract(None, a, b))
    if a.special is not None or b.special is not None:
        x, y = (np.zeros(()) if part.special is None else part.special for part in (a, b))
        given = (x != 0) | (y != 0)
        compared = np.where(x == y, 0.0, np.sign(x - y))
        values = np.where(given, np.where(np.isnan(compared), unordered, compared), values)
        unsure = unsure & ~given
    unsure = unsure | ~a.known() | ~b.known()
    return steps.finish(values + 0.0, None, None, None, unsure, True)


def gaps(rows: Approx) -> tuple[Any, Any, Any]:
    """Return which finite numbers equal the largest midpoint of their row, and bounds of how far
    below it each midpoint is."""
    number = np.ones(rows.high.shape, bool) if rows.special is None else rows.special == 0
    low = np.broadcast_to(steps.zero(rows.low), rows.high.shape)
    high = np.where(number, rows.high, -np.inf)
    place = np.where(high == high.max(axis=-1, keepdims=True), low, -np.inf).argmax(axis=-1)
    top, rest = (np.take_along_axis(part, place[..., None], -1) for part in (rows.high, low))
    parts = (top - rows.high, rest - low)
    gap, room = parts[0] + parts[1], (np.abs(parts[0]) + np.abs(parts[1])) * 2.0**-50
    # Normalised pairs are equal where both words are.
    same = number & (rows.high == top) & (low == rest)
    return same, np.where(same, 0.0, np.maximum(gap - room, 0.0)), np.where(same, 0.0, gap + room)


def top_of(part: Any, rows: Approx) -> Any:
    """Return a part of the element of each row whose midpoint is the largest."""
    same, _, _ = gaps(rows)
    place = same.argmax(axis=-1)
    return np.take_along_axis(np.broadcast_to(part, same.shape), place[..., None], -1)


def ties(rows: Approx, rule: Ties) -> Approx:
    """Return the shares of the elements that equal each row's maximum."""
    if not rows.high.size:
        return Approx(np.zeros(rows.high.shape), None, None, None, True)
    special = np.zeros(rows.high.shape) if rows.special is None else rows.special
    rank = ranks(special, rule.ignores_nan)
    top = rank.max(axis=-1, keepdims=True)
    same, near, _ = gaps(rows)
    equal = (rank == top) & ((rank != 0) | same)
    unsure = np.zeros(rows.high.shape, bool)
    if rows.radius is not None:
        radius = np.broadcast_to(rows.radius, rows.high.shape)
        both = (radius + top_of(radius, rows)) * (1 + 2.0**-50)
        alone = same & (same.sum(axis=-1, keepdims=True) == 1)
        vague = (rank == 0) & (top == 0) & (both > 0) & (near <= both) & ~alone
        unsure = (equal | vague) & vague.any(axis=-1, keepdims=True)
        unsure = unsure | ~rows.known().all(axis=-1, keepdims=True)
    found = counted(equal, rule)
    high, low, radius = (np.zeros(rows.high.shape) for _ in range(3))
    for count in np.unique(found[found > 0]).astype(int).tolist():
        where = found == count
        high[where], low[where], radius[where] = share(count)
    if not np.any(low):
        return steps.finish(high, None, None, None, unsure, True)
    return steps.finish(high, low, radius, None, unsure)


def share(count: int) -> tuple[float, float, float]:
    """Return 1 / count as a double-double number, and how far that may be off."""
    exact = Fraction(1, count)
    high = float(exact)
    low = float(exact - Fraction(high))
    rest = abs(exact - Fraction(high) - Fraction(low))
    return high, low, math.nextafter(float(rest), math.inf) if rest else 0.0


def counted(equal: Any, rule: Ties) -> Any:
    """Return how many share, at elements that tie and have a share."""
    if rule.first:
        return (equal & (np.cumsum(equal, axis=-1) == 1)).astype(np.float64)
    return np.where(equal, equal.sum(axis=-1, keepdims=True), 0).astype(np.float64)
