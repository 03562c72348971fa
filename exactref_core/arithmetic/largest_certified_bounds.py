"""Bounds of single maxima, certified."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from exactref_core.arithmetic import states
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
    top, algebra = reading.exact.value(node, flat), reading.algebra
    values = [reading.exact.value(source, i) for i in places]
    error: Any = rational(0)
    if finite(top):
        held: list[Any] = []
        loose: list[Any] = []
        for value, b in zip(values, bounds, strict=True):
            if finite(value):
                gap = algebra.absolute(algebra.subtract(number(top), number(value)))
                (loose if missing(node.attrs, b.states) else held).append((gap, b.error))
            elif b.states & states.FINITE:
                error = algebra.maximum(error, algebra.absolute(number(top)) + b.error)
        error = algebra.maximum(error, moved(algebra, held, loose))
    elif sets & states.FINITE:
        for value, b in zip(values, bounds, strict=True):
            size = algebra.absolute(number(value)) if finite(value) else rational(0)
            error = algebra.maximum(error, size + b.error)
    return ScalarBound(error, error, sets)
