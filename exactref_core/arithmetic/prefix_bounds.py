"""Bounds of scans as arrays: those of each element's own sum or product."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from exactref_core.arithmetic import states
from exactref_core.arithmetic.bound import Bound
from exactref_core.arithmetic.brackets import Bracket
from exactref_core.arithmetic.graph import Indices, Node
from exactref_core.arithmetic.prefix_accumulation import sums
from exactref_core.arithmetic.prefix_fast import groups, worth_all
from exactref_core.arithmetic.prod_bounds import scan

if TYPE_CHECKING:
    from exactref_core.arithmetic.bounds import FloatBounds

__all__ = ["bound"]

# Products of all lengths in one pass cost less than as many of them, each by itself.
MANY = 8


def bound(reading: FloatBounds, node: Node, flat: Indices | None) -> Bound:
    """Return the bounds of a scan, whole or at flat indices."""
    if not node.size:
        return by_length(reading, node, flat)
    if flat is None:
        return scan(reading, node) if node.attrs.verb == "prod" else all_sums(reading, node)
    many = node.attrs.verb == "prod" and MANY * flat.size > node.size
    if many or (node.attrs.verb == "sum" and worth_all(node, flat)):
        whole = reading.whole(node)
        return whole.map(lambda part: part.reshape(-1)[flat], node.shape)
    return by_length(reading, node, flat)


def all_sums(reading: FloatBounds, node: Node) -> Bound:
    """Return the bounds of all sums: of plain rows at once, of the others those of each length."""
    found = sums(reading, node)
    if found is None:
        return by_length(reading, node, None)
    error, odd = found
    n = node.shape[-1]
    if odd.any():
        flat = (np.flatnonzero(odd)[:, None] * n + np.arange(n)).reshape(-1)
        parts = by_length(reading, node, flat).map(lambda part: part, flat.shape)
        low, high = (end.reshape(-1) for end in (error.low, error.high))
        low[flat], high[flat] = parts.error.low, parts.error.high
        rest = [None if part is None else part for part in (parts.states, parts.unsure)]
        sets, unsure = (
            None if part is None else filled(part, flat, node, fill)
            for part, fill in zip(rest, (np.uint8(states.FINITE), np.False_), strict=True)
        )
        error = error.map(lambda end: end.reshape(node.shape))
        return Bound(error, error, sets, unsure)
    error = error.map(lambda end: end.reshape(node.shape))
    return Bound(error, error)


def filled(part: Any, flat: Indices, node: Node, fill: Any) -> Any:
    """Return an array of a node's shape with some elements put in."""
    found = np.full(node.size, fill)
    found[flat] = part
    return found.reshape(node.shape)


def by_length(reading: FloatBounds, node: Node, flat: Indices | None) -> Bound:
    """Return the bounds of the sums or products of each length by themselves."""
    count = node.size if flat is None else flat.size
    low, high = np.zeros(count), np.zeros(count)
    sets, unsure = np.full(count, states.FINITE, np.uint8), np.zeros(count, bool)
    plain = vague = True
    for source, where, rows in groups(node, flat):
        part = reading.whole(source) if rows is None else reading.at(source, rows)
        part = part.map(np.ravel, source.shape if rows is None else rows.shape)
        low[where], high[where] = part.error.low, part.error.high
        if part.states is not None:
            sets[where], plain = part.states, False
        if part.unsure is not None:
            unsure[where], vague = part.unsure, False
    error = Bracket(low, high)
    found = Bound(error, error, None if plain else sets, None if vague else unsure)
    if flat is not None:
        return found
    return found.map(lambda part: part.reshape(node.shape), (count,))
