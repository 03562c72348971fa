"""The ordinary reading of differences from a weighted mean: the steps that compute them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from exactref_core.arithmetic.graph import Node

if TYPE_CHECKING:
    from exactref_core.arithmetic.ordinary import OrdinaryReading

__all__ = ["exact"]


def exact(reading: OrdinaryReading, node: Node) -> npt.NDArray[Any]:
    """Return the differences as their steps give them."""
    return reading.whole(node.operands[0])
