"""The certified reading of scans."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exactref_core.arithmetic.certified import Scalar
from exactref_core.arithmetic.graph import Node
from exactref_core.arithmetic.prefix_fast import prefix

if TYPE_CHECKING:
    from exactref_core.arithmetic.certified import CertifiedReading

__all__ = ["exact", "source_of"]


def source_of(node: Node, flat: int) -> tuple[Node, int]:
    """Return the sum or product that one element is."""
    row, column = divmod(flat, node.shape[-1])
    return prefix(node, column + 1), row


def exact(reading: CertifiedReading, node: Node, flat: int) -> Scalar:
    """Return one value of a scan."""
    return reading.value(*source_of(node, flat))
