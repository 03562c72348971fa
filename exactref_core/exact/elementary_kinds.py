"""Elementary functions that turn: waves, the tangent, even ones; inverses found by search."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import gmpy2

from exactref_core.exact.elementary import Function, Monotone
from exactref_core.exact.interval import Arithmetic, Interval, Number, Unsure, rational
from exactref_core.exact.nonnegative import Unbounded

__all__ = ["Arctangent", "Even", "InverseErf", "ScaledErfc", "Tangent", "Wave"]

# Bits of an angle in turns beyond those of its whole number of turns.
GUARD = 64
# More than a whole turn: what an enclosure longer than it gives needs no angle of its ends, which
# may be as large as exp(1e9), of 2^30 bits before the point.
TURN = 7


def turns(arithmetic: Arithmetic, end: Any, first: int, every: int) -> tuple[Any, Any]:
    """Return bounds on (end / (pi/2) - first) / every, as (number, context) pairs."""
    exponent = gmpy2.frexp(end)[0] if end != 0 else 0
    precision = max(exponent, 0) + arithmetic.precision + GUARD
    found = []
    for mode in (gmpy2.RoundDown, gmpy2.RoundUp):
        context = gmpy2.context(precision=precision, round=mode)
        away = (mode == gmpy2.RoundDown) == (end < 0)
        rounded_pi = gmpy2.RoundDown if away else gmpy2.RoundUp
        pi = gmpy2.context(precision=precision, round=rounded_pi).const_pi()
        turned = context.div(context.mul(end, 2), pi)
        found.append((context.div(context.sub(turned, first), every), context))
    return found[0], found[1]


def holds(arithmetic: Arithmetic, low: Number, high: Number, first: int, every: int) -> Any:
    """Return whether [low, high] holds (first + k * every) * pi/2 for some integer k.

    None where the enclosures do not tell.
    """
    ends = arithmetic.ends(low)[0], arithmetic.ends(high)[1]
    inner = arithmetic.ends(low)[1], arithmetic.ends(high)[0]
    if not all(gmpy2.is_finite(end) for end in (*ends, *inner)):
        return None
    if arithmetic.down.sub(inner[1], inner[0]) > TURN:
        return True
    if arithmetic.down.sub(ends[1], ends[0]) > TURN:
        return None

    def ceiling(end: Any, up: bool) -> int:
        value, context = turns(arithmetic, end, first, every)[up]
        return int(context.ceil(value))

    def floor(end: Any, up: bool) -> int:
        value, context = turns(arithmetic, end, first, every)[up]
        return int(context.floor(value))

    if ceiling(inner[0], True) <= floor(inner[1], False):
        return True
    return None if ceiling(ends[0], False) <= floor(ends[1], True) else False


@dataclass(frozen=True)
class Wave(Function):
    """sin or cos: extremes 1 at ``top`` * pi/2 and -1 at ``top`` + 2 of these, every whole turn.

    No rational is a multiple of pi/2 but 0, so that higher precision tells an argument from one.
    """

    top: int = 0

    def hull(self, arithmetic: Arithmetic, low: Any, high: Any) -> tuple[Any, Any]:
        """Return MPFR numbers below and above all values between two arguments."""
        if arithmetic.down.sub(high, low) > TURN:
            return gmpy2.mpfr(-1), gmpy2.mpfr(1)
        ends = [
            [self.evaluate(c, x) for c in (arithmetic.down, arithmetic.up)] for x in (low, high)
        ]
        least, most = min(ends[0][0], ends[1][0]), max(ends[0][1], ends[1][1])
        if low == high:
            return least, most
        span = Interval(low, high, arithmetic)
        if holds(arithmetic, span, span, self.top, 4) is not False:
            most = gmpy2.mpfr(1)
        if holds(arithmetic, span, span, self.top + 2, 4) is not False:
            least = gmpy2.mpfr(-1)
        return least, most

    def extremes(self, arithmetic: Arithmetic, low: Number, high: Number) -> tuple[Number, Number]:
        """Return the least and the largest value between two numbers."""
        one, two = self.at(arithmetic, low), self.at(arithmetic, high)
        found = []
        for turn, sign in ((self.top + 2, -1), (self.top, 1)):
            inside = holds(arithmetic, low, high, turn, 4)
            if inside is None:
                raise Unsure
            if inside:
                found.append(rational(sign))
            else:
                pick = arithmetic.maximum(one, two) if sign > 0 else arithmetic.minimum(one, two)
                found.append(pick)
        return found[0], found[1]


@dataclass(frozen=True)
class Tangent(Monotone):
    """tan: rises between its poles at odd multiples of pi/2."""

    @property
    def is_steady(self) -> bool:
        """Whether the function rises, or falls, all over its domain, without poles inside."""
        return False

    def hull(self, arithmetic: Arithmetic, low: Any, high: Any) -> tuple[Any, Any]:
        """Return MPFR numbers below and above all values; `Unsure` where a pole may be inside."""
        span = Interval(low, high, arithmetic)
        if low != high and holds(arithmetic, span, span, 1, 2) is not False:
            raise Unsure
        return super().hull(arithmetic, low, high)

    def extremes(self, arithmetic: Arithmetic, low: Number, high: Number) -> tuple[Number, Number]:
        """Return the least and the largest value; `Unbounded` where a pole is inside."""
        inside = holds(arithmetic, low, high, 1, 2)
        if inside is None:
            raise Unsure
        if inside:
            raise Unbounded
        return super().extremes(arithmetic, low, high)


@dataclass(frozen=True)
class Even(Function):
    """An even function that rises from 0 on."""

    def hull(self, arithmetic: Arithmetic, low: Any, high: Any) -> tuple[Any, Any]:
        """Return MPFR numbers below and above all values between two arguments."""
        sizes = [arithmetic.up.abs(x) for x in (low, high)]
        near = gmpy2.mpfr(0) if low <= 0 <= high else min(sizes)
        far = max(sizes)
        return self.evaluate(arithmetic.down, near), self.evaluate(arithmetic.up, far)

    def extremes(self, arithmetic: Arithmetic, low: Number, high: Number) -> tuple[Number, Number]:
        """Return the least and the largest value between two numbers."""
        (a, _), (_, d) = arithmetic.ends(low), arithmetic.ends(high)
        one, two = self.at(arithmetic, low), self.at(arithmetic, high)
        most = arithmetic.maximum(one, two)
        if arithmetic.ends(low)[1] <= 0 <= arithmetic.ends(high)[0]:
            return self.at(arithmetic, rational(0)), most
        if a >= 0 or d <= 0:
            return arithmetic.minimum(one, two), most
        raise Unsure


@dataclass(frozen=True)
class Arctangent(Monotone):
    """arctan, whose limits are +-pi/2."""

    @property
    def has_irrational_limits(self) -> bool:
        """Whether the values at the infinities are irrational numbers."""
        return True

    def near_limit(self, side: int) -> float:
        """Return the value at an infinity, rounded to a float64 number."""
        return math.copysign(math.pi / 2, side)

    def special(self, arithmetic: Arithmetic, x: float) -> Any:
        """Return the value at an infinity or NaN."""
        if x != x:
            return x
        right = arithmetic.quarter_turn()
        return right if x > 0 else -right


@dataclass(frozen=True)
class ScaledErfc(Monotone):
    """e^(x^2) erfc(x) from 0 on, which neither underflows nor cancels."""

    @property
    def rounds_to_nearest(self) -> bool:
        """Whether `evaluate` rounds correctly to the nearest, not only downward and upward."""
        return False

    def evaluate(self, context: Any, x: Any) -> Any:
        """Return a number at or beyond the value, as the context rounds (to the nearest: near it).

        Far out the alternating series 1 / (x sqrt(pi)) sum_k (-1)^k (2k - 1)!! / (2 x^2)^k, whose
        partial sums lie above and below in turn (NIST Handbook, 7.12(i)); elsewhere the product,
        whose square loses 2 |log2 x| bits.
        """
        if x == 0 or gmpy2.is_infinite(x):
            return gmpy2.mpfr(1 if x == 0 else 0)
        up = context.round != gmpy2.RoundDown
        rounding = gmpy2.RoundUp if up else gmpy2.RoundDown
        exponent = max(gmpy2.frexp(x)[0], 0)
        bits = context.precision + 32 + 2 * min(exponent, 40)
        work = gmpy2.context(precision=bits, emin=context.emin, emax=context.emax, round=rounding)
        if exponent > bits:
            # 1 / (x sqrt(pi)) is above it by a share below 1 / (2 x^2) < 2^-bits.
            opposite = gmpy2.RoundDown if up else gmpy2.RoundUp
            other = gmpy2.context(work, round=opposite)
            root = other.mul(x, other.sqrt(other.const_pi()))
            one = gmpy2.mpfr(1, bits)
            return context.plus(work.div(one if up else work.next_below(one), root))
        if x * x < bits:
            # Squares of x are exact, or rounded the way that widens.
            return context.plus(work.mul(work.exp(work.square(x)), work.erfc(x)))
        return context.plus(tail_series(work, x, up))


def tail_series(work: Any, x: Any, up: bool) -> Any:
    """Return a bound on e^(x^2) erfc(x) above or below, by whole numbers scaled by 2^bits.

    Each term is rounded up; one that is added where the sum should be below, or taken away where
    it should be above, is one unit less.
    """
    one = gmpy2.mpz(1) << work.precision
    top, bottom = gmpy2.mpq(x).numerator, gmpy2.mpq(x).denominator
    factor = gmpy2.mpq(bottom * bottom, 2 * top * top)
    total, term, k = one, one, 0
    while True:
        k += 1
        term = -((-term * (2 * k - 1) * factor.numerator) // factor.denominator)
        adds = k % 2 == 0
        total += (term if adds == up else term - 1) * (1 if adds else -1)
        if adds == up and term <= 1:
            break
    opposite = gmpy2.RoundDown if up else gmpy2.RoundUp
    other = gmpy2.context(precision=work.precision, round=opposite)
    root = other.mul(x, other.sqrt(other.const_pi()))
    return work.div(work.div_2exp(work.plus(total), work.precision), root)


@dataclass(frozen=True)
class InverseErf(Monotone):
    """erfinv: the y with erf(y) = x, enclosed by steps of Newton's method and checked by erf."""

    @property
    def rounds_to_nearest(self) -> bool:
        """Whether `evaluate` rounds correctly to the nearest, not only downward and upward."""
        return False

    def evaluate(self, context: Any, x: Any) -> Any:
        """Return a number at or beyond the value, as the context rounds (to the nearest: near it).

        erf rises, so that erf(y) rounded up and still <= x proves y <= erfinv(x), and likewise
        above.
        """
        if x == 0:
            return x
        bits = context.precision + 32
        work = gmpy2.context(precision=bits, emin=context.emin, emax=context.emax)
        y = newton(work, x)
        if context.round not in (gmpy2.RoundDown, gmpy2.RoundUp):
            return context.plus(y)
        up = context.round == gmpy2.RoundUp
        check = work.copy()
        check.round = gmpy2.RoundDown if up else gmpy2.RoundUp
        step = work.mul(work.abs(y), work.exp2(gmpy2.mpfr(-context.precision - 4)))
        for _ in range(64):
            y = work.add(y, step) if up else work.sub(y, step)
            reached = check.erf(y)
            if reached >= x if up else reached <= x:
                return context.plus(y)
            step = work.mul(step, 2)
        raise Unsure


