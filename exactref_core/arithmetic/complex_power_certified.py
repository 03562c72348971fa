"""The certified reading of powers of complex numbers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from exactref_core.arithmetic.scalars import finite, number
from exactref_core.exact.complex_powers import power_parts
from exactref_core.exact.interval import Interval, rational

if TYPE_CHECKING:
    from exactref_core.arithmetic.certified import CertifiedReading
    from exactref_core.arithmetic.graph import Node

__all__ = ["at_zero", "exact", "is_zero"]


def exact(reading: CertifiedReading, node: Node, flat: int) -> Any:
    """Return one part: by algebra, or the definition's; NaN where no standard says what it is."""
    values = [reading.value(operand, flat) for operand in node.operands[1:]]
    if not all(finite(v) for v in values):
        return math.nan
    x, y, c, d = (number(v) for v in values)
    if is_zero(x) and is_zero(y):
        return at_zero(c, d)[node.attrs.part]
    if not any(isinstance(v, Interval) for v in (x, y, c, d)):
        below = isinstance(values[1], float) and math.copysign(1.0, values[1]) < 0
        found = power_parts(x, y, c, d, below)[node.attrs.part]
        if found is not None:
            return found
    return reading.value(node.operands[0], flat)


def is_zero(value: Any) -> bool:
    """Return whether a number is known to be 0."""
    return not isinstance(value, Interval) and bool(value == 0)


def at_zero(c: Any, d: Any) -> tuple[Any, Any]:
    """Return the parts of 0^(c + id): 1 for an exponent of 0, 0 for c > 0, NaN for others."""
    if is_zero(c) and is_zero(d):
        return rational(1), rational(0)
    positive = c.low > 0 if isinstance(c, Interval) else c > 0
    return (rational(0), rational(0)) if positive else (math.nan, math.nan)
