"""The derivative of digamma, the sum of 1 / (x + k)^2 over k = 0, 1, ..., certified."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import gmpy2

from exactref_core.exact.elementary import Monotone
from exactref_core.exact.gammas import holds_pole, told_pole
from exactref_core.exact.interval import Arithmetic, Interval, Number, Unsure
from exactref_core.exact.nonnegative import Unbounded
from exactref_core.exact.rationals import Rational

__all__ = ["Trigamma"]

GUARD = 32
BERNOULLI: list[Rational] = []


def bernoulli(count: int) -> list[Rational]:
    """Return B_2, B_4, ..., from tangent numbers: B_2j = (-1)^(j-1) 2j T_j / (4^j (4^j - 1))."""
    if len(BERNOULLI) < count:
        size = max(count, 2 * len(BERNOULLI), 16)
        tangents = [gmpy2.mpz(0), gmpy2.mpz(1)]
        for k in range(2, size + 1):
            tangents.append((k - 1) * tangents[k - 1])
        for k in range(2, size + 1):
            for j in range(k, size + 1):
                tangents[j] = (j - k) * tangents[j - 1] + (j - k + 2) * tangents[j]
        BERNOULLI[:] = [
            gmpy2.mpq((-1) ** (j - 1) * 2 * j * tangents[j], 4**j * (4**j - 1))
            for j in range(1, size + 1)
        ]
    return BERNOULLI


@dataclass(frozen=True)
class Trigamma(Monotone):
    """trigamma: falls for x > 0; between two poles each term of the sum is monotone."""

    @property
    def is_steady(self) -> bool:
        """Whether the function rises, or falls, all over its domain, without poles inside."""
        return False

    @property
    def rounds_to_nearest(self) -> bool:
        """Whether `evaluate` rounds correctly to the nearest, not only downward and upward."""
        return False

    def evaluate(self, context: Any, x: Any) -> Any:
        """Return a number at or beyond the value, as the context rounds; x is no pole.

        For x < 0 by reflection, pi^2 / sin^2(pi x) - trigamma(1 - x): the first term is at least
        pi^2, the second below 2.
        """
        down, up = (
            gmpy2.context(
                precision=context.precision + GUARD,
                emin=context.emin,
                emax=context.emax,
                round=rounding,
            )
            for rounding in (gmpy2.RoundDown, gmpy2.RoundUp)
        )
        mine, other = (up, down) if context.round == gmpy2.RoundUp else (down, up)
        if x > 0:
            return context.plus(positive(mine, other, x))
        # trigamma falls: the argument of what is taken away is rounded like the difference.
        rest = positive(other, mine, mine.sub(1, x))
        return context.plus(mine.sub(squared_cosecant(mine, other, x), rest))

    def hull(self, arithmetic: Arithmetic, low: Any, high: Any) -> tuple[Any, Any]:
        """Return MPFR numbers below and above all values; `Unsure` where a pole may be inside."""
        if holds_pole(low, high):
            raise Unsure
        down, up = arithmetic.down, arithmetic.up
        if low == high or low > 0:
            return self.evaluate(down, high), self.evaluate(up, low)
        # A sum of convex terms: the largest value is at an end.
        most = max(self.evaluate(up, low), self.evaluate(up, high))
        return down.sub(self.least_square(arithmetic, low, high), self.rest(up, high)), most

    @staticmethod
    def rest(up: Any, x: Any) -> Any:
        """Return a bound above trigamma(1 - x), which rises with x."""
        down = gmpy2.context(up, round=gmpy2.RoundDown)
        return positive(up, down, down.sub(1, x))

    @staticmethod
    def least_square(arithmetic: Arithmetic, low: Any, high: Any) -> Any:
        """Return a bound below pi^2 / sin^2(pi x) between two numbers without a pole inside."""
        down, up = arithmetic.down, arithmetic.up
        exact = gmpy2.context(down, precision=low.precision + 2)
        if low < exact.add(exact.floor(low), 0.5) < high:
            return down.square(down.const_pi())
        return min(squared_cosecant(down, up, x) for x in (low, high))

    def extremes(self, arithmetic: Arithmetic, low: Number, high: Number) -> tuple[Number, Number]:
        """Return the least and the largest value; `Unbounded` where a pole is inside."""
        if told_pole(arithmetic, low, high):
            raise Unbounded
        one, two = self.at(arithmetic, low), self.at(arithmetic, high)
        most = arithmetic.maximum(one, two)
        a, d = arithmetic.ends(low)[0], arithmetic.ends(high)[1]
        if a > 0:
            return two, most
        least = arithmetic.minimum(one, two)
        below = min(self.hull(arithmetic, a, d)[0], arithmetic.ends(least)[0])
        return Interval(below, arithmetic.ends(least)[1], arithmetic), most


def positive(mine: Any, other: Any, x: Any) -> Any:
    """Return a bound on trigamma(x), x > 0, on the side to which ``mine`` rounds.

    1 / (x + k)^2 up to z = x + n, then 1/z + 1/(2 z^2) + B_2 / z^3 + B_4 / z^5 + ...: trigamma is
    the Laplace transform of t / (1 - e^-t), which lies between consecutive partial sums of its
    series, above those that end with B_4, B_8, ...
    """
    far = mine.precision // 4 + 2
    total, k, z = gmpy2.mpfr(0), 0, x
    while z < far:
        total = mine.add(total, mine.div(1, other.square(z)))
        k += 1
        z = other.add(x, k)
    # The argument was moved to where the value lies on the right side: z is exact from here on.
    total = mine.add(total, mine.div(1, z))
    total = mine.add(total, mine.div(1, other.mul(2, other.square(z))))
    above = mine.round == gmpy2.RoundUp
    small = mine.mul(total, gmpy2.exp2(-mine.precision))
    for j, number in enumerate(bernoulli(mine.precision // 8 + 16)):
        adds = number > 0
        one, two = (mine, other) if adds else (other, mine)
        term = one.div(gmpy2.mpfr(abs(number), 0, one), two.pow(z, 2 * j + 3))
        total = mine.add(total, term) if adds else mine.sub(total, term)
        if adds == above and term <= small:
            return total
    raise Unsure


def squared_cosecant(mine: Any, other: Any, x: Any) -> Any:
    """Return a bound on pi^2 / sin^2(pi x), on the side to which ``mine`` rounds."""
    wide = gmpy2.context(mine, precision=x.precision + 2)
    rest = wide.abs(x)
    if rest > 0.5:  # the distance to an integer, exactly
        rest = wide.sub(rest, wide.floor(rest))
        rest = min(rest, wide.sub(1, rest))
    if rest <= 0.25:
        sine = other.sin(other.mul(other.const_pi(), rest))
    else:
        sine = other.cos(mine.mul(mine.const_pi(), wide.sub(0.5, rest)))
    return mine.div(mine.square(mine.const_pi()), other.square(sine))
