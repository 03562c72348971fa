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

    ``top`` is the largest score, ``total`` the place of the sum of the exponentials of the gaps,
    ``place`` that of the sum over ``count``, the number of keys at the top. What all scores of a
    row share, such as the logarithm in those of a log-softmax, is in ``top`` alone.
    """

    gaps: list[Exponent | None]
    top: Quotient
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
    scored: list[Quotient | None] = []
    for i in range(n):
        known = reading.known(scores, index * n + i) if keep[i] else -math.inf
        none = isinstance(known, float) and known == -math.inf
        scored.append(None if none else reading.value(scores, index * n + i))
    first = next((x for x in scored if x is not None), None)
    if first is None:
        return None
    less = algebra.negative(first)
    found = [
        None if x is None else algebra.algebraic_value(algebra.total([x, less])) for x in scored
    ]
    most = algebra.sums.largest({x for x in found if x is not None})
    gaps = [None if x is None else (x[0] - most[0], x[1] - most[1]) for x in found]
    top = algebra.total([first, algebra.algebraic(most)])
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
    return reading.quotients.total([row.top, log])


def log_weights(reading: AlgebraicReading, node: Node, flat: int) -> Quotient:
    """Return one score less the logarithm of the sum."""
    n = node.shape[-1]
    row = row_of(reading, node, flat // n)
    gap = None if row is None else row.gaps[flat % n]
    if row is None or gap is None:
        raise Unsupported
    algebra = reading.quotients
    log = algebra.log_of_place(row.total)
    return algebra.total([algebra.algebraic(gap), algebra.negative(log)])
