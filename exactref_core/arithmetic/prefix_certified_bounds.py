"""Bounds of single elements of scans, certified."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exactref_core.arithmetic.graph import Node
from exactref_core.arithmetic.prefix_certified import source_of

if TYPE_CHECKING:
    from exactref_core.arithmetic.certified_bounds import CertifiedBounds, ScalarBound

__all__ = ["bound"]


def bound(reading: CertifiedBounds, node: Node, flat: int) -> ScalarBound:
    """Return the bound of one element of a scan."""
    return reading.bound(*source_of(node, flat))
