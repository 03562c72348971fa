"""The bounds of functions of two numbers, certified: `pair_rules`, one element."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exactref_core.arithmetic.graph import Node
from exactref_core.arithmetic.pair_rules import Stored, signs_of
from exactref_core.arithmetic.pair_rules import bound as rule
from exactref_core.arithmetic.scalar_bound import ScalarBound

if TYPE_CHECKING:
    from exactref_core.arithmetic.certified_bounds import CertifiedBounds

__all__ = ["bound"]


def bound(reading: CertifiedBounds, node: Node, flat: int) -> ScalarBound:
    """Return the bound of one element."""
    operands = []
    for source in node.operands:
        given = reading.bound(source, flat)
        value = reading.exact.value(source, flat)
        operands.append(Stored(value, given.error, given.states, *signs_of(node, source)))
    error, sets = rule(node.attrs, reading.algebra, reading.exact.value(node, flat), *operands)
    return ScalarBound(error, error, sets)
