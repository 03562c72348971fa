"""How far functions move with their arguments, by the mean value theorem in float64 arithmetic.

f(x + d) - f(x) = d f'(y) for some y between. |f'| rises or falls with x or with |x|, so that it
lies between its values at two ends of the span of y; where these are close to each other the
product is a tight bracket.

Every slope here is evaluated within 2**-41 of itself: a handful of roundings, none of a difference
that cancels (1 - x and 1 + x are rounded once), and exponentials of arguments up to ARGUMENT, which
are themselves rounded by 2**-53 of their size: that moves them by ARGUMENT 2**-52 < 2**-42.5, and
`exp_pair` errs by 2**-61. SLACK is twice that.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from exactref_core.exact.double_double import Floats
from exactref_core.exact.exponentials import exp_pair

__all__ = ["SLOPES", "Slope", "bracketed"]

SLACK = 2.0**-40
# Exponentials of larger arguments are left to others.
ARGUMENT = 680.0
# Ends whose slopes differ by more leave too wide a bracket.
CLOSE = 1 + 2.0**-14
ROOM = 1 + 2.0**-50
TINY = 2.0**-1074

Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Slope:
    """|f'| and the numbers, up to ``most`` in magnitude, where ``formula`` holds.

    ``even``: it goes with |x|, else with x; which way does not matter.
    """

    formula: Callable[[Floats], Floats]
    most: float = 2.0**500
    even: bool = True


def exponential(x: Floats) -> Floats:
    """Return e^x."""
    return exp_pair(x, None)[0]


def logistic_slope(x: Floats) -> Floats:
    """Return 1 / cosh(x)^2 = 4 e^-2|x| / (1 + e^-2|x|)^2."""
    e = exponential(-2 * np.abs(x))
    return 4 * e / ((1 + e) * (1 + e))


def over(factor: float) -> Slope:
    """Return the slope of a logarithm, 1 / (factor x)."""
    return Slope(lambda x: 1 / (factor * x), even=False)


def gaussian(x: Floats) -> Floats:
    """Return 2 / sqrt(pi) e^(-x^2)."""
    return 2 / math.sqrt(math.pi) * exponential(-x * x)


GAUSSIAN = Slope(gaussian, math.sqrt(ARGUMENT))
ARC = Slope(lambda x: 1 / np.sqrt((1 - x) * (1 + x)))

SLOPES = {
    "expm1": Slope(exponential, ARGUMENT, even=False),
    "exp2": Slope(lambda x: math.log(2) * exponential(x * math.log(2)), ARGUMENT, even=False),
    "log": over(1.0),
    "log2": over(math.log(2)),
    "log10": over(math.log(10)),
    "log1p": Slope(lambda x: 1 / (1 + x), even=False),
    "tanh": Slope(logistic_slope, ARGUMENT / 2),
    "erf": GAUSSIAN,
    "erfc": GAUSSIAN,
    "asin": ARC,
    "acos": ARC,
    "atan": Slope(lambda x: 1 / (1 + x * x)),
    "asinh": Slope(lambda x: 1 / np.sqrt(1 + x * x)),
    "atanh": Slope(lambda x: 1 / ((1 - x) * (1 + x))),
}


@np.errstate(all="ignore")
def bracketed(
    slope: Slope, x: tuple[Floats, Floats, Floats], least: Floats, most: Floats
) -> tuple[Floats, Floats, Bools]:
    """Return bounds on how far a function moves, and where they are tight.

    ``x`` are high, low and radius of flat arguments, over whose span with ``most`` added on both
    sides the function rises or falls; they move by something from ``least`` to ``most``.
    """
    reach = (np.abs(x[1]) + x[2] + most) * ROOM
    # The ends round by less than a unit of what they are.
    low, high = x[0] - reach, x[0] + reach
    low, high = low - np.abs(low) * 2.0**-52, high + np.abs(high) * 2.0**-52
    size = np.maximum(np.abs(low), np.abs(high))
    inside = size <= slope.most
    if slope.even:
        near = np.maximum(np.maximum(low, -high), 0.0)
        low, high = near, size
    ends = [slope.formula(np.where(inside, end, 0.5)) for end in (low, high)]
    below, above = np.minimum(*ends), np.maximum(*ends)
    tight = inside & (below > 2.0**-960) & (above <= below * CLOSE) & (least > 0)
    down = np.maximum(least * (below * (1 - SLACK)) - TINY, 0.0)
    up = most * (above * (1 + SLACK)) + TINY
    return down, up, tight & np.isfinite(up)
