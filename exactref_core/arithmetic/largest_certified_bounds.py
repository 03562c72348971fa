"""Bounds of single maxima, certified."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from exactref_core.arithmetic.certified import finite, number
from exactref_core.arithmetic.graph import Node
from exactref_core.arithmetic.largest_certified import row_places
from exactref_core.arithmetic.largest_rules import missing, moved, united
from exactref_core.exact.interval import rational

if TYPE_CHECKING:
    from exactref_core.arithmetic.certified_bounds import CertifiedBounds, ScalarBound

__all__ = ["bound"]


def bound(reading: CertifiedBounds, node: Node, flat: int) -> ScalarBound:
    """Return the bound of one maximum."""
    from exactref_core.arithmetic.certified_bounds import ScalarBound

    source, places = node.operands[0], row_places(node, flat)
    bounds = [reading.bound(source, i) for i in places]
    sets = int(united(node.attrs, [b.states for b in bounds]))
    top = reading.exact.value(node, flat)
    error = rational(0)
    if finite(top):
        held: list[Any] = []
        loose: list[Any] = []
        for i, b in zip(places, bounds, strict=True):
            value = reading.exact.value(source, i)
            if finite(value):
                gap = reading.algebra.absolute(reading.algebra.subtract(number(top), number(value)))
                (loose if missing(node.attrs, b.states) else held).append((gap, b.error))
        error = moved(reading.algebra, held, loose)
    return ScalarBound(error, error, sets)
