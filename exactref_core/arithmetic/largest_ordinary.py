"""The ordinary reading of maxima."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from exactref_core.arithmetic.graph import Node
from exactref_core.arithmetic.largest_rules import PROPAGATE

if TYPE_CHECKING:
    from exactref_core.arithmetic.ordinary import OrdinaryReading

__all__ = ["exact"]


def exact(reading: OrdinaryReading, node: Node) -> npt.NDArray[Any]:
    """Return the values of a node of maxima."""
    function = np.maximum if node.attrs == PROPAGATE else np.fmax
    return np.asarray(function.reduce(reading.whole(node.operands[0]), axis=-1))
