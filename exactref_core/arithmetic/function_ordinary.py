"""The ordinary reading of elementary functions: NumPy's, or the rounded value where it has none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from exactref_core.arithmetic.graph import Node
from exactref_core.exact.elementary import Function
from exactref_core.exact.elementary_arrays import at_numbers
from exactref_core.formats.catalogue import get_format
from exactref_core.formats.rounding_arrays import round_pair

if TYPE_CHECKING:
    from exactref_core.arithmetic.ordinary import OrdinaryReading

__all__ = ["exact"]

NAMES = {
    "asin": "arcsin",
    "acos": "arccos",
    "atan": "arctan",
    "asinh": "arcsinh",
    "acosh": "arccosh",
    "atanh": "arctanh",
}


def exact(reading: OrdinaryReading, node: Node) -> npt.NDArray[Any]:
    """Return what a kernel stores that calls a library in the compute format."""
    from exactref_core.arithmetic.ordinary import dtype_of

    function: Function = node.attrs
    dtype = dtype_of(node.compute)
    x = reading.whole(node.operands[0]).astype(dtype, copy=False)
    library = getattr(np, NAMES.get(function.name, function.name), None)
    if library is not None:
        return np.asarray(library(x))
    return rounded(function, x)


def rounded(function: Function, x: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the values rounded once, the limits at infinities included."""
    wide = x.astype(np.float64).reshape(-1)
    finite = np.isfinite(wide)
    found = at_numbers(function, np.where(finite, wide, 0.0))
    values = round_pair(found.high, found.low, get_format(x.dtype.name))
    values = np.where(found.special != 0, found.special, values)
    limits = np.where(wide > 0, function.at_plus, function.at_minus)
    return (
        np.where(finite, values, np.where(np.isnan(wide), wide, limits))
        .astype(x.dtype)
        .reshape(x.shape)
    )
