"""What outputs may be: a finite range, specials, and where nothing bounds them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from exactref_core.arithmetic import states
from exactref_core.arithmetic.graph import Indices
from exactref_core.exact.double_double import Floats

__all__ = ["Bools", "Range", "one_range", "within"]

Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Range:
    """Flat arrays: the finite ends (NaN: none), what outputs may be, and where no bound exists."""

    low: Floats
    high: Floats
    states: states.States
    unbounded: npt.NDArray[np.bool_]

    def copy(self) -> Range:
        """Return arrays of their own."""
        return Range(*(array.copy() for array in self.arrays))

    def merge(self, flat: Indices, other: Range) -> None:
        """Overwrite some elements."""
        for mine, theirs in zip(self.arrays, other.arrays, strict=True):
            mine[flat] = theirs

    @property
    def arrays(self) -> tuple[npt.NDArray[Any], ...]:
        """The arrays, in order."""
        return self.low, self.high, self.states, self.unbounded


def one_range(low: float, high: float, sets: int, unbounded: bool) -> Range:
    """Return the range of a single element."""
    return Range(
        np.asarray([low]), np.asarray([high]), np.asarray([sets], np.uint8), np.asarray([unbounded])
    )


def within(ranges: Range, values: Floats) -> Bools:
    """Return whether each value is a finite one in its range or a special that is allowed."""
    finite = (values >= ranges.low) & (values <= ranges.high)
    plus = (values == np.inf) & ((ranges.states & states.PLUS) != 0)
    minus = (values == -np.inf) & ((ranges.states & states.MINUS) != 0)
    nan = np.isnan(values) & ((ranges.states & states.NAN) != 0)
    found: Bools = finite | plus | minus | nan
    return found
