"""Row sums in one pass over blocks that stay in the cache, as double-doubles with proven radii.

Rows are arrays of finite numbers of any float dtype that float64 holds, shape (..., n). Two ways to
add up a block: in float64, whatever the order, with Higham's bound (for values of few bits, whose
output format is much coarser than float64), or after one extraction of high parts that add up
exactly.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from exactref_core.exact.double_double import Floats, two_sum
from exactref_core.exact.sums import UNIT, expansion_sum, relative_error

__all__ = ["block_sums"]

Rows = npt.NDArray[Any]
# What a block gives: parts whose sum is the block's, and a radius for each row.
Parts = tuple[list[Floats], Floats]
Adder = Callable[[Rows, Floats, bool], Parts]

BLOCK = 1 << 15
WIDTH = 1 << 12
TOP_EXPONENT = 1022  # beyond it, s + x might overflow


def block_sums(rows: Rows, extract: bool) -> tuple[Floats, Floats | None, Floats]:
    """Return (high, low, radius) of each row's sum; low None where it is 0. n is at least 1.

    A radius of inf says that the float64 range was left.
    """
    add = extracted if extract else plain
    n = rows.shape[-1]
    shape = rows.shape[:-1]
    if not rows.size:
        return np.zeros(shape), None, np.zeros(shape)
    flat = rows.reshape(-1, n)
    with np.errstate(all="ignore"):
        if n <= WIDTH:
            parts, radius = short_rows(flat, add)
        else:
            parts, radius = long_rows(flat, add)
        high, low = combined(parts, radius)
    return high.reshape(shape), None if low is None else low.reshape(shape), radius.reshape(shape)


def short_rows(flat: Rows, add: Adder) -> Parts:
    """Add up rows that fit a block, several at a time; a radius for each row."""
    n = flat.shape[-1]
    height = max(1, BLOCK // n)
    work = np.empty((min(height, flat.shape[0]), n))
    found = [
        add(flat[top : top + height], work[: flat.shape[0] - top], False)
        for top in range(0, flat.shape[0], height)
    ]
    if len(found) == 1:
        return found[0]
    parts = [np.concatenate(column) for column in zip(*(part for part, _ in found), strict=True)]
    return parts, np.concatenate([radius for _, radius in found])


def long_rows(flat: Rows, add: Adder) -> Parts:
    """Add up long rows block by block, and the blocks' parts by TwoSum trees."""
    work = np.empty((BLOCK // WIDTH, WIDTH))
    sums = []
    for row in flat:
        parts: list[Floats] = []
        radius = 0.0
        for left in range(0, row.size, BLOCK):
            for block in rectangles(row[left : left + BLOCK]):
                found, error = add(block, work.reshape(-1)[: block.size].reshape(block.shape), True)
                parts += found
                radius += error[0]
        high, low, left_out = expansion_sum(np.concatenate(parts))
        sums.append((high, low, (radius + left_out) * (1 + 2.0**-20)))
    high, low, radii = (np.asarray(column, np.float64) for column in zip(*sums, strict=True))
    return [high, low], radii


def rectangles(row: Rows) -> list[Rows]:
    """Return a row as a rectangle of full width and what is left of it."""
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


def plain(block: Rows, work: Floats, together: bool) -> Parts:
    """Add up rows in float64, in NumPy's order; one radius for all of them if ``together``.

    |computed - exact| <= ((1+u)**(n-1) - 1) sum |x| for every order (Higham, Accuracy and
    Stability, (4.4)), and sum |x| <= n max |x|.
    """
    n = block.shape[-1]
    np.copyto(work, block)
    total = work.sum(axis=-1)
    size = largest(block, together) * n
    radius = size * (relative_error(n + 4) * (block.shape[0] if together else 1))
    return [total], radius


def largest(block: Rows, together: bool) -> Floats:
    """Return the largest magnitude of each row, or of all rows."""
    if together:
        return np.asarray([max(block.max(), -block.min())], np.float64)
    return np.asarray(np.maximum(block.max(axis=-1), -block.min(axis=-1)), np.float64)


def extracted(block: Rows, work: Floats, together: bool) -> Parts:
    """Add up high parts exactly and the rest in float64 (S. M. Rump, T. Ogita, S. Oishi, 2008).

    With |x| <= 2**e and n <= 2**m, q = fl(fl(s + x) - s) for s = 2**(e + m) is a multiple of u s
    with |q| <= 2**e, so that all partial sums of the q are multiples of u s up to s: exact in any
    order. r = x - q is exact with |r| <= u s, and n of them add up with an error below
    ((1+u)**(n-1) - 1) n u s; with none where all of them are 0.
    """
    n = block.shape[-1]
    exponent = np.frexp(largest(block, together))[1] + max(n - 1, 1).bit_length()
    scale = np.ldexp(1.0, np.minimum(exponent, 1023))
    # A scalar shift runs at memory speed, a broadcast column at a quarter of it.
    shift = scale[0] if together else scale[:, None]  # float64, so that float32 blocks widen
    np.add(block, shift, out=work)
    np.subtract(work, shift, out=work)
    high = work.sum(axis=-1)
    np.subtract(block, work, out=work)
    low = work.sum(axis=-1)
    radius = scale * (block.shape[0] if together else 1) * (relative_error(n + 4) * n * UNIT)
    if not np.all(low):
        nothing = ~np.any(work, axis=-1)
        radius[np.all(nothing) if together else nothing] = 0.0
    radius[exponent > TOP_EXPONENT] = np.inf
    return [high, low], radius
