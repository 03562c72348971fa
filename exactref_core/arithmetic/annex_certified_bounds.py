"""The bounds of complex functions at infinities and NaN, certified, one element."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exactref_core.arithmetic import states
from exactref_core.arithmetic.annex_rules import SINGLE, answered
from exactref_core.arithmetic.graph import Node
from exactref_core.arithmetic.scalar_bound import ScalarBound
from exactref_core.arithmetic.scalars import sign
from exactref_core.exact.interval import rational
from exactref_core.exact.nonnegative import Unbounded

if TYPE_CHECKING:
    from exactref_core.arithmetic.certified_bounds import CertifiedBounds

__all__ = ["bound"]


def bound(reading: CertifiedBounds, node: Node, flat: int) -> ScalarBound:
    """Return the bound of a part; none where a part of the argument may be what it is not."""
    part, *operands = node.operands
    sets = [reading.bound(x, flat).states & ~states.STICKY for x in operands]
    if all(s == states.FINITE for s in sets):
        return reading.bound(part, flat)
    if not all(s in SINGLE for s in sets):
        raise Unbounded
    found = answered(node.attrs, *(sign(reading.exact.value(x, flat)) for x in operands))
    if found is None:
        return reading.bound(part, flat)
    return ScalarBound(rational(0), rational(0), found)
