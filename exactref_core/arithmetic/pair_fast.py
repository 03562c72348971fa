"""The fast reading of functions of two numbers: MPFR, one element at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from exactref_core.arithmetic.approx import Approx
from exactref_core.exact.pair_arrays import row

if TYPE_CHECKING:
    from exactref_core.arithmetic.fast import FastReading
    from exactref_core.arithmetic.graph import Indices, Node

__all__ = ["exact"]


def exact(reading: FastReading, node: Node, flat: Indices | None) -> Approx:
    """Return the values, of all elements or of those at flat indices."""
    x, y = (reading.whole(z) if flat is None else reading.at(z, flat) for z in node.operands)
    shape = x.high.shape
    columns = [column for z in (x, y) for column in parts(z, shape)]
    rows = np.reshape([row(node.attrs, *z) for z in zip(*columns, strict=True)], (-1, 4))
    high, low, radius, special = (np.ascontiguousarray(part).reshape(shape) for part in rows.T)
    some_low, some_radius, some_special = (
        part if np.any(part) else None for part in (low, radius, special)
    )
    return Approx(high, some_low, some_radius, some_special)


def parts(x: Approx, shape: Any) -> list[list[float]]:
    """Return high, low, radius and special of flat values."""
    return [
        np.broadcast_to(0.0 if part is None else part, shape).reshape(-1).tolist()
        for part in (x.high, x.low, x.radius, x.special)
    ]