def newton(work: Any, x: Any) -> Any:
    """Return y near erfinv(x): y - (erf(y) - x) sqrt(pi) / 2 exp(y^2), from a rough start.

    Near 1 erfc takes the place of erf, which would cancel.
    """
    size = work.abs(x)
    rest = work.sub(1, size)
    half = work.div(work.sqrt(work.const_pi()), 2)
    y = work.mul(size, half)
    if size > 0.1:  # Winitzki's formula, 2e-3 off
        log = float(work.log(work.mul(rest, work.add(1, size))))
        a = 4.33 + log / 2
        y = gmpy2.mpfr(math.sqrt(math.sqrt(a * a - log / 0.147) - a))
    for _ in range(2 + work.precision.bit_length()):
        gap = work.sub(rest, work.erfc(y)) if size > 0.5 else work.sub(work.erf(y), size)
        step = work.mul(work.mul(gap, half), work.exp(work.square(y)))
        # Halley's correction makes the step cubic.
        y = work.sub(y, work.div(step, work.add(1, work.mul(y, step))))
        if work.abs(step) <= work.mul(y, work.exp2(gmpy2.mpfr(-work.precision // 2))):
            break
    gap = work.sub(rest, work.erfc(y)) if size > 0.5 else work.sub(work.erf(y), size)
    y = work.sub(y, work.mul(work.mul(gap, half), work.exp(work.square(y))))
    return y if x > 0 else work.minus(y)
