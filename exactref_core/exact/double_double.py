"""Error-free transformations of float64 arrays, and double-double pairs built on them.

Sources: T. J. Dekker (1971), D. E. Knuth (TAOCP 2, 4.2.2), J. R. Shewchuk (1997). TwoSum is exact
whenever it does not overflow (a sum of float64 numbers that underflows is exact). TwoProd by
Veltkamp's splitting is exact when no operand is above 2**996 in magnitude and the product is zero
or at least 2**-969: the error term is then a multiple of 2**-1074 and below the overflow threshold.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["Floats", "fast_two_sum", "safe_product", "two_prod", "two_sum"]

Floats: TypeAlias = npt.NDArray[np.float64]

SPLITTER = 134217729.0  # 2**27 + 1
LARGEST_FACTOR = 2.0**996
SMALLEST_PRODUCT = 2.0**-969


def two_sum(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Return s = fl(a + b) and e with s + e == a + b exactly (Knuth, six operations)."""
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


def fast_two_sum(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Return s = fl(a + b) and e with s + e == a + b, given |a| >= |b| or a == 0."""
    s = a + b
    return s, b - (s - a)


def split(a: Floats) -> tuple[Floats, Floats]:
    """Return a as a sum of two numbers of 26 bits each (Veltkamp)."""
    c = SPLITTER * a
    high = c - (c - a)
    return high, a - high


def two_prod(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Return p = fl(a * b) and e with p + e == a * b where `safe_product` holds."""
    p = a * b
    ah, al = split(a)
    bh, bl = split(b)
    return p, al * bl - (((p - ah * bh) - al * bh) - ah * bl)


def safe_product(a: Floats, b: Floats, p: Floats) -> npt.NDArray[np.bool_]:
    """Return where `two_prod` is exact: no overflow inside, and no error term lost to underflow."""
    big = np.maximum(np.abs(a), np.abs(b)) <= LARGEST_FACTOR
    size = np.abs(p)
    zero = (a == 0) | (b == 0)
    inside: npt.NDArray[np.bool_] = big & (zero | (size >= SMALLEST_PRODUCT)) & (size < np.inf)
    return inside
