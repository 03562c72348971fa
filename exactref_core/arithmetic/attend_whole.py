"""Bounds of all means of values under softmax weights: sums over keys are matrix products.

The error of a sum of products with stored weights is linear in the errors of weights and values, so
that what `attend_bounds` adds up term by term is a product of nonnegative matrices here. Prefix
sums alone have to be walked element by element, where a standard asks for them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from exactref_core.arithmetic import rules
from exactref_core.arithmetic.accumulation import sums_of
from exactref_core.arithmetic.approx import Approx
from exactref_core.arithmetic.attend_bounds import (
    Extremes,
    capped,
    clip_of,
    near_threshold,
    summed_and_rescaled,
    value_ends,
    with_sets,
)
from exactref_core.arithmetic.bound import Bound, magnitude
from exactref_core.arithmetic.brackets import Bracket
from exactref_core.arithmetic.graph import Indices, Node
from exactref_core.arithmetic.prefixes import PrefixSums, asks_norms
from exactref_core.arithmetic.softmax_bounds import ALGEBRA, TERMS, RowBounds, settled
from exactref_core.arithmetic.whole_products import SEEN, times
from exactref_core.exact.products import magnitude_matmul

if TYPE_CHECKING:
    from exactref_core.arithmetic.bounds import FloatBounds

__all__ = ["whole_means"]


@dataclass(frozen=True, eq=False)
class Values:
    """The values of some batches, (g, n, d): what they are, and how far they may be off."""

    exact: Approx
    size: Bracket
    moved: Bracket
    bound: Bound

    def batches(self, part: slice) -> Values:
        """Return some batches."""
        size, moved = (Bracket(b.low[part], b.high[part]) for b in (self.size, self.moved))
        bound = self.bound.map(lambda array: array[part], self.exact.high.shape)
        return Values(self.exact.map(lambda array: array[part]), size, moved, bound)


def whole_means(reading: FloatBounds, node: Node) -> list[Bound] | None:
    """Return the bounds of all means, block after block; None where values have no bound."""
    scores, values = node.operands
    given = reading.whole(values)
    if not np.all(np.isfinite(given.error.high)):
        return None
    reading.whole(scores)  # one product for all blocks
    n, d = values.shape[-2:]
    rows = scores.shape[-2]
    batches = node.size // (rows * d)

    def stacked(array: Any) -> Any:
        return array.reshape(batches, n, d)

    exact = reading.fast.whole(values).map(stacked)
    bound = given.map(stacked, values.shape)
    everything = Values(exact, magnitude(exact), bound.error, bound)
    found = []
    for part, some in blocks(batches, rows, n):
        block = everything.batches(part)
        places = (np.arange(batches)[part, None] * rows + np.arange(rows)[some]).reshape(-1)
        found.append(block_of_means(reading, node, places, block))
    return found


def blocks(batches: int, rows: int, n: int) -> Iterator[tuple[slice, slice]]:
    """Yield batches, and rows of them, that have at most TERMS scores together."""
    if rows * n <= TERMS:
        group = max(1, TERMS // max(rows * n, 1))
        for start in range(0, batches, group):
            yield slice(start, start + group), slice(None)
        return
    height = max(1, TERMS // n)
    for batch in range(batches):
        for start in range(0, rows, height):
            yield slice(batch, batch + 1), slice(start, start + height)


def block_of_means(reading: FloatBounds, node: Node, places: Indices, block: Values) -> Bound:
    """Return the bounds of means of some rows, flat."""
    row = RowBounds(reading, node, places)
    batches, n, d = block.exact.high.shape
    shape = (batches, places.size // batches, n)
    weights, errors = (
        b.map(lambda end: np.asarray(end).reshape(shape))
        for b in (row.weights(), row.weight_errors(node.attrs.weights))
    )
    keep = row.found.keep.reshape(shape)
    told = np.all(np.isfinite(errors.high), axis=-1)
    errors = errors.map(lambda end: np.where(told[..., None], end, 0.0))
    sizes = times(weights, block.size)
    carried = term_errors(reading, row, (weights, errors), keep, block, sizes)
    sums = PrefixSums(sizes)
    if reading.standard.prefixes and reading.precise:
        sums = walked(reading, row, weights, block, sizes)
    size = magnitude(reading.fast.at(node, (places[:, None] * d + np.arange(d)).reshape(-1)))
    flat_sums = PrefixSums(*(None if b is None else b.map(np.ravel) for b in vars(sums).values()))
    total = summed_and_rescaled(row, flat_sums, carried.map(np.ravel), size)
    known = np.repeat(told.reshape(-1), d)
    total = Bracket(np.where(known, total.low, 0.0), np.where(known, total.high, np.inf))
    outer, inner = extremes(block, keep, bool(keep.all()))
    pick = np.repeat(np.arange(places.size), d)
    clip = clip_of(row, outer, inner, node.attrs.weights)
    total = capped(row, total, pick, clip, size)
    near = near_threshold(row, block.exact, block.bound, -2)
    near = np.broadcast_to(near[:, None, :], (batches, shape[1], d)).reshape(-1)
    return with_sets(settled(row, total, pick, clip), near)


def term_errors(
    reading: FloatBounds,
    row: RowBounds,
    weights: tuple[Bracket, Bracket],
    keep: Any,
    block: Values,
    sizes: Bracket,
) -> Bracket:
    """Return the sums over keys of what `softmax_rules.term_errors` says of each."""
    weight, error = weights
    form = row.form
    found = times(error, block.size)
    if np.any(block.moved.high > 0):
        found = found + times(weight + error, block.moved)
    found = found + (sizes + found) * ALGEBRA.constant(form.unit_roundoff)
    lost = rules.HALF * form.eta + (form.smallest_normal if reading.flush else 0)
    # Each product that may be another number than 0 loses as much.
    some = (block.size.high > 0) | (block.moved.high > 0)
    surely = keep & (error.low > SEEN), block.size.low > SEEN
    ends = [
        np.matmul(*(mask.astype(np.float64) for mask in pair)) for pair in (surely, (keep, some))
    ]
    return found + Bracket(*ends) * ALGEBRA.constant(lost)


def walked(
    reading: FloatBounds, row: RowBounds, weights: Bracket, block: Values, sizes: Bracket
) -> PrefixSums:
    """Return the sums over prefixes of the exact terms w_i v_i, element by element."""
    found = row.found
    total = np.where(found.empty, 1.0, found.total.high)[:, None]
    middle = np.clip((found.powers.high / total).reshape(weights.low.shape), *ends_of(weights))
    values = block.exact.high
    # What the middle is off by, and values are, and a rounding of each product.
    off = Bracket(0.0 * middle, (weights.high - weights.low) + weights.high * 2.0**-51)
    extra = times(off, block.size).high + values.shape[-2] * 2.0**-1074
    if np.any(block.exact.spread):
        spread = np.broadcast_to(np.asarray(block.exact.spread), values.shape)
        extra = extra + magnitude_matmul(weights.high, spread)[1]
    columns = np.swapaxes(values, -1, -2)
    shape = sizes.high.shape
    n = values.shape[-2]
    parts = [np.zeros((2, *shape)) for _ in range(5 if asks_norms(reading.standard, n) else 2)]
    height = max(1, TERMS // max(columns[0].size, 1))
    for batch in range(shape[0]):
        for start in range(0, shape[1], height):
            some = slice(start, start + height)
            terms = middle[batch, some, None, :] * columns[batch][None]
            sums = sums_of(reading, terms.reshape(-1, n), extra[batch, some].reshape(-1))
            asked = [bracket for bracket in vars(sums).values() if bracket is not None]
            for part, bracket in zip(parts, asked[1:], strict=True):
                part[:, batch, some] = [end.reshape(terms.shape[:-1]) for end in ends_of(bracket)]
    return PrefixSums(sizes, *(Bracket(low, high) for low, high in parts))


def ends_of(bracket: Bracket) -> tuple[Any, Any]:
    """Return both ends."""
    return bracket.low, bracket.high


def extremes(block: Values, keep: Any, all_kept: bool) -> tuple[Extremes, Extremes]:
    """Return min(0, v) and max(0, v) over the kept stored values, as outer and inner estimates."""
    ends = value_ends(block.exact, block.moved)
    batches, rows, n = keep.shape
    d = block.exact.high.shape[-1]

    def over_keys(values: Any, best: Any) -> Any:
        if all_kept:
            column = best.reduce(values, axis=-2, initial=0.0)[:, None, :]
            return np.broadcast_to(column, (batches, rows, d)).reshape(-1)
        found = np.empty((batches, rows, d))
        height = max(1, TERMS // max(n * d, 1))
        for batch in range(batches):
            for start in range(0, rows, height):
                some = slice(start, start + height)
                chosen = np.where(keep[batch, some, :, None], values[batch][None], 0.0)
                found[batch, some] = best.reduce(chosen, axis=-2, initial=0.0)
        return found.reshape(-1)

    outer, inner = (
        (over_keys(below, np.minimum), over_keys(above, np.maximum)) for below, above in ends
    )
    return outer, inner
