"""Elements that are made of equal numbers in the same way: one of them answers for all.

Two elements of a node are alike where every step to them is the same and the inputs that it reads
have the same bits, in the same order: then all that is exact, stored or allowed of them is the
same. Where a step is not known to depend on these alone, each element is of its own kind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from math import isqrt
from typing import Any, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from exactref_core.arithmetic.families import ELEMENTWISE
from exactref_core.arithmetic.fast_choices import STEPS
from exactref_core.arithmetic.graph import Indices, Node, dot_terms, sum_terms

__all__ = ["alike", "each_alike"]

# Elements from which equal ones are looked for, and numbers that are compared for it at most.
FEW, MOST = 16, 1 << 22
# Elements from which equal ones are looked for among SAMPLE times the square root of as many first:
# where every kind has two or more elements, SAMPLE**2 / 2 pairs or more are expected in these.
MANY, SAMPLE = 256, 4
# Terms of a row that tell most rows apart.
BEGIN = 2
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
    if least > FEW and flat.size >= MANY and not seem_alike(node, flat):
        return flat, np.arange(flat.size)
    _, first, back = np.unique(
        Comparison().kinds(node, flat), return_index=True, return_inverse=True
    )
    return flat[first], back


def seem_alike(node: Node, flat: Indices) -> bool:
    """Return whether some of a few elements are alike: by terms that rows begin with, then by all.

    Those that differ in the terms that are compared differ.
    """
    count = SAMPLE * isqrt(flat.size)
    some = np.random.default_rng(0).choice(flat, count, replace=False)
    return all(
        np.unique(Comparison(terms).kinds(node, some)).size < count for terms in (BEGIN, None)
    )


def each_alike(node: Node, flat: Indices, ask: Callable[[Node, int], T]) -> list[T]:
    """Return what is asked of some elements, of those that are alike once."""
    kinds, back = alike(node, flat)
    found = [ask(node, i) for i in kinds.tolist()]
    return [found[i] for i in back.tolist()]


class Comparison:
    """The kinds of elements, as numbers that are equal where these are; of one list of elements.

    With ``terms`` only as many of each row are compared: of fewer kinds then, never of more.
    """

    def __init__(self, terms: int | None = None) -> None:
        self.terms = terms
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
            return together(self.kinds(x, flat) for x in operands)
        return numbered(flat)

    def chosen(self, operands: tuple[Node, ...], which: Any, source: Any) -> Kinds:
        """Return the kinds of elements taken out of several nodes."""
        found = np.zeros(which.size, np.intp)
        for place, operand in enumerate(operands):
            where = np.flatnonzero(which == place)
            if where.size:
                found[where] = self.kinds(operand, source[where].astype(np.intp))
        return together((numbered(which), found))

    def by_rows(self, node: Node, flat: Indices) -> Kinds:
        """Return the kinds of what is made of rows."""
        if any(node.shape not in (x.shape, x.shape[:-1]) for x in node.operands):
            return numbered(flat)
        rows, back = np.unique(flat, return_inverse=True)

        def of(operand: Node) -> Kinds:
            if operand.shape == node.shape:
                return self.kinds(operand, rows)
            places = sum_terms(Node("sum", (operand,), node.shape), rows)
            return self.lists(operand, places, rows)

        return together(of(x) for x in node.operands)[back]

    def products(self, node: Node, flat: Indices) -> Kinds:
        """Return the kinds of elements of matrix products: those of the row and of the column."""
        (*_, m, k), n = node.operands[0].shape, node.operands[1].shape[-1]
        batch, place = np.divmod(flat, m * n)
        sides = [
            np.unique(side, return_index=True, return_inverse=True)
            for side in (batch * m + place // n, batch * n + place % n)
        ]
        if any(lines.size * k > MOST for lines, *_ in sides):
            return numbered(flat)
        return together(
            self.lists(operand, dot_terms(node, flat[first])[mine], lines)[back]
            for mine, (operand, (lines, first, back)) in enumerate(
                zip(node.operands, sides, strict=True)
            )
        )

    def softmax(self, node: Node, flat: Indices) -> Kinds:
        """Return the kinds of what is made of rows of scores."""
        scores, width = node.operands[0], 1 if node.verb == "logsumexp" else node.shape[-1]
        n = scores.shape[-1]
        rows, back = np.unique(flat // width, return_inverse=True)
        if rows.size * n > MOST:
            return numbered(flat)
        masks = [mask for mask in (node.attrs.keep, node.attrs.finite) if mask is not None]
        own = None if node.verb in ("logsumexp", "attend") else np.unravel_index(flat, scores.shape)

        def parts() -> Iterator[Kinds]:
            if own is not None:
                yield self.kinds(scores, flat)
                for mask in masks:
                    yield numbered(np.broadcast_to(mask, scores.shape)[own])
            yield self.lists(scores, rows[:, None] * n + np.arange(n), rows)[back]
            # A row alone has an axis of length 1 before it.
            index = np.unravel_index(rows, scores.shape[:-1] or (1,))
            shape = (1, *scores.shape)[-max(len(scores.shape), 2) :]
            for mask in masks:
                yield numbered(bits(np.broadcast_to(mask, shape)[index]))[back]
            if node.verb == "attend":
                columns = flat // width // node.shape[-2] * width + flat % width
                ones, where = np.unique(columns, return_inverse=True)
                starts = ones // width * n * width + ones % width
                places = starts[:, None] + np.arange(n) * width
                yield self.lists(node.operands[1], places, ones)[where]

        return together(parts())

    def among(self, node: Node, flat: Indices) -> Kinds:
        """Return the kinds of what is made of an element and of rows of all operands."""
        n = node.shape[-1]
        rows, back = np.unique(flat // n, return_inverse=True)
        if any(x.shape != node.shape for x in node.operands):
            return numbered(flat)
        places = rows[:, None] * n + np.arange(n)
        own = (self.kinds(x, flat) for x in node.operands)
        place = [numbered(flat % n)] if node.verb == "ties" and node.attrs.first else []
        lists = (self.lists(x, places, rows)[back] for x in node.operands[-2:])
        return together(chain(own, place, lists))

    def lists(self, node: Node, places: Indices, otherwise: Indices) -> Kinds:
        """Return the kinds of lists of a node's elements, a row each."""
        places = places[:, : self.terms]
        self.left -= places.size
        if self.left < 0:
            return numbered(otherwise)
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
    """Return numbers below how many differ that are equal where values are."""
    return np.unique(values, return_inverse=True)[1].reshape(-1)


def together(parts: Iterable[Kinds]) -> Kinds:
    """Return the kinds of lists of things of some kinds; what differs already is not compared."""
    kinds = iter(parts)
    found = next(kinds)
    while (count := span(found)) < found.size and (part := next(kinds, None)) is not None:
        found = numbered(part * count + found)
    return found


def span(kinds: Kinds) -> int:
    """Return how many kinds there are."""
    return int(kinds.max(initial=-1)) + 1
