"""The terms of sums and products as arrays: stored values, their errors, what they may be."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from exactref_core.arithmetic import rules, states
from exactref_core.arithmetic.approx import Approx
from exactref_core.arithmetic.bound import ALGEBRA, Bound, either, magnitude, merge
from exactref_core.arithmetic.brackets import Bracket
from exactref_core.arithmetic.fast_choices import STEPS
from exactref_core.arithmetic.graph import Indices, Node, dot_terms, sum_terms
from exactref_core.arithmetic.step_sets import seven
from exactref_core.formats.format import Format

if TYPE_CHECKING:
    from exactref_core.arithmetic.bounds import FloatBounds

__all__ = ["Terms", "exact_product_bits", "holds_addend", "precision_of", "stored_terms"]


@dataclass(frozen=True, eq=False)
class Terms:
    """Rows of terms: exact values, the errors they carry (None: none), their sets and doubts."""

    value: Approx
    error: Bracket | None
    sets: Any = None
    unsure: Any = None
    held: Any = None  # products that are stored as they are


def precision_of(node: Node) -> int:
    """Return the significant bits that the stored values of a node may have."""
    if node.verb in ("load", "store"):
        form: Format = node.attrs.format
        return form.high.bit_length() if form.is_integer else form.precision
    if node.verb == "constant":
        value = node.attrs
        return value.numerator.bit_length() if value.denominator == 1 else 1 << 16
    if node.verb in ("view", "stack", "pick", "negative", "absolute"):
        return max(precision_of(x) for x in node.operands)
    return node.compute.precision if node.compute is not None else 1 << 16


def holds_addend(node: Node) -> bool:
    """Return whether a product was made to hold an addend as 1 * addend, which rounds nothing."""
    left = node.operands[0]
    while left.verb in ("view", "stack", "negative"):
        left = left.operands[0]
    return left.verb == "pick"


def exact_product_bits(node: Node, form: Format) -> int | None:
    """Return the bits of a dot product's products where the compute format holds them."""
    bits = sum(precision_of(x) for x in node.operands)
    return bits if bits <= form.precision else None


def stored_terms(reading: FloatBounds, node: Node, flat: Indices | None, part: slice) -> Terms:
    """Return the terms that part of the elements (of those at flat indices) add up, as stored."""
    terms = gathered_terms(reading, node, flat, part)
    form = node.compute
    if node.verb == "sum" or form is None:
        return terms
    error = rounded_products(node, form, terms, reading.flush)
    if terms.held is not None and not reading.flush:
        carried = terms.error or Bracket(0.0, 0.0)
        ends = ((carried.low, error.low), (carried.high, error.high))
        error = Bracket(*(np.where(terms.held, *pair) for pair in ends))
    terms = Terms(terms.value, error, terms.sets, terms.unsure)
    return paired(form, terms, reading.flush) if node.verb == "paired_dot" else terms


def gathered_terms(reading: FloatBounds, node: Node, flat: Indices | None, part: slice) -> Terms:
    """Return the terms of part of the elements (of those at flat indices), one row an element."""
    if flat is None and node.verb == "sum":
        return whole_rows(reading, node.operands[0], part)
    places = np.arange(node.size)[part] if flat is None else flat[part]
    if node.verb == "sum":
        return rows_of(reading, node.operands[0], sum_terms(node, places))
    left, right = (
        rows_of(reading, x, index)
        for x, index in zip(node.operands, dot_terms(node, places), strict=True)
    )
    return products(node, left, right)


def whole_rows(reading: FloatBounds, node: Node, part: slice) -> Terms:
    """Return rows of a node's stored values as they lie."""
    count = 1
    for extent in node.shape[:-1]:
        count *= extent

    def rows(array: Any) -> Any:
        return array.reshape(count, node.shape[-1])[part]

    bound = reading.whole(node)
    carried = np.any(bound.error.high)
    bound = bound.map(rows, node.shape)
    error = bound.error if carried else None
    return Terms(reading.fast.whole(node).map(rows), error, bound.states, bound.unsure)


def rows_of(reading: FloatBounds, node: Node, index: Indices) -> Terms:
    """Return stored values of a node gathered into rows."""
    flat, shape = index.reshape(-1), index.shape
    value = reading.fast.at(node, flat).map(lambda part: part.reshape(shape))
    bound = reading.at(node, flat).map(lambda part: part.reshape(shape), flat.shape)
    carried = None if not np.any(bound.error.high) else bound.error
    return Terms(value, carried, bound.states, bound.unsure)


