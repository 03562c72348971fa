"""The logarithm of the gamma function and its derivative, certified.

The second derivative, the sum of 1 / (x + k)^2, is positive: between poles log |gamma| is convex,
and its derivative rises.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from exactref_core.exact.elementary import Function, Monotone
from exactref_core.exact.enclosure import holds_integer
from exactref_core.exact.interval import Arithmetic, Interval, Number, Unsure
from exactref_core.exact.nonnegative import Unbounded

__all__ = ["Digamma", "LogGamma", "holds_pole", "told_pole"]


def holds_pole(low: Any, high: Any) -> bool:
    """Return whether an integer from 0 down lies between two MPFR numbers."""
    return bool(low <= 0 and (high >= 0 or holds_integer(low, high)))


def told_pole(arithmetic: Arithmetic, low: Number, high: Number) -> bool:
    """Return whether a pole lies between two numbers; `Unsure` where that is not told."""
    outer = arithmetic.ends(low)[0], arithmetic.ends(high)[1]
    inner = arithmetic.ends(low)[1], arithmetic.ends(high)[0]
    if not holds_pole(*outer):
        return False
    if inner[0] <= inner[1] and holds_pole(*inner):
        return True
    raise Unsure


@dataclass(frozen=True)
class Digamma(Monotone):
    """digamma: rises between its poles at 0 and the negative integers."""

    @property
    def is_steady(self) -> bool:
        """Whether the function rises, or falls, all over its domain, without poles inside."""
        return False

    def hull(self, arithmetic: Arithmetic, low: Any, high: Any) -> tuple[Any, Any]:
        """Return MPFR numbers below and above all values; `Unsure` where a pole may be inside."""
        if holds_pole(low, high):
            raise Unsure
        return super().hull(arithmetic, low, high)

    def extremes(self, arithmetic: Arithmetic, low: Number, high: Number) -> tuple[Number, Number]:
        """Return the least and the largest value; `Unbounded` where a pole is inside."""
        if told_pole(arithmetic, low, high):
            raise Unbounded
        return super().extremes(arithmetic, low, high)


@dataclass(frozen=True)
class LogGamma(Function):
    """log |gamma|: convex between its poles, with one minimum between any two, and one above 0."""

    def evaluate(self, context: Any, x: Any) -> Any:
        """Return the function of an MPFR number, rounded as the context says."""
        return context.lgamma(x)[0]

    def hull(self, arithmetic: Arithmetic, low: Any, high: Any) -> tuple[Any, Any]:
        """Return MPFR numbers below and above all values; `Unsure` where a pole may be inside."""
        if holds_pole(low, high):
            raise Unsure
        down, up = arithmetic.down, arithmetic.up
        if low == high:
            return self.evaluate(down, low), self.evaluate(up, low)
        most = max(self.evaluate(up, low), self.evaluate(up, high))
        slope = down.digamma(low)
        if slope >= 0:
            return self.evaluate(down, low), most
        if up.digamma(high) <= 0:
            return self.evaluate(down, high), most
        # A convex function lies above its tangent.
        return down.add(self.evaluate(down, low), down.mul(slope, up.sub(high, low))), most

    def extremes(self, arithmetic: Arithmetic, low: Number, high: Number) -> tuple[Number, Number]:
        """Return the least and the largest value; `Unbounded` where a pole is inside."""
        if told_pole(arithmetic, low, high):
            raise Unbounded
        one, two = self.at(arithmetic, low), self.at(arithmetic, high)
        most = arithmetic.maximum(one, two)
        (a, b), (c, d) = arithmetic.ends(low), arithmetic.ends(high)
        if arithmetic.down.digamma(a) >= 0:
            return one, most
        if arithmetic.up.digamma(d) <= 0:
            return two, most
        if not (arithmetic.up.digamma(b) < 0 < arithmetic.down.digamma(c)):
            raise Unsure
        return self.minimum(arithmetic, b, c), most

    def minimum(self, arithmetic: Arithmetic, low: Any, high: Any) -> Number:
        """Return the least value between numbers where the slope is negative, and positive."""
        down, up = arithmetic.down, arithmetic.up
        for _ in range(arithmetic.precision):
            middle = down.div_2exp(down.add(low, high), 1)
            if not low < middle < high:
                break
            if up.digamma(middle) < 0:
                low = middle
            else:
                high = middle
        # Rounded up, digamma(middle) >= 0 may be of a middle just below the root: above ``low``,
        # where the slope is negative, the tangent holds all the same.
        least = self.hull(arithmetic, low, high)[0]
        return Interval(least, self.evaluate(up, low), arithmetic)
