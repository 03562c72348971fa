"""An output in blocks: results of boxes of its elements, so that a huge array is never whole."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import numpy.typing as npt

from exactref_core.arithmetic.boxes import Apart, Box, boxes, cells, restrict, work
from exactref_core.arithmetic.parts import Part
from exactref_core.arithmetic.ranges import Range
from exactref_core.evaluate.outputs import PartsOutput

__all__ = ["CELLS", "Apart", "Block", "Box", "blocks", "boxed", "boxes_of", "part_of"]

# Elements of all nodes that are alive at once; each takes about 70 bytes while it is judged.
CELLS = 1 << 20
# What halves may cost together, of the whole: they share what both need, as rows of a matrix
# product the second matrix. More is worth it only where blocks of many times their size are left,
# and smaller ones take less memory.
SHARED, SHARED_IF_LARGE, LARGE = 1.2, 1.5, 8

Block = tuple[Box, PartsOutput]


def blocks(output: PartsOutput, most: int = CELLS) -> Iterator[Block]:
    """Yield boxes of an output, in row-major order, and the output of each.

    One box without axes, and the output itself, where it is small or cannot be split: a view, or a
    definition that mixes the axes. `Apart` may still come later: then the whole has to be taken.
    Large outputs of few different elements are views of one evaluation in every block.
    """
    total = sum(cells(part.node) for part in output.parts)
    if output.places is not None and total <= 2 * most < output.size:
        for box in boxes(output.shape, most, len(output.shape)):
            yield box, output.view("index", box)
    elif total <= 2 * most or output.places is not None or not output.size:
        yield (), output
    else:
        for box in boxes_of(output, most):
            yield box, part_of(output, box)


def boxes_of(output: PartsOutput, most: int) -> Iterator[Box]:
    """Yield boxes of an output of about ``most`` cells each, in row-major order."""
    sides = sides_of(output, most)
    depth = max((i + 1 for i, n in enumerate(output.shape) if sides[i] < n), default=0)
    grid = [range(0, n, side) for n, side in zip(output.shape, sides, strict=True)]
    for starts in product(*grid[:depth]):
        yield tuple(
            slice(start, min(start + side, n))
            for start, side, n in zip(starts, sides, output.shape, strict=False)
        )


def sides_of(output: PartsOutput, most: int) -> list[int]:
    """Return the extents of blocks of at most ``most`` cells, or as few as is worth it.

    The axis whose halves share least is halved, of those alike the first.
    """
    sides = list(output.shape)
    total, cost = weight(output, sides)
    while total > most:
        found = []
        for axis, side in enumerate(sides):
            half = [*sides[:axis], -(-side // 2), *sides[axis + 1 :]]
            try:
                one = weight(output, half) if side > 1 else None
            except Apart:
                continue
            if one is not None and one[0] * side <= SHARED_IF_LARGE * total * half[axis]:
                share = round(one[1] * side / (cost * half[axis]), 3)
                found.append((share, axis, half, one))
        limit = SHARED if total <= LARGE * most else SHARED_IF_LARGE
        if not found or min(found)[0] > limit:
            break
        *_, sides, (total, cost) = min(found)
    return sides


def weight(output: PartsOutput, sides: Sequence[int]) -> tuple[int, float]:
    """Return cells and work of the first block with these extents; `Apart` if it is none."""
    box = tuple(slice(0, side) for side in sides)
    while box and box[-1].stop == output.shape[len(box) - 1]:
        box = box[:-1]
    nodes = [restrict(part.node, box) for part in output.parts]
    return sum(map(cells, nodes)), sum(map(work, nodes))


def part_of(output: PartsOutput, box: Box) -> PartsOutput:
    """Return the output of the elements in a box."""
    if not box:
        return output
    parts = [boxed(part, box) for part in output.parts]
    nodes = [part.node for part in parts]
    return PartsOutput(output.op, output.name, output.format, parts, nodes, None)


def boxed(part: Part, box: Box) -> Part:
    """Return the part of the elements in a box, with what is known of them."""
    if not box:
        return part
    shape = part.node.shape

    def cut(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return array.reshape(shape)[box].reshape(-1)

    found = type(part)(restrict(part.node, box), part.label)
    found.start = tuple(side.start for side in box)
    if part.roundings is not None:
        found.roundings = cut(part.roundings)
    found.ranges = {key: Range(*map(cut, one.arrays)) for key, one in part.ranges.items()}
    return found
