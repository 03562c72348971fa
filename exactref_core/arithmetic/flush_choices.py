"""Steps that inputs may be flushed before: what they are under each choice of flushed parts.

An input whose number is subnormal is that number or 0, and nothing between (the set {x, 0}). A
step that divides by it is bounded choice by choice, each time by a divisor that is known exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from typing import Final, TypeAlias

from exactref_core.arithmetic.graph import Node, float_input

__all__ = ["Flushes", "flushable"]

EVERY: Final = tuple(product((False, True), repeat=2))

Define: TypeAlias = Callable[[Node, Node], tuple[Node, Node]]


@dataclass(frozen=True, eq=False)
class Flushes:
    """The inputs that a complex step depends on in this way, and the step over any nodes for them.

    What it is under a choice is traced when a bound asks for it.
    """

    define: Define | None
    inputs: tuple[Node, Node]
    least: Fraction
    traced: dict[tuple[bool, ...], tuple[Node, Node]] = field(default_factory=dict)

    def choices(self, tiny: tuple[bool, bool]) -> Iterator[tuple[bool, ...]]:
        """Return which inputs are flushed, where only those that are ``tiny`` may be."""
        return product(*((False, True) if may else (False,) for may in tiny))

    def every(self) -> tuple[Node, ...]:
        """Return the inputs, and both parts of the step under every choice."""
        parts = (self.node(choice, part) for choice in EVERY for part in (0, 1))
        return (*self.inputs, *parts)

    @classmethod
    def of(cls, nodes: Sequence[Node], least: Fraction) -> Flushes:
        """Return what has these nodes as ``every`` lists them."""
        first, second, *parts = nodes
        traced = dict(zip(EVERY, zip(parts[::2], parts[1::2], strict=True), strict=True))
        return cls(None, (first, second), least, traced)

    def node(self, choice: tuple[bool, ...], part: int) -> Node:
        """Return one part of the step where the chosen inputs are 0, the others what they are."""
        if choice not in self.traced and self.define is not None:
            first, second = (
                Node("flushed", (x,), x.shape, self.least) if flush else Node("kept", (x,), x.shape)
                for x, flush in zip(self.inputs, choice, strict=True)
            )
            self.traced[choice] = self.define(first, second)
        return self.traced[choice][part]


def flushable(define: Define, inputs: tuple[Node, Node]) -> tuple[Node, Node]:
    """Return both parts of a complex step; what is computed from other calls is no input."""
    forms = {float_input(x) for x in inputs}
    form = next(iter(forms))
    real, imag = define(*inputs)
    if len(forms) > 1 or form is None:
        return real, imag
    flushes = Flushes(define, inputs, form.smallest_normal)
    parts = enumerate((real, imag))
    real, imag = (Node("flushable", (x,), x.shape, (flushes, part)) for part, x in parts)
    return real, imag
