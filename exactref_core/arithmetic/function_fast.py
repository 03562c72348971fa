"""The fast reading of elementary functions: float64 kernels where there are, MPFR for the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from exactref_core.arithmetic.approx import Approx
from exactref_core.exact.double_double import Floats
from exactref_core.exact.elementary import Function
from exactref_core.exact.elementary_arrays import outside, values
from exactref_core.exact.elementary_quick import quick

if TYPE_CHECKING:
    from exactref_core.arithmetic.fast import FastReading
    from exactref_core.arithmetic.graph import Indices, Node

__all__ = ["exact"]

# As in `rounded_blocks`.
BLOCK = 12288


def exact(reading: FastReading, node: Node, flat: Indices | None) -> Approx:
    """Return the values of a function, of all elements or of those at flat indices."""
    source = node.operands[0]
    x = reading.whole(source) if flat is None else reading.at(source, flat)
    function: Function = node.attrs
    shape = x.high.shape
    high, low, radius = np.ravel(x.high), x.low, x.radius
    low = None if low is None else np.ravel(low)
    radius = None if radius is None else np.broadcast_to(radius, shape).reshape(-1)
    found = evaluated(function, high, low, radius, reading.precise)
    if x.special is not None:
        found = at_limits(function, np.ravel(x.special), found)
    parts = [part.reshape(shape) for part in found]
    some_low, some_radius, some_special = (part if np.any(part) else None for part in parts[1:])
    return Approx(parts[0], some_low, some_radius, some_special)


Found = tuple[Floats, Floats, Floats, Floats]


def evaluated(
    function: Function, high: Floats, low: Floats | None, radius: Floats | None, precise: bool
) -> Found:
    """Return high, low, radius and specials of a function at finite flat arguments."""
    if not precise:
        found = in_blocks(function.name, high, low, radius)
        if found is not None:
            alone = radius is None or not np.any(radius)
            special = outside(function, high) if alone else np.zeros(high.shape)
            h, t, r = found
            if np.any(special):
                h, t, r = (np.where(special != 0, 0.0, part) for part in found)
            return h, t, r, special
    result = values(function, high, low, radius)
    return result.high, result.low, result.radius, result.special


def in_blocks(
    name: str, high: Floats, low: Floats | None, radius: Floats | None
) -> tuple[Floats, Floats, Floats] | None:
    """Return what `quick` does, in blocks that stay in the cache."""
    if high.size <= 2 * BLOCK:
        return quick(name, high, low, radius)
    result = np.empty((3, high.size))
    for start in range(0, high.size, BLOCK):
        part = slice(start, start + BLOCK)
        given = (None if array is None else array[part] for array in (low, radius))
        found = quick(name, high[part], *given)
        if found is None:
            return None
        result[:, part] = found
    return result[0], result[1], result[2]


def at_limits(function: Function, x: Floats, found: Found) -> Found:
    """Return the values with those at infinities and NaN put in; unknown where irrational."""
    if not np.any(x):
        return found
    high, low, radius, special = found
    missing = np.isnan(x)
    limit = np.where(missing, np.nan, np.where(x > 0, function.at_plus, function.at_minus))
    given, finite = x != 0, np.isfinite(limit)
    high = np.where(given, np.where(finite, limit, 0.0), high)
    low = np.where(given, 0.0, low)
    irrational = given & ~missing & function.has_irrational_limits
    radius = np.where(given, np.where(irrational, np.inf, 0.0), radius)
    special = np.where(given, np.where(finite | irrational, 0.0, limit), special)
    return high, low, radius, special
