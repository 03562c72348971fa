"""Bounds of single products, certified."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from exactref_core.arithmetic import states
from exactref_core.arithmetic.certified import STEPS, finite, number
from exactref_core.arithmetic.certified_sets import seven
from exactref_core.arithmetic.graph import Node
from exactref_core.arithmetic.largest_certified import row_places
from exactref_core.arithmetic.prefixes import BLOCK
from exactref_core.arithmetic.prod_rules import product_error
from exactref_core.arithmetic.prod_sets import Factor, any_order_set, loop_set
from exactref_core.arithmetic.step_sets import zero_of_either_sign
from exactref_core.exact.interval import Interval, rational
from exactref_core.exact.nonnegative import is_exact_zero
from exactref_core.formats.format import Format

if TYPE_CHECKING:
    from exactref_core.arithmetic.certified_bounds import CertifiedBounds, ScalarBound

__all__ = ["bound"]


def bound(reading: CertifiedBounds, node: Node, flat: int) -> ScalarBound:
    """Return the bound of one product."""
    from exactref_core.arithmetic.certified_bounds import ScalarBound

    form, algebra, source = node.compute, reading.algebra, node.operands[0]
    if form is None:
        raise ValueError("a product has a compute format")
    places = row_places(node, flat)
    values = [reading.exact.value(source, i) for i in places]
    bounds = [reading.bound(source, i) for i in places]
    sizes = [algebra.absolute(number(x)) if finite(x) else rational(0) for x in values]
    if len(places) > BLOCK:  # exact products of many numbers have as many digits as all of them
        # A zero stays what it is: nothing rounds or underflows in a product that is exactly 0.
        sizes = [x if is_exact_zero(x) else Interval(*algebra.ends(x), algebra) for x in sizes]
    errors = [b.error for b in bounds]
    loops = reading.standard.prefixes
    error = product_error(algebra, form, reading.flush, sizes, errors, loops)
    sets = product_set(reading, node, values, sizes, bounds)
    if not finite(reading.exact.value(node, flat)) and not sets & states.FINITE:
        error = rational(0)
    for b in bounds:
        sets |= b.states & states.STICKY
    return ScalarBound(error, error, sets)


def product_set(reading: CertifiedBounds, node: Node, values: Any, sizes: Any, bounds: Any) -> int:
    """Return the set of a product under the standard."""
    algebra, form = reading.algebra, node.compute
    if form is None:
        raise ValueError("a product has a compute format")
    either = zero_of_either_sign(node.operands[0])
    factors = [
        Factor(
            size + b.error,
            algebra.monus(size, b.error),
            seven(algebra, value, b.error, b.states & ~states.STICKY, either),
        )
        for value, size, b in zip(values, sizes, bounds, strict=True)
    ]
    if not reading.standard.prefixes:
        return any_order_set(algebra, form, factors, reading.flush)
    result = loop_set(algebra, form, factors, reading.flush)
    if len(factors) > BLOCK:
        blocks = [
            block(reading, form, slice(i, i + BLOCK), values, sizes, bounds, factors)
            for i in range(0, len(factors), BLOCK)
        ]
        result |= any_order_set(algebra, form, blocks, reading.flush)
    return result & any_order_set(algebra, form, factors, reading.flush)


def block(
    reading: CertifiedBounds,
    form: Format,
    part: slice,
    values: Sequence[Any],
    sizes: Sequence[Any],
    bounds: Sequence[Any],
    factors: Sequence[Factor],
) -> Factor:
    """Return the product of a block in index order, as a factor."""
    algebra, value = reading.algebra, values[part.start]
    for x in values[part][1:]:
        value = STEPS["multiply"](algebra, None, value, x)
    errors = [b.error for b in bounds[part]]
    error = product_error(algebra, form, reading.flush, sizes[part], errors, True)
    size = algebra.absolute(number(value)) if finite(value) else rational(0)
    sets = loop_set(algebra, form, factors[part], reading.flush)
    classes = seven(algebra, value, error, sets)
    return Factor(size + error, algebra.monus(size, error), classes)
