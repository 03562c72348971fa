"""Graphs of a part of an output alone: what a huge array's blocks are evaluated from.

A box has a range of each of the first axes and all of the others. A graph is restricted to a box
from its output down to the inputs, as far as each step keeps the boxed axes apart; `Apart` says
that one does not.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from exactref_core.arithmetic.boxed_views import (
    Apart,
    Box,
    permutation,
    permuted,
    reshaped,
    strides_in,
    trimmed,
)
from exactref_core.arithmetic.families import ELEMENTWISE
from exactref_core.arithmetic.fast_choices import STEPS
from exactref_core.arithmetic.flush_choices import Flushes
from exactref_core.arithmetic.graph import Leaf, Node, defined
from exactref_core.arithmetic.matexp_verbs import Exponentials
from exactref_core.arithmetic.pick_verbs import Pick
from exactref_core.arithmetic.reduction_verbs import Scan
from exactref_core.arithmetic.views import reshaping, strided

__all__ = ["Apart", "Box", "boxes", "cells", "every", "local_parts", "restrict", "run", "work"]

SAME = {*STEPS, *ELEMENTWISE, "admit", "restated"}
# Each element is made of a row of the operands' last axis.
REDUCTIONS = ("sum", "prod", "complex_prod", "largest", "logsumexp", "deviations")
# Each row of the last axis is made of the same row of the operands.
ROWS = ("weights", "log_weights", "less_mean", "prefix", "ties")
# Each row is made of a row of the first operand and of a matrix, the second.
PRODUCTS = ("dot", "paired_dot", "attend")


# Steps that cost no more in parts: each element has its own terms.
LOCAL = {*SAME, *REDUCTIONS, *ROWS, "load", "constant", "view", "pick"}


def cells(node: Node) -> int:
    """Return the number of elements of all nodes of a graph."""
    return sum(one.size for one in every(node))


def work(node: Node) -> float:
    """Return about what a graph costs, in elements of a step.

    An input is only read, and sent; a multiply-add of a matrix product takes a fraction of a
    nanosecond where an element takes tens.
    """
    total = 0.0
    for one in every(node):
        total += one.size / 4 if one.verb == "load" else one.size
        if one.verb in PRODUCTS:
            total += one.size * one.operands[0].shape[-1] / 512
    return total


def every(node: Node) -> set[Node]:
    """Return all nodes of a graph."""
    seen, stack = {node}, [node]
    while stack:
        new = [x for x in stack.pop().operands if x not in seen]
        seen.update(new)
        stack += new
    return seen


def boxes(shape: tuple[int, ...], most: int, depth: int) -> Iterator[Box]:
    """Yield boxes of at most ``most`` elements that cover a shape, if its rows are that short.

    At most ``depth`` axes are boxed.
    """
    if depth == 0 or not shape:
        yield ()
        return
    row = prod(shape[1:])
    if row > most and depth > 1:
        for index in range(shape[0]):
            for rest in boxes(shape[1:], most, depth - 1):
                yield (slice(index, index + 1), *rest)
        return
    step = max(1, most // max(row, 1))
    for start in range(0, shape[0], step):
        yield (slice(start, min(start + step, shape[0])),)


def local_parts(node: Node, most: int) -> list[tuple[slice, Node]]:
    """Return the graphs of parts of about ``most`` cells, with the runs of their elements.

    They are for exact values alone. Empty where the graph is smaller, mixes the axes, or has steps
    that are best taken whole.
    """
    node = defined(node)
    total = cells(node)
    if total < 2 * most or not node.size or not is_local(node):
        return []
    each = max(1, most * node.size // total)
    best: list[Box] = []
    for depth in range(1, len(node.shape) + 1):
        found = list(boxes(node.shape, each, depth))
        if len(found[0]) < depth:
            break
        try:
            restrict(node, found[0])
        except Apart:
            break
        best = found
    if len(best) < 2:
        return []
    runs = [run(node.shape, box) for box in best]
    return [
        (slice(start, start + count), restrict(node, box))
        for (start, count), box in zip(runs, best, strict=True)
    ]


def is_local(node: Node) -> bool:
    """Return whether every step of a graph costs no more in parts."""
    return all(one.verb in LOCAL for one in every(node))


def restrict(node: Node, box: Box) -> Node:
    """Return the graph of the elements in a box; `Apart` where a step mixes its axes."""
    return Restriction(box).of(node, box)


@dataclass
class Restriction:
    """The nodes of one box so far, by the node that each is a part of and the box in it."""

    box: Box

    def __post_init__(self) -> None:
        self.known: dict[tuple[Node, tuple[tuple[int, int], ...]], Node] = {}

    def of(self, node: Node, box: Box) -> Node:
        """Return a node's part."""
        key = node, tuple((side.start, side.stop) for side in box)
        if key not in self.known:
            self.known[key] = self.part(node, box)
        return self.known[key]

    def part(self, node: Node, box: Box) -> Node:
        """Make a node's part of the parts of its operands."""
        if not box:
            return node
        shape = (*(side.stop - side.start for side in box), *node.shape[len(box) :])
        if node.verb == "load":
            return Node(
                "load", (), shape, Leaf(node.attrs.data[box], node.attrs.format), node.compute
            )
        if node.verb == "view":
            return self.view(node, box, shape)
        sides, attrs = self.operands(node, box), node.attrs
        if node.verb == "pick":
            attrs = picked(node, box)
        elif node.verb == "prefix":
            attrs = Scan(attrs.verb)
        elif node.verb == "matexp":
            attrs = Exponentials(attrs.part)
        elif node.verb == "flushable":
            flushes, part = attrs
            attrs = Flushes.of([self.of(x, box) for x in flushes.every()], flushes.least), part
        elif node.verb in ("weights", "log_weights", "logsumexp", "attend"):
            attrs = replace(attrs, keep=cut(attrs.keep, box), finite=cut(attrs.finite, box))
        parts = tuple(self.of(x, side) for x, side in zip(node.operands, sides, strict=True))
        return Node(node.verb, parts, shape, attrs, node.compute)

    def operands(self, node: Node, box: Box) -> list[Box]:
        """Return the box in each operand."""
        axes, verb = len(node.shape), node.verb
        if verb in SAME and all(x.shape == node.shape for x in node.operands):
            return [box] * len(node.operands)
        if verb == "pick":
            return [within(x, node, box) for x in node.operands]
        if verb in REDUCTIONS or (verb in ROWS and len(box) < axes) or verb == "stack":
            if verb == "stack" and len(box) == axes:
                raise Apart
            return [box] * len(node.operands)
        if verb in PRODUCTS and len(box) < axes:
            return [box, box[: axes - 2]]
        if verb == "dot":
            whole = slice(0, node.operands[1].shape[-2])
            return [box[:-1], (*box[:-2], whole, box[-1])]
        if verb == "matexp" and len(box) < axes - 1:
            return [box] * len(node.operands)
        raise Apart

    def view(self, node: Node, box: Box, shape: tuple[int, ...]) -> Node:
        """Return the part of a view: of an input at once, else of the part that it shows."""
        leaf = input_below(node)
        if leaf is not None:
            data = stored(node)[box]
            return Node("load", (), shape, Leaf(data, leaf.attrs.format), leaf.compute)
        (source,), view = node.operands, node.attrs
        if view.reshape:
            part = self.of(source, trimmed(source.shape, reshaped(node.shape, source.shape, box)))
            moved = reshaping(part.shape, shape)
        else:
            order = permutation(view)
            if order is None:
                inner, strides = strides_in(view, box)
            else:
                inner, strides = permuted(source.shape, order, box)
            part = self.of(source, trimmed(source.shape, inner))
            moved = strided(part.shape, shape, 0, strides)
        return Node("view", (part,), shape, moved)


