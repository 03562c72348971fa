"""Certified error bounds: the algebra of nonnegative numbers, one certified number at a time."""

from __future__ import annotations

import gmpy2

from exactref_core.exact.grid import HUGE
from exactref_core.exact.interval import (
    Interval,
    Number,
    Unsure,
    rational,
)
from exactref_core.exact.rationals import rational_sum
from exactref_core.exact.roots import RootArithmetic

__all__ = [
    "ScalarAlgebra",
    "Unbounded",
    "check_bounded",
    "check_told",
    "is_exact_zero",
    "is_infinite",
    "is_zero",
]


# From here on float64, the widest format, rounds to infinity.
INFINITE = (1 << 1024) - (1 << 970)


class Unbounded(ArithmeticError):
    """No finite bound exists: a divisor may be zero, or an operand may take any value."""


def is_zero(number: Number) -> bool:
    """Return whether a nonnegative number is zero; `Unsure` where it cannot be told."""
    if not isinstance(number, Interval):
        return bool(number == 0)
    if number.low > 0 or (number.low == 0 and number.open_low):
        return False
    if number.high == 0:
        return True
    raise Unsure


def check_told(number: Number, error: Number) -> None:
    """Raise `Unbounded` where nothing tells a number from its error, at any precision.

    Both are beyond all exponents then, and not multiples of one number: what their difference is
    no enclosure knows.
    """
    if not (isinstance(number, Interval) and isinstance(error, Interval)):
        return
    if gmpy2.is_infinite(number.high) and gmpy2.is_infinite(error.high) and not number.kin(error):
        raise Unbounded


def check_bounded(error: Number) -> None:
    """Raise `Unbounded` where an error may be anything, at any precision: its upper end is beyond
    all exponents, and its lower end is not beyond all formats."""
    if isinstance(error, Interval) and gmpy2.is_infinite(error.high) and error.low < HUGE:
        raise Unbounded


def is_exact_zero(number: Number) -> bool:
    """Return whether a number is the rational 0."""
    return not isinstance(number, Interval) and bool(number == 0)


def is_infinite(number: Number) -> bool:
    """Return whether a nonnegative number is one that every format stores as infinity.

    `Unsure` where it cannot be told; of a number whose upper end is beyond all exponents, no
    precision may ever tell, and it is not known to be one.
    """
    if not isinstance(number, Interval):
        return bool(number >= INFINITE)
    if number.low < INFINITE <= number.high and not gmpy2.is_infinite(number.high):
        raise Unsure
    return bool(number.low >= INFINITE)


def is_beyond(number: Number) -> bool:
    """Return whether a nonnegative number may be so large that no format tells it from others."""
    return isinstance(number, Interval) and not number.high < HUGE


class ScalarAlgebra(RootArithmetic):
    """The operations that rules for error bounds need, on nonnegative certified numbers."""

    def monus(self, left: Number, right: Number) -> Number:
        """Return max(left - right, 0)."""
        return self.maximum(self.subtract(left, right), rational(0))

    def minimum(self, left: Number, right: Number) -> Number:
        """Return the smaller of two nonnegative numbers: 0 exactly where one is."""
        if is_exact_zero(left) or is_exact_zero(right):
            return rational(0)
        return super().minimum(left, right)

    def quotient(self, top: Number, bottom: Number) -> Number:
        """Return top / bottom: 0 where top is 0; `Unbounded` where bottom is 0."""
        if is_exact_zero(top):
            return rational(0)
        if is_zero(bottom):
            if is_zero(top):
                return rational(0)
            raise Unbounded
        return self.divide(top, bottom)

    def product_change(
        self, product: Number, a: Number, b: Number, da: Number, db: Number
    ) -> Number:
        """Return (a + da)(b + db) - a b, given a b.

        Written so that it keeps what cancels: a product less its change down is rational where the
        ends of its factors are.
        """
        if is_exact_zero(da) and is_exact_zero(db):
            return rational(0)
        if is_beyond(product):  # the same number, of which nothing cancels
            first, second = self.multiply(a, db), self.multiply(self.add(b, db), da)
            return self.add(first, second)
        found = self.subtract(self.multiply(self.add(a, da), self.add(b, db)), product)
        if isinstance(found, Interval) and found.low < 0 < found.high:
            # Of e**-1e38 times e**1e31 no enclosure knows but that it is positive.
            moved = self.add(self.multiply(a, db), self.multiply(b, da))
            return self.add(moved, self.multiply(da, db))
        return found

    def quotient_change(
        self, quotient: Number, a: Number, b: Number, da: Number, db: Number
    ) -> Number:
        """Return (a + da) / (b - db) - a / b, given a / b."""
        if is_exact_zero(da) and is_exact_zero(db):
            return rational(0)
        check_told(b, db)
        bottom = self.monus(b, db)
        if is_beyond(quotient):  # the same number, of which nothing cancels
            return self.quotient(self.add(da, self.multiply(quotient, db)), bottom)
        return self.subtract(self.quotient(self.add(a, da), bottom), quotient)

    def root_change(self, root: Number, a: Number, da: Number) -> Number:
        """Return how far sqrt(a -+ da) lies from ``root`` = sqrt(a), 0 being the least root.

        The way down is the longer one up to da = 3a, where it is all of the root. Differences keep
        what cancels: a root less its change down is the root there, exactly.
        """
        if is_exact_zero(da):
            return rational(0)
        if isinstance(a, Interval) or isinstance(da, Interval):
            down = self.subtract(root, self.sqrt(self.monus(a, da)))
            return self.maximum(down, self.subtract(self.sqrt(self.add(a, da)), root))
        if da <= a:
            return self.subtract(root, self.sqrt(a - da))
        return root if da <= 3 * a else self.subtract(self.sqrt(a + da), root)

    def gate(self, condition: Number, value: Number) -> Number:
        """Return ``value`` where ``condition`` is positive, else 0."""
        return rational(0) if is_zero(condition) else value

    def total(self, numbers: list[Number]) -> Number:
        """Return a sum; exact over the rationals among the numbers."""
        exact = [x for x in numbers if not isinstance(x, Interval)]
        lines: dict[int, Number] = {}
        for x in numbers:
            if isinstance(x, Interval):
                # Those of one base add up to a line over it, or cancel: sin(x) + sin(-x) is 0.
                key = id(x if x.base is None else x.base)
                lines[key] = self.add(lines[key], x) if key in lines else x
        result: Number = rational_sum(exact)
        for line in lines.values():
            result = self.add(result, line)
        return result
