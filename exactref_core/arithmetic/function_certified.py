"""The certified reading of elementary functions."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from exactref_core.arithmetic.compositions import composed
from exactref_core.exact.elementary import Function
from exactref_core.exact.interval import Interval
from exactref_core.exact.nonnegative import is_exact_zero

if TYPE_CHECKING:
    from exactref_core.arithmetic.certified import CertifiedReading
    from exactref_core.arithmetic.graph import Node

__all__ = ["exact"]


def exact(reading: CertifiedReading, node: Node, flat: int) -> Any:
    """Return one value; odd functions keep the sign of a zero."""
    from exactref_core.arithmetic.certified import finite, number

    function: Function = node.attrs
    x = reading.value(node.operands[0], flat)
    if not finite(x):
        return function.special(reading.arithmetic, x)
    found = composed(reading, node, flat)
    if found is None:
        found = shared(reading, function, number(x))
    negative_zero = isinstance(x, float) and math.copysign(1.0, x) < 0
    if negative_zero and function.poles is not None:
        return function.poles[2]
    keeps = function.keeps_zero and negative_zero
    return -0.0 if keeps and not isinstance(found, float) and is_exact_zero(found) else found


def shared(reading: CertifiedReading, function: Function, x: Any) -> Any:
    """Return the value at a number, the same object for the same number.

    Sums then see that equal values cancel, and those of an odd function at opposite arguments.
    """
    key = (function.name, x)
    if key not in reading.rows:
        if not isinstance(x, Interval) and x < 0 and (function.odd or function.even):
            mirrored = shared(reading, function, -x)
            reading.rows[key] = -mirrored if function.odd else mirrored
        else:
            reading.rows[key] = function.value(reading.arithmetic, x)
    return reading.rows[key]
