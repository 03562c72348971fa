"""Interval arithmetic that keeps what is small beside a rational number.

An `Interval` that is slope * base + offset, offset a rational other than 0, is a number ``offset``
and a rest. MPFR's ends of 1 - e^-1e5 are 1 rounded down and up; the rest is enclosed as well as any
other number. Sums, products, quotients and roots of such numbers are such numbers, by the
identities below, in which nothing cancels but rationals: tanh a - tanh b is a difference of two
small numbers, however near to 1 both are.
"""

from __future__ import annotations

import gmpy2

from exactref_core.exact.interval import (
    Interval,
    Number,
    Rational,
    opened,
    opens_of,
    rational,
)
from exactref_core.exact.sizes import SizedArithmetic, side_of

__all__ = ["LineArithmetic", "apart"]

# Rests below this share of the offset are kept apart in products: less than the ends lose.
NEAR = 8
# At fewer bits, which are asked first, sums and products are plain: few numbers need more.
LEAST = 128


def rest_of(number: Interval) -> Number:
    """Return slope * base, the number less its offset; of one without a base the number."""
    if number.base is None:
        return number
    return number.arithmetic.multiply(number.slope, number.base)


def apart(number: Number) -> tuple[Rational, Number] | None:
    """Return a rational and a rest that is small beside it; None where a number has none."""
    if not isinstance(number, Interval):
        return number, rational(0)
    if number.base is None or number.offset == 0:
        return None
    rest = rest_of(number)
    bound = gmpy2.mpq(abs(number.offset)) / (1 << NEAR)
    if isinstance(rest, Interval) and not (-bound < rest.low and rest.high < bound):
        return None
    return number.offset, rest


class LineArithmetic(SizedArithmetic):
    """Interval arithmetic in which rests beside rationals are kept."""

    def add(self, left: Number, right: Number) -> Number:
        """Return left + right: (a + s) + (b + t) = (a + b) + (s + t)."""
        if self.precision < LEAST:
            return super().add(left, right)
        if not isinstance(left, Interval):
            left, right = right, left
        if not isinstance(left, Interval):
            return left + right
        if not isinstance(right, Interval):
            return self.moved(left, right)
        if left.kin(right):
            return super().add(left, right)
        offsets = [0 if x.base is None else x.offset for x in (left, right)]
        if not any(offsets):
            return super().add(left, right)
        rest = super().add(rest_of(left), rest_of(right))
        total = sum(offsets)
        return super().add(rest, rational(total)) if total else rest

    def moved(self, number: Interval, by: Rational) -> Number:
        """Return number + by; where offsets cancel, with the ends of the rest."""
        total = number.offset + by
        if number.base is None or abs(total) >= abs(number.offset):
            return super().add(number, by)
        rest = rest_of(number)
        return super().add(rest, total) if total else rest

    def multiply(self, left: Number, right: Number) -> Number:
        """Return left * right: (a + s)(b + t) = a b + (a t + b s + s t)."""
        found = super().multiply(left, right)
        if self.precision < LEAST:
            return found
        if not (isinstance(left, Interval) and isinstance(right, Interval)):
            return found
        one, other = apart(left), apart(right)
        if one is None or other is None:
            return found
        (a, s), (b, t) = one, other
        crossed = self.add(super().multiply(a, t), super().multiply(b, s))
        return super().add(self.add(crossed, super().multiply(s, t)), a * b)

    def divide(self, left: Number, right: Number) -> Number:
        """Return left / right: (a + s) / (b + t) = a / b + (s - a t / b) / (b + t)."""
        if not isinstance(right, Interval):
            return super().divide(left, right)
        if isinstance(left, Interval) and side_of(right) and left.kin(right):
            mine, theirs = left.slope * right.offset, right.slope * left.offset
            if mine == theirs:  # multiples of one number
                return gmpy2.mpq(left.slope) / right.slope
        one, other = apart(left), apart(right)
        if one is None or other is None or one[0] == 0:
            return self.divide_open(left, right)
        (a, s), (b, t) = one, other
        ratio = gmpy2.mpq(a) / b
        rest = self.subtract(s, self.multiply(ratio, t))
        return super().add(self.divide_open(rest, right), ratio)

    def divide_open(self, left: Number, right: Interval) -> Number:
        """Return left / right, where the divisor may end at a 0 that it is not."""
        found = self.by_sizes(left, right, -1)
        if found is not None:
            return found
        if right.high == 0 and right.open_high:
            return -self.divide_open(left, -right)
        if not (right.low == 0 and right.open_low and right.high > 0):
            return super().divide(left, right)
        low, high = self.ends(left)
        # A number of either sign over one near 0 may be anything, one of a certain sign as large.
        least, most = -gmpy2.inf(), gmpy2.inf()
        below = above = True  # no number is an infinity
        one, other = opens_of(left)
        if low >= 0:
            least = self.down.div(low, right.high)
            below = bool(least.rc) or one or (low > 0 and right.open_high)
        if high <= 0:
            most = self.up.div(high, right.high)
            above = bool(most.rc) or other or (high < 0 and right.open_high)
        return opened(least, most, self, below, above)

    def sqrt(self, number: Number) -> Number:
        """Return the square root: sqrt(r^2 + t) = r + t / (sqrt(r^2 + t) + r)."""
        found = super().sqrt(number)
        split = apart(number) if isinstance(number, Interval) else None
        if split is None or split[0] < 0:
            return found
        root = super().sqrt(split[0])
        if isinstance(root, Interval):
            return found
        return super().add(super().divide(split[1], super().add(found, root)), root)

    def log(self, number: Number) -> Number:
        """Return log(number): log(1 + t) as log1p(t)."""
        split = apart(number) if isinstance(number, Interval) else None
        if split is not None and split[0] == 1:
            return self.rising("log1p", split[1])
        return super().log(number)

    def rising(self, name: str, number: Number) -> Number:
        """Return a function of MPFR's that rises strictly where the number is.

        A rounded end is not reached, and an exact one is not where the argument's is not.
        """
        ends, opens = self.ends(number), opens_of(number)
        low, high = getattr(self.down, name)(ends[0]), getattr(self.up, name)(ends[1])
        return opened(low, high, self, opens[0] or bool(low.rc), opens[1] or bool(high.rc))
