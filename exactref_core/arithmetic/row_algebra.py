"""Rows of nonnegative quantities: what rules for softmax need beside elementwise operations.

`FloatRows` works on brackets whose last axis runs over keys; `ScalarRows` on one row of certified
numbers, where a key's quantities are a `Vector`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from typing import Any

import numpy as np

from exactref_core.arithmetic.brackets import Bracket, FloatAlgebra
from exactref_core.exact.double_double import two_sum
from exactref_core.exact.exponentials import LEAST, VANISHED, exp_pair, log_pair
from exactref_core.exact.grid import reaches
from exactref_core.exact.interval import rational
from exactref_core.exact.nonnegative import ScalarAlgebra, is_exact_zero
from exactref_core.exact.prefix_sums import ends, magnitude_sums

__all__ = ["FloatRows", "ScalarRows", "Vector"]

SMALL = 2.0**-14
# Larger arguments of exp are added to a gap before exp is taken.
LARGE = 256
# exp of it is beyond every ratio of two numbers of any format: it stands for all that is larger.
HUGE = 4096


class FloatRows(FloatAlgebra):
    """Brackets of shape (rows, keys), and (rows,) for a row's own quantities."""

    def over(self, value: Bracket) -> Bracket:
        """Return a row's quantity for each of its keys."""
        return Bracket(np.asarray(value.low)[..., None], np.asarray(value.high)[..., None])

    def numbers(self, values: Sequence[int]) -> Bracket:
        """Return a small integer for each key."""
        exact = np.asarray(values, np.float64)
        return Bracket(exact, exact)

    def running(self, value: Bracket) -> Bracket:
        """Return the sums over the keys up to each; n additions err by ((1+u)**n - 1) of them."""
        low, high = (np.cumsum(end, axis=-1) for end in (value.low, value.high))
        return Bracket(ends(low, low.shape[-1] + 4)[0], ends(high, high.shape[-1] + 4)[1])

    def after_first(self, value: Bracket) -> Bracket:
        """Return the quantities of all keys but the first."""
        return Bracket(value.low[..., 1:], value.high[..., 1:])

    def delayed(self, value: Bracket) -> Bracket:
        """Return for each key the quantity of the key before, 0 for the first."""
        low, high = (np.zeros(np.shape(end)) for end in (value.low, value.high))
        low[..., 1:], high[..., 1:] = value.low[..., :-1], value.high[..., :-1]
        return Bracket(low, high)

    def last(self, value: Bracket) -> Bracket:
        """Return the quantity of the last key."""
        return Bracket(value.low[..., -1], value.high[..., -1])

    def sum(self, value: Bracket) -> Bracket:
        """Return the sum over keys."""
        return Bracket(magnitude_sums(value.low)[0], magnitude_sums(value.high)[1])

    def largest(self, value: Bracket) -> Bracket:
        """Return the largest over keys."""
        return Bracket(value.low.max(axis=-1, initial=0.0), value.high.max(axis=-1, initial=0.0))

    def expm1(self, value: Bracket) -> Bracket:
        """Return exp(value) - 1.

        a + a^2/2 + a^3/6 <= exp(a) - 1 <= that + a^4/20 for 0 <= a <= 2**-14, as the remainder is
        a^4/24 (1 + a/5 + ...); beyond, from `exp_pair`.
        """
        low, high = np.asarray(value.low), np.asarray(value.high)
        series = [a + a * a / 2 + a * a * a / 6 for a in (low, high)]
        least = np.where(low <= SMALL, series[0] * (1 - 2.0**-50), by_pairs(low, -1.0))
        rest = series[1] + high**4 / 20
        most = np.where(high <= SMALL, rest * (1 + 2.0**-50) + 2.0**-1074, by_pairs(high, 1.0))
        return Bracket(np.maximum(least, 0.0), np.where(high == 0, 0.0, most))

    def grown(self, powers: Bracket, gaps: Bracket, argument: Bracket) -> Bracket:
        """Return powers * (exp(argument) - 1), the powers being exp(-gaps).

        Below exp(-690) < 2**-990 no product is formed, of 0 and infinity perhaps.
        """
        product = powers * self.expm1(argument)
        low, high = (np.asarray(end) for end in (product.low, product.high))
        gone = np.asarray(gaps.low) * (1 - 2.0**-50) - np.asarray(argument.high) > -LEAST + 1
        return Bracket(np.where(gone, 0.0, low), np.where(gone, VANISHED, high))

    def log_change(self, ratio: Bracket, other: Bracket, beyond: Bracket) -> Bracket:
        """Return min(-log(1 - ratio), other), ``beyond`` from a ratio of 1 on."""
        inside = self.minimum(self.minus_log1m(ratio), other)
        may, surely = np.asarray(ratio.high) >= 1, np.asarray(ratio.low) >= 1
        low = np.where(may, np.minimum(inside.low, beyond.low), inside.low)
        high = np.where(may, np.maximum(inside.high, beyond.high), inside.high)
        return Bracket(np.where(surely, beyond.low, low), np.where(surely, beyond.high, high))

    def minus_log1m(self, value: Bracket) -> Bracket:
        """Return -log(1 - value); no bound from 1 on.

        r + r^2/2 + r^3/3 <= -log(1 - r) <= that + r^4/3 for 0 <= r <= 2**-14; beyond, `log_pair`.
        """
        low, high = np.asarray(value.low), np.asarray(value.high)
        series = [r + r * r / 2 + r * r * r / 3 for r in (low, high)]
        least = np.where(low <= SMALL, series[0] * (1 - 2.0**-50), log_pairs(low, -1.0))
        rest = series[1] + high**4 / 3
        most = np.where(high <= SMALL, rest * (1 + 2.0**-50) + 2.0**-1074, log_pairs(high, 1.0))
        return Bracket(np.maximum(least, 0.0), np.where(high == 0, 0.0, most))


