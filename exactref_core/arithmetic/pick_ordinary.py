"""The ordinary reading of picked elements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from exactref_core.arithmetic.graph import Node
from exactref_core.arithmetic.pick_fast import places_of

if TYPE_CHECKING:
    from exactref_core.arithmetic.ordinary import OrdinaryReading

__all__ = ["exact"]


def exact(reading: OrdinaryReading, node: Node) -> npt.NDArray[Any]:
    """Return the values of a pick node."""
    parts = [reading.whole(operand) for operand in node.operands]
    found = np.zeros(node.size, np.result_type(*parts) if parts else np.float64)
    for operand, where, index in places_of(node, None):
        found[where] = reading.whole(operand).reshape(-1)[index]
    return found.reshape(node.shape)
