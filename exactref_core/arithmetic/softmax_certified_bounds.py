"""Bounds of single elements of the softmax family, certified."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from exactref_core.arithmetic import rules, softmax_rules, states
from exactref_core.arithmetic.alike import each_alike
from exactref_core.arithmetic.certified import finite, number
from exactref_core.arithmetic.graph import Node
from exactref_core.arithmetic.prefixes import PrefixSums
from exactref_core.arithmetic.row_algebra import ScalarRows, Vector
from exactref_core.arithmetic.score_certified_bounds import factors_set, scaled
from exactref_core.arithmetic.softmax_caps import cap_of
from exactref_core.arithmetic.softmax_certified import (
    ScalarRow,
    key_values,
    scalar_row,
)
from exactref_core.arithmetic.softmax_rules import RowErrors
from exactref_core.exact.grid import reaches
from exactref_core.exact.interval import Interval, rational
from exactref_core.exact.nonnegative import Unbounded
from exactref_core.formats.format import Format

if TYPE_CHECKING:
    from exactref_core.arithmetic.certified_bounds import CertifiedBounds, ScalarBound

__all__ = ["bound", "factors_set", "scaled"]


@dataclass(frozen=True, eq=False)
class RowBound:
    """One row: its exact parts, the errors of its exponentials, and what its scores may be."""

    row: ScalarRow
    algebra: ScalarRows
    form: Format
    sum_form: Format
    powers: Vector
    gaps: Vector
    score_errors: Vector
    errors: RowErrors
    sets: list[int]
    n: int

    @property
    def kept_sets(self) -> list[int]:
        """The sets of the scores that take part."""
        return [s for s, g in zip(self.sets, self.row.groups, strict=True) if g is not None]


def prefixes(algebra: Any, values: list[Any], standard: Any) -> PrefixSums:
    """Return the sums over exact terms that a standard asks for."""
    from exactref_core.arithmetic.certified_prefixes import prefix_sums

    return prefix_sums(algebra, values, standard)


def row_bound(reading: CertifiedBounds, node: Node, index: int) -> RowBound:
    """Return the bound of one row, evaluated once."""
    key = (node.attrs, node.operands[0], index)
    found = reading.rows.get(key)
    if found is None:
        found = reading.rows[key] = build(reading, node, index)
    return found


def build(reading: CertifiedBounds, node: Node, index: int) -> RowBound:
    """Evaluate the errors of one row's exponentials and of their sum."""
    form, scores = node.compute, node.operands[0]
    if form is None:
        raise ValueError("softmax has a compute format")
    n = scores.shape[-1]
    row = scalar_row(reading.exact, node, index)
    algebra = ScalarRows(reading.algebra.precision)
    bounds = each_alike(scores, index * n + np.arange(n), reading.bound)
    kept = [g is not None for g in row.groups]
    zero = rational(0)
    top = algebra.maximum_of(row.gaps) if row.gaps else zero
    gaps = [algebra.subtract(top, row.gaps[g]) if g is not None else zero for g in row.groups]
    powers = Vector(row.power(i) for i in range(n))
    score_errors = Vector(b.error if k else zero for b, k in zip(bounds, kept, strict=True))
    errors = softmax_rules.row_errors(
        algebra,
        form,
        powers,
        Vector(gaps),
        score_errors,
        Vector(rational(int(k)) for k in kept),
        reading.standard,
        reading.standard.error,
        prefixes(algebra, powers.items, reading.standard),
        n,
        reading.flush,
        node.attrs.accumulator or form,
    )
    sets = [b.states for b in bounds]
    sums = node.attrs.accumulator or form
    return RowBound(row, algebra, form, sums, powers, Vector(gaps), score_errors, errors, sets, n)


