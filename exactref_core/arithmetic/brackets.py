"""Brackets of nonnegative real numbers in float64 arrays, rounded outward.

The same interface as `exactref_core.exact.interval.Arithmetic`, so that a rule for an error bound
is written once and read as arrays (here) or as one certified number (there). An upper end of inf
says that nothing is known; both ends inf that the quantity has no bound.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np

from exactref_core.exact.interval import Arithmetic

__all__ = ["SMALL", "TINY", "Bracket", "FloatAlgebra"]

Ends: TypeAlias = Any  # a float or a float64 array

UP = 1 + 2.0**-51
DOWN = 1 - 2.0**-51
TINY = 2.0**-1074
SMALL = 2.0**-1000
LARGEST = float(np.finfo(np.float64).max)
POWER_PRECISION = 96


def widen(value: Ends, positive: Any) -> Ends:
    """Return an upper bound on a nonnegative result computed as ``value`` (nearest rounding)."""
    upper = np.asarray(value * UP + np.where(positive, TINY, 0.0))
    return np.where(np.isnan(upper), np.inf, upper)


def narrow(value: Ends) -> Ends:
    """Return a lower bound on a nonnegative result computed as ``value``."""
    lower = np.asarray(value * DOWN - TINY)
    return np.where(np.isnan(lower), 0.0, np.maximum(lower, 0.0))


def kept(result: Ends, *factors: Ends) -> Ends:
    """Return lower ends, of which those that overflow say no more than that they are large.

    Only what had no bound before (a factor of inf) has none after.
    """
    if not np.isinf(result).any():
        return result
    bounded: Any = True
    for factor in factors:
        bounded = bounded & np.isfinite(factor)
    return np.where(np.isinf(result) & bounded, LARGEST, result)


def plain(low: Ends, high: Ends) -> bool:
    """Return whether no result underflowed, vanished or left the range: a factor then suffices."""
    if isinstance(low, float):
        return low >= SMALL and bool(high < np.inf)
    # The methods: np.min and np.max cost as much again as what small arrays take here.
    return bool(low.min(initial=np.inf) >= SMALL and high.max(initial=0.0) < np.inf)


@dataclass(frozen=True, eq=False, slots=True)
class Bracket:
    """Nonnegative numbers between ``low`` and ``high``, elementwise."""

    low: Ends
    high: Ends

    def map(self, function: Callable[[Any], Any]) -> Bracket:
        """Return the same rearrangement of both ends."""
        return Bracket(function(self.low), function(self.high))

    def __add__(self, other: Bracket | int) -> Bracket:
        other = bracket(other)
        low, high = self.low + other.low, self.high + other.high
        if plain(low, high):
            return Bracket(low * DOWN, high * UP)
        return Bracket(narrow(kept(low, self.low, other.low)), widen(high, high > 0))

    __radd__ = __add__

    def __mul__(self, other: Bracket | int) -> Bracket:
        other = bracket(other)
        low, high = self.low * other.low, self.high * other.high
        if plain(low, high):
            return Bracket(low * DOWN, high * UP)
        positive = (np.asarray(self.high) > 0) & (np.asarray(other.high) > 0)
        low = kept(low, self.low, other.low)
        return Bracket(narrow(low), widen(np.where(positive, high, 0.0), positive))

    __rmul__ = __mul__

    def __truediv__(self, other: Bracket | int) -> Bracket:
        """Quotient; zero over anything is zero, anything else over zero has no bound."""
        other = bracket(other)
        positive = np.asarray(self.high) > 0
        high = np.where(positive, self.high / other.low, 0.0)
        low = np.where(np.asarray(self.low) > 0, self.low / other.high, 0.0)
        low = kept(low, self.low, np.where(np.asarray(other.high) > 0, 0.0, np.inf))
        return Bracket(narrow(low), widen(high, positive))


def bracket(value: Bracket | int) -> Bracket:
    """Return a bracket as it is, a small integer exactly."""
    return value if isinstance(value, Bracket) else Bracket(float(value), float(value))


@lru_cache(maxsize=4096)
def outward(numerator: int, denominator: int) -> Bracket:
    """Return a constant's bracket; exact where float64 holds it."""
    value = Fraction(numerator, denominator)
    return around(value, value)


