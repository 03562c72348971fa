"""Softmax, log-softmax, log-sum-exp and attention in 700-bit MPFR, rounded through rationals.

Nothing here is shared with the package. Values are known within 2**-600 of the sum of their terms'
magnitudes. One that close to a value or a midpoint t of the output format is compared with it by
the sign of sum exp(s_i) (v_i - t), which is 0 only if it is over every group of equal scores.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import gmpy2
import numpy as np

from exactref_core.formats.catalogue import get_format
from exactref_core.formats.format import Format

CONTEXT = gmpy2.context(precision=700, emin=-(2**55), emax=2**55)
LOOSE = Fraction(1, 2**600)


@dataclass(frozen=True)
class Real:
    """A real number within ``radius`` of ``middle``.

    It is on the given side of ``edge``, or it is the mean of ``groups``: gap, sum of values and
    number of keys of each group of equal scores.
    """

    middle: Fraction
    radius: Fraction
    edge: tuple[Fraction, int] | None = None
    groups: tuple[tuple[Any, Any, int], ...] = ()

    def side(self, t: Fraction) -> int:
        """Whether the number is below (-1), at (0) or above (1) a number within the radius."""
        if self.edge is not None:
            assert self.edge[0] == t, "not decided"
            return self.edge[1]
        assert self.groups, "not decided"
        rests = [(gap, total - count * gmpy2.mpq(t)) for gap, total, count in self.groups]
        rests = [(gap, rest) for gap, rest in rests if rest != 0]
        if not rests:
            return 0
        with gmpy2.context(CONTEXT):
            top = max(gap for gap, _ in rests)  # relative to it nothing that counts underflows
            terms = [gmpy2.exp(gap - top) * rest for gap, rest in rests]
            found, size = gmpy2.fsum(terms), gmpy2.fsum([abs(x) for x in terms])
        assert abs(found) > size / 2**600, "not decided"
        return int(gmpy2.sign(found))


def fraction(x: Any) -> Fraction:
    """An MPFR number, a rational or a float as a Fraction."""
    if isinstance(x, type(gmpy2.mpfr(0))) and x != 0 and gmpy2.get_exp(x) < -5000:
        return Fraction(1, 2**5000) if x > 0 else -Fraction(1, 2**5000)
    x = gmpy2.mpq(x)
    return Fraction(int(x.numerator), int(x.denominator))


@dataclass(frozen=True)
class Row:
    """Scores of the kept keys: what equal ones share, exponentials, sum and largest score."""

    names: list[Any]
    gaps: list[Any]
    powers: list[Any]
    total: Any
    top: Any
    best: Any  # the largest score, rational if the scores are


def row_of(products: list[Any], biases: list[Any], scale: Any) -> Row:
    """A row of scores scale * product + bias; ``scale`` an mpq, or an MPFR number if irrational."""
    if isinstance(scale, type(gmpy2.mpq(0))):
        products, scale = [scale * p + b for p, b in zip(products, biases, strict=True)], 1
        biases = [gmpy2.mpq(0)] * len(products)
    names = list(zip(products, biases, strict=True))
    with gmpy2.context(CONTEXT):
        scores = [gmpy2.mpfr(scale) * p + b for p, b in names]
        best = max(range(len(names)), key=lambda i: scores[i], default=0)
        gaps = [gmpy2.mpfr(scale) * (p - names[best][0]) + (b - names[best][1]) for p, b in names]
        powers = [gmpy2.exp(g) for g in gaps]
        total = gmpy2.fsum(powers) if powers else gmpy2.mpfr(0)
        top = scores[best] if powers else gmpy2.mpfr(0)
        best_score = names[best][0] if scale == 1 and powers else top
    return Row(names, gaps, powers, total, top, best_score)


def mean(row: Row, values: list[Any]) -> Real:
    """The mean of rational values under the row's weights."""
    with gmpy2.context(CONTEXT):
        terms = [p * v for p, v in zip(row.powers, values, strict=True)]
        middle = gmpy2.fsum(terms) / row.total
        size = gmpy2.fsum([abs(t) for t in terms]) / row.total
    groups: dict[Any, tuple[Any, Any, int]] = {}
    for name, gap, value in zip(row.names, row.gaps, values, strict=True):
        _, total, count = groups.get(name, (gap, 0, 0))
        groups[name] = gap, total + value, count + 1
    return Real(fraction(middle), LOOSE * fraction(size), None, tuple(groups.values()))


def weight(row: Row, key: int) -> Real:
    """One softmax weight."""
    return mean(row, [gmpy2.mpq(int(i == key)) for i in range(len(row.names))])


