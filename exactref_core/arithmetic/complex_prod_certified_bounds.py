"""Bounds of single products of complex numbers, certified, and which specials they may give."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from exactref_core.arithmetic import states
from exactref_core.arithmetic.certified import finite, number
from exactref_core.arithmetic.certified_sets import is_loose
from exactref_core.arithmetic.complex_prod_rules import Factor, Moduli, errors
from exactref_core.arithmetic.graph import Node
from exactref_core.arithmetic.largest_certified import row_places
from exactref_core.arithmetic.prefixes import BLOCK
from exactref_core.arithmetic.prod_rules import tiny
from exactref_core.arithmetic.scalar_bound import ScalarBound
from exactref_core.exact.grid import reaches, upward
from exactref_core.exact.interval import Interval, rational
from exactref_core.exact.nonnegative import Unbounded, is_exact_zero
from exactref_core.formats.format import Format

if TYPE_CHECKING:
    from exactref_core.arithmetic.certified_bounds import CertifiedBounds

__all__ = ["bound"]

SPECIALS = states.PLUS | states.MINUS | states.NAN


def bound(reading: CertifiedBounds, node: Node, flat: int) -> ScalarBound:
    """Return the bound of one part of one product."""
    key = ("complex_prod", node.operands[0], flat, node.attrs.loops)
    if key not in reading.rows:
        reading.rows[key] = both(reading, node, flat)
    found, sets = reading.rows[key]
    error = found[node.attrs.part] if sets & states.FINITE else rational(0)
    return ScalarBound(error, error, sets)


def both(reading: CertifiedBounds, node: Node, flat: int) -> tuple[tuple[Any, Any], int]:
    """Return the bounds of both parts, and what either may be."""
    form, source = node.compute, node.operands[0]
    if form is None:
        raise ValueError("a product has a compute format")
    places = row_places(node, flat)
    values = reading.exact.values(source, np.asarray(places))
    bounds = [reading.bound(source, i) for i in places]
    if any(map(is_loose, values, bounds)):
        raise Unbounded  # the parts may be those of any numbers
    many = len(places) > 2 * BLOCK  # exact products of many numbers have as many digits as all
    factors = [
        factor(reading.algebra, values[i : i + 2], bounds[i : i + 2], many)
        for i in range(0, len(places), 2)
    ]
    loops = reading.standard.prefixes and node.attrs.loops
    found = errors(reading.algebra, form, reading.flush, factors, loops)
    return found, product_set(reading, form, factors, bounds, loops)


def factor(algebra: Any, values: Sequence[Any], bounds: Sequence[Any], many: bool) -> Factor:
    """Return a factor; the modulus of rational numbers is rational: products of roots may be."""
    a, b = (algebra.absolute(number(x)) if finite(x) else rational(0) for x in values)
    square = algebra.add(algebra.multiply(a, a), algebra.multiply(b, b))
    modulus = algebra.sqrt(square)
    if not isinstance(square, Interval):
        modulus = upward(algebra, modulus)
    sizes = [enclosed(algebra, x) if many else x for x in (a, b, modulus)]
    first, second = bounds
    return Factor((sizes[0], sizes[1]), (first.error, second.error), sizes[2])


def enclosed(algebra: Any, value: Any) -> Any:
    """Return a number with as many digits as the precision has; 0 as it is."""
    if is_exact_zero(value):
        return value
    low, high = algebra.ends(value)
    return Interval(low, high, algebra)


def product_set(
    reading: CertifiedBounds, form: Format, factors: Sequence[Factor], bounds: Any, loops: bool
) -> int:
    """Return what a part may be.

    A product with an infinity or NaN in a part has no part that is a number; NaN alone where no
    infinity is about, else anything, by the rules of IEEE part by part or by C99 Annex G.
    """
    sets = [b.states & ~states.STICKY for b in bounds]
    sticky = states.STICKY & union(b.states for b in bounds)
    given = union(sets)
    infinite = bool(given & (states.PLUS | states.MINUS))
    infinite = infinite or may_overflow(reading, form, factors, loops)
    result = states.FINITE if all(s & states.FINITE for s in sets) else 0
    if infinite:
        return result | SPECIALS | sticky
    return result | (given & states.NAN) | sticky


def union(sets: Any) -> int:
    """Return the union of sets."""
    result = 0
    for one in sets:
        result |= one
    return result


def may_overflow(
    reading: CertifiedBounds, form: Format, factors: Sequence[Factor], loops: bool
) -> bool:
    """Return whether a step of a product may leave the range: none is larger than the modulus."""
    algebra, threshold = reading.algebra, rational(form.overflow_threshold)
    sizes = [f.modulus + f.carried for f in factors]
    if not loops:
        return any_order(algebra, form, sizes, threshold)
    ends, blocks = prefixes(algebra, form, reading.flush, sizes), []
    tops = ends
    if len(sizes) > BLOCK:
        for i in range(0, len(sizes), BLOCK):
            inside = prefixes(algebra, form, reading.flush, sizes[i : i + BLOCK])
            tops = tops + inside
            blocks.append(inside[-1])
    if any(reaches(algebra, top, threshold) for top in tops):
        return True
    return bool(blocks) and any_order(algebra, form, blocks, threshold)


def prefixes(algebra: Any, form: Format, flush: bool, sizes: Sequence[Any]) -> list[Any]:
    """Return what the moduli of products of the first factors may reach."""
    moduli = Moduli(form)
    top, found = sizes[0], []
    for size in sizes[1:]:
        top = top * size * (1 + rational(moduli.unit_roundoff)) + rational(tiny(moduli, flush))
        found.append(top)
    return found or [top]


def any_order(algebra: Any, form: Format, sizes: Sequence[Any], threshold: Any) -> bool:
    """Return whether the product of some factors may leave the range."""
    height = algebra.power(Moduli(form).unit_roundoff, len(sizes))
    for size in sizes:
        height = height * algebra.maximum(rational(1), size)
    return bool(reaches(algebra, height, threshold))
