"""Functions of two numbers at float64 numbers: pairs with proven radii, by MPFR."""

from __future__ import annotations

from typing import Any

import gmpy2
import numpy as np

from exactref_core.exact.elementary_arrays import (
    ARITHMETIC,
    LARGEST,
    NEAREST,
    PAIR,
    TINY,
    interval,
    middle,
)
from exactref_core.exact.elementary_rows import float_ends
from exactref_core.exact.interval import Interval, Number, Unsure, rational
from exactref_core.exact.pairs import PairFunction, is_special

__all__ = ["argument", "between", "ends", "row"]

Row = tuple[float, float, float, float]
UNKNOWN = (0.0, 0.0, np.inf, 0.0)


def between(low: float, high: float) -> Number:
    """Return a nonnegative number that is known by its ends."""
    if low == high:
        return rational(low)
    return Interval(gmpy2.mpfr(low), gmpy2.mpfr(high), ARITHMETIC)


def ends(number: Number) -> tuple[float, float]:
    """Return float64 numbers below and above a nonnegative number."""
    low, high = float_ends(*ARITHMETIC.ends(number))
    return max(low, 0.0), high


def argument(high: float, low: float, radius: float, special: float) -> Any:
    """Return what an argument is, as `PairFunction` takes it; None where nothing is known."""
    if special != 0:
        return special
    if high == 0 and low == 0 and radius == 0:
        return rational(0) if np.copysign(1.0, high) > 0 else -0.0
    return interval(high, low, radius)


def row(function: PairFunction, *numbers: float) -> Row:
    """Return high, low, radius and special of one value."""
    x, y = numbers[:4], numbers[4:]
    if x[1] == x[2] == y[1] == y[2] == 0:
        return at_floats(function, x[3] if x[3] != 0 else x[0], y[3] if y[3] != 0 else y[0])
    first, second = argument(*x), argument(*y)
    if first is None or second is None:
        return UNKNOWN
    try:
        found = function.value(ARITHMETIC, first, second)
    except Unsure:
        return UNKNOWN
    if is_special(found):
        return 0.0, 0.0, 0.0, found
    return (found, 0.0, 0.0, 0.0) if isinstance(found, float) else middle(found)


def at_floats(function: PairFunction, x: float, y: float) -> Row:
    """Return one value at float64 numbers, infinities or NaN."""
    z = function.evaluate(NEAREST, gmpy2.mpfr(x), gmpy2.mpfr(y))
    unrounded = z.rc == 0
    if not unrounded and (z == 0 or gmpy2.is_infinite(z)):  # beyond MPFR's exponents
        return UNKNOWN
    high = float(z)
    if not gmpy2.is_finite(z):
        return 0.0, 0.0, 0.0, high
    if not abs(high) <= LARGEST:
        return UNKNOWN
    rest = NEAREST.sub(z, high)
    low = float(rest)
    if unrounded and low == rest and (high != 0 or z == 0):
        return high, low, 0.0, 0.0
    return high, low, abs(high) * PAIR + TINY, 0.0
