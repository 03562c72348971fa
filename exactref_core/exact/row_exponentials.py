"""Exponentials of float64 numbers in the memory that they lie in, and sums of rows of them.

With M = 2048, g = i ln2 / M + r and |r| < 2**-12.5, exp(g) is 2**(i div M) T[i mod M] (1 + p),
p = r + r^2 / 2 + r^3 / 6. Errors, u = 2**-53:

- of the exponent: c = ln2 / M to 53 bits and fl(i c) err by u |i c| each, and |i c| <= |g| + |r|;
  g - fl(i c) is exact (Sterbenz, or i = 0), or at the edges of that, |i| = 1, rounds by u |r|:
  2 u |g| and 2**-63 together;
- relative: p leaves out r^4 / 24 < 2**-54.5 and rounds by 3 u |p| < 2**-63; T errs by u, T p and
  T + T p round by u |p| and u: below 2.4 u.

2 u |g| in the exponent and 2**-51 of the result are claimed.
"""

from __future__ import annotations

import threading
from functools import lru_cache
from typing import TypeAlias

import gmpy2
import numpy as np
import numpy.typing as npt

from exactref_core.exact.double_double import Floats
from exactref_core.exact.exponentials import LEAST

__all__ = ["HEIGHT", "Scratch", "exponentiate", "row_sums", "scratch"]

Words: TypeAlias = npt.NDArray[np.uint64]

ROOTS = 2048
PRECISION = 200
LAST = np.uint64(ROOTS - 1)
UP = np.uint64(52 - 11)
# A float64 number added to this one is rounded to an integer, which the sum's bits end in.
SHIFT = 1.5 * 2.0**52
# Elements whose arrays stay in a second-level cache together.
BLOCK = 1 << 15
# Rows that are added up before their sum is.
HEIGHT = 16


@lru_cache(maxsize=1)
def tables() -> tuple[Words, float, float]:
    """Return the roots of two as bits, j << UP taken from each, ln2 / M and M / ln2."""
    with gmpy2.context(precision=PRECISION):
        roots = np.asarray([float(gmpy2.exp2(gmpy2.mpfr(j) / ROOTS)) for j in range(ROOTS)])
        step = gmpy2.log(gmpy2.mpfr(2)) / ROOTS
        bits = roots.view(np.uint64) - (np.arange(ROOTS, dtype=np.uint64) << UP)
        return bits, float(step), float(1 / step)


class Scratch:
    """Arrays of (height, n) float64 numbers that one thread uses again and again."""

    def __init__(self, height: int, n: int) -> None:
        self.height = height
        self.main, self.first, self.second, self.third = np.empty((4, height, n))

    def cut(self, height: int) -> Scratch:
        """Return the first rows."""
        if height == self.height:
            return self
        part = Scratch(0, 0)
        part.height = height
        for name in ("main", "first", "second", "third"):
            setattr(part, name, getattr(self, name)[:height])
        return part


class Kept(threading.local):
    """A thread's arrays of the last size asked for."""

    scratch: Scratch | None = None


kept = Kept()


def scratch(rows: int, n: int) -> Scratch:
    """Return arrays for as many of some rows as stay in the cache; the same at the next call."""
    height = max(1, min(rows, BLOCK // max(n, 1)))
    found = kept.scratch
    if found is None or found.main.shape != (height, n):
        found = Scratch(height, n)
        kept.scratch = found if height * n <= 2 * BLOCK else None
    return found


def exponentiate(given: Scratch, least: float) -> None:
    """Replace the numbers of ``main``, from ``least`` to 0, by their exponentials.

    0 below LEAST, where ``least`` may be -inf.
    """
    bits, step, inverse = tables()
    g, shifted, p, roots = given.main, given.first, given.second, given.third
    gone = None
    if least < LEAST:
        gone = g < LEAST
        np.maximum(g, LEAST, out=g)
    np.multiply(g, inverse, out=shifted)
    shifted += SHIFT
    np.subtract(shifted, SHIFT, out=p)
    p *= step
    g -= p
    # i << UP is i div M in the place of the exponent, and i mod M below it, which the table lacks.
    words, places = shifted.view(np.uint64), p.view(np.uint64)
    np.bitwise_and(words, LAST, out=places)
    words <<= UP
    bits.take(places.view(np.intp), out=roots.view(np.uint64), mode="clip")
    words += roots.view(np.uint64)
    np.multiply(g, 1 / 6, out=p)
    p += 0.5
    p *= g
    p *= g
    p += g
    p *= shifted
    np.add(p, shifted, out=g)
    if gone is not None:
        np.copyto(g, 0.0, where=gone)


def row_sums(rows: Floats) -> tuple[Floats, int]:
    """Return the sums of rows, and how many additions a term goes through at most."""
    n = rows.shape[-1]
    if n <= 2 * HEIGHT:
        return rows.sum(axis=-1), n
    width = n // HEIGHT
    full = HEIGHT * width
    total, additions = row_sums(rows[:, :full].reshape(len(rows), HEIGHT, width).sum(axis=1))
    if full < n:
        total = total + rows[:, full:].sum(axis=-1)
    return total, additions + HEIGHT + 1
