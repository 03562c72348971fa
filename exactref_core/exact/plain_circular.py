"""Circular functions and their inverses in plain float64, with proven radii; u = 2**-53.

sin, cos, tan for |x| <= 2**20: k = rint(2 x / pi), |k| <= 2**20, and r = x - k pi/2 with pi/2 =
P1 + P2 + P3, where P1 and P2 have 33 bits, so that k P1 and k P2 are exact.
- x - k P1 is exact: for k = 0 it is x. Else |x| >= 1/2, so that x is a multiple of its last place
  2**(e - 52), -1 <= e <= 20, as k P1, a multiple of 2**-32, is too, and their difference is below
  1, at most 2**53 of those places.
- Subtracting k P2 and k P3 rounds twice, by u of numbers below |r| + 2**-47, and P3 is known to
  2**-118: r is within 2**-52 |r| + 2**-97. Where |r| < 2**-40 and k is not 0, nothing is claimed;
  elsewhere r is within 2**-51 |r|.
- sin r = r + r^3 S(r^2) leaves out r^19 / 19!, below 2**-62 |r| for |r| <= 0.79. The roundings of
  r^3 S, below |r| / 9, are below 8 u |r| / 9 together, the sum rounds by u, and r itself by
  2**-51 |r cos r| <= 2**-51 |sin r| (1 + 2**-50): below 2**-49 |sin r|.
- cos r = 1 - r^2 / 2 + r^4 C(r^2) leaves out r^18 / 18!, below 2**-58, and rounds by 3 u r^2 / 2
  and u; r moves it by 2**-51 r^2: below 2**-50, and cos r >= 0.7: below 2**-49 |cos r|.
- tan is their quotient, within 2**-47.
- They move by d, and tan by d (1 + tan^2) (1 + 2**-17) where d <= 2**-20 |cos x|.

The inverses correct y from any library by z, the sine or tangent of f(x) - y, and |z - f(x) + y| <=
|z|^3. With s, c = sin y, cos y within 2**-49:
- atan: z = (x c - s) / (c + x s), where the denominator is |x| sin a + cos a >= 1 / 2 for a = atan
  |x| once |z| is small, and s / (c + x s) is about sin a cos a <= a. z is within 2**-47 of a. The
  denominator is positive where |y - atan x| < pi / 2. From |x| >= 2**30, atan x = +-pi/2 - 1/x
  within 2**-91.
- asin: w = sqrt((1 - x)(1 + x)) is within 5u/2, z = x c - w s within 2**-47 |x|; y has the sign of
  x and |y| <= 2, so that |asin x - y| <= 2 and a small sine of it is that of a small angle.
- acos: z = c w - s x within 2**-47 w, and w <= acos x; 0 <= y <= 7/2, c x >= -1/2. Were acos x - y
  near +-pi, c would be near -x, x^2 at most about 1/2 and acos x from pi/4 to 3 pi/4 or so: y would
  be below 0 or above 7/2. Up to |x| = 2**-30, acos x = pi/2 - x within 2**-91.
  Both move by at most d / sqrt((1 - |x| - d)(1 + |x|)), where 1 - |x| rounds by u of itself, and
  1 - |x| - d by 4u for d <= (1 - |x|) / 2.
What is said of z counts |x|, w and a for |s| as well, as they are where y is f(x): else s is larger
by |z| at most, and z errs by 2**-47 |z| more. y + z rounds by u of it: 2**-45 of the result and of
|z| is claimed.
"""

from __future__ import annotations

import math
from functools import lru_cache

import gmpy2
import numpy as np
import numpy.typing as npt

from exactref_core.exact.double_double import Floats
from exactref_core.exact.plain_exponentials import NEAR, ROOM, Found

__all__ = ["CIRCULAR"]

Bools = npt.NDArray[np.bool_]

FAR = 2.0**20
FLAT = 2.0**30
TINY = 2.0**-40
SMALLEST = 2.0**-1070
BITS = 33
SINES = tuple((-1) ** k / math.factorial(2 * k + 1) for k in range(8, 0, -1))
COSINES = tuple((-1) ** k / math.factorial(2 * k) for k in range(8, 0, -1))
PLAIN = 2.0**-49
CORRECTED = 2.0**-45


@lru_cache(maxsize=1)
def quarter_turn() -> tuple[float, float, float]:
    """Return P1, P2 and P3."""
    with gmpy2.context(precision=300):
        rest = gmpy2.const_pi() / 2
        first = gmpy2.mpfr(rest, BITS)
        second = gmpy2.mpfr(rest - first, BITS)
        return float(first), float(second), float(rest - first - second)


def polynomial(coefficients: tuple[float, ...], q: Floats) -> Floats:
    """Return c_n q + ... + c_1 q^n, by Horner's rule."""
    total = q * coefficients[0]
    for c in coefficients[1:]:
        total += c
        total *= q
    return total


