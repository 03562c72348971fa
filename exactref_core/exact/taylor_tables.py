"""erf, erfc and tanh of float64 pairs with proven errors, from tables of Taylor coefficients.

Grid points are c = i / 256; with r = x - c, |r| <= 2**-9, f(x) = T + p, where T = f(c) is a table's
double-double number and p = r (a1 + r (a2 + ... )) takes the next DEGREE coefficients from it too.

Errors:
- what the series leaves out. f'(c + s) = f'(c) g(s), and |g| <= B on the circle |s| = 1/2, so that
  Cauchy's estimate bounds the rest by |f'(c)| B |r| sum_(k >= DEGREE) (2 |r|)^k / (k + 1), below
  |a1 r| B 2**-66. erf, erfc: g = e^(-2 c s - s^2), B = e^(c + 1/4) < 2**9.1 for c <= 6. tanh:
  g = cosh(c)^2 / cosh(c + s)^2, and |cosh(c + a + i b)|^2 = cosh(c + a)^2 - sin(b)^2 is at least
  cosh(c)^2 e^(-2 |a|) cos(b)^2: B = e / cos(1/2)^2 < 4. Both rests are below 2**-56 |a1 r|;
- r is exact (Sterbenz, or c = 0), adding the low word rounds it by u |r|, u = 2**-53. A coefficient
  rounds by u of itself, as do the product and the sum of each Horner step: with sum |a_k r^k| below
  2 |a1 r| (2 |c| |r| <= 2**-5.4 bounds what follows a1 by less than 2**-4 of it) that is below
  9 u |a1 r|;
- T has an error below 2**-105 |T|, T's low word and p are added with u (|p| + 2**-52 |T|).
Together below 2**-49 |a1 r| + 2**-100 |T|, as |p| <= 2 |a1 r|; 2**-48 |a1 r| + 2**-99 |T| is
claimed, and as many smallest numbers.
Far out exp_pair errs by 2**-61 of e, and four more roundings by 2**-51 of it.
An argument known up to d <= 2**-10 moves the value by at most d times the slope between c - 2**-8
and c + 2**-8: |f'(c)| B' with B' = e^(2 * 6 * 2**-8) < 1.06 and e^(2 * 2**-8) < 1.01.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import gmpy2
import numpy as np

from exactref_core.exact.double_double import Floats, two_sum
from exactref_core.exact.exponentials import exp_pair

__all__ = ["MOST", "SMALLEST", "STEPS", "TABLES", "Table", "columns", "tabulated"]

STEPS = 256
DEGREE = 8
PRECISION = 200
PAIR = 2.0**-99
SERIES = 2.0**-48
SMALLEST = 2.0**-1070
# Arguments move by no more than this.
MOST = 2.0**-10

Found = tuple[Floats, Floats, Floats]


@dataclass(frozen=True)
class Table:
    """The table of a function from -``reach`` (0 where it is ``odd``) to ``reach``."""

    name: str
    reach: int
    odd: bool


TABLES = {
    "erf": Table("erf", 6, True),
    "erfc": Table("erfc", 6, False),
    "tanh": Table("tanh", 20, True),
}


def gaussian_series(c: Any) -> list[Any]:
    """Return the coefficients a1, a2, ... of erf(c + r).

    With f'(c + s) = f'(c) sum g_k s^k: (k + 1) g_(k+1) = -2 c g_k - 2 g_(k-1).
    """
    first = 2 / gmpy2.sqrt(gmpy2.const_pi()) * gmpy2.exp(-c * c)
    terms = [first, -2 * c * first]
    while len(terms) < DEGREE:
        k = len(terms)
        terms.append((-2 * c * terms[-1] - 2 * terms[-2]) / k)
    return [term / (k + 1) for k, term in enumerate(terms)]


def logistic_series(c: Any) -> list[Any]:
    """Return the coefficients a1, a2, ... of y = tanh(c + r), from y' = 1 - y^2."""
    y = [gmpy2.tanh(c)]
    for k in range(DEGREE):
        square = gmpy2.fsum([y[j] * y[k - j] for j in range(k + 1)])
        # 1 - y^2 would cancel: it is the inverse of cosh(c)^2.
        slope = 1 / gmpy2.square(gmpy2.cosh(c)) if k == 0 else -square
        y.append(slope / (k + 1))
    return y[1:]


