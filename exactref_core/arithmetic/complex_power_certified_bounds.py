"""The bounds of powers of complex numbers, certified, one element."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from exactref_core.arithmetic import states
from exactref_core.arithmetic.certified_sets import at_least
from exactref_core.arithmetic.complex_power_certified import at_zero, is_zero
from exactref_core.arithmetic.graph import Node
from exactref_core.arithmetic.scalar_bound import ScalarBound
from exactref_core.arithmetic.scalars import finite, number
from exactref_core.exact.interval import rational
from exactref_core.exact.nonnegative import Unbounded, is_exact_zero

if TYPE_CHECKING:
    from exactref_core.arithmetic.certified_bounds import CertifiedBounds

__all__ = ["bound"]

# Smaller than what any format stores.
LEAST = rational(Fraction(1, 1 << 1200))


def bound(reading: CertifiedBounds, node: Node, flat: int) -> ScalarBound:
    """Return the bound of a part; none beside infinities and NaN, or where the base may be 0."""
    part, *operands = node.operands
    bounds = [reading.bound(z, flat) for z in operands]
    values = [reading.exact.value(z, flat) for z in operands]
    if any(b.states != states.FINITE for b in bounds) or not all(finite(v) for v in values):
        raise Unbounded
    x, y, c, d = (number(v) for v in values)
    exact = all(is_exact_zero(b.error) for b in bounds)
    none = rational(0)
    if exact and is_zero(c) and is_zero(d):
        # By exp(w log z) a power of 0 is NaN.
        zero = is_zero(x) and is_zero(y)
        return ScalarBound(none, none, states.FINITE | (states.NAN if zero else 0))
    if exact and is_zero(x) and is_zero(y):
        some = finite(at_zero(c, d)[node.attrs.part])
        sets = states.FINITE if some else states.PLUS | states.MINUS | states.NAN
        return ScalarBound(none, none, sets)
    algebra = reading.algebra
    if not any(
        at_least(algebra, algebra.subtract(algebra.absolute(v), b.error), LEAST)
        for v, b in zip((x, y), bounds, strict=False)
    ):
        raise Unbounded
    if exact and node.attrs.exact:
        return ScalarBound(none, none, states.FINITE)
    return reading.bound(part, flat)
