"""Exact rationals: from Python's numbers, and sums of many over one denominator."""

from __future__ import annotations

import numbers
from fractions import Fraction
from typing import Any, TypeAlias

import gmpy2

__all__ = ["Rational", "exactly", "rational", "rational_sum", "scale"]

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

    Binary fractions, which nearly all are, share the largest denominator as their multiple.
    """
    if not terms:
        return gmpy2.mpq(0)
    common, scaled = scale(terms)
    return gmpy2.mpq(sum(scaled), common)


def scale(terms: list[Rational]) -> tuple[Any, list[Any]]:
    """Return a common denominator and the integers that the terms are over it."""
    common = gmpy2.mpz(1)
    for denominator in {x.denominator for x in terms}:
        common = gmpy2.lcm(common, denominator)
    return common, [x.numerator * (common // x.denominator) for x in terms]
