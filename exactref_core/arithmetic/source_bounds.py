"""The bounds of constants, as arrays."""

from __future__ import annotations

from fractions import Fraction

from exactref_core.arithmetic.bound import ALGEBRA, Bound
from exactref_core.arithmetic.graph import Node
from exactref_core.formats.rounding import round_ratio

__all__ = ["constant", "constant_error"]


def constant_error(node: Node) -> Fraction:
    """Return how far a constant is off that is rounded once where its format cannot hold it."""
    value, form = node.attrs, node.compute
    if form is None or round_ratio(value.numerator, value.denominator, form) == value:
        return Fraction(0)
    error: Fraction = max(abs(value) * form.unit_roundoff, form.eta / 2)
    return error


def constant(node: Node) -> Bound:
    """Return the bound of a constant."""
    error = ALGEBRA.constant(constant_error(node))
    return Bound(error, error)
