"""Rows of scores as exponents, and what weights make of them: quotients of sums of exponentials."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from exactref_core.arithmetic.graph import Node
from exactref_core.arithmetic.softmax_fast import kept
from exactref_core.exact.exponential_quotients import Quotient
from exactref_core.exact.exponential_sums import Exponent, Unsupported
from exactref_core.exact.interval import rational

if TYPE_CHECKING:
    from exactref_core.arithmetic.algebraic_reading import AlgebraicReading

__all__ = ["attend", "less_mean", "log_weights", "logsumexp", "weights"]


@dataclass(frozen=True, eq=False)
class AlgebraicRow:
    """One row of scores: each key's exponent less the largest (None: not kept), and their sums.

    ``total`` is the place of the sum of their exponentials, ``place`` that of the sum over
    ``count``, the number of keys at the top.
    """

    gaps: list[Exponent | None]
    top: Exponent
    count: Any
    total: int
    place: int


def row_of(reading: AlgebraicReading, node: Node, index: int) -> AlgebraicRow | None:
    """Return one row of a node's scores, evaluated once; None where it keeps no key."""
    key = (node.attrs, node.operands[0], index)
    if key not in reading.rows:
        reading.rows[key] = build_row(reading, node, index)
    found: AlgebraicRow | None = reading.rows[key]
    return found


def build_row(reading: AlgebraicReading, node: Node, index: int) -> AlgebraicRow | None:
    """Evaluate one row of scores."""
    scores, algebra = node.operands[0], reading.quotients
    n = scores.shape[-1]
    keep: list[bool] = kept(node.attrs, scores, np.asarray([index]))[0].tolist()
    found: list[Any] = []
    for i in range(n):
        known = reading.known(scores, index * n + i) if keep[i] else -math.inf
        if isinstance(known, float) and known == -math.inf:
            found.append(None)
        else:
            found.append(algebra.algebraic_value(reading.value(scores, index * n + i)))
    some = {x for x in found if x is not None}
    if not some:
        return None
    top = algebra.sums.largest(some)
    gaps = [None if x is None else (x[0] - top[0], x[1] - top[1]) for x in found]
    many = Counter(gap for gap in gaps if gap is not None)
    counts = {gap: rational(c) for gap, c in many.items()}
    count = counts[(rational(0), rational(0))]
    place = algebra.place({gap: c / count for gap, c in counts.items()})
    total = algebra.place(counts)
    return AlgebraicRow(gaps, top, count, total, place)


def mean(reading: AlgebraicReading, row: AlgebraicRow, values: list[Quotient | None]) -> Quotient:
    """Return sum e**gap value over the sum of e**gap, of the values that are given."""
    algebra = reading.quotients
    groups: dict[Exponent, list[Quotient]] = {}
    for gap, value in zip(row.gaps, values, strict=True):
        if gap is not None and value is not None:
            groups.setdefault(gap, []).append(value)
    terms = [
        algebra.multiply(
            algebra.over(algebra.sums.monomial(1 / row.count, gap), row.place),
            algebra.total(some),
        )
        for gap, some in groups.items()
    ]
    return algebra.total(terms)


def weights(reading: AlgebraicReading, node: Node, flat: int) -> Quotient:
    """Return one weight."""
    n = node.shape[-1]
    row = row_of(reading, node, flat // n)
    if row is None:
        raise Unsupported
    one = reading.quotients.constant(1)
    return mean(reading, row, [one if i == flat % n else None for i in range(n)])


def attend(reading: AlgebraicReading, node: Node, flat: int) -> Quotient:
    """Return one mean of values."""
    values = node.operands[1]
    n, d = values.shape[-2:]
    row, batch = row_of(reading, node, flat // d), flat // d // node.shape[-2]
    if row is None:
        raise Unsupported
    gaps = row.gaps
    return mean(
        reading,
        row,
        [
            None if gap is None else reading.value(values, (batch * n + i) * d + flat % d)
            for i, gap in enumerate(gaps)
        ],
    )


def less_mean(reading: AlgebraicReading, node: Node, flat: int) -> Quotient:
    """Return x_i - sum w_j x_j, as (x_i sum e**gap - sum e**gap x) / sum e**gap."""
    _, x, weights = node.operands
    n, algebra = node.shape[-1], reading.quotients
    row = row_of(reading, weights, flat // n)
    if row is None:
        raise Unsupported
    key = (node, flat // n)
    if key not in reading.rows:
        start = flat - flat % n
        values = [
            None if gap is None else reading.value(x, start + i) for i, gap in enumerate(row.gaps)
        ]
        reading.rows[key] = mean(reading, row, values)
    found: Quotient = reading.rows[key]
    whole = algebra.over(algebra.table[row.place], row.place)
    own = algebra.multiply(reading.value(x, flat), whole)
    return algebra.total([own, algebra.negative(found)])


def logsumexp(reading: AlgebraicReading, node: Node, flat: int) -> Quotient:
    """Return the logarithm of one sum of exponentials."""
    row = row_of(reading, node, flat)
    if row is None:
        raise Unsupported
    return log_total(reading, row)


def log_total(reading: AlgebraicReading, row: AlgebraicRow) -> Quotient:
    """Return the logarithm of one row's sum."""
    log = reading.quotients.log_of_place(row.total)
    return reading.quotients.total([reading.quotients.algebraic(row.top), log])


def log_weights(reading: AlgebraicReading, node: Node, flat: int) -> Quotient:
    """Return one score less the logarithm of the sum."""
    n = node.shape[-1]
    row = row_of(reading, node, flat // n)
    gap = None if row is None else row.gaps[flat % n]
    if row is None or gap is None:
        raise Unsupported
    algebra = reading.quotients
    score = algebra.algebraic((gap[0] + row.top[0], gap[1] + row.top[1]))
    return algebra.total([score, algebra.negative(log_total(reading, row))])
