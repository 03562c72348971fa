"""Row sums in one pass over blocks that stay in the cache, as double-doubles with proven radii.

Rows are arrays of finite numbers of any float dtype that float64 holds, shape (..., n). Two ways to
add up a block: in float64, whatever the order, with Higham's bound (for values of few bits, whose
output format is much coarser than float64), or after one extraction of high parts that add up
exactly.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from exactref_core.exact.double_double import Floats, two_sum
from exactref_core.exact.sums import UNIT, expansion_sum, relative_error

__all__ = ["block_sums"]

Rows = npt.NDArray[Any]
# What rows give: parts whose sum is the row's, and a radius for each.
Parts = tuple[list[Floats], Floats]
# How a block is added up for a long row: to a list of parts, with one radius.
BlockAdder = Callable[[Rows, Floats, list[Floats]], float]

BLOCK = 1 << 15
WIDTH = 1 << 12
TOP_EXPONENT = 1022  # beyond it, s + x might overflow


def block_sums(rows: Rows, extract: bool) -> tuple[Floats, Floats | None, Floats]:
    """Return (high, low, radius) of each row's sum; low None where it is 0. n is at least 1.

    A radius of inf says that the float64 range was left.
    """
    short, long = (extracted, extracted_block) if extract else (plain, plain_block)
    n = rows.shape[-1]
    shape = rows.shape[:-1]
    if not rows.size:
        return np.zeros(shape), None, np.zeros(shape)
    flat = rows.reshape(-1, n)
    with np.errstate(all="ignore"):
        if n <= WIDTH:
            parts, radius = short_rows(flat, short)
        else:
            parts, radius = long_rows(flat, long)
        high, low = combined(parts, radius)
    return high.reshape(shape), None if low is None else low.reshape(shape), radius.reshape(shape)


def short_rows(flat: Rows, add: Callable[[Rows, Floats], Parts]) -> Parts:
    """Add up rows that fit a block, several at a time; a radius for each row."""
    n = flat.shape[-1]
    height = max(1, BLOCK // n)
    work = np.empty((min(height, flat.shape[0]), n))
    found = [
        add(flat[top : top + height], work[: flat.shape[0] - top])
        for top in range(0, flat.shape[0], height)
    ]
    if len(found) == 1:
        return found[0]
    parts = [np.concatenate(column) for column in zip(*(part for part, _ in found), strict=True)]
    return parts, np.concatenate([radius for _, radius in found])


def long_rows(flat: Rows, add: BlockAdder) -> Parts:
    """Add up long rows block by block, and the blocks' parts by TwoSum trees."""
    work = np.empty((BLOCK // WIDTH, WIDTH))
    sums = []
    for row in flat:
        parts: list[Floats] = []
        radius = 0.0
        full = row.size // BLOCK * BLOCK
        for left in range(0, full, BLOCK):
            radius += add(row[left : left + BLOCK].reshape(work.shape), work, parts)
        for block in rectangles(row[full:]):
            radius += add(block, work.reshape(-1)[: block.size].reshape(block.shape), parts)
        high, low, left_out = expansion_sum(np.concatenate(parts))
        sums.append((high, low, (radius + left_out) * (1 + 2.0**-20)))
    high, low, radii = (np.asarray(column, np.float64) for column in zip(*sums, strict=True))
    return [high, low], radii


def rectangles(row: Rows) -> list[Rows]:
    """Return less than a block as a rectangle of full width and what is left of it."""
    full = row.size // WIDTH * WIDTH
    pieces = [row[:full].reshape(-1, WIDTH), row[None, full:]]
    return [piece for piece in pieces if piece.size]


def combined(parts: list[Floats], radius: Floats) -> tuple[Floats, Floats | None]:
    """Return the sum of one or two parts as a double-double; marks lost rows in ``radius``."""
    if len(parts) == 1:
        high, low = parts[0], None
        bad = ~np.isfinite(high) | ~np.isfinite(radius)
    else:
        high, low = two_sum(*parts)
        bad = ~np.isfinite(high) | ~np.isfinite(low) | ~np.isfinite(radius)
    if np.any(bad):
        radius[bad] = np.inf
        high = np.where(bad, 0.0, high)
        low = None if low is None else np.where(bad, 0.0, low)
    return high, low


def plain(block: Rows, work: Floats) -> Parts:
    """Add up rows in float64, in NumPy's order.

    |computed - exact| <= ((1+u)**(n-1) - 1) sum |x| for every order (Higham, Accuracy and
    Stability, (4.4)), and sum |x| <= n max |x|.
    """
    n = block.shape[-1]
    np.copyto(work, block)
    return [work.sum(axis=-1)], magnitudes(block) * n * relative_error(n + 4)


def plain_block(block: Rows, work: Floats, parts: list[Floats]) -> float:
    """Do the same with one radius for all rows; what the sums are made of joins ``parts``."""
    rows, n = block.shape
    np.copyto(work, block)
    parts.append(np.add.reduce(work, axis=-1))
    return largest(block) * int(n) * relative_error(n + 4) * int(rows)


def magnitudes(block: Rows) -> Floats:
    """Return the largest magnitude of each row."""
    return np.asarray(np.maximum(block.max(axis=-1), -block.min(axis=-1)), np.float64)


def largest(block: Rows) -> float:
    """Return the largest magnitude of a block."""
    return max(float(np.maximum.reduce(block, None)), -float(np.minimum.reduce(block, None)))


def extracted(block: Rows, work: Floats) -> Parts:
    """Add up high parts exactly and the rest in float64 (S. M. Rump, T. Ogita, S. Oishi, 2008).

    With |x| <= 2**e and n <= 2**m, q = fl(fl(s + x) - s) for s = 2**(e + m) is a multiple of u s
    with |q| <= 2**e, so that all partial sums of the q are multiples of u s up to s: exact in any
    order. r = x - q is exact with |r| <= u s, and n of them add up with an error below
    ((1+u)**(n-1) - 1) n u s; with none where all of them are 0.
    """
    n = block.shape[-1]
    exponent = np.frexp(magnitudes(block))[1] + max(n - 1, 1).bit_length()
    scale = np.ldexp(1.0, np.minimum(exponent, 1023))
    high, low = halves(block, work, scale[:, None])
    radius = scale * (relative_error(n + 4) * n * UNIT)
    if not np.all(low):
        radius[~np.any(work, axis=-1)] = 0.0
    radius[exponent > TOP_EXPONENT] = np.inf
    return [high, low], radius


def extracted_block(block: Rows, work: Floats, parts: list[Floats]) -> float:
    """Do the same with one shift and radius for all rows; the sums join ``parts``."""
    rows, n = block.shape
    exponent = math.frexp(largest(block))[1] + max(n - 1, 1).bit_length()
    scale = math.ldexp(1.0, min(exponent, 1023))
    # A scalar shift runs at memory speed, a broadcast column at a quarter of it.
    high, low = halves(block, work, np.float64(scale))
    parts += (high, low)
    if exponent > TOP_EXPONENT:
        return math.inf
    if not low.all() and not work.any():
        return 0.0
    return scale * int(rows) * (relative_error(n + 4) * int(n) * UNIT)


def halves(block: Rows, work: Floats, shift: Any) -> tuple[Floats, Floats]:
    """Return the sums of the high parts and of what is left, which is left in ``work``."""
    np.add(block, shift, out=work)  # in float64: float32 blocks widen
    np.subtract(work, shift, out=work)
    high: Floats = np.add.reduce(work, axis=-1)
    np.subtract(block, work, out=work)
    return high, np.add.reduce(work, axis=-1)