def by_pairs(value: Any, side: float) -> Any:
    """Return a bound on exp(value) - 1 from below (-1) or above (1)."""
    with np.errstate(all="ignore"):
        high, low, radius = exp_pair(np.minimum(value, 720.0), None)
        bound = (high - 1.0) + (low + side * radius)
        bound = bound + side * (np.abs(bound) + high) * 2.0**-50
    vague = ~np.isfinite(radius)
    # From 709 on it is above 2**1000.
    return np.where(vague, np.inf if side > 0 else 2.0**1000, bound)


def log_pairs(value: Any, side: float) -> Any:
    """Return a bound on -log(1 - value) from below (-1) or above (1)."""
    with np.errstate(all="ignore"):
        inside = value < 1
        rest = np.where(inside, value, 0.5)
        high, low, radius = log_pair(*two_sum(np.ones(np.shape(rest)), -rest))
        bound = -high - low + side * radius
        bound = bound + side * np.abs(bound) * 2.0**-50
        vague = ~np.isfinite(radius) | ~inside
    if side > 0:
        return np.where(vague, np.inf, bound)
    return np.where(inside, np.where(vague, 0.0, bound), np.inf)


class Vector:
    """One row's certified numbers, a key each."""

    def __init__(self, items: Iterable[Any]) -> None:
        self.items = list(items)

    def map(self, function: Callable[..., Any], *others: Any) -> Vector:
        """Apply a function key by key; a number stands for itself at every key."""
        columns = [x.items if isinstance(x, Vector) else [x] * len(self.items) for x in others]
        return Vector(function(*row) for row in zip(self.items, *columns, strict=True))

    def __add__(self, other: Any) -> Vector:
        return self.map(lambda x, y: x + y, other)

    def __mul__(self, other: Any) -> Vector:
        return self.map(lambda x, y: x * y, other)

    __radd__, __rmul__ = __add__, __mul__


class ScalarRows(ScalarAlgebra):
    """One row of certified numbers; every operation takes numbers and vectors."""

    def each(self, name: str, *values: Any) -> Any:
        """Apply an operation of `ScalarAlgebra`, key by key where a vector is among the values."""
        function = getattr(super(), name)
        vectors = [x for x in values if isinstance(x, Vector)]
        if not vectors:
            return function(*values)
        places = Vector(range(len(vectors[0].items)))
        return places.map(
            lambda i: function(*(x.items[i] if isinstance(x, Vector) else x for x in values))
        )

    def quotient(self, top: Any, bottom: Any) -> Any:
        """Return top / bottom."""
        return self.each("quotient", top, bottom)

    def monus(self, left: Any, right: Any) -> Any:
        """Return max(left - right, 0)."""
        return self.each("monus", left, right)

    def maximum(self, left: Any, right: Any) -> Any:
        """Return the larger of two."""
        return self.each("maximum", left, right)

    def expm1(self, number: Any) -> Any:
        """Return exp(number) - 1; beyond HUGE no more is said than that it is huge."""
        if isinstance(number, Vector):
            return number.map(self.expm1)
        return super().expm1(self.cut(number))

    def cut(self, number: Any) -> Any:
        """Return a number, HUGE for a larger one."""
        return rational(HUGE) if self.ends(number)[0] > HUGE else number

    def grown(self, powers: Vector, gaps: Vector, argument: Vector) -> Vector:
        """Return powers * (exp(argument) - 1), the powers being exp(-gaps) times the largest.

        A large argument is added to the gap first: exp(-1e38) exp(1e31) is small.
        """
        largest = self.maximum_of(powers.items)

        def one(power: Any, gap: Any, by: Any) -> Any:
            if is_exact_zero(power):
                return power
            if self.ends(by)[1] < LARGE:
                return self.multiply(power, self.expm1(by))
            grown = self.exp(self.cut(self.subtract(by, gap)))
            return self.monus(self.multiply(largest, grown), power)

        return powers.map(one, gaps, argument)

    def maximum_of(self, numbers: list[Any]) -> Any:
        """Return the largest of some numbers."""
        result = numbers[0]
        for item in numbers[1:]:
            result = self.maximum(result, item)
        return result

    def over(self, value: Any) -> Any:
        """Return a row's quantity for each of its keys."""
        return value

    def numbers(self, values: Sequence[int]) -> Vector:
        """Return an integer for each key."""
        return Vector(map(rational, values))

    def running(self, value: Vector) -> Vector:
        """Return the sums over the keys up to each."""
        return Vector(accumulate(value.items, self.add))

    def after_first(self, value: Vector) -> Vector:
        """Return the quantities of all keys but the first."""
        return Vector(value.items[1:])

    def delayed(self, value: Vector) -> Vector:
        """Return for each key the quantity of the key before, 0 for the first."""
        return Vector([rational(0), *value.items[:-1]])

    def last(self, value: Vector) -> Any:
        """Return the quantity of the last key."""
        return value.items[-1]

    def sum(self, value: Vector) -> Any:
        """Return the sum over keys."""
        return self.total(value.items)

    def largest(self, value: Vector) -> Any:
        """Return the largest over keys."""
        return self.maximum_of(value.items)

    def minus_log1m(self, value: Any) -> Any:
        """Return -log(1 - value) of a number below 1."""
        return -self.log(self.subtract(rational(1), value))

    def log_change(self, ratio: Any, other: Any, beyond: Any) -> Any:
        """Return min(-log(1 - ratio), other), ``beyond`` from a ratio of 1 on."""
        if reaches(self, ratio, rational(1)):
            return beyond
        return self.minimum(self.minus_log1m(ratio), other)
