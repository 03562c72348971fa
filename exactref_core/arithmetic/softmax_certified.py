"""The certified reading of the softmax family, with ties decided by algebra.

Keys whose scores are equal are grouped. By the Lindemann-Weierstrass theorem the exponentials of
different algebraic scores are linearly independent over the algebraic numbers, so that a mean of
rational values under softmax weights is the rational number t exactly where sum (v_i - t) = 0
within each group: where the groups' own means all are t.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from exactref_core.arithmetic.certified import Scalar, finite, number
from exactref_core.arithmetic.graph import Node
from exactref_core.arithmetic.softmax_fast import kept
from exactref_core.arithmetic.softmax_verbs import Scale
from exactref_core.arithmetic.traversal import FIRST
from exactref_core.exact.interval import Interval, Number, opened, rational
from exactref_core.exact.nonnegative import ScalarAlgebra

if TYPE_CHECKING:
    from exactref_core.arithmetic.certified import CertifiedReading

__all__ = ["ScalarRow", "exact", "scalar_row", "scaled", "scaled_value"]


# Elementwise steps that are followed in search of equal scores, and how many of them.
FOLLOWED = ("scaled", "add", "subtract", "multiply", "divide", "negative", "sqrt", "function")
ROOM = 8


@dataclass(frozen=True, eq=False)
class ScalarRow:
    """One row: its scores, the group of each key (None: not kept), and each group's exponential.

    ``firsts``, ``gaps`` and ``powers`` are, for each group, its first key, score - reference and
    its exponential; ``total`` is the sum over keys. ``bad``: a kept score is NaN or +inf; ``nan``:
    one is NaN.
    """

    scores: list[Scalar]
    groups: list[int | None]
    firsts: list[int]
    gaps: list[Number]
    powers: list[Number]
    reference: Number
    total: Number
    bad: bool
    nan: bool

    @property
    def empty(self) -> bool:
        """Whether the row keeps no key."""
        return not self.powers

    def power(self, key: int) -> Number:
        """Return the exponential of one key, 0 where it is not kept."""
        group = self.groups[key]
        return rational(0) if group is None else self.powers[group]


def scaled_value(arithmetic: ScalarAlgebra, scale: Scale) -> Number:
    """Return a scale."""
    size = rational(abs(scale.value))
    size = arithmetic.sqrt(size) if scale.root else size
    return -size if scale.value < 0 else size


def scaled(arithmetic: ScalarAlgebra, attrs: Scale, *operands: Scalar) -> Scalar:
    """scale * product + bias."""
    from exactref_core.arithmetic.certified import add, multiply

    result = multiply(arithmetic, None, operands[0], scaled_value(arithmetic, attrs))
    return result if len(operands) == 1 else add(arithmetic, None, result, operands[1])


def identity(
    reading: CertifiedReading, scores: Node, flat: int, value: Scalar, room: int = ROOM
) -> Any:
    """Return what equal scores have in common and different ones do not, as far as is known.

    Rational scores are compared as they are. With an irrational scale, c p + b = c q + d for
    rational p, q, b, d exactly where p = q and b = d. What the same steps make of the same numbers
    is the same number. Anything else is equal to itself only.
    """
    if not isinstance(value, Interval):
        return number(value)
    verb, operands = scores.verb, scores.operands
    if verb == "view":
        source = int(scores.attrs.gather(np.asarray([flat]))[0])
        return identity(reading, operands[0], source, value, room)
    if verb in FIRST:
        return identity(reading, operands[0], flat, value, room)
    if verb not in FOLLOWED or room == 0:
        return (id(scores), flat)
    values = [reading.value(x, flat) for x in operands]
    if not all(finite(part) for part in values):
        return (id(scores), flat)
    parts = zip(operands, values, strict=True)
    return (verb, id(scores.attrs), *(identity(reading, x, flat, v, room - 1) for x, v in parts))


def gap(reading: CertifiedReading, scores: Node, flat: int, other: int) -> Number:
    """Return score - other score, exact where an irrational scale cancels."""
    values = [reading.value(scores, flat), reading.value(scores, other)]
    if scores.verb == "scaled" and any(isinstance(v, Interval) for v in values):
        pairs = [[reading.value(x, i) for i in (flat, other)] for x in scores.operands]
        if not any(isinstance(v, Interval) for pair in pairs for v in pair):
            rests = [number(first) - number(second) for first, second in pairs]
            scale = scaled_value(reading.arithmetic, scores.attrs)
            moved = rational(0) if rests[0] == 0 else reading.arithmetic.multiply(scale, rests[0])
            return moved + rests[1] if len(rests) > 1 else moved
    return reading.arithmetic.subtract(number(values[0]), number(values[1]))


def scalar_row(reading: CertifiedReading, node: Node, row: int) -> ScalarRow:
    """Return one row of a node's scores, evaluated once."""
    scores = node.operands[0]
    key = (node.attrs, scores, row)
    found = reading.rows.get(key)
    if found is None:
        found = reading.rows[key] = build_row(reading, node, row)
    return found


