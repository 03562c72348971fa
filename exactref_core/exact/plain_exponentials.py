"""Exponentials, logarithms and cube roots in plain float64, with proven radii.

Arguments are numbers x of which the true ones lie within a spread d; u = 2**-53.

- exp: `exp_high` errs by a relative 2**-51, and e^(x + d) - e^x is at most e^x (d + d^2) for
  d <= 1. Below x = -689 every e^x is below 2**-990.
- exp2: likewise with d ln2 for d.
- log: y = log x from any library is corrected by z = x exp(-y) - 1: log x = y + log(1 + z), and
  |log(1 + z) - z| <= z^2 for |z| <= 1/2. `exp_high` and the product err by 2**-51 (1 + z) and
  u (1 + z), and the subtraction is exact (Sterbenz): z is within 2**-50 where |z| < 2**-20. y + z
  rounds by u of it; 2**-49 + 2 z^2 and 2**-52 of the result are claimed. log moves by at most
  d / (x - d).
- log2, log10: the product with 1/ln2, 1/ln10 rounds by u, as does the constant, and 2**-51 of the
  result is claimed for both.
- cbrt: y from any library; cbrt x = y (1 + z)^(1/3) with z = x / y^3 - 1, whose roundings are below
  2**-51, and |(1 + z)^(1/3) - 1 - z / 3| <= z^2. y + y z / 3 is within y (2**-51 + 2 z^2) and two
  roundings of it: 2**-50 and 2 z^2 of y are claimed. cbrt moves by at most d / (3 cbrt(x - d)^2),
  below y d / (2 (|x| - d)) for d <= |x| / 4.
"""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np

from exactref_core.exact.double_double import Floats
from exactref_core.exact.exponentials import LEAST, MOST, VANISHED, exp2_high, exp_high

__all__ = ["EXPONENTIALS", "NEAR", "ROOM", "Found", "exp", "log", "told"]

EXP = 2.0**-51
ROOM = 1 + 2.0**-48
# Where the logarithm of a library is corrected, and how far that may be from it.
REACH = 2.0**900
NEAR = 2.0**-20
TWO = 1000.0

Found: TypeAlias = tuple[Floats, Floats]


def told(found: Found) -> Found:
    """Return values and radii; 0 and inf where a radius is none: NaN would pass for a decision."""
    value, radius = found
    if np.max(radius, initial=0.0) < np.inf:  # NaN is not
        return found
    known = radius < np.inf
    return np.where(known, value, 0.0), np.where(known, radius, np.inf)


def grown(value: Floats, spread: Floats | None) -> Floats:
    """Return the radius of an exponential whose exponent has a spread."""
    if spread is None:
        return value * EXP
    radius = value * (EXP + (spread + spread * spread) * ROOM)
    return np.where(spread <= 1, radius, np.inf)


def exp(x: Floats, spread: Floats | None) -> Found:
    """Return e^x."""
    value = exp_high(x)
    radius = grown(value, spread)
    if np.min(x, initial=0.0) < LEAST:
        radius = np.where(x < LEAST, np.maximum(radius, VANISHED), radius)
    if np.max(x, initial=0.0) > MOST:
        radius = np.where(x > MOST, np.inf, radius)
    return value, radius


def exp2(x: Floats, spread: Floats | None) -> Found:
    """Return 2^x."""
    good = np.abs(x) <= TWO
    value = exp2_high(np.where(good, x, 0.0))
    return value, np.where(good, grown(value, spread), np.inf)


def log(x: Floats, spread: Floats | None) -> Found:
    """Return log x; that of 1 is exact."""
    y = np.log(x)
    z = x * exp_high(-y) - 1.0
    value = np.where(x == 1, 0.0, y + z)
    radius = 2 * z * z
    radius += 2.0**-49
    radius += np.abs(value) * 2.0**-52
    radius[x == 1] = 0.0
    good = (x >= 1 / REACH) & (x <= REACH) & (np.abs(z) < NEAR)
    if spread is not None:
        rest = x - spread
        good &= rest > 0
        radius += spread / rest * ROOM
    return np.where(good, value, 0.0), np.where(good, radius, np.inf)


def log2(x: Floats, spread: Floats | None) -> Found:
    """Return the logarithm to base 2."""
    return scaled(log(x, spread), 1 / math.log(2))


def log10(x: Floats, spread: Floats | None) -> Found:
    """Return the logarithm to base 10."""
    return scaled(log(x, spread), 1 / math.log(10))


def scaled(found: Found, factor: float) -> Found:
    """Return a product with a constant known to 3u."""
    value = found[0] * factor
    radius = found[1] * (factor * ROOM) + np.abs(value) * 2.0**-50
    return value, radius


def cbrt(x: Floats, spread: Floats | None) -> Found:
    """Return the cube root."""
    y = np.cbrt(x)
    z = x / (y * y * y) - 1.0
    value = y + y * z / 3
    size = np.abs(y)
    radius = size * (2.0**-50 + 2 * z * z)
    good = (np.abs(x) >= 1 / REACH) & (np.abs(x) <= REACH) & (np.abs(z) < NEAR)
    if spread is not None:
        good &= spread <= np.abs(x) / 4
        radius += size * (spread / (2 * (np.abs(x) - spread)) * ROOM)
    return np.where(good, value, 0.0), np.where(good, radius, np.inf)


EXPONENTIALS = {
    "exp": exp,
    "exp2": exp2,
    "log": log,
    "log2": log2,
    "log10": log10,
    "cbrt": cbrt,
}
