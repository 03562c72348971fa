"""Ways through deep graphs: no recursion runs deeper than a few steps, no node is read twice.

Readings call themselves for a node's operands. Chains of calls make graphs that are deeper than
Python's stack: nodes are then evaluated in layers of STEP, the deepest layer first. Chains that use
a value several times make graphs with exponentially many paths: what one question gathers is kept
until it is answered.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Container, Iterable, Iterator
from contextlib import contextmanager
from typing import Generic, TypeAlias, TypeVar

import numpy as np

from exactref_core.arithmetic.families import ELEMENTWISE, FAMILIES
from exactref_core.arithmetic.graph import Indices, Node, dot_terms, sum_terms

__all__ = [
    "FIRST",
    "Kept",
    "Layered",
    "bounded",
    "element_layers",
    "enclosed",
    "node_layers",
    "stored",
    "worth_whole",
]

STEP = 32

T = TypeVar("T")
Key = TypeVar("Key")
Element: TypeAlias = tuple[Node, int]

# Verbs whose exact value is that of their first operand (`restated`: of the second as well, which
# the certified reading takes).
FIRST = ("admit", "within", "inside", "store", "flushable", "kept", "restated")


def layers(
    start: Key,
    needed: Callable[[Key], Iterable[Key]],
    depth: Callable[[Key], int],
    known: Callable[[Key], bool],
) -> list[Key]:
    """Return what to evaluate before ``start``, in order, so that recursion stays shallow.

    These are the ends of all edges that lead from one layer of STEP depths to a lower one.
    """
    seen, ends, stack = {start}, set(), [start]
    while stack:
        key = stack.pop()
        layer = depth(key) // STEP
        if layer == 0:
            continue
        for operand in needed(key):
            if known(operand):
                continue
            if 0 < depth(operand) // STEP < layer:
                ends.add(operand)
            if operand not in seen:
                seen.add(operand)
                stack.append(operand)
    return sorted(ends, key=depth)


def elements(element: Element, exact: bool) -> list[Element]:
    """Return the elements that one is computed from; all of them where a coarse verb needs rows.

    ``exact`` leaves out what only bounds depend on.
    """
    node, flat = element
    verb, operands = node.verb, node.operands
    place = np.asarray([flat])
    if verb in ("load", "constant"):
        return []
    if verb == "view":
        return [(operands[0], int(node.attrs.gather(place)[0]))]
    if verb == "stack":
        source, which = divmod(flat, len(operands))
        return [(operands[which], source)]
    if verb == "pick":
        return [(operands[int(node.attrs.which[flat])], int(node.attrs.source[flat]))]
    if verb == "sum":
        return [(operands[0], i) for i in sum_terms(node, place)[0].tolist()]
    if verb in ("dot", "paired_dot"):
        pairs = zip(operands, dot_terms(node, place), strict=True)
        return [(x, i) for x, index in pairs for i in index[0].tolist()]
    operands = valued(node) if exact else bounded(node)
    fine = verb in ELEMENTWISE or verb not in FAMILIES
    if fine and all(x.shape == node.shape for x in operands):
        return [(x, flat) for x in operands]
    return [(x, i) for x in operands for i in range(x.size)]


def valued(node: Node) -> tuple[Node, ...]:
    """Return the operands that make an exact value, in the certified reading."""
    if node.verb == "restated":
        return node.operands[1:]
    if node.verb == "pair":
        return node.operands[2:] or node.operands
    return node.operands[:1] if node.verb in FIRST else node.operands


def enclosed(node: Node) -> tuple[Node, ...]:
    """Return the operands that make an exact value, in the fast reading."""
    return node.operands[:1] if node.verb == "restated" else valued(node)


def bounded(node: Node) -> tuple[Node, ...]:
    """Return the operands whose bounds make a bound: those of a definition do not."""
    if node.verb in ("admit", "deviations"):
        return node.operands[1:]
    ends = {"inside": 1, "pair": 2}
    return node.operands[: ends.get(node.verb)]


def stored(node: Node) -> tuple[Node, ...]:
    """Return the operands that the ordinary reading takes: of computations the first."""
    return node.operands[1:2] if node.verb == "admit" else bounded(node)


def node_layers(
    start: Node, memo: Container[Node], needed: Callable[[Node], tuple[Node, ...]]
) -> list[Node]:
    """Return the `layers` below a node that are not in ``memo``, given the operands needed."""
    return layers(start, needed, lambda node: node.depth, memo.__contains__)


def element_layers(start: Element, memo: Container[Element], exact: bool) -> list[Element]:
    """Return the `layers` below an element that are not in ``memo``."""
    return layers(
        start, lambda key: elements(key, exact), lambda key: key[0].depth, memo.__contains__
    )


def worth_whole(node: Node, count: int) -> bool:
    """Return whether so many elements of a node, which may repeat, cost no less than all of it."""
    if node.verb in ("sum", "dot"):
        return 2 * count > node.size
    return count >= node.size and node.verb in FAMILIES and node.verb not in ELEMENTWISE


class Working(threading.local):
    """The readings, by id, that evaluate layers in this thread; others may ask the same ones."""

    def __init__(self) -> None:
        self.readings: set[int] = set()


WORKING = Working()


class Layered:
    """A reading that evaluates deep graphs layer by layer."""

    def descend(self, node: Node, below: Callable[[], list[Key]], read: Callable[[Key], T]) -> None:
        """Read what lies ``below`` a deep node first, so that reading it stays shallow."""
        if node.depth < STEP or id(self) in WORKING.readings:
            return
        WORKING.readings.add(id(self))
        try:
            for key in below():
                read(key)
        finally:
            WORKING.readings.discard(id(self))


class Kept(threading.local, Generic[T]):
    """What has been gathered at flat indices while a question is answered, in each thread."""

    def __init__(self) -> None:
        self.scopes: list[dict[tuple[Node, int], tuple[Indices, T]]] = []

    @contextmanager
    def scope(self) -> Iterator[None]:
        """Keep what is gathered inside, and forget it at the end."""
        self.scopes.append({})
        try:
            yield
        finally:
            self.scopes.pop()

    def get(self, node: Node, flat: Indices, ask: Callable[[Node, Indices], T]) -> T:
        """Return ``ask(node, flat)``, or what it gave for the same array of indices before."""
        if not self.scopes:
            with self.scope():
                return ask(node, flat)
        key = (node, id(flat))
        found = self.scopes[-1].get(key)
        if found is None:
            # Holding the indices keeps their id from being used again.
            found = flat, ask(node, flat)
            self.scopes[-1][key] = found
        return found[1]
