"""The certified reading of picked elements."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exactref_core.arithmetic.certified import Scalar
from exactref_core.arithmetic.graph import Node

if TYPE_CHECKING:
    from exactref_core.arithmetic.certified import CertifiedReading

__all__ = ["exact", "place_of"]


def place_of(node: Node, flat: int) -> tuple[Node, int]:
    """Return the operand and the index that an element comes from."""
    return node.operands[int(node.attrs.which[flat])], int(node.attrs.source[flat])


def exact(reading: CertifiedReading, node: Node, flat: int) -> Scalar:
    """Return one value of a pick node."""
    return reading.value(*place_of(node, flat))
