"""Bounds of scans as arrays: those of each element's own sum or product."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from exactref_core.arithmetic import states
from exactref_core.arithmetic.bound import Bound
from exactref_core.arithmetic.brackets import Bracket
from exactref_core.arithmetic.graph import Indices, Node
from exactref_core.arithmetic.prefix_fast import groups
from exactref_core.arithmetic.prod_bounds import scan

if TYPE_CHECKING:
    from exactref_core.arithmetic.bounds import FloatBounds

__all__ = ["bound"]

# Products of all lengths in one pass cost less than as many of them, each by itself.
MANY = 8


def bound(reading: FloatBounds, node: Node, flat: Indices | None) -> Bound:
    """Return the bounds of a scan, whole or at flat indices."""
    if node.attrs.verb == "prod" and node.size:
        if flat is None:
            return scan(reading, node)
        if MANY * flat.size > node.size:
            whole = reading.whole(node)
            return whole.map(lambda part: part.reshape(-1)[flat], node.shape)
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
