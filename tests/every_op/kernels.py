"""Simulated arithmetic of a kernel: correctly rounded float32 or float64 steps on arrays.

NumPy rounds +, -, *, / and sqrt of float32 and float64 arrays once. A fused multiply-add is made of
exact products and sums that are rounded to odd before the last rounding, which makes that one the
only one (Boldo and Melquiond, "Emulation of a FMA and correctly rounded sums", 2008).
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from tests.every_op.kernels_formats import Spec, store

TINY = {"float32": 2.0**-126, "float64": 2.0**-1022}
# Exponents between which neither a product, nor its error, nor Dekker's splitting leave float64.
SAFE = 2.0**-400, 2.0**400


class Machine:
    """Steps in one compute format; with ``flush``, subnormal inputs and results become zero.

    ``flush`` is None, "always", or a generator: it then flushes about half of the subnormals.
    """

    def __init__(self, name: str, flush: str | np.random.Generator | None = None) -> None:
        self.name, self.flush = name, flush
        self.dtype = np.dtype(name)
        self.largest = float(np.finfo(name).max)

    def load(self, values: np.ndarray, tiny: float = 0.0) -> np.ndarray:
        """Input values in the compute format; those below ``tiny`` are subnormal inputs."""
        with np.errstate(all="ignore"):
            return self.flushed(np.asarray(values).astype(self.dtype), tiny)

    def flushed(self, values: np.ndarray, tiny: float | None = None) -> np.ndarray:
        if self.flush is None:
            return values
        small = np.abs(values) < (TINY[self.name] if tiny is None else tiny)
        if not isinstance(self.flush, str):
            small &= self.flush.random(values.shape) < 0.5
        return np.where(small, np.copysign(values.dtype.type(0), values), values)

    def add(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return self.flushed(a + b)

    def subtract(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return self.flushed(a - b)

    def multiply(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return self.flushed(a * b)

    def divide(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return self.flushed(a / b)

    def sqrt(self, a: np.ndarray) -> np.ndarray:
        return self.flushed(np.sqrt(a))

    def fma(self, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
        """a * b + c, rounded once."""
        fused = fma32 if self.name == "float32" else fma64
        return self.flushed(fused(*np.broadcast_arrays(a, b, c)))


class NarrowMachine(Machine):
    """Steps in a format of so few bits that float64 holds exact sums and products.

    Quotients and square roots of numbers of a few bits are nowhere near a tie of those bits, so
    that their float64 values round as the exact ones do.
    """

    def __init__(self, spec: Spec, flush: str | np.random.Generator | None = None) -> None:
        self.name, self.flush, self.spec = spec.name, flush, spec
        self.dtype = np.dtype("float64")
        self.largest = spec.largest

    def flushed(self, values: np.ndarray, tiny: float | None = None) -> np.ndarray:
        values = store(values, self.spec)
        if self.flush is None:
            return values
        small = np.abs(values) < (self.spec.tiny if tiny is None else tiny)
        if not isinstance(self.flush, str):
            small &= self.flush.random(values.shape) < 0.5
        return np.where(small, np.copysign(0.0, values), values)

    def fma(self, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
        return self.flushed(a * b + c)


def two_sum(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """a + b == high + low exactly (Knuth), where nothing overflows."""
    high = a + b
    part = high - a
    return high, (a - (high - part)) + (b - part)


def to_odd(high: np.ndarray, low: np.ndarray) -> np.ndarray:
    """high + low rounded to odd: inexact results end in a one."""
    even = (np.ascontiguousarray(high).view(np.int64) & 1) == 0
    moved = np.nextafter(high, np.where(low > 0, np.inf, -np.inf))
    return np.where(even & (low != 0) & np.isfinite(high), moved, high)


def fma32(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """float64 holds float32 products exactly, and a sum rounded to odd rounds once more as the
    exact one would, as 53 >= 24 + 2."""
    product = a.astype(np.float64) * b.astype(np.float64)
    high, low = two_sum(product, c.astype(np.float64))
    return to_odd(high, low).astype(np.float32)


def split(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Two halves of at most 26 bits (Veltkamp)."""
    big = 134217729.0 * x
    high = big - (big - x)
    return high, x - high


def fma64(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Boldo and Melquiond's way where exponents are moderate, rationals elsewhere."""
    shape = a.shape
    a, b, c = (np.ravel(x) for x in (a, b, c))
    result = a * b + c
    finite = np.isfinite(a) & np.isfinite(b) & np.isfinite(c)
    safe = finite.copy()
    for x in (a, b, c):
        safe &= (x == 0) | ((np.abs(x) > SAFE[0]) & (np.abs(x) < SAFE[1]))
    x, y, z = a[safe], b[safe], c[safe]
    (xh, xl), (yh, yl) = split(x), split(y)
    high = x * y
    low = ((xh * yh - high) + xh * yl + xl * yh) + xl * yl
    top, tail = two_sum(z, low)
    top, rest = two_sum(high, top)
    result[safe] = top + to_odd(*two_sum(tail, rest))
    for i in np.flatnonzero(finite & ~safe).tolist():
        result[i] = once(Fraction(a[i]) * Fraction(b[i]) + Fraction(c[i]), result[i])
    return result.reshape(shape)


def once(exact: Fraction, zero: float) -> float:
    """A rational rounded once to float64 (int / int is); ``zero`` has the sign of an exact zero."""
    if exact == 0:
        return float(zero)
    try:
        return exact.numerator / exact.denominator
    except OverflowError:
        return np.inf if exact > 0 else -np.inf
