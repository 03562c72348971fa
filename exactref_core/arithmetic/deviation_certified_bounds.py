"""Bounds of single sums of squared deviations, certified."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from exactref_core.arithmetic import certified_sets, states
from exactref_core.arithmetic.certified import STEPS, finite, number
from exactref_core.arithmetic.deviation_bounds import rows_at
from exactref_core.arithmetic.deviation_rows import scalar_row
from exactref_core.arithmetic.deviation_rules import Row, error_of, overshoot
from exactref_core.arithmetic.graph import Node
from exactref_core.arithmetic.row_algebra import ScalarRows
from exactref_core.exact.grid import reaches
from exactref_core.exact.interval import rational
from exactref_core.exact.nonnegative import Unbounded
from exactref_core.formats.format import Format

if TYPE_CHECKING:
    from exactref_core.arithmetic.certified_bounds import CertifiedBounds, ScalarBound

__all__ = ["bound"]


def bound(reading: CertifiedBounds, node: Node, flat: int) -> ScalarBound:
    """Return the bound of one sum of squared deviations."""
    from exactref_core.arithmetic.certified_bounds import ScalarBound

    form, algebra, source = node.compute, reading.algebra, node.operands[1]
    if form is None:
        raise ValueError("a sum of squares has a compute format")
    places = rows_at(node, np.asarray([flat]))[0].tolist()
    bounds = [reading.bound(source, i) for i in places]
    sets = union(bounds)
    value = reading.exact.value(node, flat)
    zero = rational(0)
    if not finite(value):
        if sets & states.FINITE:
            raise Unbounded  # any number may be stored for an infinity or NaN among the terms
        return ScalarBound(zero, zero, sets)

    def step(verb: str, x: Any, y: Any) -> Any:
        return STEPS[verb](algebra, None, x, y)

    def magnitude(x: Any) -> Any:
        return algebra.absolute(number(x))

    values = [number(reading.exact.value(source, i)) for i in places]
    errors = [b.error for b in bounds]
    row = scalar_row(step, rational, magnitude, values, errors, magnitude(value))
    error = error_of(ScalarRows(algebra.precision), form, reading.flush, reading.standard, row)
    if sets & states.FINITE:
        sets |= certified_sets.overflow_set(algebra, form, number(value), error) & ~states.MINUS
        sets |= on_the_way(algebra, form, row)
        if row.n > 1:
            most = (row.total + error) * overshoot(reading.standard, row.n)
            if reaches(algebra, most, rational(form.overflow_threshold)):
                sets |= states.PLUS
    return ScalarBound(error, error, sets)


def union(bounds: list[ScalarBound]) -> int:
    """Return the set of what comes of infinities and NaN among the terms.

    A deviation from an infinite mean is NaN; a merge whose last subset is infinite gives +inf.
    """
    result = states.FINITE if all(b.states & states.FINITE for b in bounds) else 0
    for b in bounds:
        result |= b.states & states.STICKY
        if b.states & (states.NAN | states.PLUS | states.MINUS):
            result |= states.NAN
        if b.states & (states.PLUS | states.MINUS):
            result |= states.PLUS
    return result


def on_the_way(algebra: Any, form: Format, row: Row) -> int:
    """Return what a sum of the terms, or a difference of two, that overflows leads to.

    Welford's product of an infinite difference and one of the other sign is -inf.
    """
    size = algebra.total([*row.terms.items, *row.errors.items]) * 2
    size = size * algebra.power(form.unit_roundoff, row.n)
    if reaches(algebra, size, rational(form.overflow_threshold)):
        return states.PLUS | states.MINUS | states.NAN
    return 0
