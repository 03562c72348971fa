"""Elements that are made of equal numbers in the same way: one of them answers for all.

Two elements of a node are alike where every step to them is the same and the inputs that it reads
have the same bits, in the same order: then all that is exact, stored or allowed of them is the
same. Where a step is not known to depend on these alone, each element is of its own kind.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from exactref_core.arithmetic.families import ELEMENTWISE
from exactref_core.arithmetic.fast_choices import STEPS
from exactref_core.arithmetic.graph import Indices, Node, dot_terms, sum_terms

__all__ = ["alike", "each_alike"]

# Elements from which equal ones are looked for, and numbers that are compared for it at most.
FEW, MOST = 16, 1 << 22
# Steps of a graph on a path, beyond which Python's stack is too short.
DEEPEST = 64
# Each element depends on the same element of the operands.
SAME = {*STEPS, *ELEMENTWISE, "admit", "restated"} - {"flushable"}
# Each element depends on a row of the operands of which it has the place.
ROWS = ("sum", "prod", "largest", "deviations")
# Each element depends on a row of scores, and on its own, on a column of values or on nothing else.
SOFTMAX = ("weights", "log_weights", "logsumexp", "attend")
# Each element depends on rows of the operands (of the last two, of three) and on its own.
AMONG = ("less_mean", "ties")

Kinds: TypeAlias = npt.NDArray[np.intp]
T = TypeVar("T")


def alike(node: Node, flat: Indices, least: int = FEW) -> tuple[Indices, Indices]:
    """Return elements of every kind among some, and the place of each one's kind in these.

    Of fewer than ``least`` each is its own kind: to compare them would cost more than it saves.
    """
    if flat.size < max(least, FEW) or node.depth > DEEPEST:
        return flat, np.arange(flat.size)
    _, first, back = np.unique(
        Comparison().kinds(node, flat), return_index=True, return_inverse=True
    )
    return flat[first], back


def each_alike(node: Node, flat: Indices, ask: Callable[[Node, int], T]) -> list[T]:
    """Return what is asked of some elements, of those that are alike once."""
    kinds, back = alike(node, flat)
    found = [ask(node, i) for i in kinds.tolist()]
    return [found[i] for i in back.tolist()]


class Comparison:
    """The kinds of elements, as numbers that are equal where these are; of one list of elements."""

    def __init__(self) -> None:
        self.known: dict[tuple[Node, int], tuple[Indices, Kinds]] = {}
        self.left = MOST

    def kinds(self, node: Node, flat: Indices) -> Kinds:
        """Return the kinds of a node's elements."""
        key = node, id(flat)
        if key not in self.known:
            # Holding the indices keeps their id from being used again.
            self.known[key] = flat, self.compare(node, flat)
        return self.known[key][1]

    def compare(self, node: Node, flat: Indices) -> Kinds:
        """Return the kinds of a node's elements, from those of its operands."""
        verb, operands = node.verb, node.operands
        if verb == "load":
            return numbered(bits(node.attrs.data.reshape(-1)[flat]))
        if verb == "constant":
            return np.zeros(flat.size, np.intp)
        if verb == "view":
            return self.kinds(operands[0], node.attrs.gather(flat))
        if verb == "stack":
            source, which = np.divmod(flat, len(operands))
            return self.chosen(operands, which, source)
        if verb == "pick":
            return self.chosen(operands, node.attrs.which[flat], node.attrs.source[flat])
        if verb in ROWS:
            return self.by_rows(node, flat)
        if verb == "dot":
            return self.products(node, flat)
        if verb in SOFTMAX:
            return self.softmax(node, flat)
        if verb in AMONG:
            return self.among(node, flat)
        if verb in SAME and all(x.shape == node.shape or x.verb == "constant" for x in operands):
            return together([self.kinds(x, flat) for x in operands])
        return flat

    def chosen(self, operands: tuple[Node, ...], which: Any, source: Any) -> Kinds:
        """Return the kinds of elements taken out of several nodes."""
        found = np.zeros(which.size, np.intp)
        for place, operand in enumerate(operands):
            where = np.flatnonzero(which == place)
            if where.size:
                found[where] = self.kinds(operand, source[where].astype(np.intp))
        return together([which.astype(np.intp), found])

    def by_rows(self, node: Node, flat: Indices) -> Kinds:
        """Return the kinds of what is made of rows."""
        rows, back = np.unique(flat, return_inverse=True)
        found = []
        for operand in node.operands:
            if operand.shape == node.shape:
                found.append(self.kinds(operand, rows))
            elif operand.shape[:-1] != node.shape:
                return flat
            else:
                places = sum_terms(Node("sum", (operand,), node.shape), rows)
                found.append(self.lists(operand, places, rows))
        return together(found)[back]

    def products(self, node: Node, flat: Indices) -> Kinds:
        """Return the kinds of elements of matrix products: those of the row and of the column."""
        (*_, m, k), n = node.operands[0].shape, node.operands[1].shape[-1]
        batch, place = np.divmod(flat, m * n)
        sides = (batch * m + place // n, batch * n + place % n)
        found = []
        for side, operand, mine in zip(sides, node.operands, (0, 1), strict=True):
            lines, first, back = np.unique(side, return_index=True, return_inverse=True)
            if lines.size * k > MOST:
                return flat
            places = dot_terms(node, flat[first])[mine]
            found.append(self.lists(operand, places, lines)[back])
        return together(found)

    def softmax(self, node: Node, flat: Indices) -> Kinds:
        """Return the kinds of what is made of rows of scores."""
        scores, width = node.operands[0], 1 if node.verb == "logsumexp" else node.shape[-1]
        n = scores.shape[-1]
        rows, back = np.unique(flat // width, return_inverse=True)
        if rows.size * n > MOST:
            return flat
        masks = [mask for mask in (node.attrs.keep, node.attrs.finite) if mask is not None]
        places = rows[:, None] * n + np.arange(n)
        of_rows = [self.lists(scores, places, rows)]
        # A row alone has an axis of length 1 before it.
        index = np.unravel_index(rows, scores.shape[:-1] or (1,))
        shape = (1, *scores.shape)[-max(len(scores.shape), 2) :]
        of_rows += [numbered(bits(np.broadcast_to(mask, shape)[index])) for mask in masks]
        found = [together(of_rows)[back]]
        if node.verb == "attend":
            columns = flat // width // node.shape[-2] * width + flat % width
            ones, where = np.unique(columns, return_inverse=True)
            starts = ones // width * n * width + ones % width
            places = starts[:, None] + np.arange(n) * width
            found.append(self.lists(node.operands[1], places, ones)[where])
        elif node.verb != "logsumexp":
            found.append(self.kinds(scores, flat))
            own = np.unravel_index(flat, scores.shape)
            found += [np.broadcast_to(mask, scores.shape)[own].astype(np.intp) for mask in masks]
        return together(found)

    def among(self, node: Node, flat: Indices) -> Kinds:
        """Return the kinds of what is made of an element and of rows of all operands."""
        n = node.shape[-1]
        rows, back = np.unique(flat // n, return_inverse=True)
        if any(x.shape != node.shape for x in node.operands):
            return flat
        places = rows[:, None] * n + np.arange(n)
        found = [self.lists(x, places, rows)[back] for x in node.operands[-2:]]
        place = [flat % n] if node.verb == "ties" and node.attrs.first else []
        return together([*found, *place, *(self.kinds(x, flat) for x in node.operands)])

    def lists(self, node: Node, places: Indices, otherwise: Indices) -> Kinds:
        """Return the kinds of lists of a node's elements, a row each."""
        self.left -= places.size
        if self.left < 0:
            return otherwise
        if not places.size:
            return np.zeros(len(places), np.intp)
        rows = self.kinds(node, places.reshape(-1)).reshape(places.shape)
        return numbered(bits(rows.astype(np.int32 if rows.max() < 1 << 31 else np.int64)))


def bits(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return what tells numbers, or rows of them, apart: their bits."""
    values = np.ascontiguousarray(values)
    if values.ndim == 1:
        return values.view(f"u{values.itemsize}")
    return values.view(np.dtype((np.void, values.itemsize * values.shape[-1])))[..., 0]


def numbered(values: npt.NDArray[Any]) -> Kinds:
    """Return small numbers that are equal where values are."""
    return np.unique(values, return_inverse=True)[1].reshape(-1)


def together(parts: list[Kinds]) -> Kinds:
    """Return the kinds of lists of things of some kinds."""
    found = numbered(parts[0])
    for part in parts[1:]:
        other = numbered(part)
        found = numbered(found * (other.max(initial=0) + 1) + other)
    return found
