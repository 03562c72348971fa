"""Interval arithmetic of numbers beyond MPFR's exponents, by the logarithms of their magnitudes.

MPFR's ends of e^-1e30 are 0 and 2^(-2^30). What is known besides is its logarithm, -1e30: an
`Interval` carries it as its ``size``, a number. Products add sizes, e^a +- e^b has the size
a + log1p(+-e^(b - a)) where a > b, and a logarithm is the size itself.
"""

from __future__ import annotations

from dataclasses import replace

import gmpy2

from exactref_core.exact.interval import Arithmetic, Interval, Number, opened, opens_of, rational

__all__ = ["SizedArithmetic", "is_beyond", "side_of"]


def is_beyond(number: Number) -> bool:
    """Return whether an end of an enclosure tells nothing of the number's size."""
    if not isinstance(number, Interval):
        return False
    low, high = number.low, number.high
    return bool(low == 0 or high == 0 or not (gmpy2.is_finite(low) and gmpy2.is_finite(high)))


def side_of(number: Number) -> int:
    """Return the sign of a number; 0 where it is 0, or an enclosure does not tell."""
    if not isinstance(number, Interval):
        return int(number > 0) - int(number < 0)
    if number.low > 0 or (number.low == 0 and number.open_low):
        return 1
    return -1 if number.high < 0 or (number.high == 0 and number.open_high) else 0


def tell_by_sizes(left: Interval, right: Interval) -> bool:
    """Return whether sizes may tell more of a sum than ends: not of a number that has ends of its
    own and one below all exponents, which moves these by less than their rounding."""
    beyond = [x for x in (left, right) if is_beyond(x)]
    if len(beyond) != 1:
        return bool(beyond)
    return not (gmpy2.is_finite(beyond[0].low) and gmpy2.is_finite(beyond[0].high))


class SizedArithmetic(Arithmetic):
    """Interval arithmetic in which numbers beyond all exponents have sizes."""

    def size(self, number: Number) -> Number | None:
        """Return the logarithm of a number's magnitude; None where it is not known."""
        if not side_of(number):
            return None
        if not isinstance(number, Interval) or not is_beyond(number):
            return super().log(self.absolute(number))
        if number.size is not None or number.base is None:
            return number.size
        found = self.size(number.base)
        if found is None:
            return None
        moved = self.add(found, super().log(abs(gmpy2.mpq(number.slope))))
        if not number.offset:
            return moved
        least = min(abs(end) for end in self.ends(self.multiply(number.slope, number.base)))
        if least < 1 or least < abs(number.offset) * 4:
            return None
        # log(1 + d) is within 2 |d| of 0 for |d| <= 1/2; rounded up it is no 0.
        share = self.up.div(self.ends(abs(gmpy2.mpq(number.offset)))[1], least)
        room = self.up.mul(share, 2)
        return self.add(moved, Interval(self.down.minus(room), room, self))

    def of_size(self, side: int, size: Number) -> Number:
        """Return side * e^size, side being 1 or -1."""
        found = self.exp(size)
        return found if side > 0 else -found

    def exp(self, number: Number) -> Number:
        """Return exp(number), whose size is the number."""
        found = super().exp(number)
        return replace(found, size=number) if is_beyond(found) else found

    def log(self, number: Number) -> Number:
        """Return log(number), the size of a positive number."""
        if is_beyond(number) and side_of(number) > 0:
            found = self.size(number)
            if found is not None:
                return found
            if number.low == 0:
                above = self.up.log(number.high)
                return opened(-gmpy2.inf(), above, self, True, number.open_high)
        return super().log(number)

    def sqrt(self, number: Number) -> Number:
        """Return the square root."""
        if is_beyond(number) and side_of(number) > 0:
            found = self.size(number)
            if found is not None:
                return self.of_size(1, self.divide(found, rational(2)))
        return super().sqrt(number)

    def multiply(self, left: Number, right: Number) -> Number:
        """Return left * right."""
        if isinstance(left, Interval) and isinstance(right, Interval):
            found = self.by_sizes(left, right, 1)
            if found is not None:
                return found
        return super().multiply(left, right)

    def divide(self, left: Number, right: Number) -> Number:
        """Return left / right; `Unsure` where the divisor may be zero."""
        if isinstance(right, Interval):
            found = self.by_sizes(left, right, -1)
            if found is not None:
                return found
        return super().divide(left, right)

    def by_sizes(self, left: Number, right: Number, power: int) -> Number | None:
        """Return left * right^power where an operand is beyond all exponents; None elsewhere."""
        if not (is_beyond(left) or is_beyond(right)):
            return None
        one, other = self.size(left), self.size(right)
        if one is None or other is None:
            return None
        total = self.add(one, other) if power > 0 else self.subtract(one, other)
        return self.of_size(side_of(left) * side_of(right), total)

    def add(self, left: Number, right: Number) -> Number:
        """Return left + right."""
        pair = isinstance(left, Interval) and isinstance(right, Interval)
        if pair and tell_by_sizes(left, right) and not left.kin(right):
            found = self.sum_of_sizes(left, right)
            if found is not None:
                return found
        return super().add(left, right)

    def sum_of_sizes(self, left: Interval, right: Interval) -> Number | None:
        """Return left + right by their sizes; None where these do not tell which is larger."""
        one, other = self.size(left), self.size(right)
        if one is None or other is None:
            return None
        gap, alike = self.subtract(one, other), side_of(left) == side_of(right)
        first = side_of(gap)
        if not first and not alike:
            return None if isinstance(gap, Interval) else rational(0)
        side = side_of(left) if first >= 0 else side_of(right)
        power = self.exp(-self.absolute(gap))
        ratio = power if alike else -power
        (low, high), (below, above) = self.ends(ratio), opens_of(ratio)
        low, high = self.down.log1p(low), self.up.log1p(high)
        rise = opened(low, high, self, below or bool(low.rc), above or bool(high.rc))
        return self.of_size(side, self.add(self.maximum(one, other), rise))
