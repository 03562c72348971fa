"""log |gamma|, digamma and trigamma in plain float64, for x >= -1/2, with proven radii; u = 2**-53.

Around 2, with c_k = (-1)^k (zeta(k) - 1) and |s| <= 1/2 (NIST Handbook, 5.7.3 and its derivatives):
F(s) = lgamma(2 + s) = (1 - euler) s + sum c_k s^k / k, D(s) = digamma(2 + s) = 1 - euler + sum c_k
s^(k-1), T(s) = trigamma(2 + s) = sum (k - 1) c_k s^(k-2), for k = 2, 3, ... to LAST.
- |c_k| <= 2^-k (k + 1) / (k - 1), as the sum of n^-k for n > 2 is below the integral from 2 on:
  what is left out is below 2**-58, and below 2**-58 |s| of F.
- A term of power m goes through 2 m + 2 roundings of Horner's rule with its coefficient's. With
  the terms' sizes at |s| = 1/2 these are 2.6 u for D, 2.7 u for T and 1.6 u |s| for F / s, whose
  last product rounds by 0.7 u |s|: D and T are within 2**-51, F within 2**-51 |s|.
With m = rint x, s = x - m is exact, as are x - j for 1 <= j < m. By the recurrence:
- m >= 2: with j = 1, ..., m - 2 <= 6 and P the product of x - j, within 5 u, lgamma x = F + log P;
  digamma x = D + sum 1 / (x - j), the sum below 2.1; trigamma x = T - sum 1 / (x - j)^2, T < 0.94.
  Of these parts D and T err by 4 u, and quotients and sums round by 18 u and 9 u.
- m = 1: F - log1p s, D - 1 / x, T + 1 / x^2. m = 0: a log |x| less, and 1 / (1 + x) and its square,
  below 2 and 4, which err by 2 u and 4 u of them. Quotients and sums round by u of their parts.
- Claimed are 2**-49 = 16 u of 3 and 1 / |x|, of 1 and (for m <= 1) of 5 and 1 / x^2. The parts of
  lgamma have their own radii; their sums have 2**-51 of F, 1 and the parts.
- beyond, Stirling's series with B_2k / (2 k (2 k - 1) x^(2k-1)) and its derivatives, whose rest is
  below the first term that is left out (NIST Handbook, 5.11(ii); for trigamma see `Trigamma`): with
  ten terms, from 8.5 on, 2**-61, 2**-59 and 2**-55 / x. (x - 1/2) log x >= 17 is above x and above
  lgamma x, and rounds with their sums by 5 u of it; digamma by 2 u of log x > 2; trigamma, mostly
  1 / x, by 3 u of it. Claimed are 2**-50 = 8 u of them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import gmpy2
import numpy as np

from exactref_core.exact.double_double import Floats
from exactref_core.exact.plain_exponentials import ROOM, Found, log
from exactref_core.exact.plain_hyperbolic import HYPERBOLIC
from exactref_core.exact.trigamma import bernoulli

__all__ = ["LARGE", "SMALLEST", "digamma", "lgamma", "trigamma"]

SMALLEST = 2.0**-1070
LAST = 32
TERMS = 10
# Whole numbers nearest to arguments below Stirling's.
SHIFTED = 8
NEAR = 2.0**-49
SERIES = 2.0**-51
LARGE = 2.0**500
HALF_LOG_TURN = 0.9189385332046727  # log(2 pi) / 2

Piece = Callable[[Floats, Floats], Found]


@lru_cache(maxsize=3)
def coefficients(derivative: int) -> list[float]:
    """Return those of F / s, D (1) or T (2), the highest power first."""
    found = []
    with gmpy2.context(precision=120):
        for k in range(LAST, 0, -1):
            c = 1 - gmpy2.const_euler() if k == 1 else (-1) ** k * (gmpy2.zeta(k) - 1)
            if derivative < 2 or k > 1:
                found.append(float((c / k, c, (k - 1) * c)[derivative]))
    return found


@lru_cache(maxsize=3)
def stirling(derivative: int) -> list[float]:
    """Return Stirling's coefficients, the highest power first."""
    numbers = [(2 * k, b) for k, b in enumerate(bernoulli(TERMS)[:TERMS], 1)]
    with gmpy2.context(precision=120):
        return [float((b / (k * (k - 1)), b / k, b)[derivative]) for k, b in numbers[::-1]]


