"""The certified reading of matrix exponentials: every matrix evaluated once a precision."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from exactref_core.arithmetic.certified import Scalar, finite, number
from exactref_core.arithmetic.graph import Node
from exactref_core.arithmetic.matexp_rules import exponential_of
from exactref_core.exact.exponential_entries import Exponential

if TYPE_CHECKING:
    from exactref_core.arithmetic.certified import CertifiedReading

__all__ = ["exact", "matrix_at"]


def matrix_at(
    reading: CertifiedReading, node: Node, index: int
) -> tuple[Exponential | None, list[float]]:
    """Return a matrix's exponential, or None and the infinities and NaN among its entries."""
    key = (node.operands, index)
    if key not in reading.rows:
        n = node.shape[-1]
        start = index * n * n
        values = [reading.value(x, start + k) for x in node.operands for k in range(n * n)]
        special = [x for x in values if not finite(x)]
        found = None
        if not special:
            numbers = [number(x) for x in values]
            rows = [numbers[k : k + n] for k in range(0, len(numbers), n)]
            found = exponential_of(node, rows, reading.arithmetic)
        reading.rows[key] = found, special
    result: tuple[Exponential | None, list[float]] = reading.rows[key]
    return result


def exact(reading: CertifiedReading, node: Node, flat: int) -> Scalar:
    """Return one value of a matexp node."""
    n = node.shape[-1]
    index, place = divmod(flat, n * n)
    exponential, _ = matrix_at(reading, node, index)
    if exponential is None:
        return math.nan
    return exponential.number(reading.arithmetic, *divmod(place, n), node.attrs.part)
