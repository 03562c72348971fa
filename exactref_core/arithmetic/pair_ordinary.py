"""The ordinary reading of functions of two numbers: NumPy's, in the compute format."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from exactref_core.arithmetic.graph import Node

if TYPE_CHECKING:
    from exactref_core.arithmetic.ordinary import OrdinaryReading

__all__ = ["exact"]


def exact(reading: OrdinaryReading, node: Node) -> npt.NDArray[Any]:
    """Return what a kernel stores that calls a library in the compute format."""
    from exactref_core.arithmetic.ordinary import dtype_of

    dtype = dtype_of(node.compute)
    x, y = (reading.whole(z).astype(dtype, copy=False) for z in node.operands[:2])
    return np.asarray(getattr(np, node.attrs.library)(x, y))
