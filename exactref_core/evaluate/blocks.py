"""An output in blocks: results of runs of its elements, so that a huge array is never whole."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from exactref_core.arithmetic.boxes import Apart, Box, boxes, cells, restrict
from exactref_core.evaluate.outputs import PartsOutput

__all__ = ["Apart", "Block", "Box", "blocks"]

# Elements of all nodes that are alive at once; each takes about 70 bytes while it is judged.
CELLS = 1 << 20

Block = tuple[Box, PartsOutput]


def blocks(output: PartsOutput, most: int = CELLS) -> Iterator[Block]:
    """Yield the boxes of an output, in row-major order, and the output of each.

    One box without axes, and the output itself, where it is small or cannot be split: a view, or a
    definition that mixes the axes. `Apart` may still come later: then the whole has to be taken.
    Large outputs of few different elements are views of one evaluation in every block.
    """
    nodes = [part.node for part in output.parts]
    total = sum(map(cells, nodes))
    if output.places is not None and total <= 2 * most < output.size:
        for box in boxes(output.shape, most, len(output.shape)):
            yield box, output.view("index", box)
        return
    if total <= 2 * most or output.places is not None or not output.size:
        yield (), output
        return
    each = max(1, most * output.size // total)
    depth, first = deepest(output, each)
    if first is None:
        yield (), output
        return
    # What all blocks share, a matrix that every row is multiplied by, is evaluated in each of them.
    shared = sum(cells(part.node) for part in first.parts)
    each *= max(1, shared // most)
    for box in boxes(output.shape, each, depth):
        yield box, part_of(output, box)


def deepest(output: PartsOutput, each: int) -> tuple[int, PartsOutput | None]:
    """Return how many axes blocks of a size have to box, and the first of them if that is none."""
    found: tuple[int, PartsOutput | None] = 0, None
    for depth in range(1, len(output.shape) + 1):
        first = next(boxes(output.shape, each, depth))
        if len(first) < depth:
            break
        with suppress(Apart):
            found = depth, part_of(output, first)
            continue
        break
    return found


def part_of(output: PartsOutput, box: Box) -> PartsOutput:
    """Return the output of the elements in a box."""
    parts = [type(part)(restrict(part.node, box), part.label) for part in output.parts]
    nodes = [part.node for part in parts]
    return PartsOutput(output.op, output.name, output.format, parts, nodes, None)
