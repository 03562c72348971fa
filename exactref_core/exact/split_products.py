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

import numpy as np

from exactref_core.exact.double_double import Floats, two_sum
from exactref_core.exact.float_products import product
from exactref_core.exact.products import TINY, norms
from exactref_core.exact.sums import relative_error

__all__ = ["split_matmul"]

ROW, COLUMN = -1, -2


class Slices:
    """A scaled matrix in slices, along the axis that a product adds up."""

    def __init__(self, matrix: Floats, axis: int, width: int) -> None:
        top = np.max(np.abs(matrix), axis=axis, keepdims=True, initial=0.0)
        exponent = np.frexp(top)[1]
        scaled = np.ldexp(matrix, -exponent)
        # A row that spans the whole range loses its smallest elements' last bits.
        lost = np.any(np.ldexp(scaled, exponent) != matrix, axis=axis)
        self.first = sliced(scaled, width)
        self.rest = scaled - self.first
        self.second = sliced(self.rest, 2 * width + 1)
        self.third = self.rest - self.second
        self.exponent = np.squeeze(exponent, axis=axis)
        self.lost = lost
        self.exact = ~np.any(self.third, axis=axis) & ~lost
        self.sizes = [norms(part, axis) for part in (self.first, self.rest, self.third)]


def sliced(matrix: Floats, bits: int) -> Floats:
    """Return the nearest multiples of 2**-bits."""
    found: Floats = np.rint(matrix * 2.0**bits)
    found *= 2.0**-bits
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
    high, middle = two_sum(first, second)
    middle, left_over = two_sum(middle, third)
    high, low = two_sum(high, middle)
    radius = rounding(left, right, k) + np.abs(left_over)
    return scaled_back(
        high, low, radius, left.exponent[..., :, None] + right.exponent[..., None, :]
    )


def rounding(left: Slices, right: Slices, k: int) -> Floats:
    """Return what the third part loses, in the scaled unit; 0 where nothing is rounded.

    Each of its three products errs by ((1+u)**(K+1) - 1) |x||y| and K underflows (Higham, section
    3.5), with |x||y| at most the product of norms (Cauchy-Schwarz); adding them rounds twice more.
    """
    (a1, a2, a3), (b1, b2, b3) = left.sizes, right.sizes
    size = (
        a1[..., :, None] * b3[..., None, :]
        + a3[..., :, None] * b1[..., None, :]
        + a2[..., :, None] * b2[..., None, :]
    )
    # Each element that scaling rounded is off by 2**-1075, and so is each underflow.
    bound = size * relative_error(k + 16) + 8 * k * TINY
    exact = left.exact[..., :, None] & right.exact[..., None, :]
    found: Floats = np.where(exact, 0.0, bound)
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
