"""Bounds of single picked elements, certified."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exactref_core.arithmetic.graph import Node
from exactref_core.arithmetic.pick_certified import place_of

if TYPE_CHECKING:
    from exactref_core.arithmetic.certified_bounds import CertifiedBounds, ScalarBound

__all__ = ["bound"]


def bound(reading: CertifiedBounds, node: Node, flat: int) -> ScalarBound:
    """Return the bound of one element of a pick node."""
    return reading.bound(*place_of(node, flat))