@lru_cache(maxsize=2)
def upper_half(name: str, reach: int) -> list[tuple[Any, list[float]]]:
    """Return erf or tanh at the grid points from 0 on, and the coefficients there."""
    series = logistic_series if name == "tanh" else gaussian_series
    points = (gmpy2.mpfr(i) / STEPS for i in range(reach * STEPS + 1))
    return [(getattr(gmpy2, name)(c), [float(a) for a in series(c)]) for c in points]


@lru_cache(maxsize=8)
def columns(table: Table) -> tuple[Floats, Floats, Floats]:
    """Return T high and low, and the coefficients, (DEGREE, points).

    erfc = 1 - erf keeps 145 bits, and the derivatives of odd functions are odd and even in turn.
    """
    with gmpy2.context(precision=PRECISION):
        half = upper_half("tanh" if table.name == "tanh" else "erf", table.reach)
        values, rows = [value for value, _ in half], [row for _, row in half]
        if not table.odd:
            values = [1 + y for y in values[:0:-1]] + [1 - y for y in values]
            signs = [1, -1] * (DEGREE // 2)
            left = [[s * a for s, a in zip(signs, row, strict=True)] for row in rows[:0:-1]]
            rows = [[-a for a in row] for row in left + rows]
        high = [float(value) for value in values]
        low = [float(value - gmpy2.mpfr(h)) for value, h in zip(values, high, strict=True)]
    return np.asarray(high), np.asarray(low), np.ascontiguousarray(np.asarray(rows).T)


def tabulated(table: Table, high: Floats, low: Floats | None, radius: Floats | None) -> Found:
    """Return pairs and radii of a function at flat arguments; a radius of inf says nothing."""
    zero = np.zeros(high.shape)
    tail, spread = (zero if part is None else part for part in (low, radius))
    flip = np.signbit(high) if table.odd else np.zeros(high.shape, bool)
    x, tail = np.where(flip, -high, high), np.where(flip, -tail, tail)
    inside = (np.abs(x) <= table.reach) & (spread <= MOST)
    at = np.where(inside, x, 0.0)
    i = np.rint(at * STEPS)
    r = (at - i / STEPS) + np.where(inside, tail, 0.0)
    top, rest, series = columns(table)
    place = i.astype(np.intp) + (0 if table.odd else table.reach * STEPS)
    p = series[-1][place]
    for row in series[-2::-1]:
        p = row[place] + r * p
    first = np.abs(series[0][place])
    base = top[place]
    h, t = two_sum(base, rest[place] + r * p)
    off = np.abs(first * r) * SERIES + np.abs(base) * PAIR + SMALLEST + spread * first * 1.125
    off = np.where((x == 0) & (tail == 0) & (spread == 0), 0.0, off)
    if not np.all(inside):
        beyond = far_tanh if table.name == "tanh" else far_erf
        parts = beyond(table, x, tail, spread)
        h, t, off = (np.where(inside, *pair) for pair in zip((h, t, off), parts, strict=True))
    return np.where(flip, -h, h), np.where(flip, -t, t), off


def far_erf(table: Table, x: Floats, tail: Floats, spread: Floats) -> Found:
    """Return erf above its table, erfc below: within erfc(6) < 2.2e-17 of 1 and 2."""
    limit = 1.0 if table.odd else 2.0
    off = np.abs(tail) + spread
    # Beyond the table's end with all its spread; that close to it the difference is exact.
    known = ((x if table.odd else -x) - table.reach > off * (1 + 2.0**-50)) & (off <= MOST)
    return np.full(x.shape, limit), np.zeros(x.shape), np.where(known, 2.2e-17, np.inf)


def far_tanh(table: Table, x: Floats, tail: Floats, spread: Floats) -> Found:
    """Return 1 - 2 e / (1 + e), e = e^-2x: the slope is below 4 e, over the span below 4.1 e."""
    e, _, error = exp_pair(-2 * x, -2 * tail)
    off = 2 * error + e * 2.0**-48 + 4.1 * (e + error) * spread
    known = (x > table.reach) & (spread <= MOST)
    h, t = two_sum(np.ones(x.shape), -2 * e / (1 + e))
    return h, t, np.where(known, off, np.inf)
