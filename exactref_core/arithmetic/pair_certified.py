"""The certified reading of functions of two numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from exactref_core.arithmetic.compositions import power_of_logarithm

if TYPE_CHECKING:
    from exactref_core.arithmetic.certified import CertifiedReading
    from exactref_core.arithmetic.graph import Node

__all__ = ["exact"]


def exact(reading: CertifiedReading, node: Node, flat: int) -> Any:
    """Return one value."""
    first, second, *definition = node.operands
    if definition:
        return reading.value(definition[0], flat)
    if (found := power_of_logarithm(reading, node, flat)) is not None:
        return found
    x, y = (reading.value(operand, flat) for operand in (first, second))
    return node.attrs.value(reading.arithmetic, x, y)
