"""Bounds of picked elements as arrays: those of the operands, rearranged."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from exactref_core.arithmetic import states
from exactref_core.arithmetic.bound import Bound, Clip
from exactref_core.arithmetic.brackets import Bracket
from exactref_core.arithmetic.graph import Indices, Node
from exactref_core.arithmetic.pick_fast import places_of
from exactref_core.arithmetic.pick_verbs import Joined

if TYPE_CHECKING:
    from exactref_core.arithmetic.bounds import FloatBounds

__all__ = ["bound"]


def part_of(reading: FloatBounds, operand: Node, index: Indices) -> Bound:
    """Return the bounds of elements, of all elements where most are asked for."""
    if 2 * index.size > operand.size:
        return reading.whole(operand).map(lambda part: part.reshape(-1)[index], operand.shape)
    return reading.at(operand, index)


def bound(reading: FloatBounds, node: Node, flat: Indices | None) -> Bound:
    """Return the bounds of a pick node, whole or at flat indices."""
    if flat is None and isinstance(node.attrs, Joined):
        parts = [reading.whole(x) for x in node.operands]
        if all(part.clip is None for part in parts):
            return joined(node.attrs, parts)
    count = node.size if flat is None else flat.size
    low, high = np.zeros(count), np.zeros(count)
    sets, unsure = np.full(count, states.FINITE, np.uint8), np.zeros(count, bool)
    plain = vague = True
    ends = np.zeros((4, count))
    clipped = 0
    for operand, where, index in places_of(node, flat):
        part = part_of(reading, operand, index)
        if part.clip is not None:
            ends[:, where] = [*part.clip.low, *part.clip.high]
            clipped += where.size
        low[where], high[where] = part.error.low, part.error.high
        if part.states is not None:
            sets[where], plain = part.states, False
        if part.unsure is not None:
            unsure[where], vague = part.unsure, False
    error = Bracket(low, high)
    # What some elements are held to says nothing of the others.
    clip = Clip((ends[0], ends[1]), (ends[2], ends[3])) if 0 < clipped == count else None
    found = Bound(error, error, None if plain else sets, None if vague else unsure, clip)
    if flat is not None:
        return found
    return found.map(lambda part: part.reshape(node.shape), (count,))


def joined(rule: Joined, parts: list[Bound]) -> Bound:
    """Return the bounds of values one after the other."""
    ends = ([part.error.low for part in parts], [part.error.high for part in parts])
    error = Bracket(*(rule.join(side, 0.0) for side in ends))
    sets = rule.join([part.states for part in parts], np.uint8(states.FINITE))
    return Bound(error, error, sets, rule.join([part.unsure for part in parts], np.False_))
