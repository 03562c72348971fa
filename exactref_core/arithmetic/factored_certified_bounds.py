"""Sums of products of which a factor is common, certified: see `factored_bounds`."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from exactref_core.arithmetic import rules
from exactref_core.arithmetic.certified import finite, number
from exactref_core.arithmetic.factored_bounds import carried
from exactref_core.arithmetic.graph import Node, sum_format
from exactref_core.arithmetic.scalar_bound import ScalarBound
from exactref_core.exact.interval import rational

if TYPE_CHECKING:
    from exactref_core.arithmetic.certified_bounds import CertifiedBounds

__all__ = ["bound"]


def bound(reading: CertifiedBounds, node: Node, flat: int) -> ScalarBound:
    """Return the bound of one sum."""
    algebra, flush = reading.algebra, reading.flush
    given = reading.bound(node.operands[1], flat)

    def size_of(one: Node) -> Any:
        value = reading.exact.value(one, flat)
        return algebra.absolute(number(value)) if finite(value) else rational(0)

    def of(one: Node) -> tuple[Any, Any, Any]:
        found = reading.bound(one, flat)
        return size_of(one), found.inherited, found.error

    moved = reading.bound(node.operands[2], flat).error
    error = algebra.minimum(given.inherited, carried(algebra, node, moved, of, flush))
    form, size = sum_format(node), size_of(node.operands[1])
    whole = rules.rounded_step(algebra, form, size, error, 1, Fraction(0), flush)
    return ScalarBound(whole, error, given.states)
