"""The bounds of functions of two numbers, certified: `pair_rules`, one element."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exactref_core.arithmetic.graph import Node
from exactref_core.arithmetic.pair_rules import Stored, signs_of
from exactref_core.arithmetic.pair_rules import bound as rule
from exactref_core.arithmetic.scalar_bound import ScalarBound
from exactref_core.exact.interval import Interval

if TYPE_CHECKING:
    from exactref_core.arithmetic.certified_bounds import CertifiedBounds

__all__ = ["bound", "fixed"]


def bound(reading: CertifiedBounds, node: Node, flat: int) -> ScalarBound:
    """Return the bound of one element."""
    operands = []
    for source in node.operands[:2]:
        given = reading.bound(source, flat)
        value = reading.exact.value(source, flat)
        operands.append(Stored(value, given.error, given.states, *signs_of(node, source)))
    error, sets = rule(node.attrs, reading.algebra, reading.exact.value(node, flat), *operands)
    return ScalarBound(error, error, sets)


def fixed(reading: CertifiedBounds, node: Node, flat: int) -> bool:
    """Return whether a library has no choice but to return the value, if it is a number."""

    def certainly(source: Node, number: float) -> bool:
        value, given = reading.exact.value(source, flat), reading.bound(source, flat)
        stored = Stored(value, given.error, given.states, False, False)
        return stored.certain and not isinstance(value, Interval) and value == number

    return any(
        all(
            x != x or certainly(source, x)
            for source, x in zip(node.operands[:2], numbers, strict=True)
        )
        for numbers in node.attrs.fixed
    )
