"""Bounds of scores, scale * product + bias, as arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from exactref_core.arithmetic import rules, softmax_rules, states
from exactref_core.arithmetic.approx import Approx
from exactref_core.arithmetic.bound import ALGEBRA, Bound, either, magnitude, merge
from exactref_core.arithmetic.brackets import Bracket
from exactref_core.arithmetic.graph import Indices, Node, dot_terms, is_float_input
from exactref_core.arithmetic.score_fast import constant
from exactref_core.arithmetic.softmax_verbs import factors_scaled
from exactref_core.arithmetic.step_sets import step_sets, threshold
from exactref_core.exact.prefix_sums import magnitude_sums
from exactref_core.exact.products import magnitude_matmul
from exactref_core.formats.format import Format

if TYPE_CHECKING:
    from exactref_core.arithmetic.bounds import FloatBounds

__all__ = ["score"]


def score(
    reading: FloatBounds,
    node: Node,
    flat: Indices | None,
    values: list[Approx],
    bounds: list[Bound],
    result: Approx,
) -> Bound:
    """Return the bounds of scores: scale * product + bias.

    Scaling the product costs 2u |scaled|. Where kernels may scale the factors q and k instead, the
    sum of their products errs by 4u |scale| sum |q k|, and by what factors lose that underflow.
    """
    form = node.compute
    if form is None:
        raise ValueError("scores have a compute format")
    product = factors_scaled(node) if reading.standard.scaled_inputs else None
    scale = magnitude(constant(node.attrs))
    size = magnitude(values[0]) * scale
    inherited = bounds[0].error * scale
    error = rules.rounded_step(ALGEBRA, form, size, inherited, 2, rules.HALF, reading.flush)
    near = None
    if product is not None:
        sums = factor_sums(reading, product, flat)
        own = softmax_rules.scaled_inputs_error(ALGEBRA, form, scale, sums, reading.flush)
        error = ALGEBRA.maximum(error, inherited + own)
        if abs(node.attrs.value) > 1:
            near = factors_near(reading, product, form, scale, sums)
    if len(node.operands) > 1:
        moved, whole = [error, bounds[1].error], magnitude(result)
        inherited = moved[0] + moved[1]
        if result.special is not None:
            # A number that is stored for an infinity or NaN is measured from 0.
            reach = rules.from_zero(ALGEBRA, "add", [size, magnitude(values[1])], moved)
            inherited = either(result.special != 0, reach, inherited)
        error = rules.rounded_step(ALGEBRA, form, whole, inherited, 1, rules.HALF * 0, False)
    sets, unsure = step_sets(node, values, bounds, result, inherited, reading.flush)
    if near is not None:
        known = np.uint8(states.FINITE) if sets is None else sets
        sets, unsure = np.broadcast_to(known, near.shape), merge(unsure, near)
    return Bound(error, inherited, sets, unsure)


def factors_near(
    reading: FloatBounds,
    product: Node,
    form: Format,
    scale: Bracket,
    sums: tuple[Bracket, Bracket, Bracket],
) -> Any:
    """Return where kernels that scale the factors of a product may overflow; None if nowhere."""
    near = None
    for factor, total in zip(product.operands, sums[1:], strict=True):
        off = 0.0  # inputs err by less than their own size
        if not is_float_input(factor):
            off = float(np.max(reading.whole(factor).error.high, initial=0.0))
        reach = ((total + total + Bracket(off, off)) * scale).high
        near = merge(near, ~(reach < threshold(form)[0]))
    return near if np.any(near) else None


def factor_sums(
    reading: FloatBounds, product: Node, flat: Indices | None
) -> tuple[Bracket, Bracket, Bracket]:
    """Return sum |a b|, sum |a| and sum |b| over the terms of dot products."""
    if flat is None:
        return whole_factor_sums(reading, product)
    a, b = product.operands
    left, right = dot_terms(product, flat)
    parts = [
        magnitude(reading.fast.at(x, i.reshape(-1)).map(lambda part, i=i: part.reshape(i.shape)))  # type: ignore[misc]
        for x, i in ((a, left), (b, right))
    ]
    products = parts[0] * parts[1]
    ends = [
        Bracket(magnitude_sums(b.low)[0], magnitude_sums(b.high)[1]) for b in (products, *parts)
    ]
    return ends[0], ends[1], ends[2]


def whole_factor_sums(reading: FloatBounds, product: Node) -> tuple[Bracket, Bracket, Bracket]:
    """Return the same sums of all dot products."""
    left, right = (magnitude(reading.fast.whole(x)) for x in product.operands)
    products = Bracket(
        magnitude_matmul(left.low, right.low)[0], magnitude_matmul(left.high, right.high)[1]
    )
    rows = Bracket(magnitude_sums(left.low)[0], magnitude_sums(left.high)[1])
    turned = right.map(lambda end: np.swapaxes(end, -1, -2))
    columns = Bracket(magnitude_sums(turned.low)[0], magnitude_sums(turned.high)[1])
    shape = product.shape
    return (
        products,
        rows.map(lambda end: np.broadcast_to(end[..., :, None], shape)),
        columns.map(lambda end: np.broadcast_to(end[..., None, :], shape)),
    )
