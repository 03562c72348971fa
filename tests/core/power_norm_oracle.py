"""Norms of any order and their gradients by flint's balls, of 300 bits and more."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import flint

from tests.core import function_oracle as oracle
from tests.every_op.numbers import Number

PRECISIONS = (300, 700, 2600)


def size_of(x: complex) -> flint.arb:
    """The modulus of a number."""
    if isinstance(x, complex):
        return (flint.arb(x.real) ** 2 + flint.arb(x.imag) ** 2).sqrt()
    return abs(flint.arb(x))


def power(x: flint.arb, p: float) -> flint.arb:
    """x^p, of x = 0 too."""
    if x == 0:
        return flint.arb(0)
    return x ** flint.arb(p)


def total(row: Sequence[complex], p: float) -> flint.arb:
    return sum((power(size_of(x), p) for x in row if x != 0), flint.arb(0))


def norm_ball(row: Sequence[complex], p: float) -> flint.arb:
    return power(total(row, p), 1) ** (1 / flint.arb(p))


def number(ball: Callable[[], flint.arb]) -> Number:
    """The number that a ball closes in on, rational where it does not tell it from one."""
    for precision in PRECISIONS:
        flint.ctx.prec = precision
        found = ball()
        ends = [oracle.leading(end) for end in (found.lower(), found.upper())]
        if ends[0] == ends[1]:
            return ends[0]
    middle = oracle.leading(oracle.near(found))
    assert isinstance(middle, float) or not middle[3], found
    return middle


def norm(row: Sequence[complex], p: float) -> Number:
    """(sum |x|^p)^(1/p) of finite numbers."""
    if not any(row) or (p < 0 and 0 in row):
        return 0.0
    return number(lambda: norm_ball(row, p))


def gradient(row: Sequence[float], grad: float, p: float, j: int) -> Number:
    """grad sign(x) (|x| / norm)^(p - 1) of finite real numbers, 0 where x or the norm is 0."""
    if row[j] == 0 or grad == 0 or (p < 0 and 0 in row):
        return 0.0

    def ball() -> flint.arb:
        share = size_of(row[j]) / norm_ball(row, p)
        return flint.arb(grad) * math.copysign(1.0, row[j]) * share ** (flint.arb(p) - 1)

    return number(ball)


def close(found: Any, row: Sequence[complex], p: float) -> bool:
    """Whether an enclosure (midpoint and radius) meets the ball of the norm."""
    flint.ctx.prec = PRECISIONS[0]
    wanted = norm_ball(row, p)
    middle = found.midpoint.to_fraction()
    ball = flint.arb(flint.fmpq(middle.numerator, middle.denominator))
    radius = Fraction(found.radius)
    return bool(
        abs(ball - wanted)
        <= flint.arb(flint.fmpq(radius.numerator, radius.denominator))
        + wanted * flint.arb(2) ** -280
    )
