"""Bounds of single scores, scale * product + bias, certified."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from exactref_core.arithmetic import rules, softmax_rules, states
from exactref_core.arithmetic.certified import finite, number
from exactref_core.arithmetic.graph import Node, dot_terms
from exactref_core.arithmetic.softmax_certified import scaled_value
from exactref_core.arithmetic.softmax_verbs import factors_scaled
from exactref_core.exact.grid import reaches
from exactref_core.exact.interval import rational

if TYPE_CHECKING:
    from exactref_core.arithmetic.certified_bounds import CertifiedBounds

__all__ = ["factors_set", "scaled"]


def scaled(reading: CertifiedBounds, node: Node, flat: int) -> tuple[Any, Any]:
    """Return the inherited and the whole error of a score: scale * product + bias."""
    form, algebra, product = node.compute, reading.algebra, node.operands[0]
    if form is None:
        raise ValueError("scores have a compute format")
    scale = algebra.absolute(scaled_value(algebra, node.attrs))
    value = reading.exact.value(product, flat)
    size = algebra.multiply(
        algebra.absolute(number(value)) if finite(value) else rational(0), scale
    )
    inherited = algebra.multiply(reading.bound(product, flat).error, scale)
    error = rules.rounded_step(algebra, form, size, inherited, 2, rules.HALF, reading.flush)
    dot = factors_scaled(node) if reading.standard.scaled_inputs else None
    if dot is not None:
        sums = factor_sums(reading, dot, flat)
        own = softmax_rules.scaled_inputs_error(algebra, form, scale, sums, reading.flush)
        error = algebra.maximum(error, inherited + own)
    if len(node.operands) == 1:
        return inherited, error
    bias, whole = reading.exact.value(node.operands[1], flat), reading.exact.value(node, flat)
    moved = [error, reading.bound(node.operands[1], flat).error]
    inherited = error + moved[1]
    if not finite(whole):
        # A number that is stored for an infinity or NaN is measured from 0.
        sizes = [size, algebra.absolute(number(bias)) if finite(bias) else rational(0)]
        inherited = rules.from_zero(algebra, "add", sizes, moved)
    size = algebra.absolute(number(whole)) if finite(whole) else rational(0)
    return inherited, rules.rounded_step(algebra, form, size, inherited, 1, Fraction(0), False)


def factors_set(reading: CertifiedBounds, node: Node, flat: int) -> int:
    """Return what a score may be where a kernel scales the factors of its product, with a scale
    above 1 that takes one of them beyond the threshold: an infinity, or its product with 0."""
    form, product = node.compute, factors_scaled(node)
    if form is None or product is None or not reading.standard.scaled_inputs:
        return 0
    if abs(node.attrs.value) <= 1:
        return 0
    algebra = reading.algebra
    scale = algebra.absolute(scaled_value(algebra, node.attrs))
    threshold = rational(form.overflow_threshold)
    places = zip(product.operands, dot_terms(product, np.asarray([flat])), strict=True)
    for factor, chosen in places:
        for i in chosen[0].tolist():
            value = reading.exact.value(factor, i)
            if finite(value):
                size = algebra.absolute(number(value)) + reading.bound(factor, i).error
                if reaches(algebra, algebra.multiply(size, scale), threshold):
                    return states.PLUS | states.MINUS | states.NAN
    return 0


def factor_sums(reading: CertifiedBounds, product: Node, flat: int) -> tuple[Any, Any, Any]:
    """Return sum |a b|, sum |a| and sum |b| over the finite terms of a dot product."""
    algebra = reading.algebra
    left, right = dot_terms(product, np.asarray([flat]))
    a, b = product.operands
    pairs = [
        (reading.exact.value(a, int(i)), reading.exact.value(b, int(j)))
        for i, j in zip(left[0], right[0], strict=True)
    ]
    sizes = [
        tuple(algebra.absolute(number(v)) if finite(v) else rational(0) for v in pair)
        for pair in pairs
    ]
    products = algebra.total([algebra.multiply(x, y) for x, y in sizes])
    left, right = (algebra.total([pair[side] for pair in sizes]) for side in (0, 1))
    return products, left, right
