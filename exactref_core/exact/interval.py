"""Scalar enclosures: exact rationals while they last, else MPFR intervals rounded outward.

A *number* here is a ``gmpy2.mpq`` (exact) or an `Interval` (the real number lies between its ends).
Every operation of `Arithmetic` returns a number that contains the exact result; two rationals give
a rational wherever the operation is rational, so that ties and zeros are seen exactly. Precision
belongs to the `Arithmetic` object: no global gmpy2 context is read or written.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import gmpy2

from exactref_core.exact.enclosure import Interval, Number, Unsure, opened, opens_of
from exactref_core.exact.rationals import Rational, rational

__all__ = [
    "TINY",
    "Arithmetic",
    "Interval",
    "Number",
    "Rational",
    "Unsure",
    "opened",
    "opens_of",
    "rational",
]

# Exponents far beyond any format: no MPFR operation here over- or underflows.
EXPONENT_LIMIT = 2**40

# Nothing tells numbers closer to 0 than 2**-TINY apart, or those beyond 2**TINY, which no format
# comes near: no rational is made of their exponents.
TINY = 2**16

ZERO = gmpy2.mpfr(0)

# A power of 1 + u is kept as a rational up to this many bits; beyond, as an interval.
EXACT_POWER_BITS = 4096


class Arithmetic:
    """Interval arithmetic at one precision (bits)."""

    def __init__(self, precision: int) -> None:
        self.precision = precision
        limits = {"emin": -EXPONENT_LIMIT, "emax": EXPONENT_LIMIT, "precision": precision}
        self.down = gmpy2.context(round=gmpy2.RoundDown, **limits)
        self.up = gmpy2.context(round=gmpy2.RoundUp, **limits)

    def constant(self, value: int | Fraction) -> Number:
        """Return an exact constant."""
        return rational(value)

    def ends(self, number: Number) -> tuple[Any, Any]:
        """Return MPFR numbers below and above ``number``."""
        if isinstance(number, Interval):
            return number.low, number.high
        number = gmpy2.mpq(number)
        return gmpy2.mpfr(number, 0, self.down), gmpy2.mpfr(number, 0, self.up)

    def add(self, left: Number, right: Number) -> Number:
        """Return left + right."""
        if not (isinstance(left, Interval) or isinstance(right, Interval)):
            return left + right
        (a, b), (c, d) = self.ends(left), self.ends(right)
        low, high = self.down.add(a, c), self.up.add(b, d)
        # An end that was rounded is not the number: 1 + 2**-1000 is above 1 at any precision.
        # MPFR says so with each number; a context's flags are shared by threads.
        exact = (c, d) if isinstance(left, Interval) else (a, b)
        strict = bool(low.rc or exact[0].rc), bool(high.rc or exact[1].rc)
        if not isinstance(left, Interval):
            return right.line(low, high, 1, left, strict)
        if not isinstance(right, Interval):
            return left.line(low, high, 1, right, strict)
        if left.kin(right):
            mine = left if left.base is None else left.base
            slope, offset = left.slope + right.slope, left.offset + right.offset
            return self.add(self.multiply(slope, mine), offset) if slope else offset
        opens = (left.open_low or right.open_low, left.open_high or right.open_high)
        return opened(low, high, self, *opens)

    def subtract(self, left: Number, right: Number) -> Number:
        """Return left - right."""
        return self.add(left, -right)

    def multiply(self, left: Number, right: Number) -> Number:
        """Return left * right."""
        if not (isinstance(left, Interval) or isinstance(right, Interval)):
            return left * right
        for factor in (left, right):
            if not isinstance(factor, Interval) and factor == 0:
                return rational(0)
        (a, b), (c, d) = self.ends(left), self.ends(right)
        pairs = ((a, c), (a, d), (b, c), (b, d))
        low = min(self.down.mul(x, y) for x, y in pairs)
        high = max(self.up.mul(x, y) for x, y in pairs)
        if left is right and a < 0 < b:
            low = ZERO  # a square
        if gmpy2.is_nan(low) or gmpy2.is_nan(high):
            # An end of inf stands for a number without a bound: 0 times it is 0.
            some = [(x, y) for x, y in pairs if x != 0 and y != 0]
            low = min([self.down.mul(x, y) for x, y in some], default=ZERO)
            high = max([self.up.mul(x, y) for x, y in some], default=ZERO)
            low, high = min(low, ZERO), max(high, ZERO)
        if not isinstance(left, Interval):
            return right.line(low, high, left, 0)
        if not isinstance(right, Interval):
            return left.line(low, high, right, 0)
        if a < 0 and b <= 0:
            return -self.multiply(-left, right)
        if c < 0 and d <= 0:
            return -self.multiply(left, -right)
        # Of two nonnegative numbers, an open end is lost only where the other factor may be 0.
        sure = (a > 0 or (a == 0 and left.open_low), c > 0 or (c == 0 and right.open_low))
        opens = [
            min(a, c) >= 0 and ((sure[1] and mine) or (sure[0] and theirs))
            for mine, theirs in (
                (left.open_low, right.open_low),
                (left.open_high, right.open_high),
            )
        ]
        return opened(low, high, self, *opens)

    def divide(self, left: Number, right: Number) -> Number:
        """Return left / right; `Unsure` where the divisor may be zero."""
        if not (isinstance(left, Interval) or isinstance(right, Interval)):
            return gmpy2.mpq(left) / right
        if not isinstance(right, Interval) and right != 0:
            return self.multiply(left, 1 / gmpy2.mpq(right))
        (a, b), (c, d) = self.ends(left), self.ends(right)
        if c <= 0 <= d:
            raise Unsure
        if c < 0:
            return -self.divide(left, -right)
        pairs = ((a, c), (a, d), (b, c), (b, d))
        low = min(self.down.div(x, y) for x, y in pairs)
        high = max(self.up.div(x, y) for x, y in pairs)
        top, bottom = opens_of(left), opens_of(right)
        # a / y >= a / d or a / c, by the sign of a; b / y likewise.
        below = top[0] or (a > 0 and bottom[1]) or (a < 0 and bottom[0])
        above = top[1] or (b > 0 and bottom[0]) or (b < 0 and bottom[1])
        return opened(low, high, self, below, above)

    def sqrt(self, number: Number) -> Number:
        """Return the square root of a number that is not negative; rational where it is one.

        The root of n/d in lowest terms is rational exactly where n and d are both squares.
        """
        if not isinstance(number, Interval):
            top, bottom = gmpy2.mpq(number).numerator, gmpy2.mpq(number).denominator
            if gmpy2.is_square(top) and gmpy2.is_square(bottom):
                return gmpy2.mpq(gmpy2.isqrt(top), gmpy2.isqrt(bottom))
        low, high = self.ends(number)
        ends = self.down.sqrt(max(low, ZERO)), self.up.sqrt(max(high, ZERO))
        below, above = opens_of(number)
        # Beyond an open end below 0 there may be a 0.
        return opened(*ends, self, below and low >= 0, above)

    def exp(self, number: Number) -> Number:
        """Return exp(number); exactly 1 for an exact 0, the only rational value at a rational."""
        if not isinstance(number, Interval) and number == 0:
            return rational(1)
        low, high = self.ends(number)
        # exp of a rational other than 0 is irrational: its roundings are not exact.
        opens = [end != 0 or o for end, o in zip((low, high), opens_of(number), strict=True)]
        return opened(self.down.exp(low), self.up.exp(high), self, *opens)

    def log(self, number: Number) -> Number:
        """Return log(number) of a positive number; exactly 0 for an exact 1."""
        if not isinstance(number, Interval) and number == 1:
            return rational(0)
        low, high = self.ends(number)
        if low <= 0:
            raise Unsure
        opens = [end != 1 or o for end, o in zip((low, high), opens_of(number), strict=True)]
        return opened(self.down.log(low), self.up.log(high), self, *opens)

    def expm1(self, number: Number) -> Number:
        """Return exp(number) - 1 without cancellation."""
        if not isinstance(number, Interval) and number == 0:
            return rational(0)
        low, high = self.ends(number)
        return Interval(self.down.expm1(low), self.up.expm1(high), self)

    def quarter_turn(self) -> Number:
        """Return pi / 2."""
        ends = [c.div_2exp(c.const_pi(), 1) for c in (self.down, self.up)]
        return opened(ends[0], ends[1], self, True, True)

    def absolute(self, number: Number) -> Number:
        """Return the magnitude."""
        if not isinstance(number, Interval):
            return abs(number)
        if number.low >= 0:
            return number
        if number.high <= 0:
            return -number
        return Interval(ZERO, max(self.up.minus(number.low), number.high), self)

    def maximum(self, left: Number, right: Number) -> Number:
        """Return the larger of two numbers."""
        if not (isinstance(left, Interval) or isinstance(right, Interval)):
            return max(left, right)
        (a, b), (c, d) = self.ends(left), self.ends(right)
        if a >= d or c >= b:
            return left if a >= d else right
        (mine, first), (theirs, second) = opens_of(left), opens_of(right)
        # The larger number is above every low end that its owner is above.
        below = mine if a > c else theirs if c > a else mine or theirs
        above = first if b > d else second if d > b else first and second
        return opened(max(a, c), max(b, d), self, below, above)

    def minimum(self, left: Number, right: Number) -> Number:
        """Return the smaller of two numbers."""
        return -self.maximum(-left, -right)

    def power(self, unit: Fraction, exponent: int) -> Number:
        """Return (1 + unit)**exponent for a unit roundoff (a power of two)."""
        bits = max(exponent, 1) * (unit.denominator.bit_length() - 1)
        if bits <= EXACT_POWER_BITS:
            return (1 + rational(unit)) ** max(exponent, 0)
        # log1p and exp are each rounded outward; 1 + u would not fit a small precision.
        step = gmpy2.mpfr(rational(unit), 0, self.down)
        low = self.down.exp(self.down.mul(self.down.log1p(step), exponent))
        high = self.up.exp(self.up.mul(self.up.log1p(step), exponent))
        return Interval(low, high, self)

    def power_minus_one(self, unit: Fraction, exponent: int) -> Number:
        """Return (1 + unit)**exponent - 1 without cancellation."""
        bits = max(exponent, 1) * (unit.denominator.bit_length() - 1)
        if bits <= EXACT_POWER_BITS:
            return self.power(unit, exponent) - 1
        step = gmpy2.mpfr(rational(unit), 0, self.down)
        low = self.down.expm1(self.down.mul(self.down.log1p(step), exponent))
        high = self.up.expm1(self.up.mul(self.up.log1p(step), exponent))
        return Interval(low, high, self)

    def bounds(self, number: Number) -> tuple[Rational, Rational]:
        """Return exact rationals below and above ``number`` (equal where it is exact)."""
        if not isinstance(number, Interval):
            return number, number
        tiny, huge = gmpy2.mpq(1, gmpy2.mpz(1) << TINY), gmpy2.mpz(1) << TINY
        low, high = max(min(number.low, huge), -huge), max(min(number.high, huge), -huge)
        below = (-tiny if low < 0 else gmpy2.mpq(0)) if abs(low) < tiny else gmpy2.mpq(low)
        above = (tiny if high > 0 else gmpy2.mpq(0)) if abs(high) < tiny else gmpy2.mpq(high)
        return below, above
