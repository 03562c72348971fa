"""The ordinary reading of complex functions: NumPy's, in the compute format."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from exactref_core.arithmetic.function_ordinary import NAMES
from exactref_core.arithmetic.graph import Node

if TYPE_CHECKING:
    from exactref_core.arithmetic.ordinary import OrdinaryReading

__all__ = ["exact"]


def exact(reading: OrdinaryReading, node: Node) -> npt.NDArray[Any]:
    """Return what a kernel stores that calls a library in the compute format."""
    from exactref_core.arithmetic.ordinary import dtype_of

    x, y = (reading.whole(z).astype(dtype_of(node.compute)) for z in node.operands[1:])
    z = np.empty(x.shape, np.result_type(x, np.complex64))
    z.real, z.imag = x, y
    name, index = node.attrs
    found = getattr(np, NAMES.get(name, name))(z)
    return np.asarray(found.imag if index else found.real)
