"""Index-order prefix sums of matrix products, in magnitude, for all elements at once."""

from __future__ import annotations

import numpy as np

from exactref_core.exact.double_double import Floats
from exactref_core.exact.prefix_sums import SPAN, Ends, ends
from exactref_core.exact.products import underflow

__all__ = ["chosen_prefix_products", "prefix_products", "stacked_prefix_products"]

# A tile and its work arrays stay in the cache; rows are long enough for a ufunc's inner loop.
ROWS, COLUMNS = 64, 256


def prefix_products(a: Floats, b: Floats) -> tuple[Ends, Ends]:
    """Return bounds below and above sum_k |s_k| and sum_k |s_k - s_b(k)| of (m, k) @ (k, n).

    Products of float64 numbers round by u |t| and 2**-1075, additions by u of their results; a
    span's start is carried exactly as computed. As in `prefix_sums`, with u |t| more for each
    term: below
    (6 n + 64) u of the sums added up, and n underflows for each of n prefixes.
    """
    (m, k), n = a.shape, b.shape[1]
    running, blocks = np.empty((m, n)), np.empty((m, n))
    with np.errstate(all="ignore"):
        for top in range(0, m, ROWS):
            for left in range(0, n, COLUMNS):
                tile = (slice(top, top + ROWS), slice(left, left + COLUMNS))
                columns = np.ascontiguousarray(a[tile[0]].T)[:, :, None]
                scan(columns, b[:, tile[1]], running[tile], blocks[tile])
        return enclosed(running, blocks, k, underflow(a, b))


def stacked_prefix_products(a: Floats, b: Floats) -> tuple[Ends, Ends]:
    """Return what `prefix_products` does of each of many small matrices (c, m, k) @ (c, k, n).

    Those that fill a tile together are walked through at once.
    """
    (c, m, k), n = a.shape, b.shape[-1]
    found = np.empty((4, m, n, c))
    size = max(1, ROWS * COLUMNS // (m * n))
    with np.errstate(all="ignore"):
        for start in range(0, c, size):
            some = slice(start, start + size)
            left = np.ascontiguousarray(a[some].transpose(2, 1, 0))[:, :, None]
            right = np.ascontiguousarray(b[some].transpose(1, 2, 0))[:, None]
            running, blocks = np.empty((2, m, n, left.shape[-1]))
            scan(left, right, running, blocks)
            ends = enclosed(running, blocks, k, underflow(a[some], b[some]))
            found[..., some] = np.stack([end for pair in ends for end in pair])
    low, high, inner, outer = np.moveaxis(found, -1, 1)
    return (low, high), (inner, outer)


def chosen_prefix_products(a: Floats, b: Floats) -> tuple[Ends, Ends, Ends]:
    """Return bounds around sum_k |t_k| and what `prefix_products` does, of chosen elements.

    A column each for an element: the k factors from a's row, and those from b's column.
    """
    k = a.shape[0]
    running, blocks = np.empty((2, a.shape[1]))
    with np.errstate(all="ignore"):
        scan(a, b, running, blocks)
        lost = underflow(a, b)
        # Of any order of addition: u and 2**-1075 for a product, k u for their sum.
        sizes = ends(np.einsum("ij,ij->j", np.abs(a), np.abs(b)), k + 8)
        return (shifted(sizes, k * lost), *enclosed(running, blocks, k, lost))


def enclosed(running: Floats, blocks: Floats, k: int, lost: float) -> tuple[Ends, Ends]:
    """Return bounds around computed sums, of which a product lost ``lost`` to underflow."""
    steps, slack = 8 * k + 256, 4.0 * k * k * lost
    return shifted(ends(running, steps), slack), shifted(ends(blocks, steps, running), slack)


def shifted(found: Ends, slack: float) -> Ends:
    """Return bounds around nonnegative numbers that are off by ``slack`` more."""
    low, high = found
    return (np.maximum(low - slack, 0.0), high + slack) if slack else found


def scan(a: Floats, b: Floats, running: Floats, blocks: Floats) -> None:
    """Add up the magnitudes of prefix sums of a[k] * b[k], which broadcast, span by span."""
    shape = running.shape
    start, local, work = np.zeros(shape), np.empty(shape), np.empty(shape)
    total, inside = np.zeros(shape), np.zeros(shape)
    single = len(a) <= SPAN
    for first in range(0, len(a), SPAN):
        local.fill(0.0)
        for k in range(first, min(first + SPAN, len(a))):
            np.multiply(a[k], b[k], out=work)
            local += work
            np.abs(local, out=work)
            inside += work
            if single:
                continue
            np.add(start, local, out=work)
            np.abs(work, out=work)
            total += work
        start += local
    blocks[...] = inside
    running[...] = inside if single else total