def sine_and_cosine(x: Floats) -> tuple[Floats, Floats, Bools]:
    """Return sin x, cos x and where they are within 2**-49 of themselves, or smallest numbers."""
    first, second, third = quarter_turn()
    good = np.abs(x) <= FAR
    given = x if np.all(good) else np.where(good, x, 0.0)
    k = np.rint(given * (2 / math.pi))
    r = given - k * first
    r -= k * second
    r -= k * third
    good &= (np.abs(r) >= TINY) | (k == 0)
    q = r * r
    sine, cosine = r + r * polynomial(SINES, q), 1.0 + polynomial(COSINES, q)
    turns = k.astype(np.int64)
    swap = (turns & 1) == 1
    s, c = np.where(swap, cosine, sine), np.where(swap, sine, cosine)
    s = np.where(turns & 2, -s, s)
    c = np.where((turns + 1) & 2, -c, c)
    return s, c, good


def sin(x: Floats, spread: Floats | None) -> Found:
    """Return sin x."""
    s, _, good = sine_and_cosine(x)
    return s, radius_of(s, spread, good)


def cos(x: Floats, spread: Floats | None) -> Found:
    """Return cos x."""
    _, c, good = sine_and_cosine(x)
    return c, radius_of(c, spread, good)


def radius_of(value: Floats, spread: Floats | None, good: Bools) -> Floats:
    """Return the radius of a sine or cosine."""
    radius = np.abs(value) * PLAIN + SMALLEST
    if spread is not None:
        radius += spread
    return np.where(good, radius, np.inf)


def tan(x: Floats, spread: Floats | None) -> Found:
    """Return tan x."""
    s, c, good = sine_and_cosine(x)
    value = s / c
    radius = np.abs(value) * 2.0**-47 + SMALLEST
    if spread is not None:
        good &= spread <= np.abs(c) * NEAR
        radius += spread * (1 + value * value) * (1 + 2.0**-16)
    return value, np.where(good, radius, np.inf)


def corrected(y: Floats, z: Floats, spread: Floats | None, good: Bools) -> Found:
    """Return y + z with its radius; ``spread`` is how far the value moves."""
    value = y + z
    size = np.abs(z)
    radius = (np.abs(value) + size) * CORRECTED + size * size * size + SMALLEST
    if spread is not None:
        radius += spread
    good = good & (size < NEAR)
    return np.where(good, value, 0.0), np.where(good, radius, np.inf)


def atan(x: Floats, spread: Floats | None) -> Found:
    """Return atan x; it moves by no more than its argument."""
    y = np.arctan(x)
    s, c, good = sine_and_cosine(y)
    bottom = c + x * s
    found = corrected(y, (x * c - s) / bottom, spread, good & (bottom > 0) & (np.abs(y) <= 2))
    far = np.abs(x) >= FLAT
    if not np.any(far):
        return found
    value = np.where(far, np.copysign(math.pi / 2, x) - 1 / x, found[0])
    radius = 2.0**-50 if spread is None else 2.0**-50 + spread
    return value, np.where(far, radius, found[1])


def root_of(x: Floats, spread: Floats | None) -> tuple[Floats, Floats | None]:
    """Return sqrt(1 - x^2), and how far asin and acos move at most with their argument."""
    root = np.sqrt((1 - x) * (1 + x))
    if spread is None:
        return root, None
    rest = 1 - np.abs(x)
    moved = spread / np.sqrt((rest - spread) * (1 + np.abs(x))) * ROOM
    return root, np.where(spread <= rest / 2, moved, np.inf)


def ends_of(x: Floats, spread: Floats | None) -> Bools:
    """Return where numbers are 1 or -1 exactly."""
    ends: Bools = np.abs(x) == 1
    return ends if spread is None else ends & (spread == 0)


def asin(x: Floats, spread: Floats | None) -> Found:
    """Return asin x."""
    y = np.arcsin(x)
    s, c, good = sine_and_cosine(y)
    root, moved = root_of(x, spread)
    value, radius = corrected(y, x * c - root * s, moved, good & (x * y >= 0) & (np.abs(y) <= 2))
    ends = ends_of(x, spread)
    value = np.where(ends, x * (math.pi / 2), value)
    return value, np.where(ends, CORRECTED * 2, radius)


def acos(x: Floats, spread: Floats | None) -> Found:
    """Return acos x; that of 1 is exact."""
    y = np.arccos(x)
    s, c, good = sine_and_cosine(y)
    root, moved = root_of(x, spread)
    good &= (c * x >= -0.5) & (y >= 0) & (y <= 3.5)
    value, radius = corrected(y, c * root - s * x, moved, good)
    ends = ends_of(x, spread)
    value = np.where(ends, np.where(x == 1, 0.0, math.pi), value)
    radius = np.where(ends, np.where(x == 1, 0.0, CORRECTED * 4), radius)
    small = np.abs(x) <= 1 / FLAT
    if not np.any(small):
        return value, radius
    off = 2.0**-50 if moved is None else 2.0**-50 + moved
    return np.where(small, math.pi / 2 - x, value), np.where(small, off, radius)


CIRCULAR = {"sin": sin, "cos": cos, "tan": tan, "asin": asin, "acos": acos, "atan": atan}
