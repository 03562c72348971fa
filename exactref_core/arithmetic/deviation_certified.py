"""The certified reading of sums of squared deviations: that of their definition."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exactref_core.arithmetic.certified import Scalar
from exactref_core.arithmetic.graph import Node

if TYPE_CHECKING:
    from exactref_core.arithmetic.certified import CertifiedReading

__all__ = ["exact"]


def exact(reading: CertifiedReading, node: Node, flat: int) -> Scalar:
    """Return one value of the definition."""
    return reading.value(node.operands[0], flat)
