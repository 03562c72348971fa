"""What a walk backwards through a definition brings to each value, and how it passes
rearrangements."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from exactref_core.arithmetic.graph import Node
from exactref_core.arithmetic.verbs import Complex, Value, Verbs
from exactref_core.errors import InputError

__all__ = ["STORE", "Adjoints", "parts_of", "pass_on"]

# The error of an intermediate store in units and smallest subnormals (`definition_verbs.stored`).
STORE = (1, Fraction(1, 2))


def parts_of(x: Value) -> tuple[Node, ...]:
    """Return the nodes of a value."""
    return (x.real, x.imag) if isinstance(x, Complex) else (x,)


class Adjoints:
    """What has arrived at each node: the terms of its gradient."""

    def __init__(self, verbs: Any) -> None:
        self.verbs = verbs
        self.terms: dict[int, list[Node]] = {}

    def give(self, x: Value, gradient: Value) -> None:
        """Add a term to a value's gradient."""
        for part, term in zip(parts_of(x), parts_of(gradient), strict=True):
            self.terms.setdefault(id(part), []).append(term)

    def take(self, x: Value) -> Value | None:
        """Return the gradient of a value; None where nothing depends on it."""
        if not any(id(part) in self.terms for part in parts_of(x)):
            return None
        found = [self.added(part) for part in parts_of(x)]
        return Complex(*found) if isinstance(x, Complex) else found[0]

    def added(self, x: Node) -> Node:
        """Return the sum of the terms of a node, in the order in which they arrived."""
        terms = self.terms.pop(id(x), [])
        if not terms:
            zero: Node = self.verbs.zeros_like(x)
            return zero
        if len(terms) == 1:
            return terms[0]
        if len(terms) == 2:
            total: Node = self.verbs.add(*terms)
            return total
        whole: Node = self.verbs.total(self.verbs.stack(tuple(terms)))
        return whole


def pass_on(node: Node, adjoints: Adjoints) -> None:
    """Give the operands of a rearrangement or an intermediate store their gradients."""
    if id(node) not in adjoints.terms:
        return
    verbs = adjoints.verbs
    gradient = adjoints.added(node)
    if node.verb == "within" and node.attrs == STORE:
        # What is stored in a format has its gradient in that format.
        adjoints.give(node.operands[0], Verbs(node.compute).within(gradient, *STORE))
        return
    if node.verb == "by_sign":
        # What a choice goes by has no gradient; the branches have what they are chosen for.
        sign, *branches = node.operands
        none = verbs.zeros_like(node)
        for branch, pair in zip(branches, ((gradient, none), (none, gradient)), strict=True):
            adjoints.give(branch, verbs.exact.step("by_sign", sign, *pair))
        return
    places = sources(node)
    if places is None:
        raise InputError(
            f"backward='chain_rule': the definition uses the verb {node.verb!r} itself, which has "
            "no gradient; use an operation, or state backward= as a function"
        )
    for i, operand in enumerate(node.operands):
        adjoints.give(operand, gathered(verbs, gradient, operand, *places, i))


def sources(node: Node) -> tuple[Any, Any] | None:
    """Return which operand each element of a rearrangement is from, and its flat index there."""
    if node.verb == "view":
        return np.zeros(node.size, np.intp), node.attrs.gather(np.arange(node.size))
    if node.verb == "stack":
        count = len(node.operands)
        source, which = np.divmod(np.arange(node.size), count)
        return which, source
    if node.verb == "pick":
        return node.attrs.which, node.attrs.source
    return None


def gathered(verbs: Any, gradient: Node, operand: Node, which: Any, source: Any, i: int) -> Node:
    """Return the gradient of one operand of a rearrangement.

    The sum, at each of its elements, of those of the places where it went, in their order.
    """
    places = np.flatnonzero(which == i)
    origins = np.asarray(source)[places]
    counts = np.bincount(origins, minlength=operand.size)
    most = int(counts.max(initial=0))
    if not most:
        zeros: Node = verbs.zeros_like(operand)
        return zeros
    order = np.argsort(origins, kind="stable")
    row = origins[order]
    starts = np.cumsum(counts) - counts
    column = np.arange(len(row)) - starts[row]
    chosen = np.ones((operand.size, most), np.intp)  # the zero, where there are fewer
    index = np.zeros((operand.size, most), np.intp)
    chosen[row, column], index[row, column] = 0, places[order]
    picked = verbs.pick((gradient, verbs.exact.constant(0)), chosen, index)
    summed = picked if most == 1 else verbs.total(picked)
    rearranged: Node = verbs.reshape(summed, operand.shape)
    return rearranged
