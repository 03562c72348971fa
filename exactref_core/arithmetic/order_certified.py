"""The certified reading of comparisons."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from exactref_core.arithmetic.graph import Node
from exactref_core.arithmetic.order_fast import counted
from exactref_core.arithmetic.order_rules import ranks
from exactref_core.arithmetic.scalars import finite, number, sign
from exactref_core.exact.interval import rational

if TYPE_CHECKING:
    from exactref_core.arithmetic.certified import CertifiedReading

__all__ = ["compared", "exact", "row_of"]


def row_of(node: Node, flat: int) -> range:
    """Return the flat indices of the row that an element is in."""
    n = node.shape[-1]
    return range(flat - flat % n, flat - flat % n + n)


def exact(reading: CertifiedReading, node: Node, flat: int) -> Any:
    """Return one value of a comparison."""
    if node.verb == "order":
        a, b = (reading.value(x, flat) for x in node.operands)
        return rational(compared(reading.arithmetic, a, b, node.attrs))
    places = row_of(node, flat)
    values = [reading.value(node.operands[0], i) for i in places]
    rank = ranks(np.asarray([0.0 if finite(x) else x for x in values]), node.attrs.ignores_nan)
    equal = rank == rank.max()
    if rank.max() == 0:
        numbers = [number(x) for x, r in zip(values, rank, strict=True) if r == 0]
        top = largest(reading.arithmetic, numbers)
        equal[equal] = [sign(reading.arithmetic.subtract(x, top)) == 0 for x in numbers]
    count = int(counted(equal, node.attrs)[flat - places.start])
    return rational(Fraction(1, count) if count else 0)


def largest(arithmetic: Any, numbers: list[Any]) -> Any:
    """Return the largest of some numbers; Unsure where none is certain."""
    top = numbers[0]
    for x in numbers[1:]:
        if x is not top and sign(arithmetic.subtract(x, top)) > 0:
            top = x
    return top


def compared(arithmetic: Any, a: Any, b: Any, unordered: int) -> int:
    """Return the sign of a difference."""
    if finite(a) and finite(b):
        return int(sign(arithmetic.subtract(number(a), number(b))))
    x, y = (0.0 if finite(v) else float(v) for v in (a, b))
    if x != x or y != y:
        return unordered
    return (x > y) - (x < y)
