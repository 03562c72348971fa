"""The fast reading of elementary functions: float64 kernels where there are, MPFR for the rest."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from exactref_core.arithmetic.approx import Approx
from exactref_core.exact.double_double import Floats
from exactref_core.exact.elementary import Function
from exactref_core.exact.elementary_arrays import outside, values
from exactref_core.exact.elementary_quick import quick
from exactref_core.exact.plain import plain

if TYPE_CHECKING:
    from exactref_core.arithmetic.fast import FastReading
    from exactref_core.arithmetic.graph import Indices, Node

__all__ = ["blocked", "exact"]

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
    found = plainly(function, high, low, radius) if reading.narrow else None
    if found is not None:
        reading.has_plain = True
    else:
        found = evaluated(function, high, low, radius, reading.precise)
    if x.special is not None:
        found = at_limits(function, np.ravel(x.special), found)
    low, radius, special = (
        None if part is None or not np.any(part) else part.reshape(shape) for part in found[1:]
    )
    return Approx(found[0].reshape(shape), low, radius, special)


Found = tuple[Floats, Floats | None, Floats, Floats | None]


def plainly(
    function: Function, high: Floats, low: Floats | None, radius: Floats | None
) -> Found | None:
    """Return what `evaluated` does in plain float64; None where there is no such kernel."""
    alone = low is None and radius is None
    spread = None if alone else np.asarray(Approx(high, low, radius).spread)
    found = blocked(lambda part, *rest: plain(function, part, *rest), 2, high, spread)
    if found is None:
        return None
    value, off = found
    return value, None, off, limits(function, high, low, radius, (value, off))


def evaluated(
    function: Function, high: Floats, low: Floats | None, radius: Floats | None, precise: bool
) -> Found:
    """Return high, low, radius and specials of a function at finite flat arguments."""
    if not precise:
        found = blocked(lambda *part: quick(function.name, *part), 3, high, low, radius)
        if found is not None:
            special = limits(function, high, low, radius, found)
            return found[0], found[1], found[2], special
    result = values(function, high, low, radius)
    return result.high, result.low, result.radius, result.special


def limits(
    function: Function,
    x: Floats,
    low: Floats | None,
    radius: Floats | None,
    found: tuple[Floats, ...],
) -> Floats | None:
    """Return the infinities and NaN at exact arguments, where what was found becomes 0.

    Beside a low word a high one may be the end of the domain, or a pole, and the number not.
    """
    if radius is not None and np.any(radius):
        return None
    special = outside(function, x)
    if low is not None:
        special = np.where(low == 0, special, 0.0)
    given = special != 0
    if not np.any(given):
        return None
    for part in found:
        part[given] = 0.0
    return special


def blocked(
    ask: Callable[..., tuple[Floats, ...] | None], count: int, *given: Floats | None
) -> tuple[Floats, ...] | None:
    """Return ``count`` arrays of a kernel at flat arrays, in blocks that stay in the cache."""
    size = 0 if given[0] is None else given[0].size
    if size <= 2 * BLOCK:
        return ask(*given)
    result = np.empty((count, size))
    for start in range(0, size, BLOCK):
        part = slice(start, start + BLOCK)
        found = ask(*(None if array is None else array[part] for array in given))
        if found is None:
            return None
        result[:, part] = found
    return tuple(result)


def at_limits(function: Function, x: Floats, found: Found) -> Found:
    """Return the values with those at infinities and NaN put in; unknown where irrational."""
    if not np.any(x):
        return found
    high, low, radius, special = (np.zeros(x.shape) if part is None else part for part in found)
    missing = np.isnan(x)
    limit = np.where(missing, np.nan, np.where(x > 0, function.at_plus, function.at_minus))
    given, finite = x != 0, np.isfinite(limit)
    high = np.where(given, np.where(finite, limit, 0.0), high)
    low = np.where(given, 0.0, low)
    irrational = given & ~missing & function.has_irrational_limits
    radius = np.where(given, np.where(irrational, np.inf, 0.0), radius)
    special = np.where(given, np.where(finite | irrational, 0.0, limit), special)
    return high, low, radius, special
