"""The ordinary reading of products of complex numbers: multiplied one after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from exactref_core.arithmetic.graph import Node

if TYPE_CHECKING:
    from exactref_core.arithmetic.ordinary import OrdinaryReading

__all__ = ["exact"]


def exact(reading: OrdinaryReading, node: Node) -> npt.NDArray[Any]:
    """Return one part of products."""
    rows = reading.whole(node.operands[0])
    z = np.empty((*rows.shape[:-1], rows.shape[-1] // 2), np.result_type(rows, np.complex64))
    z.real, z.imag = rows[..., 0::2], rows[..., 1::2]
    found = np.multiply.accumulate(z, axis=-1)[..., -1]
    return np.asarray(found.imag if node.attrs.part else found.real)
