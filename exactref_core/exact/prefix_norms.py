"""Euclidean norms of index-order prefix sums of rows and of matrix products, with proven errors.

Three norms, of the prefix sums s_k of x_1 ... x_n; of s_k - s_b(k), the sums inside blocks of 32,
b(k) the last multiple of 32 below k; and of the sums of the blocks. Rows of numbers whose squares
might leave float64 are scaled by powers of two first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from exactref_core.exact.double_double import Floats
from exactref_core.exact.prefix_sums import CHUNK, SPAN, Ends, around
from exactref_core.exact.products import underflow
from exactref_core.exact.sums import relative_error

__all__ = ["Norms", "prefix_norms", "product_norms"]

# Squares below 2**-1074 vanish; the root of n of them is at most sqrt(n) times this. So is what
# numbers lose that are scaled below the normal range, beside others of about 1.
VANISHED = 2.0**-536
# Largest magnitudes of rows, and of factors, between 2**-TAME and 2**TAME leave squares in range.
TAME = 200
LARGEST = float(np.finfo(np.float64).max)
# A tile of a product and its work arrays stay in the cache.
ROWS, COLUMNS = 64, 256


@dataclass(frozen=True, eq=False)
class Norms:
    """Bounds below and above, a row or an element each."""

    running: Ends
    blocks: Ends
    totals: Ends


def prefix_norms(rows: npt.NDArray[Any]) -> Norms:
    """Return the three norms of each row of finite numbers that float64 holds, shape (r, n)."""
    n = rows.shape[-1]
    height = max(1, CHUNK // max(n, 1))
    squares, exponents = np.zeros((3, len(rows))), np.zeros(len(rows), np.int64)
    with np.errstate(all="ignore"):
        for top in range(0, len(rows), height):
            part = slice(top, top + height)
            some, exponents[part] = tamed(rows[part])
            carry = np.zeros(len(some))
            for left in range(0, n, CHUNK):
                squares[:, part] += in_spans(some[:, left : left + CHUNK], carry)
        return enclosed(squares, exponents, n, relative_error(2 * n + 128))


def tamed(rows: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[np.int64]]:
    """Return rows divided by powers of two where they are float64 and far from 1; the exponents."""
    exponents = np.zeros(len(rows), np.int64)
    if rows.dtype != np.float64 or not rows.size:
        return rows, exponents  # narrower formats have squares in range
    most = np.maximum(rows.max(axis=-1), -rows.min(axis=-1))
    size = np.frexp(most)[1]
    exponents[:] = np.where(np.abs(size) > TAME, size, 0)
    return (np.ldexp(rows, -exponents[:, None]) if exponents.any() else rows), exponents


def in_spans(rows: npt.NDArray[Any], carry: Floats) -> Floats:
    """Return the three sums of squares of rows that begin at ``carry``, which is moved on."""
    height, n = rows.shape
    count = -(-n // SPAN)
    local = np.zeros((height, count * SPAN))
    local[:, :n] = rows
    spans = local.reshape(height, count, SPAN)
    np.cumsum(spans, axis=-1, out=spans)
    totals = spans[:, :, -1]
    starts = np.cumsum(np.concatenate([carry[:, None], totals], axis=-1), axis=-1)
    carry[:] = starts[:, -1]
    inside, merged = squared(local[:, :n]), squared(totals)
    spans += starts[:, :-1, None]
    return np.stack([squared(local[:, :n]), inside, merged])


def squared(rows: Floats) -> Floats:
    """Return the sums of the squares of rows."""
    found: Floats = np.einsum("ij,ij->i", rows, rows)
    return found


def enclosed(squares: Floats, exponents: Any, n: int, off: float, slack: Any = 0.0) -> Norms:
    """Return norms from computed sums of squares of n computed prefix sums, scaled back.

    With l and s the vectors of the computed sums inside blocks and of the computed prefix sums, an
    addition erring by at most u times its own result: a sum inside a block errs by at most u times
    the magnitudes of those before it, so that the vector of these errors has a norm of at most
    32 u |l|. A block starts at the sum of the blocks before, and starts are among the prefix sums:
    it errs by at most u (sum |l_k| + sum |s_k|) <= u sqrt(n) (|l| + |s|), and n of these have a
    norm of at most n u (|l| + |s|); one addition more costs u |s|. The sums of blocks are among
    those inside. Norms are as far apart as their vectors' difference is long. A sum of n squares
    errs by at most (n + 1) u of itself, its root by half as much. ``off`` is (2 n + 128) u or
    more, ``slack`` what further errors of a prefix sum add up to.
    """
    running, blocks, totals = np.sqrt(squares)
    lost = np.sqrt(float(n)) * (VANISHED + slack)
    found = (
        around(running, (running + blocks) * off + lost),
        around(blocks, blocks * off + lost),
        around(totals, blocks * off + lost),
    )
    return Norms(*(scaled(ends, exponents) for ends in found))


def scaled(ends: Ends, exponents: Any) -> Ends:
    """Return bounds times powers of two, rounded outward."""
    if not np.any(exponents):
        return ends
    low, high = (np.ldexp(end, exponents) for end in ends)
    return np.clip(low - 2.0**-1074, 0.0, LARGEST), high + 2.0**-1074


def product_norms(a: Floats, b: Floats) -> Norms:
    """Return the three norms of the prefix sums of the elements of (m, k) @ (k, n).

    As in `enclosed`, with u |t| more for each product, at most u (|s_k| + |s_(k-1)|) inside a
    block, and an underflow each.
    """
    (m, k), n = a.shape, b.shape[1]
    squares = np.zeros((3, m, n))
    with np.errstate(all="ignore"):
        (a, above), (turned, beside) = tamed(a), tamed(b.T)
        b = turned.T if beside.any() else b
        exponents = above[:, None] + beside
        for top in range(0, m, ROWS):
            for left in range(0, n, COLUMNS):
                rows, columns = slice(top, top + ROWS), slice(left, left + COLUMNS)
                scan(a[rows], b[:, columns], squares[:, rows, columns])
        slack = 4.0 * k * underflow(a, b)
        return enclosed(squares, exponents, k, relative_error(8 * k + 256), slack)


def scan(a: Floats, b: Floats, squares: Floats) -> None:
    """Add up the squares of one tile's prefix sums, span by span."""
    running, blocks, totals = squares
    start, local, work = (np.zeros(running.shape) for _ in range(3))
    columns = np.ascontiguousarray(a.T)[:, :, None]
    for first in range(0, a.shape[1], SPAN):
        local.fill(0.0)
        for k in range(first, min(first + SPAN, a.shape[1])):
            np.multiply(columns[k], b[k], out=work)
            local += work
            np.multiply(local, local, out=work)
            blocks += work
            np.add(start, local, out=work)
            np.multiply(work, work, out=work)
            running += work
        np.multiply(local, local, out=work)
        totals += work
        start += local
