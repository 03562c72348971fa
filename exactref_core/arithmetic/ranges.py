"""What outputs may be: a finite range, specials, and where nothing bounds them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

import numpy as np
import numpy.typing as npt

from exactref_core.arithmetic import states
from exactref_core.arithmetic.approx import Approx
from exactref_core.arithmetic.bound import Bound
from exactref_core.arithmetic.graph import Indices
from exactref_core.exact.double_double import Floats

__all__ = ["Range", "in_blocks", "one_range"]

# Elements whose arrays stay in the cache.
BLOCK = 12288
Found = tuple["Range", npt.NDArray[np.bool_]]


@dataclass(frozen=True, eq=False)
class Range:
    """Flat arrays: the finite ends (NaN: none), what outputs may be, and where no bound exists."""

    low: Floats
    high: Floats
    states: states.States
    unbounded: npt.NDArray[np.bool_]

    def merge(self, flat: Indices, other: Range) -> None:
        """Overwrite some elements."""
        for mine, theirs in zip(self.arrays, other.arrays, strict=True):
            mine[flat] = theirs

    @property
    def arrays(self) -> tuple[npt.NDArray[Any], ...]:
        """The arrays, in order."""
        return self.low, self.high, self.states, self.unbounded


def in_blocks(ask: Callable[[Approx, Bound], Found], x: Approx, bound: Bound) -> Found:
    """Return what ``ask`` finds of flat arrays, block by block."""
    size = x.high.size
    if size <= 2 * BLOCK:
        return ask(x, bound)
    ranges, undecided = [], []
    for start in range(0, size, BLOCK):
        cut = itemgetter(slice(start, start + BLOCK))
        found, left = ask(x.map(cut), bound.map(cut, x.high.shape))
        ranges.append(found.arrays)
        undecided.append(left)
    return Range(*map(np.concatenate, zip(*ranges, strict=True))), np.concatenate(undecided)


def one_range(low: float, high: float, sets: int, unbounded: bool) -> Range:
    """Return the range of a single element."""
    return Range(
        np.asarray([low]), np.asarray([high]), np.asarray([sets], np.uint8), np.asarray([unbounded])
    )
