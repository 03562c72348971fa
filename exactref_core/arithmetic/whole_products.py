"""Sums over the terms of matrix products, of all elements or of some, without gathering terms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from exactref_core.arithmetic.approx import Approx
from exactref_core.arithmetic.bound import ALGEBRA, Bound, magnitude
from exactref_core.arithmetic.brackets import Bracket
from exactref_core.arithmetic.graph import Indices, Node
from exactref_core.arithmetic.prefixes import PrefixSums, asks_norms
from exactref_core.arithmetic.rules import HALF
from exactref_core.arithmetic.terms import exact_product_bits, holds_addend
from exactref_core.exact.coarse_prefixes import coarse_prefixes
from exactref_core.exact.double_double import Floats
from exactref_core.exact.prefix_norms import product_norms
from exactref_core.exact.prefix_products import (
    chosen_prefix_products,
    prefix_products,
    stacked_prefix_products,
)
from exactref_core.exact.products import magnitude_matmul, smallest
from exactref_core.formats.format import Format

if TYPE_CHECKING:
    from exactref_core.arithmetic.bounds import FloatBounds

__all__ = ["SEEN", "chosen_sums", "product_sums", "times"]

# Factors of chosen elements that are gathered at once.
GATHER = 1 << 20
# Elements of matrices of which many are walked through at once.
SMALL = 1 << 12
# Elements from which a call for every term of all costs less than rows of terms.
SOME = 48

# Factors above it have a product that float64 tells from 0.
SEEN = 2.0**-500


def product_sums(reading: FloatBounds, node: Node) -> tuple[PrefixSums, Bracket] | None:
    """Return the sums that a standard asks for, and the sum of the products' errors.

    None where an operand has specials or no bound, or where a product may be exact or not term by
    term; prefix sums are those of exact operands alone.
    """
    form, scan = node.compute, reading.standard.prefixes and reading.precise
    bounds = [reading.whole(x) for x in node.operands]
    if form is None or any(b.states is not None or b.unsure is not None for b in bounds):
        return None
    a, b = (reading.fast.whole(x) for x in node.operands)
    if any(x.low is not None or x.radius is not None for x in (a, b)) or any(
        np.any(bound.error.high) for bound in bounds
    ):
        return None if scan else inexact_sums(node, form, (a, b), bounds, reading.flush)
    total = Bracket(*magnitude_matmul(a.high, b.high))
    carried = rounding_sums(node, form, (a.high, b.high), total, reading.flush)
    if carried is None and scan:
        return None
    if carried is None:
        worst = total * ALGEBRA.constant(form.unit_roundoff)
        least = a.high.shape[-1] * (HALF * form.eta + form.smallest_normal)
        carried = Bracket(0.0, (worst + ALGEBRA.constant(least)).high)
    if not scan:
        return PrefixSums(total), carried
    return PrefixSums(total, *scanned(reading, a.high, b.high, total)), carried


def chosen_sums(
    reading: FloatBounds, node: Node, flat: Indices
) -> tuple[PrefixSums, Bracket] | None:
    """Return what `product_sums` does at flat indices; None too where they are few, or no prefix
    sums are asked for, or norms of them."""
    form, k = node.compute, node.operands[0].shape[-1]
    scan = reading.standard.prefixes and reading.precise and not asks_norms(reading.standard, k)
    bounds = [reading.whole(x) for x in node.operands]
    if form is None or not scan or flat.size < SOME or holds_addend(node):
        return None
    if any(b.states is not None or b.unsure is not None or np.any(b.error.high) for b in bounds):
        return None
    a, b = (reading.fast.whole(x) for x in node.operands)
    if any(x.low is not None or x.radius is not None for x in (a, b)):
        return None
    total, *prefixes = chosen_brackets(node, a.high, b.high, flat)
    carried = rounding_sums(node, form, (a.high, b.high), total, reading.flush, flat)
    return None if carried is None else (PrefixSums(total, *prefixes), carried)


def chosen_brackets(node: Node, a: Floats, b: Floats, flat: Indices) -> list[Bracket]:
    """Return the brackets of sum |t|, sum |s_k| and sum |s_k - s_b(k)| at flat indices."""
    *batches, m, n = node.shape
    k = a.shape[-1]
    found = np.empty((3, 2, flat.size))
    left, right = (np.broadcast_to(x, (*batches, *x.shape[-2:])) for x in (a, b))
    step = max(1, GATHER // max(k, 1))
    for start in range(0, flat.size, step):
        some = slice(start, start + step)
        place, inside = np.divmod(flat[some], m * n)
        row, column = np.divmod(inside, n)
        if batches:
            index: tuple[Any, ...] = np.unravel_index(place, batches)
            of_row, of_column = (*index, row), (*index, slice(None), column)
            rows, columns = left[of_row].T, right[of_column].T
        else:
            rows, columns = np.take(left.T, row, axis=1), np.take(right, column, axis=1)
        factors = np.ascontiguousarray(rows), np.ascontiguousarray(columns)
        found[..., some] = chosen_prefix_products(*factors)
    return [Bracket(low, high) for low, high in found]


def inexact_sums(
    node: Node, form: Format, operands: tuple[Approx, Approx], bounds: list[Bound], flush: bool
) -> tuple[PrefixSums, Bracket] | None:
    """Return sum |t| over the terms t = a b, and the sum of their errors, |a| db + da |b| + da db
    and u of the stored product, all of which are products of nonnegative matrices.

    None where an error has no bound, or where terms differ in what they round.
    """
    if exact_product_bits(node, form) is not None or holds_addend(node):
        return None
    sizes = [magnitude(x) for x in operands]
    shapes = [x.high.shape for x in operands]
    errors = [
        bound.error.map(lambda end, shape=shape: np.broadcast_to(end, shape))  # type: ignore[misc]
        for bound, shape in zip(bounds, shapes, strict=True)
    ]
    known = all(x.special is None and np.all(np.isfinite(x.spread)) for x in operands)
    if not known or not all(np.all(np.isfinite(e.high)) for e in errors):
        return None
    (a, b), (da, db) = sizes, errors
    total = times(a, b)
    moved = times(a + da, db) + times(da, b)
    # Products that may be another number than 0, and those that surely are.
    some, surely = (
        [mask.astype(np.float64) for mask in masks]
        for masks in (
            [(x.high > 0) | (d.high > 0) for x, d in zip(sizes, errors, strict=True)],
            [x.low > SEEN for x in sizes],
        )
    )
    lost = HALF * form.eta + (form.smallest_normal if flush else 0)
    count = Bracket(np.matmul(*surely), np.matmul(*some))
    carried = moved + (total + moved) * ALGEBRA.constant(form.unit_roundoff)
    return PrefixSums(total), carried + count * ALGEBRA.constant(lost)


def times(left: Bracket, right: Bracket) -> Bracket:
    """Return a matrix product of brackets."""
    low, high = (left.low, right.low), (left.high, right.high)
    return Bracket(magnitude_matmul(*low)[0], magnitude_matmul(*high)[1])


def rounding_sums(
    node: Node,
    form: Format,
    operands: tuple[Floats, Floats],
    total: Bracket,
    flush: bool,
    flat: Indices | None = None,
) -> Bracket | None:
    """Return the sum of the products' roundings, of all elements or of those at flat indices, to
    which ``total`` belongs; None where terms differ in what they round.

    A product that is not zero errs by u |t| + eta/2 (and may be flushed); products of few bits err
    by nothing where all are multiples of eta.
    """
    count = nonzero_products(*operands)
    if flat is not None and np.ndim(count.high):
        count = count.map(lambda end: end.reshape(-1)[flat])
    flushed = count * ALGEBRA.constant(form.smallest_normal) if flush else None
    bits = exact_product_bits(node, form)
    if bits is not None:
        if smallest(operands[0]) * smallest(operands[1]) < 2.0 ** (form.eta_exponent + bits):
            return None
        return Bracket(0.0, 0.0) if flushed is None else flushed
    if holds_addend(node) and not flush:
        inexact = np.where(operands[0] == 1, 0.0, operands[0])
        total = Bracket(*magnitude_matmul(inexact, operands[1]))
        count = nonzero_products(inexact, operands[1])
    error = total * ALGEBRA.constant(form.unit_roundoff) + count * ALGEBRA.constant(HALF * form.eta)
    return error if flushed is None else error + flushed


def nonzero_products(a: Floats, b: Floats) -> Bracket:
    """Return how many products of each element are not zero; exact."""
    if np.all(a) and np.all(b):
        count: Any = float(a.shape[-1])
    else:
        count = np.matmul((a != 0).astype(np.float64), (b != 0).astype(np.float64))
    return Bracket(count, count)


def scanned(reading: FloatBounds, a: Floats, b: Floats, total: Bracket) -> list[Bracket]:
    """Return the brackets that a standard asks for of the prefix sums of every element."""
    shape = (*a.shape[:-1], b.shape[-1])
    if 0 in shape or not (a.size and b.size):
        return [Bracket(np.zeros(shape), np.zeros(shape))] * 2
    left, right = a.reshape(-1, *a.shape[-2:]), b.reshape(-1, *b.shape[-2:])
    norms_too = asks_norms(reading.standard, a.shape[-1])
    if len(left) > 1 and shape[-2] * shape[-1] <= SMALL and not norms_too:
        both = stacked_prefix_products(left, right)
        return [Bracket(*(end.reshape(shape) for end in ends)) for ends in both]
    most = total.high.reshape(-1, *shape[-2:])
    found: list[tuple[Any, ...]] = [
        prefixes(reading, *three) for three in zip(left, right, most, strict=True)
    ]
    if norms_too:
        norms = [product_norms(*pair) for pair in zip(left, right, strict=True)]
        found = [(*two, *vars(three).values()) for two, three in zip(found, norms, strict=True)]
    return [
        Bracket(*(np.stack(ends).reshape(shape) for ends in zip(*column, strict=True)))
        for column in zip(*found, strict=True)
    ]


def prefixes(reading: FloatBounds, a: Floats, b: Floats, total: Floats) -> tuple[Any, Any]:
    """Return bounds of the prefix sums of one product, coarse ones where they will do."""
    found = coarse_prefixes(a, b, total) if reading.coarse else None
    if found is None:
        return prefix_products(a, b)
    reading.took_coarse = True
    return found