def around(low: Any, high: Any) -> Bracket:
    """Return the bracket of nonnegative rationals, of which no upper end is known beyond LARGEST.

    Exact where they are one number that float64 holds.
    """
    if high > LARGEST:
        return Bracket(below(low), np.inf)
    near = float(high)
    if low == high == near:
        return Bracket(near, near)
    return Bracket(below(low), float(np.nextafter(near, np.inf)))


def below(value: Any) -> float:
    """Return a float64 number below a nonnegative rational."""
    return float(np.nextafter(float(value), 0.0)) if value < LARGEST else LARGEST


@lru_cache(maxsize=4096)
def powers(unit: Fraction, exponent: int, minus_one: bool) -> Bracket:
    """Return the bracket of (1 + unit)**exponent, less one where asked."""
    arithmetic = Arithmetic(POWER_PRECISION)
    power = arithmetic.power_minus_one if minus_one else arithmetic.power
    return around(*arithmetic.bounds(power(unit, exponent)))


class FloatAlgebra:
    """Rules of `Arithmetic` on brackets of nonnegative numbers."""

    def constant(self, value: int | Fraction) -> Bracket:
        """Return an exact constant's bracket."""
        return outward(value.numerator, value.denominator)

    def power(self, unit: Fraction, exponent: int) -> Bracket:
        """Return (1 + unit)**exponent."""
        return powers(unit, exponent, False)

    def power_minus_one(self, unit: Fraction, exponent: int) -> Bracket:
        """Return (1 + unit)**exponent - 1."""
        return powers(unit, exponent, True)

    def maximum(self, left: Bracket, right: Bracket) -> Bracket:
        """Return the larger of two."""
        return Bracket(np.maximum(left.low, right.low), np.maximum(left.high, right.high))

    def minimum(self, left: Bracket, right: Bracket) -> Bracket:
        """Return the smaller of two."""
        return Bracket(np.minimum(left.low, right.low), np.minimum(left.high, right.high))

    def monus(self, left: Bracket, right: Bracket) -> Bracket:
        """Return max(left - right, 0)."""
        low = left.low - right.high
        high = left.high - right.low
        high = np.where(np.isnan(high), left.high, high)
        return Bracket(narrow(np.maximum(low, 0.0)), widen(np.maximum(high, 0.0), high > 0))

    def sqrt(self, value: Bracket) -> Bracket:
        """Return the square root."""
        return Bracket(narrow(np.sqrt(value.low)), widen(np.sqrt(value.high), value.high > 0))

    def quotient(self, top: Bracket, bottom: Bracket) -> Bracket:
        """Return top / bottom: 0 where top is 0, no bound where bottom is 0."""
        result = top / bottom
        none = (np.asarray(bottom.high) == 0) & (np.asarray(top.low) > 0)
        return Bracket(np.where(none, np.inf, result.low), result.high)

    def product_change(
        self, product: Bracket, a: Bracket, b: Bracket, da: Bracket, db: Bracket
    ) -> Bracket:
        """Return (a + da)(b + db) - a b."""
        return a * db + b * da + da * db

    def quotient_change(
        self, quotient: Bracket, a: Bracket, b: Bracket, da: Bracket, db: Bracket
    ) -> Bracket:
        """Return (a + da) / (b - db) - a / b, given a / b: (da + a/b db) / (b - db)."""
        return self.quotient(da + quotient * db, self.monus(b, db))

    def root_change(self, root: Bracket, a: Bracket, da: Bracket) -> Bracket:
        """Return how far sqrt(a -+ da) lies from ``root`` = sqrt(a), 0 being the least root.

        min(a, da) / (root + sqrt(max(a - da, 0))) below, da / (root + sqrt(a + da)) above.
        """
        below = root + self.sqrt(self.monus(a, da))
        above = root + self.sqrt(a + da)
        down = self.quotient(self.minimum(a, da), below)
        return self.maximum(down, self.quotient(da, above))

    def between(self, left: Bracket, right: Bracket) -> Bracket:
        """Return the bracket from the lower end of one to the upper end of another."""
        return Bracket(left.low, right.high)

    def gate(self, condition: Bracket, value: Bracket) -> Bracket:
        """Return ``value`` where ``condition`` is positive, else 0."""
        low = np.where(np.asarray(condition.low) > 0, value.low, 0.0)
        return Bracket(low, np.where(np.asarray(condition.high) > 0, value.high, 0.0))
