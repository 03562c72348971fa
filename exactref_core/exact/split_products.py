"""Products of float64 matrices as double-double numbers: six BLAS products of slices.

Rows of A and columns of B are scaled by powers of two to magnitudes below 1, and sliced w bits
wide, 2w + 1 + ceil(log2 K) <= 53 (Ozaki, Ogita, Oishi, Rump 2012, with two slices and a rest):

    A = A1 + A2 + A3,  A1 in 2^-w Z, |A1| <= 1,  A2 in 2^-(2w+1) Z, |A2| <= 2^-(w+1),
    |A3| <= 2^-(2w+2),  A' = A2 + A3,

and B alike; all differences are exact, since each slice takes leading bits away. Then

    AB = A1 B1 + (A1 B2 + A2 B1) + (A1 B3 + A3 B1 + A' B').

In units of 2^-2w and 2^-(3w+1) the terms of the first two are integers of at most 2w bits, of which
BLAS adds 2K at most: every partial sum is an integer below 2^53, and exact in every order, fused or
not. The last is rounded; where A3 and B3 vanish it is A2 B2, exact too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from exactref_core.exact.double_double import Floats, two_sum
from exactref_core.exact.float_products import product
from exactref_core.exact.products import TINY, norms, smallest
from exactref_core.exact.sums import relative_error

__all__ = ["split_matmul"]

ROW, COLUMN = -1, -2
# Elements whose arrays stay in the cache together.
BLOCK = 12288


class Slices:
    """A scaled matrix in slices, along the axis that a product adds up."""

    def __init__(self, matrix: Floats, axis: int, width: int) -> None:
        most = matrix.max(axis=axis, keepdims=True, initial=0.0)
        top = np.maximum(most, -matrix.min(axis=axis, keepdims=True, initial=0.0))
        exponent = np.frexp(top)[1]
        scaled = np.ldexp(matrix, -exponent)
        # A row that spans the whole range loses its smallest elements' last bits.
        lost: Any = False
        if not stays_normal(matrix, exponent):
            lost = np.any(np.ldexp(scaled, exponent) != matrix, axis=axis)
        self.first = sliced(scaled, width)
        self.rest = np.subtract(scaled, self.first, out=scaled)
        self.second = sliced(self.rest, 2 * width + 1)
        self.third = self.rest - self.second
        self.exponent = np.squeeze(exponent, axis=axis)
        self.sizes = [norms(part, axis) for part in (self.first, self.rest, self.third)]
        self.exact = (self.sizes[-1] == 0) & ~np.asarray(lost)  # the norm of zeros alone is 0

    def spread(self, batches: tuple[int, ...]) -> list[Any]:
        """Return the exponents, the norms and what is exact, as rows: one for each batch."""
        parts = (self.exponent, *self.sizes, self.exact)
        return [np.broadcast_to(x, (*batches, x.shape[-1])).reshape(-1, x.shape[-1]) for x in parts]


def stays_normal(matrix: Floats, exponents: Any) -> bool:
    """Return whether division by 2**exponents leaves every number a normal one, or 0."""
    most = int(np.max(exponents, initial=0))
    return most <= 0 or smallest(matrix) >= 2.0 ** (most - 1022)


def sliced(matrix: Floats, bits: int) -> Floats:
    """Return the nearest multiples of 2**-bits, of numbers up to 1 and, from 52 bits on, 1/4.

    Numbers from 2**(52 - bits) to twice that are the multiples of 2**-bits.
    """
    shift = 1.5 * 2.0 ** (52 - bits)
    found: Floats = matrix + shift
    found -= shift
    return found


def split_matmul(a: Floats, b: Floats) -> tuple[Floats, Floats, Floats]:
    """Return (high, low, radius): double-double products of finite matrices; K >= 1.

    Not finite where a product leaves the range.
    """
    k = a.shape[-1]
    width = (52 - (k - 1).bit_length()) // 2
    left, right = Slices(a, ROW, width), Slices(b, COLUMN, width)
    first = product(left.first, right.first)
    second = product(left.first, right.second)
    second += product(left.second, right.first)
    third = product(left.first, right.third)
    third += product(left.third, right.first)
    third += product(left.rest, right.rest)
    *batches, m, n = first.shape
    rows, columns = left.spread(tuple(batches)), right.spread(tuple(batches))
    terms = [np.ascontiguousarray(x).reshape(-1, m, n) for x in (first, second, third)]
    for batch, lines in in_blocks(*terms[0].shape):
        here = (batch, lines)
        given = [x[here][..., None] for x in rows], [x[batch][..., None, :] for x in columns]
        # What is done with is overwritten: nothing else of this size is made.
        for term, found in zip(terms, combined([x[here] for x in terms], *given, k), strict=True):
            term[here] = found
    high, low, radius = (x.reshape(first.shape) for x in terms)
    return high, low, radius


def in_blocks(batches: int, m: int, n: int) -> Iterator[tuple[slice, slice]]:
    """Yield batches and rows whose elements stay in the cache, all together."""
    height = max(1, BLOCK // max(n, 1))
    if height >= m:
        step = max(1, height // max(m, 1))
        for start in range(0, batches, step):
            yield slice(start, start + step), slice(None)
        return
    for batch in range(batches):
        for top in range(0, m, height):
            yield slice(batch, batch + 1), slice(top, top + height)


def combined(
    terms: list[Floats], rows: list[Any], columns: list[Any], k: int
) -> tuple[Floats, Floats, Floats]:
    """Return the sum of three terms as double-double numbers, scaled back, and its radius."""
    first, second, third = terms
    high, middle = two_sum(first, second)
    middle, left_over = two_sum(middle, third)
    high, low = two_sum(high, middle)
    radius = rounding(rows, columns, k) + np.abs(left_over)
    return scaled_back(high, low, radius, rows[0] + columns[0])


def rounding(rows: list[Any], columns: list[Any], k: int) -> Floats:
    """Return what the third part loses, in the scaled unit; 0 where nothing is rounded.

    Each of its three products errs by ((1+u)**(K+1) - 1) |x||y| and K underflows (Higham, section
    3.5), with |x||y| at most the product of norms (Cauchy-Schwarz); adding them rounds twice more.
    """
    (_, a1, a2, a3, left), (_, b1, b2, b3, right) = rows, columns
    size = a1 * b3 + a3 * b1 + a2 * b2
    # Each element that scaling rounded is off by 2**-1075, and so is each underflow.
    bound = size * relative_error(k + 16) + 8 * k * TINY
    found: Floats = np.where(left & right, 0.0, bound)
    return found


def scaled_back(
    high: Floats, low: Floats, radius: Floats, exponent: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return double-double numbers times 2**exponent, with what underflow takes in the radius."""
    top, rest = np.ldexp(high, exponent), np.ldexp(low, exponent)
    lost = (np.ldexp(top, -exponent) != high) | (np.ldexp(rest, -exponent) != low)
    wide = np.ldexp(radius, exponent) * (1 + 2.0**-50) + np.where(radius > 0, TINY, 0.0)
    wide = wide + np.where(lost, 2 * TINY, 0.0)
    top, rest = two_sum(top, rest)
    return top, rest, wide
