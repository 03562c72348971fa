"""Index-order prefix sums of matrix products, in magnitude, for all elements at once."""

from __future__ import annotations

import numpy as np

from exactref_core.exact.double_double import Floats
from exactref_core.exact.prefix_sums import SPAN, Ends, ends
from exactref_core.exact.products import underflow

__all__ = ["prefix_products"]

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
                scan(a[tile[0]], b[:, tile[1]], running[tile], blocks[tile])
        steps = 8 * k + 256
        slack = 4.0 * k * k * underflow(a, b)
        found = ends(running, steps), ends(blocks, steps, running)
        first, second = ((np.maximum(low - slack, 0.0), high + slack) for low, high in found)
    return first, second


def scan(a: Floats, b: Floats, running: Floats, blocks: Floats) -> None:
    """Add up the magnitudes of one tile's prefix sums, span by span."""
    shape = running.shape
    start, local, work = np.zeros(shape), np.empty(shape), np.empty(shape)
    total, inside = np.zeros(shape), np.zeros(shape)
    single = a.shape[1] <= SPAN
    columns = np.ascontiguousarray(a.T)[:, :, None]
    for first in range(0, a.shape[1], SPAN):
        local.fill(0.0)
        for k in range(first, min(first + SPAN, a.shape[1])):
            np.multiply(columns[k], b[k], out=work)
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
