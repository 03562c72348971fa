"""The algebraic reading: single elements as quotients of sums of exponentials, where they are.

Weights e**x / sum e**y of rational scores, means under them, their gradients and log-sum-exps are
such quotients or logarithms of such sums. Enclosures of the certified reading decide most of them;
where they leave a tie open, or a weight that vanishes, algebra decides. What the certified reading
knows as a rational number is taken from there.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial, reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from exactref_core.arithmetic import algebraic_rows
from exactref_core.arithmetic.algebraic_steps import STEPS, larger_of
from exactref_core.arithmetic.graph import Node, dot_terms, sum_terms
from exactref_core.arithmetic.pick_certified import place_of
from exactref_core.arithmetic.prefix_certified import source_of
from exactref_core.arithmetic.scalars import Scalar, finite, number, unsure_sign
from exactref_core.arithmetic.traversal import FIRST, Layered, element_layers
from exactref_core.exact.exponential_decisions import Decisions
from exactref_core.exact.exponential_quotients import Quotient
from exactref_core.exact.exponential_sums import Deeper, Field, Unsupported
from exactref_core.exact.interval import Interval, Number, Unsure, rational
from exactref_core.formats.format import Format

if TYPE_CHECKING:
    from exactref_core.arithmetic.certified import CertifiedReading

__all__ = ["AlgebraicReading", "settled", "signed"]

# Exponents of what is kept at first, and how far below the largest one left out the next cut is.
FIRST_CUT = -2000
FURTHER = rational(3) / 2
MOST_CUTS = 400
# Products of terms that one element may take: some milliseconds, where more precision may still
# tell what algebra is asked for, and a second.
WORK = {True: 1 << 14, False: 1 << 20}
FIRST_BITS = 96


def settled(exact: CertifiedReading, node: Node, flat: int, form: Format, shift: Any = 0) -> Scalar:
    """Return one value as near as it takes to round it, less ``shift``, to ``form``.

    `Unsure` where that fails. It takes the place of what the reading knew of the value before.
    """

    def ask(decisions: Decisions, x: Quotient) -> Number:
        return decisions.settled(exact.arithmetic, x, form, shift)

    exact.memo[(node, flat)] = decided(exact, node, flat, ask)
    return exact.memo[(node, flat)]


def signed(exact: CertifiedReading, node: Node, flat: int) -> Scalar:
    """Return one value, of which algebra tells the sign if its enclosure does not."""
    value = exact.value(node, flat)
    if not isinstance(value, Interval) or not unsure_sign(value):
        return value

    def ask(decisions: Decisions, x: Quotient) -> Number:
        return decisions.signed(exact.arithmetic, x)

    with suppress(Unsure):
        exact.memo[(node, flat)] = decided(exact, node, flat, ask)
    return exact.memo[(node, flat)]


def decided(
    exact: CertifiedReading, node: Node, flat: int, ask: Callable[[Decisions, Quotient], Number]
) -> Number:
    """Return what is asked of one element; `Unsure` where algebra does not tell."""
    cut, radicand = rational(FIRST_CUT), None
    for _ in range(MOST_CUTS):
        key = cut, radicand
        if key not in exact.algebraic:
            exact.algebraic[key] = AlgebraicReading(exact, cut, radicand)
        reading: AlgebraicReading = exact.algebraic[key]
        reading.quotients.sums.work = WORK[exact.arithmetic.precision <= FIRST_BITS]
        try:
            return ask(reading.quotients, reading.value(node, flat))
        except Deeper as deeper:
            cut, radicand = min(deeper.below, cut) * FURTHER, reading.quotients.sums.radicand
        except Unsupported:
            raise Unsure from None
    raise Unsure


class AlgebraicReading(Layered):
    """Exact values of single elements, down to one cut; `Unsupported` where they are no such."""

    def __init__(self, exact: CertifiedReading, cut: Any, radicand: Any) -> None:
        self.exact = exact
        self.quotients = Decisions(Field(cut, radicand))
        self.memo: dict[tuple[Node, int], Quotient] = {}
        self.rows: dict[Any, Any] = {}

    def value(self, node: Node, flat: int) -> Quotient:
        """Return one value."""
        key = (node, flat)
        if key not in self.memo:
            below = partial(element_layers, key, self.memo, exact=True)
            self.descend(node, below, lambda lower: self.attempt(*lower))
            self.memo[key] = self.compute(node, flat)
        return self.memo[key]

    def attempt(self, node: Node, flat: int) -> None:
        """Evaluate one element that another may need."""
        with suppress(Unsupported, Unsure):
            self.value(node, flat)

    def known(self, node: Node, flat: int) -> Scalar:
        """Return what the certified reading knows of an element, None where it cannot tell."""
        try:
            return self.exact.value(node, flat)
        except Unsure:
            return None

    def compute(self, node: Node, flat: int) -> Quotient:
        """Evaluate one element from its operands."""
        known = self.known(node, flat)
        if known is not None and not isinstance(known, Interval):
            if not finite(known):
                raise Unsupported
            return self.quotients.constant(number(known))
        verb = node.verb
        if verb == "view":
            return self.value(node.operands[0], int(node.attrs.gather(np.asarray([flat]))[0]))
        if verb == "stack":
            source, which = divmod(flat, len(node.operands))
            return self.value(node.operands[which], source)
        if verb in PLACES:
            return self.value(*PLACES[verb](node, flat))
        if verb in FIRST:
            return self.value(node.operands[0], flat)
        if verb in COARSE:
            return COARSE[verb](self, node, flat)
        if verb not in STEPS:
            raise Unsupported
        return STEPS[verb](self.quotients, node, *(self.value(x, flat) for x in node.operands))

    def total(self, node: Node, flat: int) -> Quotient:
        """Return a sum."""
        return self.quotients.total(self.terms(node, flat))

    def dot(self, node: Node, flat: int) -> Quotient:
        """Return a sum of products."""
        left, right = dot_terms(node, np.asarray([flat]))
        pairs = zip(left[0].tolist(), right[0].tolist(), strict=True)
        a, b = node.operands
        return self.quotients.total(
            self.quotients.multiply(self.value(a, i), self.value(b, j)) for i, j in pairs
        )

    def prod(self, node: Node, flat: int) -> Quotient:
        """Return a product."""
        return reduce(self.quotients.multiply, self.terms(node, flat))

    def largest(self, node: Node, flat: int) -> Quotient:
        """Return the largest of some numbers."""
        return reduce(partial(larger_of, self.quotients), self.terms(node, flat))

    def terms(self, node: Node, flat: int) -> list[Quotient]:
        """Return the numbers along the last axis of an operand that an element is made of."""
        places = sum_terms(node, np.asarray([flat]))[0].tolist()
        return [self.value(node.operands[0], i) for i in places]


PLACES = {"pick": place_of, "prefix": source_of}
COARSE: dict[str, Callable[..., Quotient]] = {
    "sum": AlgebraicReading.total,
    "dot": AlgebraicReading.dot,
    "paired_dot": AlgebraicReading.dot,
    "prod": AlgebraicReading.prod,
    "largest": AlgebraicReading.largest,
    "weights": algebraic_rows.weights,
    "attend": algebraic_rows.attend,
    "less_mean": algebraic_rows.less_mean,
    "logsumexp": algebraic_rows.logsumexp,
    "log_weights": algebraic_rows.log_weights,
}
