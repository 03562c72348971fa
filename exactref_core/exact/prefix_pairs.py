"""All prefix sums of rows as double-double numbers with proven radii, a few passes for each.

A row is cut into blocks of about the root of its length. Prefix sums inside all blocks are added up
at once by TwoSum, those of the blocks' sums after them, and a TwoSum joins both: high words whose
sum with all errors of TwoSum is the exact prefix sum. The errors, and the low words of the terms,
are added up in float64. None passes through more than ``depth`` additions, so that their computed
sum errs by at most ((1+u)**depth - 1) times the sum of their magnitudes (Higham, Accuracy and
Stability, section 4.2), which is added up beside it. It is 0 where all additions were exact.
"""

from __future__ import annotations

import math

import numpy as np

from exactref_core.exact.double_double import Floats, two_sum
from exactref_core.exact.sums import relative_error

__all__ = ["prefix_pairs"]


def prefix_pairs(terms: Floats, lows: Floats | None = None) -> tuple[Floats, Floats, Floats]:
    """Return (h, l, r) for all prefix sums of rows (m, n) of finite numbers, given as high words
    and low ones: h = fl(h + l), and h + l lies within r of the sum.

    r is not finite where float64 was left on the way.
    """
    m, n = terms.shape
    width = max(math.isqrt(max(n - 1, 0)), 1)
    count = -(-n // width)
    with np.errstate(all="ignore"):
        blocks = in_blocks(terms, count, width)
        high, errors = running(blocks)
        low, size = np.cumsum(errors, axis=0), np.cumsum(np.abs(errors), axis=0)
        if lows is not None:
            further = in_blocks(lows, count, width)
            low, size = low + np.cumsum(further, axis=0), size + np.cumsum(np.abs(further), axis=0)
        # What comes before each block: (count, m).
        starts, lost = running(np.concatenate([np.zeros((1, m)), high[-1, :-1]]))
        before = np.cumsum(np.concatenate([np.zeros((1, m)), low[-1, :-1]]) + lost, axis=0)
        weight = np.cumsum(np.concatenate([np.zeros((1, m)), size[-1, :-1]]) + np.abs(lost), axis=0)
        total, rest = two_sum(starts, high)
        tail, size = (before + low) + rest, (weight + size) + np.abs(rest)
        top, bottom = two_sum(total, tail)
        depth = width + count + 8
        # Twice: for the errors, and for what their magnitudes' own sum may lack.
        radius = size * (2 * relative_error(2 * depth))
    found = tuple(in_rows(part, n) for part in (top, bottom, radius))
    return found[0], found[1], found[2]


def in_blocks(rows: Floats, count: int, width: int) -> Floats:
    """Return rows as (width, count, m): the k-th elements of all blocks, zeros behind the last."""
    m, n = rows.shape
    full = np.zeros((m, count * width))
    full[:, :n] = rows
    return np.ascontiguousarray(full.reshape(m, count, width).transpose(2, 1, 0))


def in_rows(blocks: Floats, n: int) -> Floats:
    """Return what `in_blocks` takes apart."""
    m = blocks.shape[-1]
    return np.ascontiguousarray(blocks.transpose(2, 1, 0).reshape(m, -1)[:, :n])


def running(terms: Floats) -> tuple[Floats, Floats]:
    """Return the prefix sums along the first axis, and the errors of their additions."""
    sums, errors = np.empty_like(terms), np.zeros_like(terms)
    sums[:1] = terms[:1]
    for k in range(1, len(terms)):
        sums[k], errors[k] = two_sum(sums[k - 1], terms[k])
    return sums, errors
