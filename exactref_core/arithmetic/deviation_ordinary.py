"""The ordinary reading of sums of squared deviations: two passes in index order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from exactref_core.arithmetic.graph import Node

if TYPE_CHECKING:
    from exactref_core.arithmetic.ordinary import OrdinaryReading

__all__ = ["exact"]


def exact(reading: OrdinaryReading, node: Node) -> npt.NDArray[Any]:
    """Return the values of a node of squared deviations."""
    from exactref_core.arithmetic.ordinary import dtype_of

    x = reading.whole(node.operands[1]).astype(dtype_of(node.compute))
    mean = np.add.accumulate(x, axis=-1)[..., -1:] / x.dtype.type(x.shape[-1])
    squares = np.square(x - mean)
    return np.asarray(np.add.accumulate(squares, axis=-1)[..., -1])
