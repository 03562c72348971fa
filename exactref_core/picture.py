"""A picture of verdicts over a tensor, small enough to travel, and a histogram of error/tolerance.

The map. Axes of extent 1 are left out. Of the others the last two are the rows and columns of
the picture, and each index of those in front is a slice; a tensor with one axis is read like
text, row below row. Along an axis a cell stands for equally many neighbours, so that there are at
most `CELLS` cells along it, and it shows the worst verdict among them: a single wrong element
stays in sight. At most `SLICES` slices are kept: those with the most wrong elements, then those
with the most that are correct but worse, then the first.

The histogram. Bin 0 counts ratios of exactly 0; then one bin for ratios up to ``2**LOWEST``, one
for each ``(2**k, 2**(k + 1)]`` up to ``2**HIGHEST``, one for finite ratios above, one for
infinity. A ratio of 1 lies in the last bin within the tolerance.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

__all__ = ["BINS", "CELLS", "HIGHEST", "LOWEST", "SLICES", "Canvas", "Picture", "Slice"]

CELLS: Final = 64
SLICES: Final = 6
LOWEST: Final = -12
HIGHEST: Final = 20
BINS: Final = HIGHEST - LOWEST + 4  # zero, below, one each octave, above, infinite
MARKS: Final = ".ox"  # normal, correct but worse, wrong


@dataclass(frozen=True)
class Slice:
    """The verdicts over one slice, row by row, as runs of ``.`` normal, ``o`` worse, ``x`` wrong.

    "60.3x1o" is 60 cells that are normal, 3 wrong and 1 correct but worse. ``wrong`` and ``worse``
    count elements, of which one cell may stand for many.
    """

    label: str
    cells: str
    wrong: int
    worse: int


@dataclass(frozen=True)
class Picture:
    """The verdict map of one output, and its histogram of error/tolerance by verdict.

    ``axes`` are the axes in the picture and ``extents`` their extents; ``grid`` is the number of
    rows and columns of cells, ``step`` how many elements a cell stands for along each. ``hidden``
    slices are not shown, ``hidden_failing`` of them with elements that are not normal.
    ``histogram`` has the bins of the normal elements, of those correct but worse, and of the wrong
    ones.
    """

    axes: tuple[int, ...]
    extents: tuple[int, ...]
    grid: tuple[int, int]
    step: tuple[int, int]
    slices: tuple[Slice, ...]
    hidden: int
    hidden_failing: int
    histogram: tuple[tuple[int, ...], ...]

    def to_dict(self) -> dict[str, Any]:
        """Return builtins only."""
        plain = asdict(self)
        for name in ("axes", "extents", "grid", "step", "slices"):
            plain[name] = list(plain[name])
        plain["histogram"] = [list(bins) for bins in self.histogram]
        return plain

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Picture:
        """Return the picture that ``to_dict`` wrote."""
        fixed = {name: tuple(data[name]) for name in ("axes", "extents", "grid", "step")}
        slices = tuple(Slice(**each) for each in data["slices"])
        histogram = tuple(tuple(bins) for bins in data["histogram"])
        return cls(**{**data, **fixed, "slices": slices, "histogram": histogram})


class Canvas:
    """What the picture of an output of a shape is drawn on, block by block."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape = shape
        axes = tuple(axis for axis, extent in enumerate(shape) if extent != 1)
        self.axes = axes[-2:]
        self.extents = tuple(shape[axis] for axis in self.axes)
        front = [1 if axis in self.axes else extent for axis, extent in enumerate(shape)]
        self.leading = front or [1]  # numpy unravels no index of a shape without axes
        self.grid, self.step, cells = _layout(self.extents)
        slices = math.prod(self.leading) if math.prod(shape) else 0
        self.worst = np.zeros((slices, cells), np.uint8)
        self.counts = np.zeros((len(MARKS), slices), np.int64)
        self.histogram = np.zeros((len(MARKS), BINS), np.int64)

    def add(
        self,
        normal: npt.NDArray[np.bool_],
        any_order: npt.NDArray[np.bool_],
        ratios: npt.NDArray[np.float64],
        box: Sequence[slice] = (),
    ) -> None:
        """Draw the flat verdicts and ratios of a block; complex elements have two of each.

        ``box`` holds the ranges of the block along the first axes; it has the others whole.
        """
        severity = np.where(any_order, np.where(normal, 0, 1), 2).astype(np.uint8)
        for kind in range(len(MARKS)):
            self.histogram[kind] += _counts(ratios[severity == kind])
        sides = [*box, *(slice(0, extent) for extent in self.shape[len(box) :])] or [slice(0, 1)]
        shape = [side.stop - side.start for side in sides]
        if not math.prod(shape):
            return
        worst = severity.reshape(math.prod(shape), -1).max(axis=1)
        failing = np.flatnonzero(worst)  # of the others nothing is drawn
        inside = np.unravel_index(failing, shape)
        index = [found + side.start for found, side in zip(inside, sides, strict=True)]
        place = self._slice(index), self._cell(index)
        np.maximum.at(self.worst, place, worst[failing])
        np.add.at(self.counts, (worst[failing], place[0]), 1)

    def _slice(self, index: Sequence[Any]) -> Any:
        front = tuple(found * (axis not in self.axes) for axis, found in enumerate(index))
        return np.ravel_multi_index(front, self.leading)

    def _cell(self, index: Sequence[Any]) -> Any:
        if len(self.axes) < 2:
            return index[self.axes[0] if self.axes else 0] // self.step[1]
        row, column = (index[axis] // each for axis, each in zip(self.axes, self.step, strict=True))
        return row * self.grid[1] + column

    def picture(self) -> Picture:
        """Return what was drawn."""
        worse, wrong = self.counts[1], self.counts[2]
        order = np.lexsort((np.arange(len(wrong)), -worse, -wrong))
        kept = sorted(order[:SLICES].tolist())
        failing = np.flatnonzero(worse + wrong)
        return Picture(
            axes=self.axes,
            extents=self.extents,
            grid=self.grid,
            step=self.step,
            slices=tuple(
                Slice(
                    label=self._label(index),
                    cells=_runs(self.worst[index]),
                    wrong=int(wrong[index]),
                    worse=int(worse[index]),
                )
                for index in kept
            ),
            hidden=len(wrong) - len(kept),
            hidden_failing=len(set(failing.tolist()) - set(kept)),
            histogram=tuple(tuple(bins) for bins in self.histogram.tolist()),
        )

    def _label(self, index: int) -> str:
        places = zip(range(len(self.shape)), np.unravel_index(index, self.leading), strict=False)
        return f"[{', '.join(':' if axis in self.axes else str(place) for axis, place in places)}]"


def _counts(ratios: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    # ratio = m * 2**e with 1/2 <= m < 1 lies in (2**(e-1), 2**e], or is 2**(e-1): the bin below.
    fraction, exponent = np.frexp(ratios)
    octave = exponent - (fraction == 0.5)
    bins = np.clip(octave - LOWEST, 0, HIGHEST - LOWEST + 1) + 1
    bins = np.where(ratios == 0, 0, np.where(np.isinf(ratios), BINS - 1, bins))
    return np.bincount(bins, minlength=BINS).astype(np.int64)


def _layout(extents: tuple[int, ...]) -> tuple[tuple[int, int], tuple[int, int], int]:
    """Return rows and columns of cells, the elements of a cell along each, and the cells in all."""
    if len(extents) == 2:
        rows, columns = (max(-(-extent // CELLS), 1) for extent in extents)
        grid = -(-extents[0] // rows), -(-extents[1] // columns)
        return grid, (rows, columns), grid[0] * grid[1]
    elements = extents[0] if extents else 1
    step = max(-(-elements // CELLS**2), 1)
    cells = -(-elements // step)
    return (-(-cells // CELLS), min(cells, CELLS)), (1, step), cells


def _runs(cells: npt.NDArray[np.uint8]) -> str:
    starts = np.flatnonzero(np.diff(cells, prepend=np.uint8(len(MARKS))))
    lengths = np.diff(starts, append=cells.size)
    marks = (MARKS[kind] for kind in cells[starts])
    return "".join(f"{length}{mark}" for length, mark in zip(lengths, marks, strict=True))
