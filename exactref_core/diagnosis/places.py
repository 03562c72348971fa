"""Where failing elements lie: a tile's tail, a head, a block, a diagonal, everywhere.

Every place that is proposed holds all failing elements. Of few elements a place is easily found
that holds them all by chance, so each has a price: were the n elements spread evenly, all would
lie in a place of a share p of the tensor with probability p^n, and there are so many places of its
kind. The cheapest is told, if the product is below `CHANCE`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

__all__ = ["place_of"]

Mask = npt.NDArray[np.bool_]
Indices = npt.NDArray[np.intp]

CHANCE: Final = 0.01
TILES: Final = (2, 4, 8, 16, 32, 64, 128, 256, 512)
SOME: Final = 4  # indices of an axis that are told one by one
NEARLY: Final = 0.9  # of the elements fail where it is said that nearly all do
FEW: Final = 8  # failing elements of which it is not said that they are scattered


@dataclass(frozen=True)
class Place:
    """A set of elements in words, its share of the tensor, and how many there are of its kind."""

    words: str
    share: float
    kinds: float

    def price(self, failing: int) -> float:
        """The logarithm of the chance that one of its kind holds so many elements."""
        return failing * math.log(self.share) + math.log(self.kinds) if self.share else -math.inf


def place_of(failing: Mask, heads: bool = False) -> str:
    """Return where the failing elements lie, in words; "" where nothing can be said.

    ``heads`` says that the axes are batch, head, row and column.
    """
    count, total = int(failing.sum()), failing.size
    if count == 0 or total == 1:
        return ""
    if count == total:
        return f"everywhere (all {total} elements)"
    found = [*boxes(failing, count, heads), *slices(failing)]
    found += [*diagonals(failing), *runs(failing)]
    best = min(found, key=lambda place: place.price(count), default=None)
    if best is not None and best.price(count) < math.log(CHANCE):
        whole = count >= round(best.share * total)
        return f"every element of {best.words}" if whole else f"all {count} in {best.words}"
    if count > NEARLY * total:
        return f"nearly everywhere ({count} of {total} elements)"
    return f"scattered ({count} of {total} elements)" if count > FEW else ""


# -- ranges along axes -----------------------------------------------------------------------------


def boxes(failing: Mask, count: int, heads: bool) -> Iterator[Place]:
    """Yield the ranges of single axes that hold all, and the box of those that mean something."""
    shape, sides = failing.shape, []
    for axis, extent in enumerate(shape):
        if extent == 1:
            continue
        others = tuple(other for other in range(len(shape)) if other != axis)
        used = np.flatnonzero(failing.any(axis=others))
        found = list(ranges(used, extent, axis_name(axis, len(shape), heads)))
        yield from found
        best = min(found, key=lambda place: place.price(count), default=None)
        if best is not None and best.price(count) < math.log(CHANCE):
            sides.append(best)
    if len(sides) > 1:
        words = ", ".join(side.words for side in sides)
        share = math.prod(side.share for side in sides)
        yield Place(words, share, math.prod(side.kinds for side in sides))


@dataclass(frozen=True)
class Axis:
    """What one index of an axis is called, and several, and what comes after them."""

    one: str
    several: str
    after: str = ""


def axis_name(axis: int, axes: int, heads: bool) -> Axis:
    """Return what the indices of an axis are called."""
    if axes == 1:
        return Axis("element", "elements")
    if axis >= axes - 2:
        return Axis("row", "rows") if axis == axes - 2 else Axis("column", "columns")
    if heads and axes == 4:
        return Axis("head", "heads") if axis else Axis("batch", "batches")
    return Axis("index", "indices", f" on axis {axis}")


def ranges(used: Indices, extent: int, name: Axis) -> Iterator[Place]:
    """Yield what holds all used indices of an axis: a range, a few of them, ranges of each tile.

    ``used`` is sorted and holds no index twice.
    """
    first, last = int(used[0]), int(used[-1])
    width = last - first + 1
    if width < extent:
        edge = first == 0 or last == extent - 1
        kinds = 2.0 if edge else float(extent - width + 1)
        yield Place(range_words(first, last, extent, name), width / extent, kinds * extent)
    if 1 < len(used) <= SOME and len(used) < width:
        words = f"{name.several} {', '.join(map(str, used.tolist()))}{name.after}"
        yield Place(words, len(used) / extent, float(math.comb(extent, len(used)) * SOME))
    for tile in TILES:
        inside = np.unique(used % tile)
        low, high = int(inside[0]), int(inside[-1])
        width = high - low + 1
        if extent // tile < 2 or width == tile or len(np.unique(used // tile)) < 2:
            continue
        share = sum(low <= place % tile <= high for place in range(extent)) / extent
        yield Place(tile_words(low, high, tile, name), share, float(tile * tile * len(TILES)))


def range_words(first: int, last: int, extent: int, name: Axis) -> str:
    """Return a range of indices in words."""
    count = last - first + 1
    text = f"{name.one} {first}" if count == 1 else f"{name.several} {first}-{last}"
    where = "the last" if last == extent - 1 else "the first" if first == 0 else ""
    if where and count > 1:
        where += f" {count}"
    return f"{text}{name.after} ({where} of {extent})" if where else f"{text}{name.after}"


def tile_words(low: int, high: int, tile: int, name: Axis) -> str:
    """Return a range that repeats in words."""
    if tile == 2:
        return f"{'odd' if low else 'even'} {name.several}{name.after}"
    if low == high:
        return f"{name.several} {low}, {low + tile}, ... (one of each {tile}){name.after}"
    where = "last" if high == tile - 1 else "first" if low == 0 else ""
    if where:
        return f"the {where} {high - low + 1} of each {tile} {name.several}{name.after}"
    return f"{name.several} {low}-{high} of each {tile}{name.after}"


def slices(failing: Mask) -> Iterator[Place]:
    """Yield the few slices over the last two axes that hold all, if there are several."""
    leading = failing.shape[:-2]
    total = math.prod(leading)
    if len(leading) < 2 or total < 2:
        return  # of a single leading axis its indices are told
    used = np.flatnonzero(failing.any(axis=(-2, -1)))
    if 1 < len(used) <= SOME and len(used) < total:
        places = np.stack(np.unravel_index(used, leading), axis=-1).tolist()
        words = " and ".join(f"[{', '.join(map(str, place))}, :, :]" for place in places)
        yield Place(words, len(used) / total, float(math.comb(total, len(used)) * SOME))


# -- diagonals and runs ----------------------------------------------------------------------------


def diagonals(failing: Mask) -> Iterator[Place]:
    """Yield what lies on, above or below a diagonal of the last two axes."""
    if failing.ndim < 2 or min(failing.shape[-2:]) < 2:
        return
    plane: Any = failing.any(axis=tuple(range(failing.ndim - 2)))
    rows, columns = plane.shape
    used = np.flatnonzero(plane.any(axis=1))
    low = int((plane[used].argmax(axis=1) - used).min())
    high = int((columns - 1 - plane[used, ::-1].argmax(axis=1) - used).max())
    if low == high:
        words = "the diagonal" if low == 0 else f"the diagonal where column - row is {low}"
        share = above(low, rows, columns) - above(low + 1, rows, columns)
        yield Place(words, share, float(rows + columns))
    if low >= 0:
        words = "above the diagonal" if low > 0 else "on or above the diagonal"
        yield from half(f"the part {words}", above(min(low, 1), rows, columns))
    if high <= 0:
        words = "below the diagonal" if high < 0 else "on or below the diagonal"
        yield from half(f"the part {words}", 1 - above(max(high, -1) + 1, rows, columns))


def above(least: int, rows: int, columns: int) -> float:
    """Return the share of the elements with column - row at least this."""
    starts = np.clip(np.arange(rows) + least, 0, columns)
    return float((columns - starts).sum()) / (rows * columns)


def half(words: str, share: float) -> Iterator[Place]:
    """Yield one side of a diagonal, if it is no small corner."""
    if share > 0.25:
        yield Place(words, share, 4.0)


def runs(failing: Mask) -> Iterator[Place]:
    """Yield the run of elements in memory order that holds all, if it is none of whole rows."""
    shape, flat = failing.shape, failing.reshape(-1)
    if len(shape) < 2:
        return
    total = flat.size
    first, last = int(flat.argmax()), total - 1 - int(flat[::-1].argmax())
    edge = first == 0 or last == total - 1
    if edge and last // shape[-1] > first // shape[-1] and last - first + 1 < total:
        text = range_words(first, last, total, Axis("element", "elements"))
        yield Place(f"{text}, counted in memory order", (last - first + 1) / total, 2.0 * total)
