"""Functions of two real numbers, certified: values, exact cases, how far they move.

An argument or value is a number (``gmpy2.mpq`` or `Interval`) or a float: an infinity, NaN or -0.0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from exactref_core.exact.changes import is_below
from exactref_core.exact.interval import Arithmetic, Interval, Number, Unsure, rational
from exactref_core.exact.nonnegative import ScalarAlgebra, is_exact_zero

__all__ = ["ZERO", "Box", "PairFunction", "furthest", "has_minus", "is_special", "plain", "side"]

ZERO = rational(0)


def is_special(x: Any) -> bool:
    """Return whether an argument is an infinity or NaN."""
    return isinstance(x, float) and not math.isfinite(x)


def plain(x: Any) -> Number:
    """Return a finite argument as a number."""
    return ZERO if isinstance(x, float) else x


def side(x: Any) -> int:
    """Return the sign of an argument, 0 for a zero; `Unsure` where an enclosure does not tell."""
    if isinstance(x, Interval):
        if x.low > 0 or (x.low == 0 and x.open_low):
            return 1
        if x.high < 0 or (x.high == 0 and x.open_high):
            return -1
        raise Unsure
    return int(x > 0) - int(x < 0)


def has_minus(x: Any) -> bool:
    """Return whether an argument has a minus sign, that of -0.0 included."""
    return math.copysign(1.0, x) < 0 if isinstance(x, float) else side(x) < 0


@dataclass(frozen=True)
class Box:
    """A number and the most by which what is stored for it differs."""

    value: Number
    error: Number
    low: Number
    high: Number

    @classmethod
    def around(cls, algebra: ScalarAlgebra, value: Number, error: Number) -> Box:
        """Return the box of value +- error."""
        if is_exact_zero(error):
            return cls(value, error, value, value)
        return cls(value, error, algebra.subtract(value, error), algebra.add(value, error))

    @property
    def is_exact(self) -> bool:
        """Whether the number itself is stored."""
        return is_exact_zero(self.error)

    def side(self, algebra: ScalarAlgebra) -> int:
        """Return the sign of all numbers in the box; 0 where a zero may be among them."""
        if self.is_exact:
            return side(self.value)
        if is_below(algebra, ZERO, self.low):
            return 1
        return -1 if is_below(algebra, self.high, ZERO) else 0

    def signs(self, algebra: ScalarAlgebra) -> list[Any]:
        """Return a number of each sign in the box, and zeros where one may be among them."""
        sign = self.side(algebra)
        return [rational(sign)] if sign else [rational(1), rational(-1), ZERO, -0.0]

    def holds(self, algebra: ScalarAlgebra, number: Number) -> bool:
        """Return whether a number is in the box."""
        return not (is_below(algebra, number, self.low) or is_below(algebra, self.high, number))


@dataclass(frozen=True)
class PairFunction:
    """A real function of two variables.

    A correct library function errs by ``units`` * u of the value, and half as many smallest
    subnormals. ``library`` is NumPy's name of it. ``of_magnitudes``: the first argument is
    never negative, and stored as +0 or a positive number. ``fixed``: pairs of arguments, NaN
    standing for any, whose value a correct library returns as it is, by a standard.
    """

    name: str
    method: str
    library: str
    units: int
    of_magnitudes: bool = False
    fixed: tuple[tuple[float, float], ...] = ()

    @property
    def etas(self) -> int:
        """How many smallest subnormals a correct library function errs by: half of ``units``."""
        return max(2, (self.units + 1) // 2)

    @property
    def is_exponential(self) -> bool:
        """Whether a stored infinity among the arguments leaves no bound."""
        return False

    def evaluate(self, context: Any, x: Any, y: Any) -> Any:
        """Return the function of MPFR numbers, rounded as the context says (C99 at specials)."""
        return getattr(context, self.method)(x, y)

    def value(self, arithmetic: Arithmetic, x: Any, y: Any) -> Any:
        """Return the value at two arguments; `Unsure` where enclosures do not tell a case."""
        raise NotImplementedError

    def change(
        self, algebra: ScalarAlgebra, x: Box, y: Box, value: Any, either: tuple[bool, bool]
    ) -> tuple[Number, bool]:
        """Return the most by which numbers in the boxes move the function from ``value``.

        And whether NaN is among what it may be. ``either``: a zero among the arguments may have
        either sign. `Unbounded` at poles.
        """
        raise NotImplementedError

    def never(self, algebra: ScalarAlgebra, x: Box, y: Box) -> bool:
        """Return whether the function is NaN of all numbers in the boxes."""
        return False

    def beside(self, algebra: ScalarAlgebra, x: Any, y: Any) -> list[Any]:
        """Return all values at a box, one of ``x`` and ``y``, and an infinity, NaN or zero."""
        if isinstance(x, Box):
            return [self.value(algebra, at, y) for at in self.instances(algebra, x, y)]
        return [self.value(algebra, x, at) for at in self.instances(algebra, x, y)]

    def instances(self, algebra: ScalarAlgebra, x: Any, y: Any) -> list[Any]:
        """Return numbers that stand for all of a box beside an infinity, NaN or zero: its signs."""
        return (x if isinstance(x, Box) else y).signs(algebra)

    def corners(self, arithmetic: Arithmetic, xs: Any, ys: Any) -> tuple[Any, Any, bool]:
        """Return MPFR bounds on the function at all corners of a box, and whether all are exact."""
        points = {(x, y) for x in xs for y in ys}
        lows = [self.evaluate(arithmetic.down, x, y) for x, y in points]
        highs = [self.evaluate(arithmetic.up, x, y) for x, y in points]
        return min(lows), max(highs), not any(z.rc for z in (*lows, *highs))


def furthest(algebra: ScalarAlgebra, value: Any, ends: list[Number]) -> Number:
    """Return the largest distance of some numbers from a value, 0 taking an infinity's place."""
    base = ZERO if is_special(value) else plain(value)
    found = ZERO
    for end in ends:
        found = algebra.maximum(found, algebra.absolute(algebra.subtract(base, end)))
    return found