def bound(reading: CertifiedBounds, node: Node, flat: int) -> ScalarBound:
    """Return the bound of a weights, log_weights, logsumexp or attend element."""
    from exactref_core.arithmetic.certified_bounds import ScalarBound
    from exactref_core.arithmetic.softmax_sets import element_set, loose

    width = 1 if node.verb == "logsumexp" else node.shape[-1]
    found = row_bound(reading, node, flat // width)
    if any(s & states.CARRIED for s in found.kept_sets):
        raise Unbounded  # exp of an infinity that an earlier call stored may be any finite value
    if loose(reading, node, flat, found):
        raise Unbounded  # any number may be stored for an infinity or NaN
    sets = element_set(reading, node, flat, found)
    zero = rational(0)
    value = reading.exact.value(node, flat)
    if found.row.empty or found.row.bad or not finite(value):
        return ScalarBound(zero, zero, sets)
    clip = None
    if node.verb == "logsumexp":
        error = lse(found, value)
    elif node.verb == "log_weights":
        error = log_weight(found, flat % width, value)
    else:
        error, clip = mean_error(reading, node, flat, found, value)
    return ScalarBound(error, error, sets, clip)


def log_of(found: RowBound) -> Any:
    """Return the error of the stored log L."""
    algebra = found.algebra
    size = algebra.absolute(algebra.log(found.row.total))
    return softmax_rules.log_error(algebra, found.form, found.row.total, size, found.errors)


def lse(found: RowBound, value: Any) -> Any:
    """Return the error of a stored log-sum-exp."""
    size = found.algebra.absolute(number(value))
    return softmax_rules.lse_error(found.algebra, found.form, size, log_of(found))


def log_weight(found: RowBound, key: int, value: Any) -> Any:
    """Return the error of a stored logarithm of a weight."""
    algebra = found.algebra
    whole = algebra.absolute(algebra.add(found.row.reference, algebra.log(found.row.total)))
    log = log_of(found)
    return softmax_rules.log_weight_error(
        algebra,
        found.form,
        algebra.absolute(number(value)),
        found.gaps.items[key],
        found.score_errors.items[key],
        log,
        softmax_rules.lse_error(algebra, found.form, whole, log),
    )


def mean_error(
    reading: CertifiedBounds, node: Node, flat: int, found: RowBound, value: Any
) -> tuple[Any, Any]:
    """Return the error of a weight or a mean of values, and the clip of its range."""
    algebra, row = found.algebra, found.row
    stored: Format | None = node.attrs.weights
    half = algebra.subtract(found.errors.total * 2, row.total)
    lost = reaches(algebra, half, rational(0))
    if node.verb == "weights":
        clip = clip_of(reading, found, rational(0), rational(1), stored)
        if row.groups[flat % found.n] is None:
            return rational(0), clip  # stored as 0, whatever the sum is
        if lost:
            return spanning(algebra, clip, value), clip
        return weight_errors(reading, found, stored).items[flat % found.n], clip
    low, high = rational(0), rational(0)
    values = key_values(reading.exact, node, flat)
    moved = value_errors(reading, node, flat)
    for v, e, g in zip(values, moved, row.groups, strict=True):
        if g is not None and finite(v):
            low = -algebra.maximum(-low, e - number(v))  # of signed numbers
            high = algebra.maximum(high, number(v) + e)
    clip = clip_of(reading, found, low, high, stored)
    if lost:
        return spanning(algebra, clip, value), clip
    return attended(
        reading, found, weight_errors(reading, found, stored), values, moved, value
    ), clip


def spanning(algebra: Any, clip: Any, value: Any) -> Any:
    """Return an error that reaches both ends of a clip."""
    span = algebra.maximum(algebra.absolute(clip[0]), algebra.absolute(clip[1]))
    return span * 2 + algebra.absolute(number(value)) * 2


def weight_errors(reading: CertifiedBounds, found: RowBound, stored: Format | None) -> Vector:
    """Return the errors of a row's stored weights, evaluated once; 0 where a key is not kept."""
    key = (found, stored)
    if key not in reading.rows:
        reading.rows[key] = errors_of_weights(reading, found, stored)
    errors: Vector = reading.rows[key]
    return errors


def errors_of_weights(reading: CertifiedBounds, found: RowBound, stored: Format | None) -> Vector:
    """Evaluate the errors of a row's stored weights."""
    algebra, row = found.algebra, found.row
    weights = found.powers.map(lambda p: algebra.divide(p, row.total))
    errors: Vector = softmax_rules.weight_errors(
        algebra, found.form, weights, row.total, found.errors, stored, reading.flush
    )
    return Vector(
        rational(0) if g is None else e for e, g in zip(errors.items, row.groups, strict=True)
    )


def value_errors(reading: CertifiedBounds, node: Node, flat: int) -> list[Any]:
    """Return the errors that the values of one mean carry."""
    values = node.operands[1]
    n, d = values.shape[-2:]
    batch = flat // d // node.shape[-2]
    return [reading.bound(values, (batch * n + i) * d + flat % d).error for i in range(n)]


def attended(
    reading: CertifiedBounds,
    found: RowBound,
    weight_error: Vector,
    values: list[Any],
    moved: list[Any],
    value: Any,
) -> Any:
    """Return the error of a mean: products with stored weights, added up, rescaled once."""
    algebra, form, row, n = found.algebra, found.form, found.row, found.n
    numbers = [number(v) if finite(v) else rational(0) for v in values]
    weights = [algebra.divide(p, row.total) for p in found.powers.items]
    errors, terms = [], []
    for i, group in enumerate(row.groups):
        terms.append(algebra.multiply(weights[i], numbers[i]) if group is not None else rational(0))
        gone = group is None or (is_zero(numbers[i]) and is_zero(moved[i]))
        if not gone:
            errors.append(
                softmax_rules.term_errors(
                    algebra,
                    form,
                    weights[i],
                    algebra.absolute(numbers[i]),
                    weight_error.items[i],
                    moved[i],
                    reading.flush,
                )
            )
    sums = prefixes(algebra, terms, reading.standard)
    carried, rule = algebra.total(errors), reading.standard.error
    total = softmax_rules.summed(
        algebra, form, found.sum_form, n, rule, sums, carried, reading.flush
    )[1]
    etas = softmax_rules.rescale_etas(form, found.sum_form, reading.standard.rescales(n))
    size = algebra.absolute(number(value))
    if softmax_rules.is_wide(form, found.sum_form):
        total = rules.rounded_step(algebra, form, size, total, 1, rules.HALF, reading.flush)
    return rules.rounded_step(algebra, form, size, total, 1, etas, reading.flush)


def is_zero(value: Any) -> bool:
    """Return whether a number is exactly 0."""
    return not isinstance(value, Interval) and value == 0


def clip_of(
    reading: CertifiedBounds, found: RowBound, low: Any, high: Any, stored: Format | None
) -> Any:
    """Return what means of values between low and high never leave: widened by what roundings and
    underflows add."""
    rescales = reading.standard.rescales(found.n)
    cap = cap_of(found.form, found.sum_form, stored, found.n, rescales, reading.flush)
    top = found.algebra.maximum(-low, high)
    if is_zero(top):
        return low, high
    wide, lost = top * rational(cap.share), rational(cap.lost)
    below, above = low - wide, high + wide
    return below if is_zero(low) else below - lost, above if is_zero(high) else above + lost
