"""Bounds of steps that inputs may be flushed before: the union over the choices, certified."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exactref_core.arithmetic import states
from exactref_core.arithmetic.certified import finite, number
from exactref_core.arithmetic.flush_choices import Flushes
from exactref_core.arithmetic.graph import Node
from exactref_core.arithmetic.scalar_bound import ScalarBound
from exactref_core.exact.interval import rational

if TYPE_CHECKING:
    from exactref_core.arithmetic.certified_bounds import CertifiedBounds

__all__ = ["bound"]


def bound(reading: CertifiedBounds, node: Node, flat: int) -> ScalarBound:
    """Return the union over the choices; distances count from the exact value, nothing flushed."""
    flushes: Flushes
    flushes, part = node.attrs
    algebra, definition = reading.algebra, node.operands[0]
    first, second = (reading.exact.value(x, flat) for x in flushes.inputs)
    tiny = (is_subnormal(flushes, first), is_subnormal(flushes, second))
    if not (reading.flush and any(tiny)):
        return reading.bound(definition, flat)
    exact = reading.exact.value(definition, flat)
    error, sets = rational(0), 0
    for choice in flushes.choices(tiny):
        source = flushes.node(choice, part)
        found = reading.bound(source, flat)
        sets |= found.states
        value = reading.exact.value(source, flat)
        if found.states & states.FINITE:
            x, y = (number(v) if finite(v) else rational(0) for v in (exact, value))
            moved = algebra.absolute(algebra.subtract(y, x)) if any(choice) else rational(0)
            error = algebra.maximum(error, algebra.add(found.error, moved))
    return ScalarBound(error, error, sets)


def is_subnormal(flushes: Flushes, value: object) -> bool:
    """Return whether an input is a subnormal number."""
    return finite(value) and 0 < abs(number(value)) < rational(flushes.least)