def log_total(row: Row) -> Any:
    """log of the sum of exponentials; the tail beyond the largest is added with log1p."""
    best = row.gaps.index(max(row.gaps))
    rest = [p for i, p in enumerate(row.powers) if i != best]
    return gmpy2.log1p(gmpy2.fsum(rest)) if rest else gmpy2.mpfr(0)


def logsumexp(row: Row) -> Real:
    """top + log L, above a rational top unless one key is kept."""
    with gmpy2.context(CONTEXT):
        log = log_total(row)
        value, size = row.top + log, abs(row.top) + log
    return Real(
        fraction(value), LOOSE * fraction(size), (fraction(row.best), int(len(row.names) > 1))
    )


def log_weight(row: Row, key: int) -> Real:
    """gap - log L, below the gap unless one key is kept."""
    with gmpy2.context(CONTEXT):
        log = log_total(row)
        value, size = row.gaps[key] - log, abs(row.gaps[key]) + log
        edge = row.names[key][0] - row.best
    return Real(fraction(value), LOOSE * fraction(size), (fraction(edge), -int(len(row.names) > 1)))


def round_fraction(x: Fraction, form: Format, sign: int = 1) -> float:
    """Nearest, ties to even, by Python's own round() of a Fraction; IEEE overflow."""
    if x == 0:
        return 0.0 if sign > 0 else -0.0
    size = abs(x)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    if size < Fraction(2) ** exponent:
        exponent -= 1
    unit = Fraction(2) ** (max(exponent, form.emin) - form.precision + 1)
    nearest = round(size / unit) * unit
    if nearest > form.max:
        value = float("inf") if form.infinity else float("nan")
    else:
        value = float(nearest)
    return value if x > 0 else -value


def round_real(x: Real, form: Format) -> float:
    """The real number rounded once to nearest even; ties are proved or the test is in error."""
    ends = [round_fraction(x.middle + side * x.radius, form) for side in (-1, 1)]
    if ends[0] == ends[1] or np.isnan(ends).all():
        return ends[0]
    candidate = boundary(x.middle, form)
    assert abs(candidate - x.middle) <= x.radius, "not decided, and no tie is near"
    return round_fraction(candidate + x.side(candidate) * Fraction(1, 2**5000), form)


def boundary(x: Fraction, form: Format) -> Fraction:
    """The nearest multiple of half a unit in the last place."""
    if x == 0:
        return x
    size = abs(x)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    if size < Fraction(2) ** exponent:
        exponent -= 1
    unit = Fraction(2) ** (max(exponent, form.emin) - form.precision)
    nearest = round(size / unit) * unit
    return nearest if x > 0 else -nearest


@dataclass(frozen=True)
class Attention:
    """Arrays of attention inputs as float64; ``keep`` and ``bias`` of the scores' shape."""

    query: np.ndarray
    key: np.ndarray
    value: np.ndarray
    keep: np.ndarray
    bias: np.ndarray
    scale: Any

    def rows(self) -> list[tuple[Row, list[int], tuple[int, ...]]]:
        """Every row, the keys it keeps and its index."""
        found = []
        for index in np.ndindex(self.query.shape[:-1]):
            kept = np.flatnonzero(self.keep[index]).tolist()
            q = [gmpy2.mpq(float(a)) for a in self.query[index]]
            products = []
            for i in kept:
                k = [gmpy2.mpq(float(a)) for a in self.key[(*index[:-1], i)]]
                products.append(sum((a * b for a, b in zip(q, k, strict=True)), gmpy2.mpq(0)))
            biases = [gmpy2.mpq(float(self.bias[(*index, i)])) for i in kept]
            found.append((row_of(products, biases, self.scale), kept, index))
        return found

    def answer(self, output: str, lse: str) -> tuple[np.ndarray, np.ndarray, list[Real]]:
        """Rounded outputs, rounded log-sum-exps, and the outputs before rounding, flat."""
        forms = get_format(output), get_format(lse)
        d = self.value.shape[-1]
        out = np.zeros((*self.query.shape[:-1], d))
        logs = np.full(self.query.shape[:-1], -np.inf)
        reals: list[Real] = []
        for row, kept, index in self.rows():
            if not kept:
                reals += [Real(Fraction(0), Fraction(0))] * d
                continue
            logs[index] = round_real(logsumexp(row), forms[1])
            for j in range(d):
                values = [gmpy2.mpq(float(self.value[(*index[:-1], i, j)])) for i in kept]
                reals.append(mean(row, values))
                out[(*index, j)] = round_real(reals[-1], forms[0])
        return out, logs, reals


def default_scale(features: int) -> Any:
    """1 / sqrt(features): rational where it is."""
    root = gmpy2.isqrt(features)
    if root * root == features:
        return gmpy2.mpq(1, root)
    with gmpy2.context(CONTEXT):
        return 1 / gmpy2.sqrt(gmpy2.mpfr(features))
