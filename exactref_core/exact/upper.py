"""Upper bounds on nonnegative real numbers: m * 2**e with a short m, rounded up, any exponent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import gmpy2

from exactref_core.exact.interval import Rational

__all__ = ["Upper", "below", "exponential", "root_above", "upper"]

BITS = 96


@dataclass(frozen=True, slots=True)
class Upper:
    """The number ``mantissa`` * 2**``exponent``, at or above some quantity."""

    mantissa: Any
    exponent: int = 0

    def __add__(self, other: Upper) -> Upper:
        if not self.mantissa or not other.mantissa:
            return self if self.mantissa else other
        big, small = (self, other) if self.top >= other.top else (other, self)
        if big.top - small.top > 2 * BITS:
            return short(big.mantissa * (1 << BITS) + 1, big.exponent - BITS)
        low = min(big.exponent, small.exponent)
        total = (big.mantissa << (big.exponent - low)) + (small.mantissa << (small.exponent - low))
        return short(total, low)

    def __mul__(self, other: Upper) -> Upper:
        return short(self.mantissa * other.mantissa, self.exponent + other.exponent)

    def __lt__(self, other: Upper) -> bool:
        if not self.mantissa or not other.mantissa or self.top != other.top:
            tops = [x.top if x.mantissa else None for x in (self, other)]
            if None in tops:
                return bool(other.mantissa) and not self.mantissa
            return self.top < other.top
        low = min(self.exponent, other.exponent)
        left = self.mantissa << (self.exponent - low)
        return bool(left < other.mantissa << (other.exponent - low))

    @property
    def top(self) -> int:
        """The exponent of the least power of two above the number."""
        return int(self.mantissa.bit_length()) + self.exponent

    def scaled(self, exponent: int) -> Upper:
        """Return the number times 2**exponent."""
        return Upper(self.mantissa, self.exponent + exponent)

    def sqrt(self) -> Upper:
        """Return the square root."""
        if not self.mantissa:
            return self
        exponent = self.exponent - 2 * BITS
        exponent -= exponent % 2
        return short(gmpy2.isqrt(self.mantissa << (self.exponent - exponent)) + 1, exponent // 2)

    def rational(self) -> Rational:
        """Return the number as a rational; only for exponents that fit memory."""
        if self.exponent >= 0:
            return gmpy2.mpq(self.mantissa << self.exponent)
        return gmpy2.mpq(self.mantissa, gmpy2.mpz(1) << -self.exponent)


def short(mantissa: Any, exponent: int) -> Upper:
    """Return a number with its mantissa rounded up to BITS bits."""
    excess = int(mantissa.bit_length()) - BITS
    if excess <= 0:
        return Upper(mantissa, exponent)
    return Upper(-((-mantissa) >> excess), exponent + excess)


def below(value: Any, exponent: int) -> Upper:
    """Return value * 2**exponent for a nonnegative integer, rounded down."""
    excess = max(int(gmpy2.mpz(value).bit_length()) - BITS, 0)
    return Upper(gmpy2.mpz(value) >> excess, exponent + excess)


def upper(value: Any) -> Upper:
    """Return a rational (or an integer) that is not negative, rounded up."""
    value = gmpy2.mpq(value)
    if value.denominator == 1:
        return short(gmpy2.mpz(value.numerator), 0)
    shift = max(BITS + value.denominator.bit_length() - value.numerator.bit_length(), 0)
    return short(-((-value.numerator << shift) // value.denominator), -shift)


def exponential(value: Rational, bits: int) -> tuple[Any, Any, int]:
    """Return integers and an exponent with low * 2**e <= exp(value) <= high * 2**e.

    exp(v) = 2**k exp(v - k log 2) with k near v / log 2, so that no exponent of MPFR is exceeded.
    """
    if value == 0:
        return gmpy2.mpz(1), gmpy2.mpz(1), 0
    size = max(int(abs(value.numerator) // value.denominator).bit_length(), 1)
    precision = bits + 2 * size + 16
    down = gmpy2.context(round=gmpy2.RoundDown, precision=precision)
    up = gmpy2.context(round=gmpy2.RoundUp, precision=precision)
    logs = [context.log(gmpy2.mpfr(2)) for context in (down, up)]
    whole = int(gmpy2.mpz(gmpy2.mpq(value) / gmpy2.mpq(logs[0])))
    logs = logs if whole < 0 else logs[::-1]
    ends = []
    for context, log in zip((down, up), logs, strict=True):
        rest = value - whole * gmpy2.mpq(log)
        ends.append(gmpy2.mpq(context.exp(gmpy2.mpfr(rest, 0, context))))
    scale = gmpy2.mpz(1) << (bits + 2)
    low, high = ends[0] * scale, ends[1] * scale
    return (
        low.numerator // low.denominator,
        -((-high.numerator) // high.denominator),
        whole - bits - 2,
    )


def root_above(square: Rational) -> Rational:
    """Return a rational at or above the square root of a rational; 0 for 0."""
    return upper(square).sqrt().rational() if square else gmpy2.mpq(0)
