"""The functions of two numbers, one row each.

``units`` as in the table of elementary functions, which names the sources: pow 4 ulp, atan2 3.
Exactly 1 are pow(x, +-0), pow(1, y) and pow(-1, +-inf) by C99 F.9.4.4 (C11 F.10.4.4), which IEEE
754-2019, 9.2.1, says of pow too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import gmpy2

from exactref_core.exact.interval import Arithmetic, Interval, Number, opened, rational
from exactref_core.exact.lines import LineArithmetic
from exactref_core.exact.nonnegative import ScalarAlgebra, is_exact_zero
from exactref_core.exact.pairs import ZERO, Box, PairFunction, furthest, is_special, plain, side
from exactref_core.exact.powers import Power
from exactref_core.exact.sizes import side_of

__all__ = ["PAIRS"]

INF, NAN = math.inf, math.nan


@dataclass(frozen=True)
class Arctangent2(PairFunction):
    """The angle of the point (y, x), first argument y, by C99 F.10.1.4: signs of zeros tell sides.

    Over a box without the origin and the cut along the negative x axis its extremes are at corners:
    lines through the origin bound the box as seen from there. At rationals other than 0 it is
    irrational (Lindemann-Weierstrass: its tangent is rational).
    """

    def value(self, arithmetic: Arithmetic, x: Any, y: Any) -> Any:
        """Return the angle; here x is the ordinate and y the abscissa."""
        if x != x or y != y:
            return math.nan
        if is_special(x) or is_special(y) or self.on_axis(x):
            return self.at_floats(arithmetic, x, y)
        if side(x) and (found := self.narrow(arithmetic, plain(x), plain(y))) is not None:
            return found
        low, high, _ = self.corners(arithmetic, arithmetic.ends(x), arithmetic.ends(y))
        strict = not (isinstance(x, Interval) or isinstance(y, Interval))
        return opened(low, high, arithmetic, strict, strict)

    @staticmethod
    def narrow(arithmetic: Arithmetic, x: Number, y: Number) -> Number | None:
        """Return the angle of a point beside the positive abscissa, or far from it: pi / 2 less
        the angle from the ordinate's axis."""
        if not isinstance(arithmetic, LineArithmetic) or side_of(y) <= 0 or not side_of(x):
            return None
        if not (isinstance(x, Interval) or isinstance(y, Interval)):
            return None
        ratio = arithmetic.divide(x, y)
        if max(abs(end) for end in arithmetic.ends(ratio)) < 1:
            return arithmetic.rising("atan", ratio)
        ratio = arithmetic.divide(y, x)
        if max(abs(end) for end in arithmetic.ends(ratio)) >= 1:
            return None
        turn = arithmetic.multiply(rational(side_of(x)), arithmetic.quarter_turn())
        return arithmetic.subtract(turn, arithmetic.rising("atan", ratio))

    @staticmethod
    def on_axis(x: Any) -> bool:
        """Return whether the ordinate is a zero."""
        return not isinstance(x, Interval) and bool(x == 0)

    def at_floats(self, arithmetic: Arithmetic, x: Any, y: Any) -> Any:
        """Return a multiple of pi/4, which classes and signs decide."""
        points = [gmpy2.mpfr(z if isinstance(z, float) else float(side(z))) for z in (x, y)]
        low, high = (self.evaluate(c, *points) for c in (arithmetic.down, arithmetic.up))
        if low == 0:
            return -0.0 if gmpy2.is_signed(low) else ZERO
        return opened(low, high, arithmetic, True, True)

    def change(
        self, algebra: ScalarAlgebra, x: Box, y: Box, value: Any, either: tuple[bool, bool]
    ) -> tuple[Number, bool]:
        """Return the most by which numbers in the boxes move the angle."""
        above, right = x.side(algebra), y.side(algebra)
        if x.is_exact and is_exact_zero(x.value):
            # The sign of a zero ordinate chooses the side, that of a zero abscissa the end.
            apart = either[0] if right < 0 else (right == 0 and (any(either) or not y.is_exact))
            return (self.turn(algebra, value) if apart else ZERO), False
        if x.is_exact and y.is_exact:
            return ZERO, False
        if above == 0 and right <= 0:
            return self.turn(algebra, value), False
        ends = [plain(self.value(algebra, a, b)) for a in (x.low, x.high) for b in (y.low, y.high)]
        return furthest(algebra, value, ends), False

    @staticmethod
    def turn(algebra: ScalarAlgebra, value: Any) -> Number:
        """Return the furthest that any angle is from a value."""
        pi = Interval(algebra.down.const_pi(), algebra.up.const_pi(), algebra)
        size = ZERO if is_special(value) else algebra.absolute(plain(value))
        return algebra.add(pi, size)


PAIRS: dict[str, PairFunction] = {
    f.name: f
    for f in (
        Power("pow", "pow", "power", 9, fixed=((NAN, 0.0), (1.0, NAN), (-1.0, INF), (-1.0, -INF))),
        Arctangent2("atan2", "atan2", "arctan2", 7),
    )
}
PAIRS["magnitude pow"] = replace(PAIRS["pow"], of_magnitudes=True)
