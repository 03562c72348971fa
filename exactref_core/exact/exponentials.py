"""exp and log of float64 pairs with proven errors, from additions, products and an MPFR table.

exp: with N = 1024, x = i ln2 / N + r and |r| <= (1 + 2**-20) ln2 / 2N < 2**-11.5, exp(x) is
2**(i div N) T[i mod N] (1 + p(r)).

Errors, relative to the result, u = 2**-53:
- i c1 is exact (c1 has 33 bits, |i| < 2**20) and x - i c1 too (Sterbenz, or i = 0); i c2 rounds by
  u |i c2| < 2**-53 2**20 2**-43 = 2**-76, c2 itself by as little; a - i c2 rounds by u |r| <
  2**-64.5; adding the low word rounds by u |r| again: 2**-63.5 for all of them;
- p = r + r^2 (1/2 + r (1/6 + r (1/24 + r / 120))) leaves out r^6 / 720 < 2**-78; its roundings are
  below 3 u |p| < 2**-62.9;
- T = th + tl with |T - th - tl| < 2**-106; th p rounds by u |p| < 2**-64.5, tl + th p by as much,
  and tl p (below 2**-53 2**-11.5) is left out: 2**-63 for the three.
Their sum is below 2**-61.4; 2**-61 is claimed.
"""

from __future__ import annotations

import math
from functools import lru_cache

import gmpy2
import numpy as np
import numpy.typing as npt

from exactref_core.exact.double_double import Floats, fast_two_sum, two_prod, two_sum

__all__ = [
    "EXP_ERROR",
    "LEAST",
    "MOST",
    "VANISHED",
    "exp2_high",
    "exp_high",
    "exp_near",
    "exp_pair",
    "in_range",
    "log_pair",
]

N = 1024
EXP_ERROR = 2.0**-61
# Below this exponents leave the normal range; the result is then known to 2**-1000 only.
LEAST = -690.0
VANISHED = 2.0**-990
MOST = 709.0
TABLE_PRECISION = 200
SPLIT_BITS = 33
LN2 = math.log(2)
# Elements whose temporaries stay in the cache, and below what the C library maps afresh.
BLOCK = 12288
# Roots of two of the plain exponential.
M = 2048
LAST = np.uint64(M - 1)
UP = np.uint64(52 - 11)
# A float64 number added to this one is rounded to an integer, which the sum's bits end in.
SHIFT = 1.5 * 2.0**52


@lru_cache(maxsize=1)
def tables() -> tuple[Floats, Floats, float, float, float]:
    """Return T high and low, c1 and c2 with c1 + c2 = ln2 / N, and N / ln2."""
    with gmpy2.context(precision=TABLE_PRECISION):
        roots = [gmpy2.exp2(gmpy2.mpfr(j) / N) for j in range(N)]
        high = np.asarray([float(root) for root in roots])
        low = np.asarray([float(root - gmpy2.mpfr(float(root))) for root in roots])
        step = gmpy2.log(gmpy2.mpfr(2)) / N
        c1 = float(gmpy2.mpfr(step, SPLIT_BITS))
        return high, low, c1, float(step - gmpy2.mpfr(c1)), float(1 / step)


def exp_pair(high: Floats, low: Floats | None) -> tuple[Floats, Floats, Floats]:
    """Return (h, t, r) with |exp(high + low) - h - t| <= r, for |low| <= 2**-52 |high|.

    Arguments below -690 give h = t = 0 and r = 2**-990; above 709 the radius is inf.
    """
    table_high, table_low, c1, c2, inverse = tables()
    inside = (high >= LEAST) & (high <= MOST)
    x = np.where(inside, high, 0.0)
    i = np.rint(x * inverse)
    r = (x - i * c1) - i * c2
    if low is not None:
        r = r + np.where(inside, low, 0.0)
    p = r * r * (0.5 + r * (1 / 6 + r * (1 / 24 + r * (1 / 120)))) + r
    whole = i.astype(np.int64)
    place = whole & (N - 1)
    th = table_high[place]
    h, t = fast_two_sum(th, table_low[place] + th * p)
    exponent = (whole >> 10).astype(np.int32)
    h, t = np.ldexp(h, exponent), np.ldexp(t, exponent)
    radius = h * EXP_ERROR
    if not np.all(inside):
        h, t = np.where(inside, h, 0.0), np.where(inside, t, 0.0)
        radius = np.where(inside, radius, np.where(high < LEAST, VANISHED, np.inf))
    return h, t, radius


@lru_cache(maxsize=1)
def high_tables() -> tuple[npt.NDArray[np.uint64], float, float, float]:
    """Return T of M roots as bits less j << UP, c1 and c2 with c1 + c2 = ln2 / M, and M / ln2."""
    with gmpy2.context(precision=TABLE_PRECISION):
        roots = np.asarray([float(gmpy2.exp2(gmpy2.mpfr(j) / M)) for j in range(M)])
        step = gmpy2.log(gmpy2.mpfr(2)) / M
        c1 = float(gmpy2.mpfr(step, SPLIT_BITS - 1))
        c2 = float(step - gmpy2.mpfr(c1))
        return (
            roots.view(np.uint64) - (np.arange(M, dtype=np.uint64) << UP),
            c1,
            c2,
            float(1 / step),
        )