def picked(node: Node, box: Box) -> Pick:
    """Return the choice in a box among elements of the operands in theirs, or `Apart`."""
    pick, sides = node.attrs, [within(x, node, box) for x in node.operands]
    shapes = [node.shape, *(x.shape for x in node.operands)]
    if not all(map(is_run, shapes, [box, *sides])):
        which, source = (x.reshape(node.shape)[box].reshape(-1) for x in (pick.which, pick.source))
        return Pick(which, moved(node, sides, which, source))
    start, count = run(node.shape, box)
    which, source = pick.which[start : start + count], pick.source[start : start + count]
    runs = np.asarray([run(x.shape, side) for x, side in zip(node.operands, sides, strict=True)])
    inside = source - runs[which, 0]
    if np.any((inside < 0) | (inside >= runs[which, 1])):
        raise Apart
    return Pick(which, inside)


def moved(node: Node, sides: list[Box], which: Any, source: Any) -> npt.NDArray[np.intp]:
    """Return where picked elements are in the operands' boxes, or `Apart`."""
    found = np.zeros(source.shape, np.intp)
    for place, (operand, side) in enumerate(zip(node.operands, sides, strict=True)):
        chosen = which == place
        index = np.unravel_index(source[chosen], operand.shape)
        shape = [one.stop - one.start for one in side] + [*operand.shape[len(side) :]]
        first = [one.start for one in side] + [0] * (len(shape) - len(side))
        inside = [i - start for i, start in zip(index, first, strict=True)]
        if any(np.any((i < 0) | (i >= n)) for i, n in zip(inside, shape, strict=True)):
            raise Apart
        found[chosen] = np.ravel_multi_index(inside, shape) if shape else 0
    return found


def within(operand: Node, node: Node, box: Box) -> Box:
    """Return the box of an operand that has the boxed axes too; all of another one."""
    if len(operand.shape) < len(box):
        return ()
    sides = []
    for side, mine, theirs in zip(box, node.shape, operand.shape, strict=False):
        if mine != theirs and side != slice(0, mine):
            return ()
        sides.append(side if mine == theirs else slice(0, theirs))
    return trimmed(operand.shape, tuple(sides))


def is_run(shape: tuple[int, ...], box: Box) -> bool:
    """Return whether the elements of a box follow one another in row-major order."""
    long = [axis for axis, side in enumerate(box) if side.stop - side.start > 1]
    return not long or all(
        box[axis] == slice(0, shape[axis]) for axis in range(long[0] + 1, len(box))
    )


def run(shape: tuple[int, ...], box: Box) -> tuple[int, int]:
    """Return where the elements of a box start in row-major order, and how many they are."""
    start = sum(side.start * prod(shape[axis + 1 :]) for axis, side in enumerate(box))
    rest = prod(shape[len(box) :])
    return start, prod(side.stop - side.start for side in box) * rest


def cut(array: npt.NDArray[Any] | None, box: Box) -> npt.NDArray[Any] | None:
    """Return an array of a row rule in a box."""
    return None if array is None else array[box]


def input_below(node: Node) -> Node | None:
    """Return the input that a node is a view of, if it is one."""
    while node.verb == "view":
        node = node.operands[0]
    return node if node.verb == "load" else None


def stored(node: Node) -> npt.NDArray[Any]:
    """Return a view of an input, in its storage."""
    if node.verb == "load":
        data: npt.NDArray[Any] = node.attrs.data
        return data
    view: npt.NDArray[Any] = node.attrs.apply(stored(node.operands[0]))
    return view
