"""Bounds of means of values under softmax weights, as arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from exactref_core.arithmetic import rules, softmax_rules
from exactref_core.arithmetic.accumulation import sums_of
from exactref_core.arithmetic.approx import Approx
from exactref_core.arithmetic.bound import Bound, Clip, magnitude
from exactref_core.arithmetic.brackets import Bracket
from exactref_core.arithmetic.fast_steps import divide
from exactref_core.arithmetic.fast_steps import multiply as product_of
from exactref_core.arithmetic.graph import Indices, Node
from exactref_core.arithmetic.prefixes import PrefixSums
from exactref_core.arithmetic.softmax_caps import cap_of
from exactref_core.arithmetic.softmax_fast import guarded
from exactref_core.exact.double_double import Floats
from exactref_core.formats.format import Format

if TYPE_CHECKING:
    from exactref_core.arithmetic.bounds import FloatBounds
    from exactref_core.arithmetic.softmax_bounds import RowBounds

__all__ = [
    "Extremes",
    "attend_block",
    "capped",
    "clip_of",
    "near_threshold",
    "summed_and_rescaled",
    "value_ends",
    "with_sets",
]

Extremes: TypeAlias = tuple[Floats, Floats]


def attend_block(reading: FloatBounds, node: Node, flat: Indices) -> Bound:
    """Return the bounds of some means: products with stored weights, added up, rescaled once."""
    from exactref_core.arithmetic.softmax_bounds import ALGEBRA, masked, row_bounds, settled

    values = node.operands[1]
    n, d = values.shape[-2:]
    rows, pick = np.unique(flat // d, return_inverse=True)
    row = row_bounds(reading, node, rows)
    form, keep = row.form, row.found.keep[pick]
    batch = (flat // d) // node.shape[-2]
    places = (batch * n * d + flat % d)[:, None] + np.arange(n) * d
    chosen = reading.fast.at(values, places.reshape(-1)).map(lambda p: p.reshape(places.shape))
    given = reading.at(values, places.reshape(-1))
    given = given.map(lambda part: part.reshape(places.shape), (places.size,))
    weights, errors = (
        picked(b, pick) for b in (row.weights(), row.weight_errors(node.attrs.weights))
    )
    sizes, moved = magnitude(chosen), masked(given.error, keep)
    terms = softmax_rules.term_errors(ALGEBRA, form, weights, sizes, errors, moved, reading.flush)
    zero = (np.asarray(sizes.high) == 0) & (np.asarray(moved.high) == 0)
    terms = masked(terms, keep & ~zero)
    sums = signed_prefixes(reading, row, pick, chosen)
    size = magnitude(reading.fast.at(node, flat))
    total = summed_and_rescaled(row, sums, ALGEBRA.sum(terms), size)
    clip = clip_of(row, *extremes(chosen, moved, keep), node.attrs.weights)
    total = capped(row, total, pick, clip, size)
    return with_sets(settled(row, total, pick, clip), near_threshold(row, chosen, given, -1))


def summed_and_rescaled(row: RowBounds, sums: PrefixSums, carried: Bracket, size: Bracket) -> Any:
    """Return the errors of means of magnitude ``size``, given those that their terms carry."""
    from exactref_core.arithmetic.softmax_bounds import ALGEBRA

    form, flush = row.form, row.reading.flush
    total = softmax_rules.summed(
        ALGEBRA, form, row.sum_form, row.n, row.accumulate, sums, carried, flush
    )[1]
    if softmax_rules.is_wide(form, row.sum_form):
        total = rules.rounded_step(ALGEBRA, form, size, total, 1, rules.HALF, flush)
    etas = softmax_rules.rescale_etas(form, row.sum_form, row.reading.standard.rescales(row.n))
    return rules.rounded_step(ALGEBRA, form, size, total, 1, etas, flush)


def picked(value: Bracket, pick: Indices) -> Bracket:
    """Return the rows of a bracket that elements belong to."""
    return Bracket(np.asarray(value.low)[pick], np.asarray(value.high)[pick])


def signed_prefixes(
    reading: FloatBounds, row: RowBounds, pick: Indices, values: Approx
) -> PrefixSums:
    """Return the sums over the exact terms w_i v_i of each element."""
    total = guarded(row.found).map(lambda part: part[:, None])
    weights = divide(None, row.found.powers, total).map(lambda part: part[pick])
    terms = product_of(None, weights, Approx(values.high, values.low, values.radius))
    extra = np.asarray(np.broadcast_to(terms.spread, terms.high.shape)).sum(axis=-1)
    extra = extra * (1 + 2.0**-20)
    return sums_of(reading, terms.high, extra)


def extremes(values: Approx, moved: Bracket, keep: Any) -> tuple[Extremes, Extremes]:
    """Return min(0, v) and max(0, v) over the kept stored values, as outer and inner estimates."""
    outer, inner = (
        (
            np.where(keep, below, 0.0).min(axis=-1, initial=0.0),
            np.where(keep, above, 0.0).max(axis=-1, initial=0.0),
        )
        for below, above in value_ends(values, moved)
    )
    return outer, inner


def value_ends(values: Approx, moved: Bracket) -> tuple[Extremes, Extremes]:
    """Return numbers below and above each stored value, as outer and inner estimates."""
    known = np.asarray(values.spread) == 0
    found = []
    for side, off in ((1.0, moved.high), (-1.0, moved.low)):
        spread = np.asarray(side * values.spread + off)
        exact = known & (off == 0)
        slack = np.where(exact, 0.0, (np.abs(values.high) + np.abs(spread)) * 2.0**-50)
        shape = values.high.shape
        ends = values.high - spread - side * slack, values.high + spread + side * slack
        found.append((np.broadcast_to(ends[0], shape), np.broadcast_to(ends[1], shape)))
    return found[0], found[1]


def clip_of(row: RowBounds, outer: Extremes, inner: Extremes, stored: Format | None) -> Clip:
    """Return what means of values between two extremes never leave: widened by what roundings and
    underflows add."""
    from exactref_core.arithmetic.softmax_bounds import ALGEBRA

    flush, rescales = row.reading.flush, row.reading.standard.rescales(row.n)
    cap = cap_of(row.form, row.sum_form, stored, row.n, rescales, flush)
    known = ALGEBRA.constant(cap.share), ALGEBRA.constant(cap.lost)

    def ends(values: Extremes, further: float) -> list[Any]:
        share, lost = (part.high if further > 0 else part.low for part in known)
        top = np.maximum(-values[0], values[1])
        found = []
        for side, value in zip((-1.0, 1.0), values, strict=True):
            size = np.abs(value)
            # From inside, a tiny extreme may be 0.
            moves = size > 0 if further > 0 else size > top * 2.0**-45
            wide = share * top + np.where(moves, lost, 0.0)
            end = value + side * (wide * (1 + further * 2.0**-50) + further * 2.0**-1073)
            end = end + side * further * np.abs(end) * 2.0**-52
            found.append(np.where(top == 0, 0.0, end))
        return found

    (low, high), (low_inside, high_inside) = ends(outer, 1.0), ends(inner, -1.0)
    return Clip((low, low_inside), (high, high_inside))


def capped(row: RowBounds, error: Bracket, pick: Indices, clip: Clip, size: Bracket) -> Bracket:
    """Return errors that reach both ends of the clip where the sum of a row's exponentials may be
    off by half of itself."""
    low = picked(row.errors.total, pick).low * 2 >= picked(row.guarded_total(), pick).high
    high = picked(row.errors.total, pick).high * 2 >= picked(row.guarded_total(), pick).low
    # Where that is not told, the bound may be either.
    far = np.maximum(clip.high[0], -clip.low[0]) * 2 + np.asarray(size.high) * 2
    near = np.maximum(np.maximum(clip.high[1], -clip.low[1]), 0) * 2 + np.asarray(size.low) * 2
    least = np.where(low, near, np.where(high, np.minimum(error.low, near), error.low))
    most = np.where(low, far, np.where(high, np.maximum(error.high, far), error.high))
    return Bracket(least, most)


def near_threshold(row: RowBounds, values: Approx, given: Bound, axis: int) -> Any:
    """Return where values, which run along ``axis``, may matter to sets: where one is special or
    may be, kept or not, or where partial sums may overflow."""
    from exactref_core.arithmetic.softmax_bounds import ALGEBRA
    from exactref_core.arithmetic.step_sets import threshold

    limit = min(threshold(row.form)[0], threshold(row.sum_form)[0])
    top = np.max(np.abs(values.high) + np.asarray(values.spread), axis=axis, initial=0.0)
    errors = np.broadcast_to(given.error.high, values.high.shape)
    top = top + np.max(errors, axis=axis, initial=0.0)
    n = row.n
    share = softmax_rules.power_share(row.form, row.sum_form, row.reading.standard.rescales(n))
    unit = max(row.form.unit_roundoff, row.sum_form.unit_roundoff)
    whole = ALGEBRA.power(unit, 2 * n) * ALGEBRA.constant((1 + share) * n)
    near = ~(top * whole.high * (1 + 2.0**-10) < limit)
    if values.special is not None:
        near = near | np.any(values.special != 0, axis=axis)
    if given.states is not None:
        near = near | np.any(given.states != 1, axis=axis)
    return near


def with_sets(found: Bound, near: Any) -> Bound:
    """Return a bound whose sets are left to the certified reading in some places."""
    if not np.any(near):
        return found
    sets = np.ones(near.shape, np.uint8) if found.states is None else found.states
    unsure = near if found.unsure is None else near | found.unsure
    return Bound(found.error, found.error, sets, unsure, found.clip)