def exp_high(x: Floats) -> Floats:
    """Return exp(x) within a relative 2**-51 for -690 <= x <= 709, and 0 for smaller x.

    As `exp_pair` with M = 2048 roots, |r| < 2**-12.5: c1 of 32 bits leaves i c1 exact, |i| < 2**21.
    p leaves out r^4 / 24 < 2**-54.5; T errs by 2**-53, and th + th p rounds by u (1 + 2**-12), both
    of the result, beside the 2**-61.4 of what goes into p. Larger x are taken as 709.
    """
    if x.size <= 2 * BLOCK:
        return high_of(x)
    flat = np.ascontiguousarray(x).reshape(-1)
    found = np.empty(flat.size)
    for start in range(0, flat.size, BLOCK):
        found[start : start + BLOCK] = high_of(flat[start : start + BLOCK])
    return found.reshape(x.shape)


def exp2_high(x: Floats) -> Floats:
    """Return 2^x within a relative 2**-51 for |x| <= 1000.

    x - i / M is exact, and r = (x - i / M) ln2, below 2**-12.5, rounds twice by u: 2**-64.5 of the
    result, which is within `exp_high`'s account of the reduction.
    """
    shifted = x * M
    shifted += SHIFT
    return raised(shifted, (x - (shifted - SHIFT) / M) * LN2)


def high_of(x: Floats) -> Floats:
    """Return what `exp_high` does, of a block."""
    # A NaN, which compares with nothing, must not hide what is too small from the test.
    small, large = not np.min(x, initial=0.0) >= LEAST, not np.max(x, initial=0.0) <= MOST
    found = in_range(np.clip(x, LEAST, MOST) if small or large else x)
    return np.where(x < LEAST, 0.0, found) if small else found


def in_range(x: Floats) -> Floats:
    """Return what `exp_high` does, of a block of numbers from LEAST to MOST."""
    _, c1, c2, inverse = high_tables()
    shifted = x * inverse
    shifted += SHIFT
    i = shifted - SHIFT
    r = i * c1
    np.subtract(x, r, out=r)
    i *= c2
    r -= i
    return raised(shifted, r)


def exp_near(x: Floats) -> Floats:
    """Return exp(x) within a relative 2**-39 for |x| <= 90.

    As `exp_high` with one constant for ln2 / M: it and its product with i err by u |x| each, below
    2**-45.4 together; the difference is exact as there. p leaves out r^3 / 6 < 2**-39.9 as well.
    """
    _, c1, c2, inverse = high_tables()
    shifted = x * inverse
    shifted += SHIFT
    r = shifted - SHIFT
    r *= c1 + c2
    np.subtract(x, r, out=r)
    p = r * 0.5
    p *= r
    p += r
    return grown(shifted, p, r)


def raised(shifted: Floats, r: Floats) -> Floats:
    """Return 2^(i / M) e^r for integers i, |i| < 2**21, given i + SHIFT."""
    p = r * (1 / 6)
    p += 0.5
    p *= r
    p *= r
    p += r
    return grown(shifted, p, r)


def grown(shifted: Floats, p: Floats, room: Floats) -> Floats:
    """Return 2^(i / M) (1 + p) for integers i, |i| < 2**21, given i + SHIFT, whose bits end in i.

    All three arrays are used up: one written to again is in the cache.

    i << UP is i div M in the place of the exponent, and i mod M beyond it, which the table lacks:
    added to it that makes 2^(i div M) T[i mod M], a normal number.
    """
    bits = shifted.view(np.uint64)
    place = np.bitwise_and(bits, LAST, out=room.view(np.uint64))
    bits <<= UP
    bits += high_tables()[0].take(place.view(np.intp))
    p *= shifted
    p += shifted
    return p


def log_pair(high: Floats, low: Floats) -> tuple[Floats, Floats, Floats]:
    """Return (h, t, r) with |log(high + low) - h - t| <= r, for high in [2**-900, 2**900].

    y from any library is corrected by z = x exp(-y) - 1: log x = y + log(1 + z), and for |z| <
    2**-20 log(1 + z) = z - z^2 / 2 within |z|^3. z comes from `exp_pair` and a double-double
    product, with an error below 2**-60; where |z| is larger y is no logarithm, and the radius
    is inf.
    """
    y = np.log(high)
    eh, el, error = exp_pair(-y, None)
    p, e = two_prod(high, eh)
    rest = e + (high * el + low * eh)
    z, tail = two_sum(p - 1.0, rest)
    step = z - 0.5 * z * z
    h, t = two_sum(y, step)
    t = t + tail
    size = np.abs(z)
    radius = high * error * (1 + 2.0**-10) + 2.0**-98 + size**3 + 2.0**-51 * size * size
    radius = radius + 2.0**-52 * (np.abs(t) + np.abs(tail)) + 2.0**-50 * np.abs(rest)
    good = (high >= 2.0**-900) & (high <= 2.0**900) & (size < 2.0**-20)
    h, t = fast_two_sum(h, t)
    return np.where(good, h, 0.0), np.where(good, t, 0.0), np.where(good, radius, np.inf)
