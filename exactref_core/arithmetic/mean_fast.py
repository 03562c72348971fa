"""The fast reading of differences from a weighted mean: the steps that compute them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exactref_core.arithmetic.approx import Approx
from exactref_core.arithmetic.graph import Indices, Node

if TYPE_CHECKING:
    from exactref_core.arithmetic.fast import FastReading

__all__ = ["exact"]


def exact(reading: FastReading, node: Node, flat: Indices | None) -> Approx:
    """Return the differences as their steps give them."""
    steps = node.operands[0]
    return reading.whole(steps) if flat is None else reading.at(steps, flat)
