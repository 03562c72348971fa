"""The ordinary reading of scans: one running sum or product."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from exactref_core.arithmetic.graph import Node

if TYPE_CHECKING:
    from exactref_core.arithmetic.ordinary import OrdinaryReading

__all__ = ["exact"]


def exact(reading: OrdinaryReading, node: Node) -> npt.NDArray[Any]:
    """Return the values of a scan."""
    function = np.add if node.attrs.verb == "sum" else np.multiply
    return np.asarray(function.accumulate(reading.whole(node.operands[0]), axis=-1))