def products(node: Node, x: Terms, y: Terms) -> Terms:
    """Return the products of two rows of stored values, with their roundings."""
    value = STEPS["multiply"](None, x.value, y.value)
    zero = Bracket(0.0, 0.0)
    held = None
    if holds_addend(node):
        alone = 0.0 if x.error is None else np.asarray(x.error.high)
        held = (x.value.high == 1) & (np.asarray(x.value.spread) == 0) & (alone == 0)
    dx, dy = x.error or zero, y.error or zero
    error = None
    if x.error is not None or y.error is not None:
        error = rules.product_error(ALGEBRA, magnitude(x.value), magnitude(y.value), dx, dy)
        none = np.isinf(dx.low) | np.isinf(dy.low)  # even where the other factor is 0
        error = Bracket(np.where(none, np.inf, error.low), np.where(none, np.inf, error.high))
    if x.sets is None and y.sets is None:
        return Terms(value, error, None, None, held)
    operands = [
        seven(t.value, Bound(d, d), states.FINITE if t.sets is None else t.sets)
        for t, d in ((x, dx), (y, dy))
    ]
    sets = states.step("multiply", [operand for operand, _ in operands])
    for t in (x, y):
        sets = sets | (states.FINITE if t.sets is None else t.sets & states.STICKY) & states.STICKY
    vague = operands[0][1] | operands[1][1]
    return Terms(value, error, sets, merge(merge(x.unsure, y.unsure), vague), held)


def rounded_products(node: Node, form: Format, terms: Terms, flush: bool) -> Bracket:
    """Return the error of each stored product: taken over, then rounded where it is inexact.

    Products of stored numbers of few bits round nothing but what underflows. Where a product may,
    but need not, be zero or held exactly, the bracket spans both answers.
    """
    size = magnitude(terms.value)
    error = terms.error or Bracket(0.0, 0.0)
    none, maybe_none = np.asarray(error.high) == 0, np.asarray(error.low) == 0
    rounded = rules.rounded_step(ALGEBRA, form, size, error, 1, rules.HALF, flush)
    low, high = rounded.low, rounded.high
    bits = exact_product_bits(node, form)
    if bits is not None:
        multiple, known = multiples(terms.value.high, form), np.asarray(terms.value.spread) == 0
        flushed = error + ALGEBRA.constant(form.smallest_normal) if flush else error
        # Numbers of few bits that are large enough multiply to a multiple of eta.
        limit = 2.0 ** (form.eta_exponent + bits)
        held, tiny = (
            rules.rounded_step(ALGEBRA, form, size, error, 0, etas, flush)
            for etas in (Fraction(0), rules.HALF)
        )
        surely = (size.low - error.high) * (1 - 2.0**-50) >= limit
        may = (size.high - error.low) * (1 + 2.0**-50) >= limit
        low = np.where(none, low, np.where(may, held.low, tiny.low))
        high = np.where(maybe_none, high, np.where(surely, held.high, tiny.high))
        low = np.where(maybe_none & (multiple | ~known), np.minimum(low, flushed.low), low)
        high = np.where(none & multiple & known, flushed.high, high)
    low = np.where(maybe_none & (np.asarray(size.low) == 0), 0.0, low)
    return Bracket(low, np.where(none & (np.asarray(size.high) == 0), 0.0, high))


def multiples(values: Any, form: Format) -> Any:
    """Return which values are integer multiples of the smallest subnormal number."""
    scaled = np.ldexp(values, -form.eta_exponent)
    # Beyond the range there is no fraction left: a float64 number has 53 bits.
    return np.isinf(scaled) | (np.floor(scaled) == scaled)


def paired(form: Format, terms: Terms, flush: bool) -> Terms:
    """Return the stored sums of pairs of terms, as terms."""

    def both(part: Any) -> tuple[Any, Any]:
        full = np.broadcast_to(part, terms.value.high.shape)
        return full[..., ::2], full[..., 1::2]

    halves = [terms.value.map(lambda part, i=i: part[..., i::2]) for i in (0, 1)]  # type: ignore[misc]
    value = STEPS["add"](None, *halves)
    error = terms.error or Bracket(0.0, 0.0)
    (a, b), (c, d) = both(error.low), both(error.high)
    moved = Bracket(a, c) + Bracket(b, d)
    if value.special is not None:
        # A number that is stored for an infinity or NaN is measured from 0.
        sizes = magnitude(halves[0]) + magnitude(halves[1])
        moved = either(value.special != 0, moved + sizes, moved)
    error = rules.rounded_step(ALGEBRA, form, magnitude(value), moved, 1, Fraction(0), flush)
    sets = None
    if terms.sets is not None:
        one, other = both(terms.sets)
        sets = states.step(
            "add", [states.classes(s, True, True, True, True, True) for s in (one, other)]
        )
    unsure = None if terms.unsure is None else np.logical_or(*both(terms.unsure))
    return Terms(value, error, sets, unsure)
