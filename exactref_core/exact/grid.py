"""Certified numbers rounded to a grid or a format; both ends of an enclosure must agree."""

from __future__ import annotations

import math

import gmpy2

from exactref_core.exact.context import DEFAULT
from exactref_core.exact.interval import (
    TINY,
    Arithmetic,
    Interval,
    Number,
    Rational,
    Unsure,
    opens_of,
    rational,
)
from exactref_core.exact.roots import equal
from exactref_core.formats.format import Format
from exactref_core.formats.rounding import Overflow, Rounding, round_ratio

__all__ = ["LEAST", "ceil_number", "floor_number", "reaches", "round_number", "upward"]

UPWARD = 64
# Of a number that is known so well beside a number of the grid the next one is taken.
BESIDE = gmpy2.mpq(1, gmpy2.mpz(1) << 256)
# The least error that is told from others: far below every format's smallest subnormal number.
LEAST = gmpy2.mpq(1, gmpy2.mpz(1) << 1200)
HUGE = gmpy2.mpfr(gmpy2.mpz(1) << 4096, 0, DEFAULT)
# Next to the least exponent that MPFR has here (2**30): what is closer to 0 has no known sign.
VANISHING = gmpy2.mpfr("0x1p-536870912", 0, 16, DEFAULT)


def floor_rational(value: Rational, precision: int, eta_exponent: int) -> Rational:
    """Return the largest number of the grid at or below ``value``; exponents unbounded above."""
    if value == 0:
        return value
    top, bottom = abs(value.numerator), value.denominator
    exponent = top.bit_length() - bottom.bit_length()
    if (top << max(-exponent, 0)) < (bottom << max(exponent, 0)):
        exponent -= 1
    unit = max(exponent - precision + 1, eta_exponent)
    scale = gmpy2.mpq(gmpy2.mpz(1) << unit) if unit >= 0 else gmpy2.mpq(1, gmpy2.mpz(1) << -unit)
    quotient = value / scale
    return (quotient.numerator // quotient.denominator) * scale


def upward(arithmetic: Arithmetic, value: Number) -> Number:
    """Return a positive number that enclosures know nothing else of, rounded up to UPWARD bits.

    A bound so rounded is a rational: what is computed from it then has no ties but those that
    algebra can see. It grows by a factor below 1 + 2**(1 - UPWARD), or to 2 LEAST. Beside a number
    of so few bits, where it may be on either side of it, it grows to the next by that factor.
    """
    if not isinstance(value, Interval) or value.separation is not None:
        return value
    low, high = limited(arithmetic, value)
    if high <= LEAST:
        return LEAST
    if low <= LEAST:
        if high <= 2 * LEAST:
            return 2 * LEAST
        raise Unsure
    if value.open_low and low < high:  # past no multiple of 2**-TINY, of which the grid is made
        low += gmpy2.mpq(1, gmpy2.mpz(1) << (TINY + 1)) / low.denominator
    if value.open_high and low < high:
        high -= gmpy2.mpq(1, gmpy2.mpz(1) << (TINY + 1)) / high.denominator
    ends = [-floor_rational(-end, UPWARD, -TINY) for end in (low, high)]
    if ends[0] != ends[1] and high - low > low * BESIDE:
        raise Unsure
    return ends[1]


def floor_number(arithmetic: Arithmetic, value: Number, form: Format) -> Rational:
    """Return a certified number's floor on the unbounded grid of ``form``, or raise `Unsure`."""
    low, high = inside(arithmetic, value, form)
    floor = floor_rational(low, form.precision, form.eta_exponent)
    above = floor if low == high else floor_rational(high, form.precision, form.eta_exponent)
    if above == floor or equal(arithmetic, value, above):
        return above
    raise Unsure


def limited(arithmetic: Arithmetic, value: Number) -> tuple[Rational, Rational]:
    """Return the ends of a number; HUGE stands for all beyond it, as no format tells them apart."""
    if not isinstance(value, Interval) or max(abs(value.low), abs(value.high)) < HUGE:
        return arithmetic.bounds(value)
    low, high = (min(max(end, -HUGE), HUGE) for end in (value.low, value.high))
    return arithmetic.bounds(Interval(low, high, arithmetic))


def inside(arithmetic: Arithmetic, value: Number, form: Format) -> tuple[Rational, Rational]:
    """Return the ends of a number; open ones moved inward past no value or midpoint of ``form``.

    Those are multiples of eta/4, so that one other than n/d is at least eta/(4d) away from it.
    """
    low, high = limited(arithmetic, value)
    if low == high:  # exact, or all of it beyond HUGE
        return low, high
    open_low, open_high = opens_of(value)
    if isinstance(value, Interval):
        # An end that HUGE stands for is not next to anything.
        open_low = open_low and abs(value.low) < HUGE
        open_high = open_high and abs(value.high) < HUGE
        # A tiny end was moved to 0.
        open_low = open_low or (low == 0 and value.low > 0)
        open_high = open_high or (high == 0 and value.high < 0)
    least = gmpy2.mpq(1, gmpy2.mpz(1) << (3 - form.eta_exponent))
    if open_low:
        low += least / low.denominator
    if open_high:
        high -= least / high.denominator
    return low, high


def ceil_number(arithmetic: Arithmetic, value: Number, form: Format) -> Rational:
    """Return the ceiling of a certified number on the unbounded grid of ``form``."""
    return -floor_number(arithmetic, -value, form)


def round_number(
    arithmetic: Arithmetic,
    value: Number,
    form: Format,
    rounding: Rounding = Rounding.NEAREST_EVEN,
    overflow: Overflow = Overflow.IEEE,
    negative_zero: bool = False,
) -> float:
    """Return a certified number rounded once into ``form``, or raise `Unsure`.

    A zero whose sign no precision tells is 0.0.
    """
    low, high = inside(arithmetic, value, form)
    first = round_ratio(low.numerator, low.denominator, form, rounding, overflow, negative_zero)
    if low == high:
        return first
    second = round_ratio(high.numerator, high.denominator, form, rounding, overflow, negative_zero)
    same = first == second or (first != first and second != second)
    if same and math.copysign(1.0, first) == math.copysign(1.0, second):
        return first
    if same and vanishes(value):
        return 0.0
    for tie in ties(first, second, form):
        if low <= tie <= high and equal(arithmetic, value, tie):
            return round_ratio(tie.numerator, tie.denominator, form, rounding, overflow)
    raise Unsure


def vanishes(value: Number) -> bool:
    """Return whether a number has both signs at any precision, and every format stores a zero.

    Softmax weights of masked keys are e**-3.4e38, below all exponents; a sum of products with them
    is stored as a zero, of which a sign could be told by algebra alone.
    """
    if not isinstance(value, Interval):
        return False
    return bool(-VANISHING < value.low <= 0 <= value.high < VANISHING)


def ties(first: float, second: float, form: Format) -> list[Rational]:
    """Return where a rounding may change from ``first`` to ``second``, neighbouring values."""
    given = [rational(x) for x in (first, second) if math.isfinite(x)]
    if len(given) == 2:
        return [*given, (given[0] + given[1]) / 2]
    ends = [rational(form.max), rational(form.overflow_threshold)]
    return [*ends, *(-end for end in ends)]


def reaches(arithmetic: Arithmetic, value: Number, threshold: Rational) -> bool:
    """Return whether a certified number is at or above ``threshold``, or raise `Unsure`."""
    low, high = limited(arithmetic, value)
    if low >= threshold:
        return True
    if high < threshold:
        return False
    if equal(arithmetic, value, threshold):
        return True
    raise Unsure
