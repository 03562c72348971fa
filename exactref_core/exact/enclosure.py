"""What is known of one real number: MPFR ends, and how it depends on a number elsewhere."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import gmpy2

from exactref_core.exact.rationals import Rational
from exactref_core.exact.separation import Separation

if TYPE_CHECKING:
    from exactref_core.exact.interval import Arithmetic

__all__ = ["Interval", "Number", "Unsure", "holds_integer", "opened", "opens_of"]

Number: TypeAlias = Any  # gmpy2.mpq or Interval


class Unsure(ArithmeticError):
    """The enclosures at this precision do not tell which case holds; raise the precision."""


@dataclass(frozen=True, slots=True, eq=False)
class Interval:
    """The real numbers from ``low`` to ``high`` (MPFR), with the arithmetic they came from.

    The one number meant is ``slope`` * ``base`` + ``offset`` exactly (``base`` None: the interval
    itself), so that x - (x - 1) is seen to be 1. It is none of the open ends, so that 1 + exp(-1e9)
    is seen to be above 1. ``separation`` tells how near to 0 it can be, where that is known, and
    ``size`` the logarithm of its magnitude, where its ends do not.
    """

    low: Any
    high: Any
    arithmetic: Arithmetic
    base: Interval | None = None
    slope: Rational = 1
    offset: Rational = 0
    open_low: bool = False
    open_high: bool = False
    separation: Separation | None = None
    size: Number | None = None

    def __add__(self, other: Number) -> Number:
        return self.arithmetic.add(self, other)

    def __radd__(self, other: Number) -> Number:
        return self.arithmetic.add(self, other)

    def __sub__(self, other: Number) -> Number:
        return self.arithmetic.subtract(self, other)

    def __rsub__(self, other: Number) -> Number:
        return self.arithmetic.subtract(other, self)

    def __mul__(self, other: Number) -> Number:
        return self.arithmetic.multiply(self, other)

    def __rmul__(self, other: Number) -> Number:
        return self.arithmetic.multiply(self, other)

    def __truediv__(self, other: Number) -> Number:
        return self.arithmetic.divide(self, other)

    def __rtruediv__(self, other: Number) -> Number:
        return self.arithmetic.divide(other, self)

    def __neg__(self) -> Interval:
        # A bare -x would round to gmpy2's current precision.
        down, up = self.arithmetic.down, self.arithmetic.up
        negated = self.line(down.minus(self.high), up.minus(self.low), -1, 0)
        return negated if self.separation is None else replace(negated, separation=self.separation)

    def kin(self, other: Interval) -> bool:
        """Return whether both are lines over one number, so that their sums see what cancels."""
        mine = self if self.base is None else self.base
        return mine is (other if other.base is None else other.base)

    def line(
        self,
        low: Any,
        high: Any,
        slope: Rational,
        offset: Rational,
        strict: tuple[bool, bool] = (False, False),
    ) -> Interval:
        """Return slope * self + offset, which lies between ``low`` and ``high``.

        ``strict`` says which of these it is certainly not.
        """
        base = self if self.base is None else self.base
        moved = slope * self.offset + offset
        opens = (self.open_low, self.open_high) if slope > 0 else (self.open_high, self.open_low)
        opens = opens[0] or strict[0], opens[1] or strict[1]
        return Interval(low, high, self.arithmetic, base, slope * self.slope, moved, *opens)


def opened(low: Any, high: Any, arithmetic: Arithmetic, below: bool, above: bool) -> Interval:
    """Return an interval with the ends that are said to be open."""
    return Interval(low, high, arithmetic, None, 1, 0, below, above)


def opens_of(number: Number) -> tuple[bool, bool]:
    """Return whether each end of a number is open."""
    if isinstance(number, Interval):
        return number.open_low, number.open_high
    return False, False


def holds_integer(low: Any, high: Any) -> bool:
    """Return whether an integer lies between two MPFR numbers."""
    if high.is_integer() or gmpy2.is_infinite(high):
        return True
    # A bare floor would round to gmpy2's current precision.
    return bool(gmpy2.context(precision=high.precision).floor(high) >= low)
