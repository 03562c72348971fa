"""Fused multiply-adds of float arrays, rounded once (S. Boldo, G. Melquiond, 2008)."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from exactref_core.exact.double_double import Floats, two_prod, two_sum

__all__ = ["fused"]

# Exponents between which no product, no error of one, and no splitting leaves float64.
LEAST, MOST = 2.0**-400, 2.0**400


def fused(x: Any, y: Any, z: Any, dtype: Any) -> Any:
    """Return x * y + z in float32 or float64.

    A sum rounded to odd at 53 bits rounds to 24 as the exact one does; in float64, what is left of
    the three-term sum is rounded to odd before the last addition.
    """
    x, y, z = (np.asarray(v, np.float64) for v in np.broadcast_arrays(x, y, z))
    if np.dtype(dtype) == np.float32:
        return odd(*two_sum(x * y, z)).astype(np.float32)
    result = np.asarray(x * y + z)
    finite = np.isfinite(x) & np.isfinite(y) & np.isfinite(z)
    safe = finite.copy()
    for v in (x, y, z):
        size = np.abs(v)
        safe &= (v == 0) | ((size > LEAST) & (size < MOST))
    a, b, c = x[safe], y[safe], z[safe]
    product, rest = two_prod(a, b)
    top, tail = two_sum(c, rest)
    top, low = two_sum(product, top)
    exact_zero = (top == 0) & (low == 0) & (tail == 0)
    result[safe] = np.where(exact_zero, result[safe], top + odd(*two_sum(low, tail)))
    for place in np.argwhere(finite & ~safe):
        i = tuple(place)
        result[i] = once(Fraction(x[i]) * Fraction(y[i]) + Fraction(z[i]), float(result[i]))
    return result


def odd(high: Floats, low: Floats) -> Floats:
    """Return high + low rounded to odd: an inexact result ends in a one."""
    even = (np.ascontiguousarray(high).view(np.int64) & 1) == 0
    moved = np.nextafter(high, np.where(low > 0, np.inf, -np.inf))
    return np.where(even.reshape(high.shape) & (low != 0) & np.isfinite(high), moved, high)


def once(exact: Fraction, zero: float) -> float:
    """Return a rational rounded to float64; ``zero`` has the sign of an exact zero."""
    if exact == 0:
        return zero
    try:
        return exact.numerator / exact.denominator
    except OverflowError:
        return float("inf") if exact > 0 else -float("inf")
