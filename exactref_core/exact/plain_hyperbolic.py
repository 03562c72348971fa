"""Hyperbolic functions, their inverses, expm1 and log1p in plain float64, with proven radii.

Arguments are numbers x of which the true ones lie within a spread d; u = 2**-53; e = e^|x| is
within 2**-51 (`exp_high`). Claimed of the results: 2**-48, and 2**-45 of the inverses and of |z|.

- sinh: from |x| = 1/2 on (e - 1/e) / 2, where (e + 2/e) / (e - 1/e) < 2.7; below it the series
  x + x P(x^2), P < 1/20, without x^17 / 17! < 2**-64 |x|, whose roundings are below 2u |x|.
- cosh: (e + 1/e) / 2.
- expm1: from |x| = 1/2 on e^x - 1, where e^x / |e^x - 1| < 2.6; below it 2 sinh(x/2) e^(x/2).
- They move by at most d + d^2 times cosh x, cosh x, e^x, for d <= 1.

The inverses correct y from any library by z, a function g of f(x) - y with |g(t) - t| <= |t|^3 (t^2
for log1p) near 0, below |x| = 1/2, 1/4 for atanh:
- log1p: z = x + (1 + x) expm1(-y), within 2**-46 (|x| + |z|), as (1 + x) expm1(-y) is z - x;
- asinh: z = x cosh y - sqrt(1 + x^2) sinh y, within 2**-46 (|x| + |z|), as |sinh y| <= |x| + 2 |z|;
- atanh: z = (x cosh y - sinh y) / (cosh y - x sinh y), within 2**-46 (|x| + |z|); the denominator
  is at least (1 - x^2) cosh y there.
Beyond, and for acosh, they are logarithms: of 1 + x (exact or within u), of |x| + sqrt(x^2 + 1) and
x + sqrt((x - 1)(x + 1)) within 4u, of (1 + |x|) / (1 - |x|) within 3u. `log` errs by 2**-49 and its
argument's spread, and results are above 0.4; acosh is smaller near 1, where this is what it is.
log1p moves by at most d / (1 + x - d), asinh by d, acosh by d / sqrt((x - 1 - d)(x + 1 - d)),
atanh by d / ((1 - |x| - d) (1 + |x|)); with d at most half of x - 1 or 1 - |x|, the differences are
within 4u.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from exactref_core.exact.double_double import Floats
from exactref_core.exact.exponentials import MOST, exp_high
from exactref_core.exact.plain_exponentials import NEAR, ROOM, Found, log

__all__ = ["HYPERBOLIC"]

Bools = npt.NDArray[np.bool_]

SMALLEST = 2.0**-1070
SINES = tuple(1 / math.factorial(2 * k + 1) for k in range(7, 0, -1))
PLAIN = 2.0**-48
CORRECTED = 2.0**-45
LARGE = 2.0**500


def sinh_of(x: Floats) -> Floats:
    """Return sinh x for |x| <= 709."""
    size = np.abs(x)
    e = exp_high(size)
    far = (e - 1 / e) / 2
    q = np.minimum(size, 1.0)
    q *= q
    total = q * SINES[0]
    for c in SINES[1:]:
        total += c
        total *= q
    near = size + size * total
    return np.copysign(np.where(size < 0.5, near, far), x)


def cosh_of(x: Floats) -> Floats:
    """Return cosh x for |x| <= 709."""
    e = exp_high(np.abs(x))
    return (e + 1 / e) / 2


def expm1_of(x: Floats) -> Floats:
    """Return e^x - 1 for x <= 709."""
    near = np.abs(x) < 0.5
    half = np.where(near, x / 2, 0.0)
    return np.where(near, 2 * sinh_of(half) * exp_high(half), exp_high(x) - 1)


def claimed(
    value: Floats, relative: float, good: Bools, moved: Floats | None, more: Floats | float = 0.0
) -> Found:
    """Return values with their radii, where they are good."""
    radius = np.abs(value) * relative + SMALLEST + more
    if moved is not None:
        radius += moved
    return np.where(good, value, 0.0), np.where(good, radius, np.inf)


def corrected(y: Floats, z: Floats, moved: Floats | None, more: Floats) -> Found:
    """Return y + z with its radius; ``more`` is what the function of f(x) - y leaves out."""
    size = np.abs(z)
    return claimed(y + z, CORRECTED, size < NEAR, moved, more + size * CORRECTED)


def growth(slope: Floats, spread: Floats | None) -> Floats | None:
    """Return how far a value with a slope that grows as e^x moves, up to a spread of 1."""
    if spread is None:
        return None
    return np.where(spread <= 1, slope * (spread + spread * spread) * ROOM, np.inf)


def sinh(x: Floats, spread: Floats | None) -> Found:
    """Return sinh x."""
    slope = None if spread is None else growth(cosh_of(x), spread)
    return claimed(sinh_of(x), PLAIN, np.abs(x) <= MOST, slope)


def cosh(x: Floats, spread: Floats | None) -> Found:
    """Return cosh x."""
    value = cosh_of(x)
    return claimed(value, PLAIN, np.abs(x) <= MOST, growth(value, spread))


def expm1(x: Floats, spread: Floats | None) -> Found:
    """Return e^x - 1."""
    slope = None if spread is None else growth(exp_high(x) + SMALLEST, spread)
    return claimed(expm1_of(x), PLAIN, x <= MOST, slope)


def log1p(x: Floats, spread: Floats | None) -> Found:
    """Return log(1 + x)."""
    near = np.abs(x) < 0.5
    given = np.where(near, x, 0.0)
    y = np.log1p(given)
    z = given + (1 + given) * expm1_of(-y)
    moved = None
    if spread is not None:
        rest = (1 + x) - spread
        moved = np.where(spread <= (1 + x) / 2, spread / rest * ROOM, np.inf)
    value, radius = corrected(y, z, moved, 2 * z * z)
    if np.all(near):
        return value, radius
    t = 1 + x
    off = np.where(x > 0, t * 2.0**-53, 0.0)
    far = log(t, off if spread is None else (off + spread) * ROOM)
    return np.where(near, value, far[0]), np.where(near, radius, far[1])


def asinh(x: Floats, spread: Floats | None) -> Found:
    """Return asinh x."""
    size = np.abs(x)
    near = size < 0.5
    given = np.where(near, x, 0.0)
    y = np.arcsinh(given)
    z = given * cosh_of(y) - np.sqrt(1 + given * given) * sinh_of(y)
    value, radius = corrected(y, z, spread, np.abs(z) ** 3)
    if np.all(near):
        return value, radius
    t = size + np.sqrt(size * size + 1)
    h, r = log(t, t * 2.0**-50)
    r = r if spread is None else r + spread
    r = np.where(size <= LARGE, r, np.inf)
    return np.where(near, value, np.copysign(h, x)), np.where(near, radius, r)


def acosh(x: Floats, spread: Floats | None) -> Found:
    """Return acosh x; that of 1 is exact."""
    good = (x >= 1) & (x <= LARGE)
    given = np.where(good, x, 1.0)
    t = given + np.sqrt((given - 1) * (given + 1))
    value, radius = log(t, t * 2.0**-50)
    if spread is None:
        value, radius = (np.where(x == 1, 0.0, part) for part in (value, radius))
    else:
        moved = spread / np.sqrt((given - 1 - spread) * (given + 1 - spread)) * ROOM
        moved = np.where(spread == 0, 0.0, moved)  # at 1 as well
        radius = np.where(spread <= (given - 1) / 2, radius + moved, np.inf)
    return value, np.where(good, radius, np.inf)


def atanh(x: Floats, spread: Floats | None) -> Found:
    """Return atanh x."""
    size = np.abs(x)
    near = size < 0.25
    given = np.where(near, x, 0.0)
    y = np.arctanh(given)
    s, c = sinh_of(y), cosh_of(y)
    z = (given * c - s) / (c - given * s)
    moved = None
    if spread is not None:
        rest = 1 - size
        moved = spread / ((rest - spread) * (1 + size)) * ROOM
        moved = np.where(spread <= rest / 2, moved, np.inf)
    value, radius = corrected(y, z, moved, np.abs(z) ** 3)
    if np.all(near):
        return value, radius
    t = (1 + size) / (1 - size)
    h, r = log(t, t * 2.0**-51)
    r = r if moved is None else r + moved
    return np.where(near, value, np.copysign(h / 2, x)), np.where(near, radius, r)


HYPERBOLIC = {
    "sinh": sinh,
    "cosh": cosh,
    "expm1": expm1,
    "log1p": log1p,
    "asinh": asinh,
    "acosh": acosh,
    "atanh": atanh,
}
