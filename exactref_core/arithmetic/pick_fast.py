"""The fast reading of picked elements: the operands' enclosures, rearranged."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from exactref_core.arithmetic.approx import Approx
from exactref_core.arithmetic.graph import Indices, Node
from exactref_core.arithmetic.pick_verbs import Joined

if TYPE_CHECKING:
    from exactref_core.arithmetic.fast import FastReading

__all__ = ["exact", "places_of"]


def places_of(node: Node, flat: Indices | None) -> list[tuple[Node, Indices, Indices]]:
    """Return, for each operand that is asked for elements: where they go, and where they are."""
    which, source = node.attrs.which, node.attrs.source
    if flat is not None:
        which, source = which[flat], source[flat]
    found = []
    for place, operand in enumerate(node.operands):
        where = np.flatnonzero(which == place)
        if where.size:
            found.append((operand, where, source[where].astype(np.intp)))
    return found


def part_of(reading: FastReading, operand: Node, index: Indices) -> Approx:
    """Return elements of an operand, of all of them where most are asked for."""
    if 2 * index.size > operand.size:
        return reading.whole(operand).take(index)
    return reading.at(operand, index)


def exact(reading: FastReading, node: Node, flat: Indices | None) -> Approx:
    """Return the values of a pick node, whole or at flat indices."""
    names = ("high", "low", "radius", "special")
    if flat is None and isinstance(node.attrs, Joined):
        wholes = [reading.whole(x) for x in node.operands]
        columns = ([getattr(x, name) for x in wholes] for name in names)
        high, low, radius, special = (node.attrs.join(column, 0.0) for column in columns)
        return Approx(high, low, radius, special, all(x.short for x in wholes))
    count = node.size if flat is None else flat.size
    parts = [(where, part_of(reading, x, index)) for x, where, index in places_of(node, flat)]
    arrays = {name: np.zeros(count) for name in names}
    for where, part in parts:
        for name in names:
            values = getattr(part, name)
            if values is not None:
                arrays[name][where] = values
    given = {
        name: arrays[name] if any(getattr(part, name) is not None for _, part in parts) else None
        for name in names[1:]
    }
    short = all(part.short for _, part in parts)
    found = Approx(arrays["high"], given["low"], given["radius"], given["special"], short)
    return found if flat is not None else found.map(lambda array: array.reshape(node.shape))
