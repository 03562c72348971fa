"""The fast reading of the softmax family: rows of scores exponentiated with proven errors."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from exactref_core.arithmetic import fast_steps as steps
from exactref_core.arithmetic.approx import Approx, Bools
from exactref_core.arithmetic.attend_coarse import product_means
from exactref_core.arithmetic.gathered import blocks
from exactref_core.arithmetic.graph import Indices, Node
from exactref_core.arithmetic.softmax_coarse import coarse_means, coarse_weights
from exactref_core.arithmetic.softmax_steps import (
    coarse_log_sums,
    coarse_log_weights,
    exponential,
    logarithm,
)
from exactref_core.arithmetic.softmax_verbs import RowRule
from exactref_core.exact.double_double import Floats
from exactref_core.exact.products import filtered_matmul, magnitude_matmul

if TYPE_CHECKING:
    from exactref_core.arithmetic.fast import FastReading

__all__ = ["Rows", "attended", "exact", "rows_of"]


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of scores: kept keys, exponentials relative to some shift, and their sums.

    ``scores`` (r, n); ``shift`` (r,) float64 numbers; ``powers`` exp(score - shift), 0 where a key
    is not kept; ``total`` (r,). ``bad`` marks rows whose weights are NaN: a NaN or +inf among the
    kept scores. ``empty`` marks rows that keep no key.
    """

    scores: Approx
    keep: Bools
    shift: Floats
    powers: Approx
    total: Approx
    bad: Bools
    empty: Bools


def rows_of(reading: FastReading, node: Node, rows: Indices | None) -> Rows:
    """Return the rows of scores of a node, all of them or those at row indices."""
    scores = node.operands[0]
    n = scores.shape[-1]
    if rows is None:
        rows = np.arange(math.prod(scores.shape[:-1]))
        values = reading.whole(scores).map(lambda part: part.reshape(rows.size, n))
    else:
        values = scores_of(reading, scores, rows)
    return exponentiate(values, kept(node.attrs, scores, rows), reading.precise)


def kept(rule: RowRule, scores: Node, rows: Indices) -> Bools:
    """Return which keys of some rows take part."""
    n = scores.shape[-1]
    if rule.keep is None:
        return np.ones((rows.size, n), bool)
    places = np.unravel_index(rows, scores.shape[:-1]) if scores.shape[:-1] else ()
    found = rule.keep[places] if places else rule.keep[None]
    return np.asarray(found, bool).reshape(rows.size, n)


def exponentiate(scores: Approx, keep: Bools, precise: bool) -> Rows:
    """Return rows with their exponentials; any shift near the largest score will do."""
    from exactref_core.arithmetic.fast import add_up

    bad = np.zeros(keep.shape[0], bool)
    if scores.special is not None:
        bad = np.any(keep & (np.isnan(scores.special) | (scores.special == np.inf)), axis=-1)
        keep = keep & (scores.special != -np.inf)
        scores = Approx(scores.high, scores.low, scores.radius)
    shift = np.max(np.where(keep, scores.high, -np.inf), axis=-1, initial=-np.inf)
    empty = ~np.any(keep, axis=-1)
    shift = np.where(np.isfinite(shift), shift, 0.0)
    gaps = steps.add(None, scores, Approx(-shift[:, None]))
    powers = exponential(gaps, precise)
    low = None if powers.low is None else np.where(keep, powers.low, 0.0)
    radius = None if powers.radius is None else np.where(keep, powers.radius, 0.0)
    powers = Approx(np.where(keep, powers.high, 0.0), low, radius)
    return Rows(scores, keep, shift, powers, add_up(powers, True), bad, empty)


def with_rows(x: Approx, rows: Rows, of_empty: float, whole: bool) -> Approx:
    """Return values with NaN in bad rows and ``of_empty`` in empty ones."""
    bad, empty = (mask[:, None] if whole else mask for mask in (rows.bad, rows.empty))
    shape = x.high.shape
    special = np.where(np.broadcast_to(bad, shape), np.nan, 0.0)
    if not np.isfinite(of_empty):
        special = np.where(np.broadcast_to(empty & ~bad, shape), of_empty, special)
    clean = np.broadcast_to(bad | empty, shape)

    def wiped(part: Any) -> Any:
        return None if part is None else np.where(clean, 0.0, part)

    given = None if not np.any(special != 0) else special
    return Approx(wiped(x.high), wiped(x.low), wiped(x.radius), given)