def build_row(reading: CertifiedReading, node: Node, row: int) -> ScalarRow:
    """Evaluate one row of scores."""
    scores = node.operands[0]
    n = scores.shape[-1]
    values = reading.values(scores, row * n + np.arange(n))
    keep = kept(node.attrs, scores, np.asarray([row]))[0].tolist()
    bad = any(k and not finite(v) and v != -math.inf for k, v in zip(keep, values, strict=True))
    nan = any(k and not finite(v) and math.isnan(v) for k, v in zip(keep, values, strict=True))
    keep = [k and finite(v) for k, v in zip(keep, values, strict=True)]
    best = largest(values, keep)
    groups: list[int | None] = []
    known: dict[Any, int] = {}
    firsts: list[int] = []
    gaps: list[Number] = []
    counts: list[int] = []
    for i, value in enumerate(values):
        if not keep[i]:
            groups.append(None)
            continue
        name = identity(reading, scores, row * n + i, value)
        if name not in known:
            known[name] = len(gaps)
            firsts.append(i)
            gaps.append(gap(reading, scores, row * n + i, row * n + best))
            counts.append(0)
        groups.append(known[name])
        counts[known[name]] += 1
    powers = [reading.arithmetic.exp(x) for x in gaps]
    total = reading.arithmetic.total([p * c for p, c in zip(powers, counts, strict=True)])
    reference = number(values[best]) if gaps else rational(0)
    return ScalarRow(values, groups, firsts, gaps, powers, reference, total, bad, nan)


def largest(values: list[Scalar], keep: list[bool]) -> int:
    """Return a key whose score is about the largest; any of them would do as the reference.

    Scores are compared as they are: products of float64 numbers may be beyond all of them.
    """
    best, size = 0, None
    for i, value in enumerate(values):
        if keep[i]:
            x = number(value)
            near = x.low if isinstance(x, Interval) else x
            if size is None or near > size:
                best, size = i, near
    return best


def exact(reading: CertifiedReading, node: Node, flat: int) -> Scalar:
    """Return one value of a weights, log_weights, logsumexp or attend node."""
    width = 1 if node.verb == "logsumexp" else node.shape[-1]
    row = scalar_row(reading, node, flat // width)
    arithmetic = reading.arithmetic
    if row.bad:
        return math.nan
    if node.verb == "logsumexp":
        if row.empty:
            return -math.inf
        return arithmetic.add(row.reference, arithmetic.log(row.total))
    if node.verb == "log_weights":
        group = row.groups[flat % width]
        if group is None:
            return math.nan if row.empty else -math.inf
        return arithmetic.subtract(row.gaps[group], arithmetic.log(row.total))
    if row.empty:
        return math.nan if node.attrs.empty_is_nan else rational(0)
    if node.verb == "weights":
        group = row.groups[flat % width]
        if group is None:
            return rational(0)
        first = row.firsts[group]
        if first != flat % width:  # the same number as that of another key with its score
            return reading.value(node, flat - flat % width + first)
        if group != row.powers.index(1):
            return arithmetic.divide(row.powers[group], row.total)
        # The reference's own weight, as 1 over its group less what the others have.
        chosen = [rational(int(i == first)) for i in range(width)]
        return mean(arithmetic, row, chosen)
    return mean_of_values(reading, node, flat, row)


def mean_of_values(reading: CertifiedReading, node: Node, flat: int, row: ScalarRow) -> Scalar:
    """Return one mean of values; infinities and NaN among the kept ones decide by IEEE rules."""
    values = key_values(reading, node, flat)
    specials = [
        v for v, g in zip(values, row.groups, strict=True) if g is not None and not finite(v)
    ]
    if specials:
        return sum(specials)
    return mean(reading.arithmetic, row, [number(v) if finite(v) else rational(0) for v in values])


def key_values(reading: CertifiedReading, node: Node, flat: int) -> list[Scalar]:
    """Return the values that one output averages."""
    values = node.operands[1]
    n, d = values.shape[-2:]
    batch = flat // d // node.shape[-2]
    return [reading.value(values, (batch * n + i) * d + flat % d) for i in range(n)]


def mean(arithmetic: ScalarAlgebra, row: ScalarRow, values: list[Number]) -> Number:
    """Return the mean of values under a row's weights, rational where all groups' means agree."""
    sums: list[list[Number]] = [[] for _ in row.powers]
    for value, group in zip(values, row.groups, strict=True):
        if group is not None:
            sums[group].append(value)
    totals = [arithmetic.total(group) for group in sums]
    means = [
        None if isinstance(t, Interval) else t / len(g) for t, g in zip(totals, sums, strict=True)
    ]
    if means[0] is not None and all(m == means[0] for m in means):
        return means[0]
    first = row.powers.index(1)
    middle = means[first]
    if middle is None:
        terms = zip(row.powers, totals, strict=True)
        return arithmetic.divide(
            arithmetic.total([arithmetic.multiply(p, t) for p, t in terms]), row.total
        )
    rests = [arithmetic.subtract(t, middle * len(g)) for t, g in zip(totals, sums, strict=True)]
    return middle + arithmetic.divide(distance(arithmetic, row, rests), row.total)


def distance(arithmetic: ScalarAlgebra, row: ScalarRow, rests: list[Number]) -> Number:
    """Return sum exp(gap) rest over groups; 0 is an open end where only its sign is certain.

    The sign is that of the sum divided by its largest exponential: exp(-1e20) is below all that
    enclosures tell from 0, but exp(-1e20) - exp(-2e20) is positive.
    """
    top = arithmetic.total(
        [arithmetic.multiply(p, r) for p, r in zip(row.powers, rests, strict=True)]
    )
    if not isinstance(top, Interval) or top.low > 0 or top.high < 0:
        return top
    known = [
        (gap, r)
        for gap, r in zip(row.gaps, rests, strict=True)
        if isinstance(r, Interval) or r != 0
    ]
    largest_gap = known[0][0]
    for gap, _ in known:
        largest_gap = arithmetic.maximum(largest_gap, gap)
    scaled = arithmetic.total(
        [
            arithmetic.multiply(arithmetic.exp(arithmetic.subtract(gap, largest_gap)), r)
            for gap, r in known
        ]
    )
    low, high = arithmetic.ends(scaled)
    if low <= 0 <= high:
        return top
    zero = 0 * top.low
    low, high = (zero, top.high) if low > 0 else (top.low, zero)
    return opened(low, high, arithmetic, True, True)
