"""The certified reading of complex functions at infinities and NaN."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from exactref_core.arithmetic.scalars import finite, settle, sign
from exactref_core.exact.annex import answer
from exactref_core.exact.interval import opened

if TYPE_CHECKING:
    from exactref_core.arithmetic.certified import CertifiedReading
    from exactref_core.arithmetic.graph import Node

__all__ = ["exact"]


def exact(reading: CertifiedReading, node: Node, flat: int) -> Any:
    """Return one part: the definition's, or Annex G's."""
    x, y = (reading.value(operand, flat) for operand in node.operands[1:])
    found = None
    if not (finite(x) and finite(y)):
        found = answer(node.attrs, sign(x), sign(y))
    if found is None:
        return reading.value(node.operands[0], flat)
    if not found.quarters:
        return settle(found.value)
    arithmetic = reading.arithmetic
    pi = opened(arithmetic.down.const_pi(), arithmetic.up.const_pi(), arithmetic, True, True)
    return arithmetic.multiply(pi, arithmetic.constant(found.quarters) / 4)
