"""The fast reading of functions of two numbers: float64 kernels, MPFR for each of the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from exactref_core.arithmetic.approx import Approx
from exactref_core.arithmetic.function_fast import blocked
from exactref_core.exact.double_double import Floats
from exactref_core.exact.pair_arrays import row
from exactref_core.exact.plain_pairs import plain_pair

if TYPE_CHECKING:
    from exactref_core.arithmetic.fast import FastReading
    from exactref_core.arithmetic.graph import Indices, Node

__all__ = ["exact"]


def exact(reading: FastReading, node: Node, flat: Indices | None) -> Approx:
    """Return the values, of all elements or of those at flat indices."""
    first, second, *definition = node.operands
    if definition:
        return reading.whole(definition[0]) if flat is None else reading.at(definition[0], flat)
    x, y = (reading.whole(z) if flat is None else reading.at(z, flat) for z in (first, second))
    shape = x.high.shape
    plain = plainly(node.attrs.name, x, y) if reading.narrow else None
    if plain is not None:
        reading.has_plain = True
        return plain
    columns = [column for z in (x, y) for column in parts(z, shape)]
    rows = np.reshape([row(node.attrs, *z) for z in zip(*columns, strict=True)], (-1, 4))
    high, low, radius, special = (np.ascontiguousarray(part).reshape(shape) for part in rows.T)
    some_low, some_radius, some_special = (
        part if np.any(part) else None for part in (low, radius, special)
    )
    return Approx(high, some_low, some_radius, some_special)


def plainly(name: str, x: Approx, y: Approx) -> Approx | None:
    """Return the values at finite arguments in plain float64, where that can be."""
    if x.special is not None or y.special is not None:
        return None
    flat = (np.ravel(x.high), np.ravel(y.high), spread_of(x), spread_of(y))
    found = blocked(lambda *part: plain_pair(name, *part), 2, *flat)
    if found is None:
        return None
    value, radius = (part.reshape(x.high.shape) for part in found)
    return Approx(value, None, radius)


def spread_of(x: Approx) -> Floats | None:
    """Return how far flat values may be from their high words; None where those are exact."""
    if x.low is None and x.radius is None:
        return None
    return np.broadcast_to(x.spread, x.high.shape).reshape(-1)


def parts(x: Approx, shape: Any) -> list[list[float]]:
    """Return high, low, radius and special of flat values."""
    return [
        np.broadcast_to(0.0 if part is None else part, shape).reshape(-1).tolist()
        for part in (x.high, x.low, x.radius, x.special)
    ]
