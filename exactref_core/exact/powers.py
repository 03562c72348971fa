"""Powers x^y of real numbers, certified."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import gmpy2

from exactref_core.exact.changes import is_below
from exactref_core.exact.enclosure import holds_integer
from exactref_core.exact.interval import (
    TINY,
    Arithmetic,
    Interval,
    Number,
    Unsure,
    opened,
    opens_of,
    rational,
)
from exactref_core.exact.limits import near
from exactref_core.exact.lines import LineArithmetic, apart
from exactref_core.exact.nonnegative import ScalarAlgebra, Unbounded, is_exact_zero
from exactref_core.exact.pairs import (
    ZERO,
    Box,
    PairFunction,
    furthest,
    has_minus,
    is_special,
    plain,
    side,
)
from exactref_core.exact.rationals import Rational
from exactref_core.exact.sizes import is_beyond, side_of

__all__ = ["Power"]

ONE = rational(1)
# Rational powers of more bits stay enclosures: no format comes near the ties among them.
LARGEST_POWER = 1 << 13


@dataclass(frozen=True)
class Power(PairFunction):
    """x^y, by C99 F.10.4.4: 1^y = x^0 = 1 of everything, NaN of a negative x and a fraction y.

    Of positive x it is e^(y log x), monotone in each variable, so that its extremes over a box are
    at corners. Of rationals it is rational where y is an integer or x the power that y = n/d needs,
    (p/q)^d: an MPFR number exactly where MPFR says that nothing was rounded.
    """

    @property
    def is_exponential(self) -> bool:
        """Whether a stored infinity among the arguments leaves no bound."""
        return not self.of_magnitudes

    def value(self, arithmetic: Arithmetic, x: Any, y: Any) -> Any:
        """Return x^y."""
        if not isinstance(y, Interval) and y == 0:
            return ONE
        if not isinstance(x, Interval) and x == 1:
            return ONE
        if x != x or y != y:
            return math.nan
        if is_special(y):
            return self.at_infinity(arithmetic, x, y)
        if is_special(x) or (not isinstance(x, Interval) and x == 0):
            return self.at_end(x, y)
        if side(x) > 0:
            return self.positive(arithmetic, x, y)
        if isinstance(y, Interval):
            if may_be_whole(y):
                raise Unsure
            return math.nan
        if y.denominator != 1:
            return math.nan
        found = self.positive(arithmetic, -x, y)
        return -found if y.numerator % 2 else found

    def at_infinity(self, arithmetic: Arithmetic, x: Any, y: float) -> Any:
        """Return x^(+-inf), which the size of x decides."""
        if is_special(x):
            large = 1
        else:
            size = arithmetic.absolute(plain(x))
            large = side(arithmetic.subtract(size, ONE))
        if large == 0:
            return ONE
        return math.inf if (large > 0) == (y > 0) else ZERO

    def at_end(self, x: Any, y: Any) -> Any:
        """Return the power of a zero or an infinity."""
        infinite = is_special(x) == (side(y) > 0)
        odd = not isinstance(y, Interval) and y.denominator == 1 and y.numerator % 2 == 1
        if isinstance(y, Interval) and has_minus(x) and may_be_whole(y):
            raise Unsure
        sign = -1.0 if odd and has_minus(x) else 1.0
        if infinite:
            return sign * math.inf
        return -0.0 if sign < 0 else ZERO

    def positive(self, arithmetic: Arithmetic, x: Number, y: Number) -> Number:
        """Return x^y for x > 0."""
        exact = not (isinstance(x, Interval) or isinstance(y, Interval))
        if exact:
            found = rational_power(x, y)
            if found is not None:
                return found
            if y.denominator == 2 and (square := rational_power(x, 2 * y)) is not None:
                return arithmetic.sqrt(square)
        elif (found := by_logarithm(arithmetic, x, y)) is not None:
            return found
        xs, ys = arithmetic.ends(x), arithmetic.ends(y)
        if xs[0] <= 0:
            raise Unsure
        low, high, unrounded = self.corners(arithmetic, xs, ys)
        if low == 0 or gmpy2.is_infinite(high):
            found = by_logarithm(arithmetic, x, y)
            if found is not None:
                return found
        points = exact and xs[0] == xs[1] and ys[0] == ys[1]
        if points and unrounded and abs(gmpy2.frexp(low)[0]) <= TINY:
            return gmpy2.mpq(low)
        # A number that is rounded is none of its roundings.
        strict = points and not unrounded
        below, above = opens_of(x) if not isinstance(y, Interval) else (False, False)
        if not isinstance(y, Interval) and y < 0:
            below, above = above, below
        return opened(low, high, arithmetic, strict or below, strict or above)

    def change(
        self, algebra: ScalarAlgebra, x: Box, y: Box, value: Any, either: tuple[bool, bool]
    ) -> tuple[Number, bool]:
        """Return the most by which numbers in the boxes move the power, and whether NaN may be."""
        if y.is_exact and is_exact_zero(y.value):
            return ZERO, False
        if x.is_exact and not isinstance(x.value, Interval) and x.value == 1:
            return ZERO, False
        if x.is_exact and y.is_exact:
            return ZERO, isinstance(value, float) and value != value
        where, up = x.side(algebra), y.side(algebra)
        if where > 0:
            return furthest(algebra, value, self.ends(algebra, x, y)), False
        if where == 0 and up <= 0:
            raise Unbounded
        whole = y.is_exact and not isinstance(y.value, Interval) and y.value.denominator == 1
        below = is_below(algebra, x.low, ZERO)
        sizes = [algebra.absolute(end) for end in (x.low, x.high)]
        size = Box(ZERO, ONE, algebra.minimum(*sizes), algebra.maximum(*sizes))
        if where == 0:
            # From 0 on, where y > 0: up to the power of the largest size.
            ends = [ZERO, *self.ends(algebra, Box(ZERO, ONE, size.high, size.high), y)]
        else:
            ends = self.ends(algebra, size, y)
        if whole and below:
            # An odd power has the sign of x; of an even one all are positive.
            odd = y.value.numerator % 2 == 1
            if odd:
                ends = [*(() if where < 0 else ends), *(-end for end in ends)]
            return furthest(algebra, value, ends), False
        if below:
            ends = [*ends, *(-end for end in ends)]
        return furthest(algebra, value, ends), below

    def never(self, algebra: ScalarAlgebra, x: Box, y: Box) -> bool:
        """Return whether the power is NaN: of negative numbers, no exponent being an integer."""
        if x.side(algebra) >= 0:
            return False
        if not any(isinstance(end, Interval) for end in (y.low, y.high)):
            return bool(y.high.numerator // y.high.denominator < y.low)
        lows, highs = algebra.ends(y.low), algebra.ends(y.high)
        if not holds_integer(lows[0], highs[1]):
            return True
        if lows[1] <= highs[0] and holds_integer(lows[1], highs[0]):
            return False
        raise Unsure

    def instances(self, algebra: ScalarAlgebra, x: Any, y: Any) -> list[Any]:
        """Return numbers that stand for all of a box beside an infinity, NaN or zero.

        Of exponents the sign decides, and of a base with a minus sign whether they are odd; of
        bases, beside NaN, whether one is 1, and beside an infinity how their sizes compare with 1.
        """
        if isinstance(y, Box):
            low, high = algebra.ends(y.low)[0], algebra.ends(y.high)[1]
            sizes = [1, 2] if x == x and has_minus(x) and holds_integer(low, high) else [2]
            return [size * sign for sign in y.signs(algebra) for size in sizes]
        if y == 0:
            return [ONE]
        found = [ONE] if x.holds(algebra, ONE) else []
        if y != y:
            return [*found, 2 * ONE]
        if x.holds(algebra, -ONE):
            found.append(-ONE)
        if is_below(algebra, x.low, ONE) and is_below(algebra, -ONE, x.high):
            found.append(ONE / 2)
        if is_below(algebra, ONE, x.high) or is_below(algebra, x.low, -ONE):
            found.append(2 * ONE)
        return found

    def ends(self, algebra: ScalarAlgebra, x: Box, y: Box) -> list[Number]:
        """Return the powers at the corners of a box of positive x."""
        found = []
        for a in (x.low, x.high) if not x.is_exact else (x.value,):
            for b in (y.low, y.high) if not y.is_exact else (y.value,):
                power = self.value(algebra, a, b)
                if is_special(power):
                    raise Unbounded
                found.append(plain(power))
        return found


def may_be_whole(y: Interval) -> bool:
    """Return whether an enclosure does not tell that a number is no integer.

    One that is known beside an integer, or beside 0, is none.
    """
    split = apart(y)
    center, rest = (ZERO, y) if split is None else split
    beside = center.denominator == 1 and isinstance(rest, Interval) and side_of(rest)
    if beside and rest.low > -1 and rest.high < 1:
        return False
    return holds_integer(y.low, y.high)


def by_logarithm(arithmetic: Arithmetic, x: Number, y: Number) -> Number | None:
    """Return x^y = e^(y log x), x > 0, where that is near 1 or beyond MPFR's exponents; else None.

    There it tells on which side of 1 the power is, and how large it is.
    """
    if not isinstance(arithmetic, LineArithmetic) or side_of(x) <= 0:
        return None
    split = apart(y) if isinstance(y, Interval) else None
    if split is not None and not isinstance(x, Interval):
        # x^(n + t) = x^n x^t, which is told from x^n.
        whole, beside = rational_power(x, split[0]), by_logarithm(arithmetic, x, split[1])
        if whole is not None and beside is not None:
            return arithmetic.multiply(whole, beside)
    power = arithmetic.multiply(y, arithmetic.log(x))
    if not isinstance(power, Interval):
        return None
    if (beside := near("exp", arithmetic, power)) is not None:
        return beside
    found = arithmetic.exp(power)
    return found if is_beyond(found) else None


def rational_power(x: Rational, y: Rational) -> Rational | None:
    """Return x^y, x > 0, where it is rational and not too long; else None."""
    top, bottom = abs(y.numerator), y.denominator
    if bottom > LARGEST_POWER:
        return None
    parts = []
    for part in (x.numerator, x.denominator):
        root, exact = gmpy2.iroot(part, int(bottom))
        if not exact:
            return None
        parts.append(root)
    if top * max(part.bit_length() for part in parts) > LARGEST_POWER:
        return None
    found = gmpy2.mpq(parts[0] ** int(top), parts[1] ** int(top))
    return 1 / found if y < 0 else found
