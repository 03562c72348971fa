"""Elementwise graphs as programs: lists of steps that run block by block in plain float64."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from exactref_core.arithmetic.boxed_views import Box
from exactref_core.arithmetic.graph import Indices, Leaf, Node, defined
from exactref_core.arithmetic.plain_functions import is_plain, of_one, of_two
from exactref_core.arithmetic.plain_numbers import Plain, Wild, constant
from exactref_core.arithmetic.plain_steps import STEPS
from exactref_core.arithmetic.traversal import enclosed
from exactref_core.arithmetic.views import strided
from exactref_core.formats.codec import decode
from exactref_core.formats.format import Format

__all__ = ["Program", "program_of"]

# Verbs whose exact value is that of the one operand that the fast reading takes; views of numbers
# without axes, and of whole nodes.
SAME = ("within", "store", "flushable", "kept", "restated", "view")
# Bits of the formats that are read.
NARROW = 24

Step: TypeAlias = tuple[Callable[..., Plain], tuple[int, ...]]


@dataclass(frozen=True)
class Program:
    """A graph's steps in order, each of the results of earlier ones; inputs are steps of none.

    ``sources`` are inputs in their storage, in the output's shape.
    """

    node: Node
    steps: tuple[Step, ...]
    sources: dict[Node, npt.NDArray[Any]]

    def run(self, box: Box) -> Plain:
        """Return the values of a box of the output, flat; `Wild` where there is no answer."""
        found: list[Plain] = []
        for step, operands in self.steps:
            found.append(step(*(found[i] for i in operands)) if operands else step(box))
        return found[-1]

    def gather(self, flat: Indices) -> Node:
        """Return the graph of some elements, one after the other."""
        return Gathering(self, np.unravel_index(flat, self.node.shape), flat.size).of(self.node)


def program_of(node: Node) -> Program | None:
    """Return the program of a graph's exact value; None where it has steps that are not plain."""
    compiler = Compiler(defined(node))
    try:
        compiler.add(compiler.node)
    except Wild:
        return None
    return Program(compiler.node, tuple(compiler.steps), compiler.sources)


class Compiler:
    """The steps of a graph so far."""

    def __init__(self, node: Node) -> None:
        self.node = node
        self.steps: list[Step] = []
        self.sources: dict[Node, npt.NDArray[Any]] = {}
        self.places: dict[Node, int] = {}

    def add(self, node: Node) -> int:
        """Add what a node is made of and itself; return its place. `Wild` where it is not plain."""
        waiting = [node]
        while waiting:
            one = waiting[-1]
            below = needed(one)
            missing = [x for x in below if x not in self.places]
            waiting += missing
            if not missing:
                waiting.pop()
                if one not in self.places:
                    self.places[one] = self.place(one, below)
        return self.places[node]

    def place(self, node: Node, below: tuple[Node, ...]) -> int:
        """Add one step; return its place."""
        if node.shape not in ((), self.node.shape):
            raise Wild
        if is_first(node) and below:
            return self.places[below[0]]
        self.steps.append((self.step(node), tuple(self.places[x] for x in below)))
        return len(self.steps) - 1

    def step(self, node: Node) -> Callable[..., Plain]:
        """Return what evaluates a node."""
        verb = node.verb
        if verb == "constant":
            number = constant(node.attrs)
            return lambda box: number
        if verb in ("load", "view"):
            leaf, data = stored(node)
            if not leaf.format.is_float or leaf.format.precision > NARROW or node.shape == ():
                raise Wild
            self.sources[node] = data
            return partial(load, data, leaf.format)
        if verb in ("function", "pair"):
            if not is_plain(node.attrs):
                raise Wild
            return partial(of_one if verb == "function" else of_two, node.attrs)
        if verb not in STEPS:
            raise Wild
        return STEPS[verb]


def needed(node: Node) -> tuple[Node, ...]:
    """Return the operands that a node's step takes: none of a view of an input."""
    if node.verb == "view":
        source = node.operands[0]
        if is_input(node):
            return ()
        if source.shape != () and not (node.attrs.reshape and source.shape == node.shape):
            raise Wild
        return node.operands
    return enclosed(node)


def is_first(node: Node) -> bool:
    """Return whether a node's exact value is that of the one operand that its step takes."""
    return node.verb in SAME or (node.verb == "pair" and len(node.operands) > 2)


def is_input(node: Node) -> bool:
    """Return whether a node is an input, viewed or not."""
    while node.verb == "view":
        node = node.operands[0]
    return node.verb == "load"


def stored(node: Node) -> tuple[Leaf, npt.NDArray[Any]]:
    """Return an input, and its storage as a node views it."""
    if node.verb == "load":
        return node.attrs, node.attrs.data
    leaf, data = stored(node.operands[0])
    return leaf, node.attrs.apply(data)


def load(data: npt.NDArray[Any], form: Format, box: Box) -> Plain:
    """Return the numbers of a box; infinities and NaN are unknown."""
    part = data[box].reshape(-1)
    numpys = part.dtype in (np.float32, np.float16)
    value = part.astype(np.float64) if numpys else np.asarray(decode(part, form), np.float64)
    bits, unit = form.precision, math.ldexp(1.0, form.eta_exponent)
    small = part if part.dtype == np.float32 else value
    top = max(float(small.max()), -float(small.min()))
    # NaN is the maximum and the minimum of what it is among.
    if top < np.inf:
        return Plain(value, top=top, bits=bits, unit=unit)
    good = np.isfinite(value)
    value = np.where(good, value, 1.0)
    top = float(np.abs(value).max())
    return Plain(value, top=top, bits=bits, unit=min(unit, 1.0), unknown=~good)


class Gathering:
    """The nodes of some elements of a graph, by the node that each comes from."""

    def __init__(self, program: Program, index: tuple[Indices, ...], count: int) -> None:
        self.program = program
        self.index = index
        self.shape = (count,)
        self.known: dict[Node, Node] = {}

    def of(self, node: Node) -> Node:
        """Return a node's elements; a node without axes as it is."""
        waiting = [node]
        while waiting:
            one = waiting[-1]
            missing = [x for x in needed(one) if x not in self.known]
            waiting += missing
            if not missing:
                waiting.pop()
                if one not in self.known:
                    self.known[one] = self.part(one)
        return self.known[node]

    def part(self, node: Node) -> Node:
        """Return one node's elements, given its operands'."""
        if node.shape == ():
            return node
        data = self.program.sources.get(node)
        if data is not None:
            return Node("load", (), self.shape, Leaf(data[self.index], stored(node)[0].format))
        parts = tuple(self.known[x] for x in needed(node))
        if is_first(node) and parts[0].shape == self.shape:
            return parts[0]
        if is_first(node):  # one number everywhere
            return Node("view", parts, self.shape, strided((), self.shape, 0, (0,)))
        return replace(node, operands=parts, shape=self.shape)