def exact(reading: FastReading, node: Node, flat: Indices | None) -> Approx:
    """Return the values of a weights, log_weights, logsumexp or attend node."""
    if node.verb == "attend" and flat is None and reading.precise:
        return precise_means(reading, node)
    rows, pick = None, None
    width = 1 if node.verb == "logsumexp" else node.shape[-1]
    if flat is not None:
        rows, pick = np.unique(flat // width, return_inverse=True)
    if reading.narrow and (rows is None or node.verb != "attend"):
        plain = coarse(reading, node, rows)
        if plain is not None and flat is None:
            return plain.map(lambda part: part.reshape(node.shape))
        if plain is not None:
            return plain.map(lambda part: at_rows(part, pick, flat, width))
    found = rows_of(reading, node, rows)
    if node.verb == "attend":
        return attended(reading, node, found, rows, pick, flat)
    if node.verb == "logsumexp":
        log = logarithm(guarded(found), reading.precise)
        value = steps.add(None, log, Approx(found.shift))
        value = with_rows(value, found, -np.inf, False)
    else:
        value = per_key(node, found, reading.precise)
    if flat is None:
        return value.map(lambda part: np.broadcast_to(part, value.high.shape).reshape(node.shape))
    return value.map(lambda part: at_rows(part, pick, flat, width))


def at_rows(part: Any, pick: Any, flat: Any, width: int) -> Any:
    """Return elements of rows, or of arrays of an element a row."""
    return part[pick] if part.ndim == 1 else part[pick, flat % width]


def coarse(reading: FastReading, node: Node, rows: Indices | None) -> Approx | None:
    """Return whole rows of values in plain float64; None where that does not do."""
    products = product_means(reading, node) if node.verb == "attend" else None
    if products is not None:
        reading.sizes[node] = products[1]
        return products[0]
    source, every = node.operands[0], rows is None
    n = source.shape[-1]
    if rows is None:
        rows = np.arange(math.prod(source.shape[:-1]))
        scores = reading.whole(source).map(lambda part: part.reshape(rows.size, n))
    else:
        scores = scores_of(reading, source, rows)
    keep = None if node.attrs.keep is None else kept(node.attrs, source, rows)
    if node.verb == "attend":
        means = coarse_means(scores, keep, reading.whole(node.operands[1]), source.shape)
        if means is None:
            return None
        reading.sizes[node] = means[1]
        return means[0]
    if node.verb == "weights":
        found = coarse_weights(scores, keep)
    elif node.verb == "logsumexp":
        found = coarse_log_sums(scores, keep)
    else:
        found = None if keep is not None else coarse_log_weights(scores)
    reading.has_plain |= found is not None and (every or node.verb != "weights")
    return found


def scores_of(reading: FastReading, scores: Node, rows: Indices) -> Approx:
    """Return some rows of scores."""
    n = scores.shape[-1]
    flat = (rows[:, None] * n + np.arange(n)).reshape(-1)
    return reading.at(scores, flat).map(lambda part: part.reshape(rows.size, n))


def precise_means(reading: FastReading, node: Node) -> Approx:
    """Return all means of values, each by expansions of its products."""
    n = node.operands[0].shape[-1]
    every = np.arange(node.size)
    found = blocks(reading.kept, lambda part: exact(reading, node, part), every, n)
    return found.map(lambda part: part.reshape(node.shape))


def per_key(node: Node, found: Rows, precise: bool) -> Approx:
    """Return weights or their logarithms, (r, n)."""
    total = guarded(found).map(lambda part: part[:, None])
    if node.verb == "weights":
        value = steps.divide(None, found.powers, total)
        return with_rows(value, found, np.nan if node.attrs.empty_is_nan else 0.0, True)
    logs = logarithm(total, precise)
    gaps = steps.add(None, found.scores, Approx(-found.shift[:, None]))
    value = steps.subtract(None, gaps, logs)
    value = with_rows(value, found, np.nan, True)
    lost = ~(found.keep | found.bad[:, None] | found.empty[:, None])
    if not np.any(lost):
        return value
    special = np.zeros(value.high.shape) if value.special is None else value.special
    return Approx(value.high, value.low, value.radius, np.where(lost, -np.inf, special))


def guarded(found: Rows) -> Approx:
    """Return the sums of the exponentials, 1 for empty rows."""
    total = found.total
    high = np.where(found.empty, 1.0, total.high)
    radius = None if total.radius is None else np.where(found.empty, 0.0, total.radius)
    return Approx(high, total.low, radius)


def attended(
    reading: FastReading,
    node: Node,
    found: Rows,
    rows: Indices | None,
    pick: Indices | None,
    flat: Indices | None,
) -> Approx:
    """Return means of values: sum e_i v_i / sum e_i, the division last."""
    from exactref_core.arithmetic.fast import add_up

    values = node.operands[1]
    n, d = values.shape[-2:]
    queries = node.shape[-2]
    total = guarded(found)
    empty = np.nan if node.attrs.empty_is_nan else 0.0
    if flat is None or pick is None or rows is None:
        top = whole_products(reading, node, found)
        value = steps.divide(None, top, total.map(lambda part: part[:, None]))
        value = with_rows(value, found, empty, True)
        value = value_specials(value, found, reading.whole(values), node)
        return value.map(lambda part: part.reshape(node.shape))
    batch = (flat // d) // queries
    places = (batch * n * d + flat % d)[:, None] + np.arange(n) * d
    chosen = reading.at(values, places.reshape(-1)).map(lambda part: part.reshape(places.shape))
    terms = steps.multiply(
        None,
        found.powers.map(lambda part: part[pick]),
        Approx(chosen.high, chosen.low, chosen.radius),
    )
    picked = Rows(*(pick_row(part, pick) for part in vars(found).values()))
    value = steps.divide(None, add_up(terms, True), guarded(picked))
    value = with_rows(value, picked, empty, False)
    if chosen.special is None:
        return value
    return mixed_specials(
        value, np.where(picked.keep, chosen.special, 0.0).sum(axis=-1), picked.bad
    )


def pick_row(part: Any, pick: Indices) -> Any:
    """Return chosen rows of an array or an enclosure."""
    return part.map(lambda array: array[pick]) if isinstance(part, Approx) else part[pick]


def whole_products(reading: FastReading, node: Node, found: Rows) -> Approx:
    """Return sum e_i v_i for all outputs, (r, d), by BLAS with a radius."""
    values = reading.whole(node.operands[1])
    shape = node.operands[0].shape
    powers = found.powers.map(lambda part: part.reshape(shape))
    top, radius = filtered_matmul(powers.high, values.high)
    off = np.asarray(powers.spread)
    if np.any(off):
        radius = radius + magnitude_matmul(np.broadcast_to(off, shape), values.high)[1]
    if np.any(values.spread):
        rest = np.broadcast_to(np.asarray(values.spread), values.high.shape)
        radius = radius + magnitude_matmul(np.abs(powers.high) + off, rest)[1]
    d = node.shape[-1]
    return Approx((top + 0.0).reshape(-1, d), None, (radius * (1 + 2.0**-50)).reshape(-1, d))


def value_specials(value: Approx, found: Rows, values: Approx, node: Node) -> Approx:
    """Return means with the infinities and NaN that kept values bring, for all outputs."""
    if values.special is None:
        return value
    keep = found.keep.astype(np.float64).reshape(node.operands[0].shape)
    counts = [
        np.matmul(keep, mask.astype(np.float64)).reshape(value.high.shape)
        for mask in (values.special == np.inf, values.special == -np.inf, np.isnan(values.special))
    ]
    nan = (counts[2] > 0) | ((counts[0] > 0) & (counts[1] > 0))
    special = np.where(nan, np.nan, np.where(counts[0] > 0, np.inf, 0.0))
    special = np.where(~nan & (counts[1] > 0), -np.inf, special)
    return mixed_specials(value, special, found.bad[:, None])


def mixed_specials(value: Approx, special: Floats, bad: Bools) -> Approx:
    """Return means with the specials of their values, where their weights are good."""
    special = np.where(bad, np.nan, special)
    own = np.zeros(value.high.shape) if value.special is None else value.special
    special = np.where(special != 0, special, own)
    given = special != 0

    def wiped(part: Any) -> Any:
        return None if part is None else np.where(given, 0.0, part)

    return Approx(wiped(value.high), wiped(value.low), wiped(value.radius), special)