def horner(numbers: list[float], s: Floats) -> Floats:
    """Return the value of a polynomial."""
    total = s * numbers[0]
    for number in numbers[1:-1]:
        total += number
        total *= s
    total += numbers[-1]
    return total


def lgamma_near(x: Floats, m: Floats) -> Found:
    """Return log |gamma| for -1/2 <= x <= 8.5."""
    s = x - m
    value = s * horner(coefficients(0), s)
    radius = np.abs(s) * SERIES
    low = np.flatnonzero(m <= 1)
    if low.size:
        part, off = HYPERBOLIC["log1p"](s[low], None)
        size = np.abs(value[low]) + np.abs(part)
        value[low] -= part
        radius[low] += off + size * SERIES
        pole = low[m[low] == 0]
        part, off = log(np.abs(x[pole]), None)
        value[pole] -= part
        radius[pole] += off + (1 + np.abs(part)) * SERIES
    high = np.flatnonzero(m >= 3)
    if high.size:
        product = fold(x[high], m[high], lambda total, gap: total * gap, 1.0)
        part, off = log(product, product * 2.0**-50)
        value[high] += part
        radius[high] += off + (1 + part) * SERIES
    radius[(x == 1) | (x == 2)] = 0.0
    return value, radius


def fold(x: Floats, m: Floats, step: Callable[[Floats, Floats], Floats], start: float) -> Floats:
    """Return what steps with x - 1, ..., x - m + 2 make of a start."""
    total = np.full(x.shape, start)
    for j in range(1, SHIFTED - 1):
        total = np.where(m >= j + 2, step(total, x - j), total)
    return total


def digamma_near(x: Floats, m: Floats) -> Found:
    """Return digamma for -1/2 <= x <= 8.5."""
    value = horner(coefficients(1), x - m)
    value += fold(x, m, lambda total, gap: total + 1 / gap, 0.0)
    part = np.where(m <= 1, 1 / x, 0.0)
    value -= part
    value -= np.where(m == 0, 1 / (1 + x), 0.0)
    return value, (3 + np.abs(part)) * NEAR


def trigamma_near(x: Floats, m: Floats) -> Found:
    """Return trigamma for -1/2 <= x <= 8.5."""
    value = horner(coefficients(2), x - m)
    value -= fold(x, m, lambda total, gap: total + 1 / (gap * gap), 0.0)
    part = np.where(m <= 1, 1 / (x * x), 0.0)
    value += part
    value += np.where(m == 0, 1 / ((1 + x) * (1 + x)), 0.0)
    return value, np.where(m <= 1, (5 + part) * NEAR, NEAR)


def lgamma_far(x: Floats, q: Floats) -> Found:
    """Return log gamma from 8.5 on; q = 1 / x^2."""
    power, off = log(x, None)
    main = (x - 0.5) * power
    value = (main - x) + (HALF_LOG_TURN + horner(stirling(0), q) / x)
    return value, (x * off + main * 2.0**-50) * ROOM


def digamma_far(x: Floats, q: Floats) -> Found:
    """Return digamma from 8.5 on; q = 1 / x^2."""
    power, off = log(x, None)
    return power - (0.5 / x + q * horner(stirling(1), q)), off + power * 2.0**-50


def trigamma_far(x: Floats, q: Floats) -> Found:
    """Return trigamma from 8.5 on; q = 1 / x^2."""
    value = (1 + (0.5 + horner(stirling(2), q) / x) / x) / x
    return value, value * 2.0**-50


def above(near: Piece, far: Piece, x: Floats) -> Found:
    """Return a function for -1/2 <= x, x != 0."""
    m = np.rint(x)
    beyond = np.flatnonzero(m > SHIFTED)
    if not beyond.size:
        return near(x, m)
    value, radius = np.empty(x.shape), np.empty(x.shape)
    inside = np.flatnonzero(m <= SHIFTED)
    value[inside], radius[inside] = near(x[inside], m[inside])
    z = x[beyond]
    value[beyond], radius[beyond] = far(z, 1 / (z * z))
    radius[x > LARGE] = np.inf
    return value, radius


def lgamma(x: Floats) -> Found:
    """Return log |gamma|."""
    return above(lgamma_near, lgamma_far, x)


def digamma(x: Floats) -> Found:
    """Return digamma."""
    return above(digamma_near, digamma_far, x)


def trigamma(x: Floats) -> Found:
    """Return trigamma."""
    return above(trigamma_near, trigamma_far, x)
