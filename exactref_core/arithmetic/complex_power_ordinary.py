"""The ordinary reading of powers of complex numbers: exp(w log z) in the compute format."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from exactref_core.arithmetic.graph import Node

if TYPE_CHECKING:
    from exactref_core.arithmetic.ordinary import OrdinaryReading

__all__ = ["exact"]


def exact(reading: OrdinaryReading, node: Node) -> npt.NDArray[Any]:
    """Return what a kernel stores that calls a library."""
    from exactref_core.arithmetic.ordinary import dtype_of

    x, y, c, d = (reading.whole(z).astype(dtype_of(node.compute)) for z in node.operands[1:])
    z, w = (np.empty(x.shape, np.result_type(x, np.complex64)) for _ in range(2))
    z.real, z.imag, w.real, w.imag = x, y, c, d
    found = np.exp(w * np.log(z))
    found[(z == 0) & (c > 0)] = 0
    found[w == 0] = 1
    return np.asarray(found.imag if node.attrs.part else found.real)
