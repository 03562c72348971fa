"""The bounds of inputs and constants, certified."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from exactref_core.arithmetic import states
from exactref_core.arithmetic.certified import finite, number
from exactref_core.arithmetic.graph import Node, flush_below, rounds
from exactref_core.arithmetic.scalar_bound import ScalarBound
from exactref_core.arithmetic.source_bounds import constant_error
from exactref_core.exact.interval import rational
from exactref_core.formats.format import Format
from exactref_core.formats.rounding import round_ratio

if TYPE_CHECKING:
    from exactref_core.arithmetic.certified_bounds import CertifiedBounds

__all__ = ["constant", "loaded"]


def loaded(reading: CertifiedBounds, node: Node, flat: int) -> ScalarBound:
    """Return the bound of an input value."""
    value = reading.exact.value(node, flat)
    form: Format = node.attrs.format
    error = rational(0)
    if not finite(value):
        return ScalarBound(error, error, int(states.of_values(value)))
    size = abs(number(value))
    if node.compute is not None and rounds(form, node.compute):
        exact = Fraction(int(size.numerator), int(size.denominator))
        if round_ratio(exact.numerator, exact.denominator, node.compute) != exact:
            error = size * rational(node.compute.unit_roundoff)
            if size < rational(node.compute.smallest_normal):
                error += rational(node.compute.eta / 2)
    if form.is_float and reading.flush and size < rational(flush_below(form, node.compute)):
        error = size
    return ScalarBound(error, error, states.FINITE)


def constant(node: Node) -> ScalarBound:
    """Return the bound of a constant."""
    error = rational(constant_error(node))
    return ScalarBound(error, error, states.FINITE)
