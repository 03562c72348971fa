"""The ordinary reading of complex functions: NumPy's, in the compute format, or real formulas."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from exactref_core.arithmetic.complex_formulas import FORMULAS
from exactref_core.arithmetic.function_ordinary import NAMES
from exactref_core.arithmetic.graph import Node
from exactref_core.exact.annex import answer

if TYPE_CHECKING:
    from exactref_core.arithmetic.ordinary import OrdinaryReading

__all__ = ["exact"]


def exact(reading: OrdinaryReading, node: Node) -> npt.NDArray[Any]:
    """Return what a kernel stores that calls a library in the compute format."""
    from exactref_core.arithmetic.ordinary import dtype_of

    x, y = (reading.whole(z).astype(dtype_of(node.compute)) for z in node.operands[1:])
    name, index = node.attrs
    if name in FORMULAS:
        return by_parts(reading.whole(node.operands[0]), node.attrs, x, y)
    z = np.empty(x.shape, np.result_type(x, np.complex64))
    z.real, z.imag = x, y
    found = getattr(np, NAMES.get(name, name))(z)
    return np.asarray(found.imag if index else found.real)


def by_parts(values: Any, rule: tuple[str, int], x: Any, y: Any) -> npt.NDArray[Any]:
    """Return what real formulas give of numbers, and what is told of infinities and NaN."""
    found = np.array(values)
    for at in zip(*np.nonzero(~(np.isfinite(x) & np.isfinite(y))), strict=True):
        part = answer(rule, float(x[at]), float(y[at]))
        if part is not None:
            found[at] = part.value + part.quarters * (np.pi / 4)
    return found
