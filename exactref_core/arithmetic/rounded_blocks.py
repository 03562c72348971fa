"""Enclosures rounded to a format, in blocks that stay in the cache."""

from __future__ import annotations

from operator import itemgetter
from typing import Any

import numpy as np

from exactref_core.arithmetic.approx import Approx
from exactref_core.arithmetic.graph import Store
from exactref_core.arithmetic.range_ends import plain_ends, rounded_ends, sideless, store_value
from exactref_core.exact.double_double import Floats
from exactref_core.formats.format import FLOAT64_PRECISION
from exactref_core.formats.rounding import Rounding
from exactref_core.formats.rounding_arrays import cast_of

__all__ = ["flatten", "round_in_blocks"]

# The arrays of a block are below 128 KiB, so that the C library does not map each afresh.
BLOCK = 12288


def flatten(x: Approx) -> Approx:
    """Return enclosures as flat arrays."""
    return x.map(lambda part: np.broadcast_to(part, x.high.shape).reshape(-1))


def round_in_blocks(x: Approx, store: Store) -> tuple[Floats, Any]:
    """Return what `round_some` does, in blocks that stay in the cache."""
    size = x.high.size
    if size <= 2 * BLOCK:
        return round_some(x, store)
    value, undecided = np.empty(size), np.empty(size, bool)
    for start in range(0, size, BLOCK):
        part = slice(start, start + BLOCK)
        value[part], undecided[part] = round_some(x.map(itemgetter(part)), store)
    return value, undecided


def decided(x: Approx, store: Store) -> tuple[Floats, Any]:
    """Return rounded finite values, and where they are not decided.

    Ends in float64 decide nearly all of a narrow format; the others need their low words.
    """
    if x.low is None or x.radius is None:
        kind = cast_of(store.format, store.rounding, store.overflow)
        if kind is not None and x.low is None and x.radius is not None:
            return decided_by_cast(x, kind)
        return compared(rounded_ends(x, store), store)
    if store.format.precision >= FLOAT64_PRECISION:
        return decided_in_float64(x, store)
    wide = np.abs(x.low) + x.radius
    result, undecided = compared(rounded_ends(Approx(x.high, None, wide), store), store)
    if np.any(undecided):
        rest = np.flatnonzero(undecided)
        result[rest], undecided[rest] = compared(rounded_ends(x.take(rest), store), store)
    return result, undecided


def decided_by_cast(x: Approx, kind: type[np.floating[Any]]) -> tuple[Floats, Any]:
    """Return values rounded as a cast rounds, where both ends round to one number."""
    low, high = (end.astype(kind) for end in plain_ends(x))
    bits = f"i{low.itemsize}"  # in which the two zeros differ
    return low.astype(np.float64), low.view(bits) != high.view(bits)


def decided_in_float64(x: Approx, store: Store) -> tuple[Floats, Any]:
    """Return values rounded to float64: the high words, where both ends round to them.

    Rounding to nearest is monotone, and float64 addition is that rounding. Overflow is none of a
    finite high word, and a tie goes to it as it does in the sum.
    """
    rest: Any = slice(None)
    result = np.empty(x.high.shape)
    undecided = np.zeros(x.high.shape, bool)
    if store.rounding is Rounding.NEAREST_EVEN:
        below, above = x.low_ends()
        same = (x.high + below == x.high) & (x.high + above == x.high)
        if np.all(same):
            return x.high.copy(), undecided
        np.copyto(result, x.high)
        rest = np.flatnonzero(~same)
        x = x.take(rest)
    result[rest], undecided[rest] = compared(rounded_ends(x, store), store)
    return result, undecided


def compared(ends: tuple[Floats, Floats], store: Store) -> tuple[Floats, Any]:
    """Return the rounded lower ends, and where the upper ends differ."""
    low, high = ends
    if low is high:
        return sideless(low, store), np.zeros(low.shape, bool)
    # As bits, in which the two zeros differ.
    return sideless(low, store), low.view(np.int64) != high.view(np.int64)


def round_some(x: Approx, store: Store) -> tuple[Floats, Any]:
    """Return rounded values from enclosures, and where they are not decided."""
    if store.format.is_integer:
        return x.high, np.zeros(x.high.shape, bool)
    with np.errstate(all="ignore"):
        low, undecided = decided(x, store)
    if x.special is None:
        return low, undecided
    given = x.special != 0
    special = x.special if store.format.infinity else store_value(x.special, store)
    # The sign of NaN depends on the instructions that NumPy's loops are made of.
    special = np.where(np.isnan(special), np.nan, special)
    return np.where(given, special, low), undecided & ~given
