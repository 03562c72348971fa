"""Elements evaluated part by part: what one part gathers fits the memory, and shares its rows."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from exactref_core.arithmetic.approx import Approx
from exactref_core.arithmetic.graph import Indices
from exactref_core.arithmetic.traversal import Kept
from exactref_core.exact.double_double import Floats

__all__ = ["blocks", "concatenate", "row_blocks", "row_cuts"]

# Terms gathered at once; blocks of them are evaluated one after the other.
GATHER = 1 << 21


def blocks(
    kept: Kept[Approx], function: Callable[[Indices], Approx], flat: Indices, terms: int
) -> Approx:
    """Return ``function(part)`` over parts of the indices that gather at most GATHER terms."""
    size = max(1, GATHER // max(terms, 1))
    if flat.size <= size:
        return function(flat)
    parts = []
    for start in range(0, flat.size, size):
        with kept.scope():
            parts.append(function(flat[start : start + size]))
    return concatenate(parts)


def row_cuts(rows: Indices, most: int) -> list[int]:
    """Return where to cut a list of elements, given their rows, so that no part has more than
    ``most`` runs of one row: what all elements of a row share is then evaluated once or twice."""
    run = np.concatenate([[0], np.cumsum(rows[1:] != rows[:-1])]) // most
    inner = np.flatnonzero(run[1:] != run[:-1]) + 1
    return [0, *inner.tolist(), rows.size]


def row_blocks(
    kept: Kept[Approx], function: Callable[[Indices], Approx], flat: Indices, terms: int
) -> Approx:
    """Return ``function(part)`` over parts of the indices whose rows have at most GATHER terms."""
    cuts = row_cuts(flat // max(terms, 1), max(1, GATHER // max(terms, 1)))
    parts = []
    for start, stop in pairwise(cuts):
        with kept.scope():
            parts.append(function(flat[start:stop]))
    return parts[0] if len(parts) == 1 else concatenate(parts)


def concatenate(parts: list[Approx]) -> Approx:
    """Return flat enclosures one after the other."""

    def join(arrays: list[Floats | None]) -> Floats | None:
        if all(array is None for array in arrays):
            return None
        filled = [
            np.zeros(part.high.shape) if array is None else array
            for part, array in zip(parts, arrays, strict=True)
        ]
        return np.concatenate(filled)

    return Approx(
        np.concatenate([part.high for part in parts]),
        join([part.low for part in parts]),
        join([part.radius for part in parts]),
        join([part.special for part in parts]),
        all(part.short for part in parts),
    )
