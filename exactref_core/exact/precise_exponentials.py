"""exp and log of float64 pairs as double-double numbers, with proven errors: the second stage.

exp: with N = 1024, x = i ln2 / N + r and |r| < 2**-11.5 as in `exponentials`, exp(x) is
2**(i div N) T[i mod N] (1 + p), p = r + r^2 / 2 + r^3 / 6 + r^4 q, q = 1/24 + r / 120 + r^2 / 720 +
r^3 / 5040. Pairs a = ah + al are products and sums of pairs below, u = 2**-53:

Errors, relative to the result:
- c1 + c2 + c3 = ln2 / N with c1 and c2 of 33 bits, so that i c1 and i c2 are exact for |i| < 2**20;
  c3 < 2**-76 and i c3 round by 2**-109 each. x - i c1 is exact; taking i c2 from it is by TwoSum,
  with an error term below 2**-64; i c3 < 2**-56 is added to that, the low word of x to the rest, as
  pairs: below 2**-108. All of it together: 2**-107;
- a product of pairs (TwoProd, and the cross products) errs by at most 2**-101 of it, which is
  2**-124 for r^2 and 2**-136 for r^3, whose product with the pair of 1/6 errs by as little; the
  terms r^4 q < 2**-50.5 have a relative error below 8 u = 2**-50: 2**-100.5;
- what is left out, r^8 / 40320 (1 + ...) < 2**-107;
- sums of pairs err by at most 2**-103 of them, p < 2**-11.4: three of them, 2**-112;
- T errs by 2**-106, T (1 + p) is T + T p: a product of pairs below 2**-11.4 2**-101, a sum 2**-103.
Their sum is below 2**-99.5; 2**-97 is claimed.
log: y from any library is corrected by z = x exp(-y) - 1: log x = y + z - z^2 / 2 + z^3 / 3 within
z^4, for |z| < 2**-20.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TypeAlias

import gmpy2
import numpy as np

from exactref_core.exact.double_double import Floats, fast_two_sum, two_prod, two_sum
from exactref_core.exact.exponentials import LEAST, MOST, SPLIT_BITS, VANISHED, N, tables

__all__ = ["PRECISE_ERROR", "precise_exp", "precise_log"]

PRECISE_ERROR = 2.0**-97
TABLE_PRECISION = 300

Pair: TypeAlias = tuple[Floats, Floats]


@lru_cache(maxsize=1)
def constants() -> tuple[float, float, float, float, float]:
    """Return c1, c2, c3 with c1 + c2 + c3 = ln2 / N, and 1/6 as a pair."""
    with gmpy2.context(precision=TABLE_PRECISION):
        step = gmpy2.log(gmpy2.mpfr(2)) / N
        c1 = gmpy2.mpfr(step, SPLIT_BITS)
        c2 = gmpy2.mpfr(step - c1, SPLIT_BITS)
        sixth = gmpy2.mpfr(1) / 6
        high = float(sixth)
        return float(c1), float(c2), float(step - c1 - c2), high, float(sixth - gmpy2.mpfr(high))


def product(a: Pair, b: Pair) -> Pair:
    """Return a b; the low words' own product and three roundings are left out: below 2**-101."""
    p, e = two_prod(a[0], b[0])
    return fast_two_sum(p, e + (a[0] * b[1] + a[1] * b[0]))


def total(a: Pair, b: Pair) -> Pair:
    """Return a + b: two TwoSums, errors below 2**-103 of |a| + |b|."""
    s, e = two_sum(a[0], b[0])
    t, f = two_sum(a[1], b[1])
    s, e = fast_two_sum(s, e + t)
    return fast_two_sum(s, e + f)


def precise_exp(high: Floats, low: Floats | None) -> tuple[Floats, Floats, Floats]:
    """Return (h, t, r) with |exp(high + low) - h - t| <= r, for |low| <= 2**-52 |high|.

    Arguments below -690 give h = t = 0 and r = 2**-990; above 709 the radius is inf.
    """
    table_high, table_low, _, _, inverse = tables()
    c1, c2, c3, sixth_high, sixth_low = constants()
    inside = (high >= LEAST) & (high <= MOST)
    x = np.where(inside, high, 0.0)
    i = np.rint(x * inverse)
    a, e = two_sum(x - i * c1, -(i * c2))
    zero = np.zeros(x.shape)
    r = total((a, e), (zero if low is None else np.where(inside, low, 0.0), -(i * c3)))
    square = product(r, r)
    cube = product(product(square, r), (np.full(x.shape, sixth_high), np.full(x.shape, sixth_low)))
    q = 1 / 24 + r[0] * (1 / 120 + r[0] * (1 / 720 + r[0] * (1 / 5040)))
    fourth = square[0] * square[0] * q
    p = total(r, total((square[0] / 2, square[1] / 2), total(cube, (fourth, zero))))
    whole = i.astype(np.int64)
    place = whole & (N - 1)
    root = table_high[place], table_low[place]
    h, t = total(root, product(root, p))
    exponent = (whole >> 10).astype(np.int32)
    h, t = np.ldexp(h, exponent), np.ldexp(t, exponent)
    # The low word of a small result may be subnormal.
    radius = h * PRECISE_ERROR + np.where(h < 2.0**-900, 2.0**-1070, 0.0)
    if not np.all(inside):
        h, t = np.where(inside, h, 0.0), np.where(inside, t, 0.0)
        radius = np.where(inside, radius, np.where(high < LEAST, VANISHED, np.inf))
    return h, t, radius


def precise_log(high: Floats, low: Floats) -> tuple[Floats, Floats, Floats]:
    """Return (h, t, r) with |log(high + low) - h - t| <= r, for high in [2**-900, 2**900].

    x e^-y - 1 is a product of pairs (2**-101), less 1 by TwoSum, with 2**-97 from e^-y: together
    below 2**-96.8. From |z| = 2**-20 on y is no logarithm, and the radius is inf.
    """
    y = np.log(high)
    found_high, found_low, error = precise_exp(-y, None)
    near = product((high, low), (found_high, found_low))
    z = total(near, (np.full(y.shape, -1.0), np.zeros(y.shape)))
    size = np.abs(z[0])
    step = -0.5 * z[0] * z[0] + z[0] * z[0] * z[0] / 3
    h, t = total((y, np.zeros(y.shape)), total(z, (step, np.zeros(y.shape))))
    # The step errs by 4u of z^2; the sums by 2**-103 of theirs.
    radius = 2.0**-96 + high * error * (1 + 2.0**-10) + size**4 + 2.0**-50 * size * size
    radius = radius + 2.0**-101 * np.abs(y)
    good = (high >= 2.0**-900) & (high <= 2.0**900) & (size < 2.0**-20)
    return np.where(good, h, 0.0), np.where(good, t, 0.0), np.where(good, radius, np.inf)
