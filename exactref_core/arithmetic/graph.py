"""The graph of one call: nodes, what feeds them, and how their elements map onto their operands.

A node is a real array: a complex value is a pair of nodes. Readings evaluate a node as a whole
(`View.apply` on arrays) or at chosen flat indices (`View.gather`, `terms`), so that single elements
that a fast reading left undecided can be evaluated alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from exactref_core.arithmetic.traced import Traced
from exactref_core.formats.codec import decode
from exactref_core.formats.format import Format
from exactref_core.formats.rounding import Overflow, Rounding
from exactref_core.formats.rounding_arrays import integer_pair

__all__ = [
    "COUNTS",
    "FACTORED",
    "GROWS",
    "NONNEGATIVE",
    "Indices",
    "Leaf",
    "Node",
    "Store",
    "defined",
    "dot_terms",
    "float_input",
    "flush_below",
    "is_float_input",
    "rounds",
    "sum_format",
    "sum_terms",
]

Indices = npt.NDArray[np.intp]

# Attribute of a square root whose definition proves that the operand is not negative.
NONNEGATIVE = "nonnegative"
# Attribute of a sum whose stored terms never have opposite signs: it is no smaller than either.
GROWS = "grows"
# Attribute of a sum of ones and zeros that are fewer than 1/u: no addition of it rounds.
COUNTS = "counts"
# What `Verbs.factored` admits: sums of products of which a factor, stored once, is common.
FACTORED = "factored"


@dataclass(frozen=True, eq=False)
class Node(Traced):
    """One step: a verb over operands, giving a real array of ``shape``.

    ``compute`` is the format in which a conforming implementation stores the step's result;
    ``depth`` the length of the longest path to an input or constant.
    """

    verb: str
    operands: tuple[Node, ...]
    shape: tuple[int, ...]
    attrs: Any = None
    compute: Format | None = None
    depth: int = field(init=False)

    def __post_init__(self) -> None:
        depth = max((x.depth for x in self.operands), default=-1) + 1
        object.__setattr__(self, "depth", depth)

    @cached_property
    def size(self) -> int:
        """The number of elements."""
        size = 1
        for extent in self.shape:
            size *= extent
        return size


@dataclass(frozen=True, eq=False)
class Leaf:
    """Input values: a real array in the storage of ``format`` (one part of a complex input)."""

    data: npt.NDArray[Any]
    format: Format

    @cached_property
    def pair(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64] | None]:
        """The values as high + low exactly; ``low`` only where integers go beyond 2**53."""
        if not self.format.is_integer:
            return np.asarray(decode(self.data, self.format), np.float64, order="C"), None
        high, low = integer_pair(self.data)
        return high, low if np.any(low) else None

    @cached_property
    def finite(self) -> bool:
        """Whether no value is an infinity or NaN."""
        return bool(np.all(np.isfinite(self.pair[0])))


@dataclass(frozen=True)
class Store:
    """The final store of an output: format, rounding and overflow rule.

    ``lone`` says that the definition has no rounding point (one correctly rounded step).
    """

    format: Format
    rounding: Rounding
    overflow: Overflow
    lone: bool


def rounds(form: Format, compute: Format) -> bool:
    """Return whether an input may be rounded when it is loaded: an integer, or a float of a wider
    format, such as a mask beside narrower queries."""
    return form.is_integer or form.precision > compute.precision


def flush_below(form: Format, compute: Format | None) -> Fraction:
    """Return the number below which inputs may be flushed, before or after they are loaded."""
    if compute is None:
        return form.smallest_normal
    return max(form.smallest_normal, compute.smallest_normal)


def is_float_input(node: Node) -> bool:
    """Return whether a node is an input of a float format, or its exact root.

    Views and signs apart: see `float_input`.
    """
    while node.verb == "view" or (node.verb == "sqrt" and node.compute is None):
        node = node.operands[0]
    return float_input(node) is not None


def float_input(node: Node) -> Format | None:
    """Return the float format of an input, viewed or not, give or take its sign; else None.

    A sign-only step that an earlier call stored is one as well, if its store changed nothing.
    """
    stored: set[Format] = set()
    while node.verb in ("view", "negative", "absolute", "store"):
        if node.verb == "store":
            form: Format = node.attrs.format
            if node.attrs.overflow is Overflow.SATURATE and form.infinity:
                return None
            stored.add(form)
        node = node.operands[0]
    if node.verb != "load" or not node.attrs.format.is_float or stored - {node.attrs.format}:
        return None
    return node.attrs.format  # type: ignore[no-any-return]


def sum_format(node: Node) -> Format:
    """Return the format that a sum is stored in."""
    if node.compute is None:
        raise ValueError("a sum has a compute format")
    return node.compute


def sum_terms(node: Node, flat: Indices) -> Indices:
    """Return the operand's flat indices, shape (len(flat), n), that a sum's elements add up."""
    n = node.operands[0].shape[-1]
    return flat[:, None] * n + np.arange(n)


def dot_terms(node: Node, flat: Indices) -> tuple[Indices, Indices]:
    """Return both operands' flat indices, (len(flat), k), that a product's elements multiply."""
    a, b = node.operands
    k, columns = b.shape[-2:]
    rows = a.shape[-2]
    batch, place = np.divmod(flat, rows * columns)
    i, j = np.divmod(place, columns)
    steps = np.arange(k)
    left = ((batch * rows + i) * k)[:, None] + steps
    right = (batch * k * columns + j)[:, None] + steps * columns
    return left, right


def defined(node: Node) -> Node:
    """Return the graph of a node's exact value: definitions, without the computations admitted."""
    found: dict[Node, Node] = {}
    stack = [node]
    while stack:
        one = stack[-1]
        operands = one.operands[:1] if one.verb in ("admit", "inside") else one.operands
        missing = [x for x in operands if x not in found]
        if missing:
            stack += missing
            continue
        stack.pop()
        parts = tuple(found[x] for x in operands)
        if one.verb in ("admit", "inside"):
            found[one] = parts[0]
        else:
            found[one] = one if parts == operands else replace(one, operands=parts)
    return found[node]
