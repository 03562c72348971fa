"""Exact rationals: from Python's numbers, and sums of many over one denominator."""

from __future__ import annotations

import numbers
from fractions import Fraction
from typing import Any, TypeAlias

import gmpy2

__all__ = ["Rational", "exactly", "rational", "rational_sum", "scale"]

# Common denominators of more bits are too long for each of many terms to have one. Those of binary
# fractions of any format are shorter: a product of float64 numbers has 2148.
LONG = 1 << 16

Rational: TypeAlias = Any  # gmpy2.mpq; gmpy2's stubs do not name it as a type


def rational(value: int | float | Fraction) -> Rational:
    """Return a finite number as an exact rational."""
    if isinstance(value, Fraction):
        return gmpy2.mpq(value.numerator, value.denominator)
    return gmpy2.mpq(value)


def exactly(value: Any) -> Fraction:
    """Return a real number of Python's or NumPy's as a Fraction.

    ValueError or OverflowError where it is not finite.
    """
    if isinstance(value, numbers.Rational):
        return Fraction(int(value.numerator), int(value.denominator))
    return Fraction(*value.as_integer_ratio())


def rational_sum(terms: list[Rational]) -> Rational:
    """Return an exact sum of rationals, over one common denominator.

    Binary fractions, which nearly all are, share the largest denominator as their multiple. Many
    others would each be as long as all denominators together: halves of them are added up apart.
    """
    if not terms:
        return gmpy2.mpq(0)
    common = denominator(terms)
    if common is None:
        half = len(terms) // 2
        return rational_sum(terms[:half]) + rational_sum(terms[half:])
    return gmpy2.mpq(sum(x.numerator * (common // x.denominator) for x in terms), common)


def denominator(terms: list[Rational]) -> Any:
    """Return a common denominator, None where it is `LONG`; a lone term's is not."""
    common = gmpy2.mpz(1)
    for one in {x.denominator for x in terms}:
        common = gmpy2.lcm(common, one)
        if common.bit_length() > LONG and len(terms) > 1:
            return None
    return common


def scale(terms: list[Rational]) -> tuple[Any, list[Any]] | None:
    """Return a common denominator and the integers that the terms are over it.

    None where it is too long for there to be so many of them.
    """
    common = denominator(terms)
    if common is None:
        return None
    return common, [x.numerator * (common // x.denominator) for x in terms]
