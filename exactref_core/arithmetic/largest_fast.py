"""The fast reading of maxima: comparisons of double-double numbers and their radii."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from exactref_core.arithmetic.approx import Approx
from exactref_core.arithmetic.fast_steps import finish, zero
from exactref_core.arithmetic.graph import Indices, Node, sum_terms
from exactref_core.arithmetic.largest_rules import PROPAGATE

if TYPE_CHECKING:
    from exactref_core.arithmetic.fast import FastReading

__all__ = ["exact", "row_values"]


def row_values(reading: FastReading, node: Node, flat: Indices | None) -> Approx:
    """Return the numbers that are compared, along a last axis."""
    if flat is None:
        return reading.whole(node.operands[0])
    places = sum_terms(node, flat)
    found = reading.at(node.operands[0], places.reshape(-1))
    return found.map(lambda array: array.reshape(places.shape))


def exact(reading: FastReading, node: Node, flat: Indices | None) -> Approx:
    """Return the values of a node of maxima, whole or at flat indices."""
    if flat is not None:
        rows, back = np.unique(flat, return_inverse=True)
        if rows.size < flat.size:  # a row that many elements share is read once
            return exact(reading, node, rows).take(back)
    return largest(row_values(reading, node, flat), node.attrs)


def largest(x: Approx, rule: str) -> Approx:
    """Return the maxima along the last axis.

    Normalised pairs compare by their high words, then by their low ones. The one with the largest
    midpoint errs by its radius, and by what another's upper end may lie above it.
    """
    special = np.zeros(x.high.shape) if x.special is None else x.special
    number = special == 0
    high = np.where(number, x.high, -np.inf)
    top = high.max(axis=-1, keepdims=True)
    low: Any = np.broadcast_to(zero(x.low), high.shape)
    place = np.where(high == top, low, -np.inf).argmax(axis=-1)[..., None]

    def pick(array: Any) -> Any:
        return np.take_along_axis(np.broadcast_to(array, high.shape), place, -1)[..., 0]

    found, rest = pick(x.high), pick(low)
    # The maximum of -0.0 and 0.0 is 0.0.
    zeros = number & (x.high == 0) & (low == 0) & (np.asarray(zero(x.radius)) == 0)
    plus = (zeros & ~np.signbit(x.high)).any(axis=-1)
    found = np.where((found == 0) & plus, 0.0, found)
    radius = None
    if x.radius is not None:
        gap = (top - np.where(number, x.high, top)) + (rest[..., None] - low)
        above = np.where(number, x.radius - gap + np.abs(gap) * 2.0**-48, 0.0)
        radius = np.maximum(pick(x.radius), above.max(axis=-1))
    answer = None
    if x.special is not None:
        answer = specials(special, number, rule)
    unknown = None if x.radius is None else np.isinf(x.radius).any(axis=-1)
    if answer is not None and unknown is not None:
        answer = np.where(unknown & ~(np.isnan(answer) & (rule == PROPAGATE)), 0.0, answer)
    found = np.where(np.isfinite(found), found, 0.0)
    return finish(found, None if x.low is None else rest, radius, answer, unknown, x.short)


def specials(special: Any, number: Any, rule: str) -> Any:
    """Return the maxima that are infinities or NaN, 0 for the others."""
    nan = np.isnan(special)
    counted = ~nan
    answer = np.where((special == np.inf).any(axis=-1), np.inf, 0.0)
    none = ~number.any(axis=-1) & (answer == 0)
    answer = np.where(none, -np.inf, answer)
    gone = nan.any(axis=-1) if rule == PROPAGATE else ~counted.any(axis=-1)
    return np.where(gone, np.nan, answer)
