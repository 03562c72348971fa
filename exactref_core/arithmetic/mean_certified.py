"""The certified reading of x_i - sum_j w_j x_j, w the softmax weights of scores.

Where scores are 1e20 apart, no precision tells which of two weights is smaller, and steps leave the
sign of a sum of them open, or whether a difference is a rational number. It is itself a mean,
sum_j w_j (x_i - x_j), and `softmax_certified` knows the sign of one, and where it is rational.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from exactref_core.arithmetic.graph import Node
from exactref_core.arithmetic.scalars import Scalar, finite, number
from exactref_core.arithmetic.softmax_certified import mean, scalar_row
from exactref_core.exact.interval import Interval

if TYPE_CHECKING:
    from exactref_core.arithmetic.certified import CertifiedReading

__all__ = ["exact"]

# Up to this precision steps do whose sign is certain: they share the mean among the row's elements.
BITS = 96


def exact(reading: CertifiedReading, node: Node, flat: int) -> Scalar:
    """Return a difference from the mean, by its steps where their sign is certain."""
    steps, x, weights = node.operands
    value = reading.value(steps, flat)
    if not isinstance(value, Interval):
        return value
    if reading.arithmetic.precision <= BITS and (value.low > 0 or value.high < 0):
        return value
    n = node.shape[-1]
    row = scalar_row(reading, weights, flat // n)
    start = flat - flat % n
    values = [reading.value(x, start + i) for i in range(n)]
    if row.bad or row.empty or not all(finite(one) for one in values):
        return value
    own = number(values[flat % n])
    gaps = [reading.arithmetic.subtract(own, number(one)) for one in values]
    return mean(reading.arithmetic, row, gaps)
