"""Index-order prefix sums of rows, in magnitude, with proven errors.

Rows are finite numbers of any float dtype that float64 holds, shape (r, n). The results bracket the
sums over exact numbers: sum |x_k|, sum |s_k| for the prefix sums s_k, and sum |s_k - s_b(k)| with
b(k) the last multiple of 32 below k. The bounds use what was computed, not what could have been:
an addition errs by at most u times its own result, whatever came before.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from exactref_core.exact.double_double import Floats
from exactref_core.exact.sums import relative_error

__all__ = ["Sums", "ends", "from_block_starts", "magnitude_sums", "prefix_sums"]

Ends = tuple[Floats, Floats]

SPAN = 32
# Numbers from which rows are long, and sums of them that are worth NumPy's cost of a loop.
LONG, WIDTH = 256, 64
CHUNK = 1 << 15


@dataclass(frozen=True, eq=False)
class Sums:
    """Bounds below and above, a row each: sum |x_k|, sum |s_k|, sum |s_k - s_b(k)|."""

    magnitudes: Ends
    running: Ends
    blocks: Ends


def magnitude_sums(rows: npt.NDArray[Any]) -> Ends:
    """Return bounds below and above sum |x| along the last axis, of float64 rows of any rank.

    Of long rows numbers far apart are added up first, then these sums: every number goes through
    few additions, in whatever order NumPy makes those of one sum.
    """
    values, steps = np.abs(rows), 4
    n = values.shape[-1]
    if n >= LONG:
        width = max(WIDTH, isqrt(n))
        count = n // width
        full, rest = values[..., : count * width], values[..., count * width :]
        sums = full.reshape(*full.shape[:-1], count, width).sum(axis=-2)
        values, steps = np.concatenate([sums, rest], axis=-1), steps + count
    return ends(values.sum(axis=-1), values.shape[-1] + steps)


def ends(values: Floats, steps: int, more: Floats | float = 0.0) -> Ends:
    """Return bounds around sums that err by ((1+u)**steps - 1) (value + more)."""
    return around(values, (values + more) * relative_error(steps))


def around(values: Floats, slack: Floats) -> Ends:
    """Return bounds around nonnegative numbers that err by ``slack``."""
    low, high = values - slack, values + slack
    low = np.where(np.isfinite(low), np.maximum(low, 0.0), 0.0)
    return low, np.where(np.isnan(high), np.inf, high)


def prefix_sums(rows: npt.NDArray[Any]) -> Sums:
    """Return the three sums of each row."""
    n = rows.shape[-1]
    if n > CHUNK:
        found = np.asarray([in_chunks(row) for row in rows])
        return Sums(*((pair[:, 0], pair[:, 1]) for pair in np.moveaxis(found, 1, 0)))
    height = max(1, CHUNK // max(n, 1))
    parts = [in_order(rows[i : i + height]) for i in range(0, max(len(rows), 1), height)]
    size, running, blocks = (np.concatenate(column) for column in zip(*parts, strict=True))
    steps = 2 * n + 8
    return Sums(ends(size, n + 4), ends(running, steps), ends(blocks, steps, running))


def in_order(rows: npt.NDArray[Any]) -> tuple[Floats, Floats, Floats]:
    """Return float64 sums of rows that fit a chunk.

    With A the sum of the magnitudes of the computed prefix sums, each of these errs by at most u A:
    n of them by n u A, their differences from a block's start by 2 n u A and u of their own
    magnitudes. Adding n magnitudes up costs n u of their sum.
    """
    work = rows.astype(np.float64)
    size = np.abs(work).sum(axis=-1)
    prefixes = np.cumsum(work, axis=-1, out=work)
    running = np.abs(prefixes).sum(axis=-1)
    if rows.shape[-1] <= SPAN:
        return size, running, running
    return size, running, np.abs(from_block_starts(prefixes)).sum(axis=-1)


def from_block_starts(prefixes: Floats) -> Floats:
    """Return s_k - s_b(k), in place."""
    count = prefixes.shape[-1] // SPAN
    starts = prefixes[:, SPAN - 1 :: SPAN].copy()
    full = prefixes[:, : count * SPAN].reshape(len(prefixes), count, SPAN)
    full[:, 1:, :] -= starts[:, : count - 1, None]
    prefixes[:, SPAN : count * SPAN] = full[:, 1:, :].reshape(len(prefixes), (count - 1) * SPAN)
    prefixes[:, count * SPAN :] -= starts[:, count - 1 : count]
    return prefixes


def in_chunks(row: npt.NDArray[Any]) -> list[tuple[Any, Any]]:
    """Return bounds around the three sums of one long row.

    An addition errs by u times its own result. So do prefix sums inside spans of 32: with B the sum
    of their magnitudes, which is the third sum, those of one span err by u times its share of B.
    The offsets of the spans are added in order, each from the one before: one errs by u B + u O, O
    the sum of the offsets' magnitudes. Adding an offset costs u of the result. What is left of the
    row, r numbers, is added in order: a prefix sum takes over the error of the offset before, and
    u R more, R the sum of their magnitudes. Together, with A computed for sum |s_k|:

        running   n u (B + O) + r u R + u A
        blocks    32 u B + 2 r u R + u B

    and another CHUNK + n / CHUNK units of A and B from adding the magnitudes up chunk by chunk.
    """
    rest, offsets, (size, running, blocks) = full_chunks(row)
    tail = 0.0
    if rest.size:
        left = in_order(rest[None])
        rest[0] += offsets[0]
        walked = float(np.abs(np.cumsum(rest)).sum())
        # Both walks over the rest, from 0 and from its offset.
        tail = max(walked, float(left[1][0])) * relative_error(3 * rest.size + 8)
        size, running, blocks = size + left[0][0], running + walked, blocks + left[2][0]
    added = relative_error(CHUNK + row.size // CHUNK + SPAN + 8)
    offset_error = (blocks + offsets[1]) * (relative_error(1) * (1 + 2.0**-20))
    return [
        around(size, size * added),
        around(running, row.size * offset_error + tail + running * added),
        around(blocks, tail + blocks * added),
    ]


def full_chunks(row: npt.NDArray[Any]) -> tuple[Floats, tuple[float, float], Floats]:
    """Return the rest of a row, its offset and the sum of all offsets' magnitudes, three sums."""
    width = CHUNK // SPAN
    local, work = np.empty((SPAN, width)), np.empty((SPAN, width))
    totals = np.zeros(3)
    carry, walked = 0.0, 0.0
    full = row.size // CHUNK * CHUNK
    for left in range(0, full, CHUNK):
        np.copyto(local, row[left : left + CHUNK].reshape(width, SPAN).T)
        totals[0] += np.abs(local, out=work).sum()
        for k in range(1, SPAN):
            local[k] += local[k - 1]
        totals[2] += np.abs(local, out=work).sum()
        offsets = np.cumsum(np.concatenate([[carry], local[-1]]))
        carry = float(offsets[-1])
        walked += float(np.abs(offsets).sum())
        local += offsets[:-1]
        totals[1] += np.abs(local, out=local).sum()
    return row[full:].astype(np.float64), (carry, walked), totals
