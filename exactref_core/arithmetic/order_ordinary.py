"""The ordinary reading of comparisons: of stored numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from exactref_core.arithmetic.approx import Approx
from exactref_core.arithmetic.graph import Node
from exactref_core.arithmetic.order_fast import order, ties

if TYPE_CHECKING:
    from exactref_core.arithmetic.ordinary import OrdinaryReading

__all__ = ["exact"]


def exact(reading: OrdinaryReading, node: Node) -> npt.NDArray[Any]:
    """Return the values of a comparison."""
    from exactref_core.arithmetic.ordinary import dtype_of

    values = [plain(reading.whole(x).astype(dtype_of(node.compute))) for x in node.operands]
    if node.verb == "order":
        found = order(values[0], values[1], node.attrs)
    else:
        found = ties(values[0], node.attrs)
    return np.asarray(found.high, dtype_of(node.compute))


def plain(x: npt.NDArray[Any]) -> Approx:
    """Return stored numbers as enclosures of themselves."""
    wide = x.astype(np.float64)
    finite = np.isfinite(wide)
    special = None if np.all(finite) else np.where(finite, 0.0, wide)
    return Approx(np.where(finite, wide, 0.0), None, None, special)
