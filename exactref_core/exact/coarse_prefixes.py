"""Index-order prefix sums of matrix products in magnitude, in float32: brackets a few 2^-18 wide.

With v = 2^-24, t_k the exact terms of an element, s_k and l_k their prefix sums from the start and
from the last multiple of 32, S_b the prefix sums at these, T = sum |t_k|, A = sum |s_k| and
B = sum |l_k|; A' and B' are computed. Rows and columns are scaled by powers of two to magnitudes
below 1.

A float32 product of factors rounded to float32 errs by less than 3.1 v |t| + 2^-148, an addition by
v of its result. The errors of a span's l_k add up along it: all of them together are below

    32 (3.1 v T + v B') + k 2^-143,

and adding up 32 magnitudes costs 31 v of their sum. S_b comes from float64 products added up, which
err by less than (34 T + A) 2^-53, and is rounded to float32; s_k = S_b + l_k rounds once more.
Since S_b is s_k - l_k, all of this costs v (2 A + B) and k (34 T + A) 2^-53, which is below
v (T + A) / 16 for k <= 2^12. Altogether

    |A' - A| < v (35 A' + 35 B' + 102 T) + k 2^-142,   |B' - B| < v (66 B' + 102 T) + k 2^-142.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from exactref_core.exact.double_double import Floats
from exactref_core.exact.float_products import product, threads_are_default
from exactref_core.exact.prefix_sums import SPAN, Ends, around

__all__ = ["coarse_prefixes"]

Singles = npt.NDArray[np.float32]

UNIT = 2.0**-24
# Multiply-adds from which the elements that are left open cost less than is saved.
MANY = 1 << 21
DEEPEST = 1 << 12
# Exponents of rows and columns whose sums float64 scales back without loss.
MOST_EXPONENT = 200
# A tile and its work arrays stay in the cache.
ROWS, COLUMNS = 128, 256
# What float64 operations on bounds lose, with room.
WIDE = 1 + 2.0**-40


def coarse_prefixes(a: Floats, b: Floats, total: Floats) -> tuple[Ends, Ends] | None:
    """Return bounds below and above sum_k |s_k| and sum_k |l_k| of (m, k) @ (k, n).

    ``total`` is an upper bound on sum |t_k|. None where the proof does not hold, or float64 sums
    are as cheap.
    """
    (m, k), n = a.shape, b.shape[1]
    if m * k * n < MANY or not threads_are_default():
        return None
    left, right = exponents(a, 1), exponents(b, 0)
    if k > DEEPEST or max(np.max(np.abs(x), initial=0) for x in (left, right)) > MOST_EXPONENT:
        return None
    a, b = np.ldexp(a, -left), np.ldexp(b, -right)
    singles = a.astype(np.float32), b.astype(np.float32)
    found = np.empty((4, m, n))
    for top in range(0, m, ROWS):
        for side in range(0, n, COLUMNS):
            rows, columns = slice(top, top + ROWS), slice(side, side + COLUMNS)
            sums = scan(a[rows], b[:, columns], singles[0][rows], singles[1][:, columns])
            scale = np.ldexp(1.0, left[rows]) * np.ldexp(1.0, right[:, columns])
            for mine, end in zip(
                found, enclosed(*sums, total[rows, columns] / scale, k), strict=True
            ):
                np.multiply(end, scale, out=mine[rows, columns])
    return (found[0], found[1]), (found[2], found[3])


def enclosed(running: Floats, blocks: Floats, terms: Floats, k: int) -> tuple[Floats, ...]:
    """Return the bounds around computed sums, of k terms whose magnitudes add up to ``terms``."""
    least = np.where(terms > 0, k * 2.0**-142, 0.0)  # zeros alone err by nothing
    slack = (running * 35 + blocks * 35 + terms * 102) * (UNIT * WIDE) + least
    further = (blocks * 66 + terms * 102) * (UNIT * WIDE) + least
    return (*around(running, slack), *around(blocks, further))


def exponents(matrix: Floats, axis: int) -> Any:
    """Return exponents of powers of two above all magnitudes along an axis."""
    most = np.max(np.abs(matrix), axis=axis, keepdims=True, initial=0.0)
    return np.frexp(most)[1]


def scan(a: Floats, b: Floats, left: Singles, right: Singles) -> tuple[Floats, Floats]:
    """Return the sums of the magnitudes of one tile's prefix sums, added up span by span."""
    shape, k = (len(a), b.shape[1]), a.shape[1]
    start, running, blocks = (np.zeros(shape) for _ in range(3))
    local, work, origin, total, inside = (np.empty(shape, np.float32) for _ in range(5))
    columns = np.ascontiguousarray(left.T)[:, :, None]
    for first in range(0, k, SPAN):
        end = min(first + SPAN, k)
        for i in range(first, end):
            # A float32 product of depth 1 by BLAS: faster here than a ufunc that broadcasts.
            np.dot(columns[i], right[i : i + 1], out=local if i == first else work)
            if i > first:
                local += work
            add_magnitude(local, inside, work, i == first)
            if first:
                np.add(origin, local, out=work)
                add_magnitude(work, total, work, i == first)
        blocks += inside
        running += total if first else inside
        start += product(a[:, first:end], b[first:end])
        np.copyto(origin, start, casting="same_kind")
    return running, blocks


def add_magnitude(values: Singles, total: Singles, work: Singles, begins: bool) -> None:
    """Add the magnitudes of some values to a total, or begin it."""
    if begins:
        np.abs(values, out=total)
        return
    np.abs(values, out=work)
    total += work
