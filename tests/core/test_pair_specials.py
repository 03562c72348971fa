"""pow and atan2 of a stored sum and an infinity, NaN or zero: the C library's answers for what is
stored are inside (C99 Annex F), and nothing but what numbers beside it give."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import exactref as er

SPECIALS = [np.inf, -np.inf, np.nan, 0.0, -0.0]
# Exact sums beside the numbers that decide, and away from them; the stored sum may be the number.
SUMS = [
    (0.1, 0.9),  # above 1 by 2^-55, stored as 1
    (-0.1, -0.9),
    (2.0**-60, 0.0),
    (1.0, -(1.0 + 2.0**-52) + 2.0**-52),
    (1.1, 1.2),
    (-1.1, -1.2),
    (0.2, 0.3),
    (-0.2, -0.35),
    (2.9, 0.1),
    (-2.9, -0.1),
]


def stored(a: float, b: float) -> list[float]:
    """The float64 numbers within u |a + b| of a + b."""
    exact, near = Fraction(a) + Fraction(b), a + b
    unit = Fraction(1, 1 << 53)
    found = [near, np.nextafter(near, -np.inf), np.nextafter(near, np.inf)]
    return [float(x) for x in found if abs(Fraction(float(x)) - exact) <= unit * abs(exact)]


def result(function: str, sums: tuple[float, float], special: float, first: bool) -> Any:
    box, given = er.add(*(np.array([part]) for part in sums)), np.array([special])
    return getattr(er, function)(*((box, given) if first else (given, box)))


def power(x: float, y: float) -> float:
    """The C library's pow, where Python has an exception too."""
    try:
        return math.pow(x, y)
    except ValueError:
        odd = y == np.floor(y) and y % 2 == 1
        return np.nan if x else math.copysign(np.inf, x if odd else 1.0)


KERNELS: dict[str, Callable[[float, float], float]] = {"pow": power, "atan2": math.atan2}


@pytest.mark.parametrize("special", SPECIALS)
@pytest.mark.parametrize("function", KERNELS)
@np.errstate(all="ignore")
def test_what_the_library_makes_of_stored_numbers_is_inside(function: str, special: float) -> None:
    for sums in SUMS:
        for first in (True, False):
            r = result(function, sums, special, first)
            for x in stored(*sums):
                output = KERNELS[function](*((x, special) if first else (special, x)))
                assert r.covers(np.array([output])).all(), (sums, first, x, output)


@pytest.mark.parametrize("special", SPECIALS)
@pytest.mark.parametrize("function", KERNELS)
@np.errstate(all="ignore")
def test_nothing_else_is_inside(function: str, special: float) -> None:
    """Away from 0 and +-1 a number of either side of them gives what all around it give."""
    for sums in SUMS[4:8]:
        for first in (True, False):
            r = result(function, sums, special, first)
            x = sum(sums)
            right = KERNELS[function](*((x, special) if first else (special, x)))
            for output in (0.0, 1.0, 0.37, np.pi, -np.pi, np.pi / 2, np.inf, -np.inf, np.nan):
                same = output == right or (output != output and right != right)
                assert r.covers(np.array([output])).all() == same, (sums, first, output, right)
