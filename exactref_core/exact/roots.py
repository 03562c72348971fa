"""Interval arithmetic that sees zeros among sums, products and quotients of square roots."""

from __future__ import annotations

from dataclasses import replace

import gmpy2

from exactref_core.exact.interval import Arithmetic, Interval, Number, rational
from exactref_core.exact.lines import LineArithmetic
from exactref_core.exact.separation import Separation, of_rational, root_key

__all__ = ["RootArithmetic", "equal", "told"]


def separation(number: Number) -> Separation | None:
    """Return how near to 0 a number can be; None where that is not known."""
    return number.separation if isinstance(number, Interval) else of_rational(number)


def marked(result: Number, left: Number, right: Number, how: str) -> Number:
    """Return a sum ("plus"), product ("times") or quotient ("over") with its separation."""
    if not isinstance(result, Interval):
        return result
    mine, theirs = separation(left), separation(right)
    if mine is None or theirs is None:
        return result
    return replace(result, separation=getattr(mine, how)(theirs))


def equal(arithmetic: Arithmetic, left: Number, right: Number) -> bool:
    """Return whether two numbers are certainly equal."""
    difference = arithmetic.subtract(left, right)
    return not isinstance(difference, Interval) and bool(difference == 0)


def told(arithmetic: Arithmetic, x: Number) -> Number:
    """Return a number of roots as -1, 0 or 1, the ends of domains, where it is one of these."""
    if isinstance(x, Interval) and x.separation is not None:
        for value in map(rational, (-1, 0, 1)):
            if x.low <= value <= x.high and equal(arithmetic, x, value):
                return value
    return x


class RootArithmetic(LineArithmetic):
    """Interval arithmetic in which a number of roots too near to 0 to be anything else is 0."""

    def add(self, left: Number, right: Number) -> Number:
        """Return left + right."""
        result = marked(super().add(left, right), left, right, "plus")
        if not isinstance(result, Interval) or result.separation is None:
            return result
        if not result.low <= 0 <= result.high:
            return result
        size = max(self.up.minus(result.low), result.high)
        if size == 0 or gmpy2.frexp(size)[0] <= -result.separation.least:  # size < 2**exponent
            return rational(0)
        return result

    def multiply(self, left: Number, right: Number) -> Number:
        """Return left * right."""
        return marked(super().multiply(left, right), left, right, "times")

    def divide(self, left: Number, right: Number) -> Number:
        """Return left / right; `Unsure` where the divisor may be zero."""
        return marked(super().divide(left, right), left, right, "over")

    def sqrt(self, number: Number) -> Number:
        """Return the square root of a number that is not negative; rational where it is one."""
        result, apart = super().sqrt(number), separation(number)
        if not isinstance(result, Interval) or apart is None:
            return result
        key = number if isinstance(number, Interval) else root_key(number)
        return replace(result, separation=apart.root(key))

    def absolute(self, number: Number) -> Number:
        """Return the magnitude."""
        result = super().absolute(number)
        if not isinstance(number, Interval) or not number.low < 0 < number.high:
            return result
        return replace(result, separation=number.separation)

    def maximum(self, left: Number, right: Number) -> Number:
        """Return the larger of two numbers."""
        result = super().maximum(left, right)
        if not isinstance(result, Interval) or result in (left, right):
            return result
        return left if equal(self, left, right) else result
