"""Bounds of the softmax family as arrays: rows of keys, blocks of rows at a time."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from exactref_core.arithmetic import softmax_rules, states
from exactref_core.arithmetic.accumulation import join, sums_of
from exactref_core.arithmetic.approx import Approx
from exactref_core.arithmetic.bound import Bound, magnitude
from exactref_core.arithmetic.brackets import Bracket
from exactref_core.arithmetic.gathered import row_cuts
from exactref_core.arithmetic.graph import Indices, Node
from exactref_core.arithmetic.prefixes import PrefixSums
from exactref_core.arithmetic.row_algebra import FloatRows
from exactref_core.arithmetic.score_bounds import score
from exactref_core.arithmetic.softmax_fast import Rows, kept, rows_of
from exactref_core.arithmetic.softmax_least import least_bound
from exactref_core.arithmetic.softmax_steps import logarithm
from exactref_core.arithmetic.softmax_verbs import RowRule
from exactref_core.arithmetic.step_sets import threshold
from exactref_core.formats.format import Format

if TYPE_CHECKING:
    from exactref_core.arithmetic.bounds import FloatBounds

__all__ = ["RowBounds", "bound", "row_bounds", "score"]

ALGEBRA = FloatRows()
# A factor that the bounds' last digits do not show.
SHIFTED = 2.0**-40
TERMS = 1 << 18


class RowBounds:
    """What the bounds of one block of rows are made of; brackets of shape (r, n) or (r,)."""

    def __init__(self, reading: FloatBounds, node: Node, rows: Indices) -> None:
        scores = node.operands[0]
        form = node.compute
        if form is None:
            raise ValueError("softmax has a compute format")
        self.reading, self.form = reading, form
        self.sum_form: Format = node.attrs.accumulator or form
        standard = reading.standard
        self.accumulate = standard.error if reading.precise else standard.bracket
        self.n = scores.shape[-1]
        flat = (rows[:, None] * self.n + np.arange(self.n)).reshape(-1)
        shape = (rows.size, self.n)
        self.found: Rows = rows_of(reading.fast, node, rows)
        given = reading.at(scores, flat).map(lambda part: part.reshape(shape), flat.shape)
        keep = self.found.keep
        self.kept = Bracket(keep * 1.0, keep * 1.0)
        self.score_errors = masked(given.error, keep)
        self.sets = given.states
        self.unsure = given.unsure
        self.powers = magnitude(self.found.powers)
        self.total = magnitude(self.found.total)
        self.gaps = self.gaps_below_top()
        self.errors = softmax_rules.row_errors(
            ALGEBRA,
            form,
            self.powers,
            self.gaps,
            self.score_errors,
            self.kept,
            reading.standard,
            self.accumulate,
            self.prefixes(self.powers),
            self.n,
            reading.flush,
            self.sum_form,
        )
        looked_at = kept(node.attrs, scores, rows)
        self.odd = self.odd_rows(looked_at)
        if node.attrs.finite is not None:
            self.odd = self.odd | self.added_to_infinity(node.attrs, scores, rows, looked_at)

    def gaps_below_top(self) -> Bracket:
        """Return |s_i - m| with m the exact largest kept score; 0 where a key is not kept."""
        scores, keep = self.found.scores, self.found.keep
        spread = np.broadcast_to(np.asarray(scores.spread), scores.high.shape)
        slack = (np.abs(scores.high) + spread) * 2.0**-51
        below, above = scores.high - spread - slack, scores.high + spread + slack
        top_low = np.max(np.where(keep, below, -np.inf), axis=-1, keepdims=True, initial=-np.inf)
        top_high = np.max(np.where(keep, above, -np.inf), axis=-1, keepdims=True, initial=-np.inf)
        low = np.maximum((top_low - above) * (1 - 2.0**-51), 0.0)
        high = np.maximum((top_high - below) * (1 + 2.0**-51), 0.0)
        plain = scores.low is None and scores.radius is None
        if plain:  # the difference of two float64 numbers, rounded once
            gap = np.abs(
                scores.high
                - np.max(np.where(keep, scores.high, -np.inf), -1, keepdims=True, initial=-np.inf)
            )
            low, high = gap * (1 - 2.0**-52), gap * (1 + 2.0**-52)
        return masked(Bracket(low, high), keep)

    def prefixes(self, powers: Bracket) -> PrefixSums:
        """Return the prefix sums of nonnegative terms."""
        low, high = (sums_of(self.reading, end) for end in (powers.low, powers.high))
        pairs = zip(vars(low).values(), vars(high).values(), strict=True)
        return PrefixSums(*(None if a is None else Bracket(a.low, b.high) for a, b in pairs))

    def weights(self) -> Bracket:
        """Return the exact weights; 0 in rows without keys."""
        total = self.guarded_total()
        return ALGEBRA.quotient(self.powers, ALGEBRA.over(total))

    def guarded_total(self) -> Bracket:
        """Return L, 1 in rows without keys."""
        empty = self.found.empty
        return Bracket(np.where(empty, 1.0, self.total.low), np.where(empty, 1.0, self.total.high))

    def weight_errors(self, stored: Format | None) -> Bracket:
        """Return the errors of stored weights; 0 where a key is not kept."""
        found = softmax_rules.weight_errors(
            ALGEBRA,
            self.form,
            self.weights(),
            self.guarded_total(),
            self.errors,
            stored,
            self.reading.flush,
        )
        return masked(found, self.found.keep)

    def log(self) -> tuple[Bracket, Bracket]:
        """Return |log L| and the error of its stored value."""
        from exactref_core.arithmetic.softmax_fast import guarded

        size = magnitude(logarithm(guarded(self.found)))
        error = softmax_rules.log_error(ALGEBRA, self.form, self.guarded_total(), size, self.errors)
        return size, error

    def odd_rows(self, looked_at: Any) -> Any:
        """Return the rows that keep no key, or where a score looked at may be special; one that is
        certainly -inf only takes its key out."""
        odd = self.found.bad | self.found.empty | self.shifted()
        limit = threshold(self.sum_form)[0]
        if limit < threshold(self.form)[0]:
            odd = odd | ~(self.total.high + self.errors.total.high < limit)
        if self.sets is not None:
            expected = np.where(self.found.keep, states.FINITE, states.MINUS)
            odd = odd | np.any(looked_at & (self.sets != expected), axis=-1)
        if self.unsure is not None:
            odd = odd | np.any(looked_at & self.unsure, axis=-1)
        return odd

    def shifted(self) -> Any:
        """Return the rows whose shift is not their maximum, to 53 bits: what underflows is off by
        parts of the smallest numbers in units of the largest exponential, which is 1 otherwise."""
        low, high = (
            np.max(end, axis=-1, initial=0.0) for end in (self.powers.low, self.powers.high)
        )
        return (low < 1 - SHIFTED) | (high > 1 + SHIFTED)

    def added_to_infinity(self, rule: RowRule, scores: Node, rows: Indices, keep: Any) -> Any:
        """Return the rows where the -inf of a float mask may be added to +inf or NaN."""
        added = kept(replace(rule, keep=rule.finite), scores, rows) & ~keep
        odd = np.zeros(rows.size, bool)
        if self.sets is not None:
            odd = odd | np.any(added & ((self.sets & (states.PLUS | states.NAN)) != 0), axis=-1)
        if self.unsure is not None:
            odd = odd | np.any(added & self.unsure, axis=-1)
        return odd


def masked(value: Bracket, keep: Any) -> Bracket:
    """Return a quantity of kept keys, 0 elsewhere."""
    shape = keep.shape
    low, high = np.broadcast_to(value.low, shape), np.broadcast_to(value.high, shape)
    return Bracket(np.where(keep, low, 0.0), np.where(keep, high, 0.0))


def row_bounds(reading: FloatBounds, node: Node, rows: Indices) -> RowBounds:
    """Return the bounds of some rows."""
    return RowBounds(reading, node, rows)


def bound(reading: FloatBounds, node: Node, flat: Indices | None) -> Bound:
    """Return the bounds of a weights, log_weights, logsumexp or attend node."""
    from exactref_core.arithmetic.attend_bounds import attend_block

    least = least_bound(reading, node, flat) if node in reading.least else None
    if least is not None:
        return least
    places = np.arange(node.size) if flat is None else flat
    if places.size == 0 or node.operands[0].shape[-1] == 0:
        return of_nothing(reading, node, flat)
    n = node.operands[0].shape[-1]
    size = max(1, TERMS // n)
    if flat is None and node.verb == "attend":
        from exactref_core.arithmetic.attend_whole import whole_means

        means = whole_means(reading, node)
        if means is not None:
            return join(means).map(lambda part: part.reshape(node.shape), (node.size,))
    block = {"attend": attend_block, "logsumexp": lse_block}.get(node.verb, key_block)
    if block is key_block:
        cuts = row_cuts(places // n, size)
    else:
        cuts = [*range(0, places.size, size), places.size]
    parts = [block(reading, node, places[i:j]) for i, j in pairwise(cuts)]
    found = parts[0] if len(parts) == 1 else join(parts)
    if flat is not None:
        return found
    return found.map(lambda part: part.reshape(node.shape), (node.size,))


def of_nothing(reading: FloatBounds, node: Node, flat: Indices | None) -> Bound:
    """Return the bounds of rows without elements: a log-sum-exp is -inf, and nothing else is."""
    value = reading.value(node, flat)
    zero = Bracket(np.zeros(value.high.shape), np.zeros(value.high.shape))
    return Bound(zero, zero, None if value.special is None else states.of_values(value.special))


def lse_block(reading: FloatBounds, node: Node, flat: Indices) -> Bound:
    """Return the bounds of log-sum-exps."""
    row = row_bounds(reading, node, flat)
    size = magnitude(reading.fast.at(node, flat))
    error = softmax_rules.lse_error(ALGEBRA, row.form, size, row.log()[1])
    return settled(row, error, np.arange(flat.size), None)


def key_block(reading: FloatBounds, node: Node, flat: Indices) -> Bound:
    """Return the bounds of weights or their logarithms."""
    from exactref_core.arithmetic.attend_bounds import capped, clip_of

    n = node.shape[-1]
    rows, pick = np.unique(flat // n, return_inverse=True)
    row = row_bounds(reading, node, rows)
    key = flat % n

    def chosen(value: Bracket) -> Bracket:
        shape = row.found.keep.shape
        return Bracket(*(np.broadcast_to(end, shape)[pick, key] for end in (value.low, value.high)))

    if node.verb == "weights":
        error = chosen(row.weight_errors(node.attrs.weights))
        whole = np.zeros(flat.shape), np.ones(flat.shape)
        clip = clip_of(row, whole, whole, node.attrs.weights)
        error = capped(row, error, pick, clip, magnitude(reading.fast.at(node, flat)))
        # What is stored for a key that is not kept is 0, whatever the sum is.
        return settled(row, masked(error, row.found.keep[pick, key]), pick, clip)
    log = row.log()[1]
    lse_size = magnitude(logs_of_rows(row))
    lse = softmax_rules.lse_error(ALGEBRA, row.form, lse_size, log)
    sizes = magnitude(reading.fast.at(node, flat))
    over = [Bracket(b.low[pick], b.high[pick]) for b in (log, lse)]
    error = softmax_rules.log_weight_error(
        FlatRows(), row.form, sizes, chosen(row.gaps), chosen(row.score_errors), *over
    )
    found = settled(row, error, pick, None)
    lost = ~row.found.keep[pick, key]
    if not np.any(lost):
        return found
    sets = np.where(lost, states.MINUS, states.FINITE).astype(np.uint8)
    return Bound(error, error, sets, found.unsure, None)


class FlatRows(FloatRows):
    """Elements whose row's quantities are already spread out."""

    def over(self, value: Bracket) -> Bracket:
        """Return the quantity as it is."""
        return value


def logs_of_rows(row: RowBounds) -> Approx:
    """Return m + log L of each row."""
    from exactref_core.arithmetic import fast_steps as steps
    from exactref_core.arithmetic.softmax_fast import guarded

    return steps.add(None, logarithm(guarded(row.found)), Approx(row.found.shift))


def settled(row: RowBounds, error: Bracket, pick: Indices, clip: Any) -> Bound:
    """Return a bound with its sets: finite in plain rows, else left to the certified reading."""
    if not np.any(row.odd):
        return Bound(error, error, None, None, clip)
    unsure = row.odd[pick]
    sets = np.full(unsure.shape, states.FINITE, np.uint8)
    return Bound(error, error, sets, unsure, clip)
