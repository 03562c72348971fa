"""Rows of squared deviations as arrays: each bracket holds what exact rationals give."""

from __future__ import annotations

from fractions import Fraction
from itertools import accumulate
from typing import Any

import numpy as np
import pytest

from exactref_core.arithmetic.approx import Approx
from exactref_core.arithmetic.brackets import Bracket
from exactref_core.arithmetic.deviation_rows import float_rows
from exactref_core.arithmetic.deviation_rules import error_of
from exactref_core.arithmetic.row_algebra import FloatRows, ScalarRows, Vector
from exactref_core.exact.interval import rational
from exactref_core.formats.catalogue import get_format
from exactref_core.registry import get_standard

BLOCK = 32


def rows_of(rng: np.random.Generator, kind: str, shape: tuple[int, int]) -> np.ndarray:
    x = rng.standard_normal(shape)
    if kind == "far":
        x = 1e6 + x
    if kind == "wide":
        x = np.ldexp(x, rng.integers(-300, 300, shape))
    if kind == "cancelling":
        x[:, 1::2] = -x[:, : shape[1] // 2 * 2 : 2] * (1 + 2.0**-50)
    if kind == "tiny":
        x = np.ldexp(np.rint(x * 8), -1074)
    if kind == "constant":
        x = np.repeat(x[:, :1], shape[1], axis=1)
    return x


def magnitudes(x: list[Fraction]) -> dict[str, list[Fraction]]:
    n = len(x)
    prefixes = list(accumulate(x))
    starts = [prefixes[k // BLOCK * BLOCK - 1] if k >= BLOCK else Fraction(0) for k in range(n)]
    mean = prefixes[-1] / n
    steps = [x[0], *(x[k] - prefixes[k - 1] / k for k in range(1, n))]
    found = {
        "terms": x,
        "prefixes": prefixes,
        "local": [s - b for s, b in zip(prefixes, starts, strict=True)],
        "squares": [(one - mean) ** 2 for one in x],
        "steps": steps,
    }
    return {name: [abs(one) for one in values] for name, values in found.items()}


def holds(bracket: Bracket, values: list[list[Fraction]]) -> None:
    low, high = np.asarray(bracket.low), np.asarray(bracket.high)
    for i, row in enumerate(values):
        for k, value in enumerate(row):
            assert Fraction(float(low[i, k])) <= value, (i, k)
            assert not np.isfinite(high[i, k]) or value <= Fraction(float(high[i, k])), (i, k)


@pytest.mark.parametrize("spread", [False, True])
@pytest.mark.parametrize("n", [1, 2, 31, 33, 70])
@pytest.mark.parametrize("kind", ["plain", "far", "wide", "cancelling", "tiny", "constant"])
def test_magnitudes_are_inside(kind: str, n: int, spread: bool) -> None:
    rng = np.random.default_rng([n, len(kind)])
    x = rows_of(rng, kind, (3, n))
    exact = [[Fraction(float(one)) for one in row] for row in x]
    given = Approx(x)
    if spread:
        low = x * 2.0**-60
        exact = [
            [a + Fraction(float(b)) for a, b in zip(row, lows, strict=True)]
            for row, lows in zip(exact, low, strict=True)
        ]
        given = Approx(x, low, np.zeros(x.shape))
    zero = Bracket(np.zeros(x.shape), np.zeros(x.shape))
    with np.errstate(all="ignore"):
        found = float_rows(given, zero, Bracket(np.ones(3), np.ones(3)))
    expected = [magnitudes(row) for row in exact]
    for name in ("terms", "prefixes", "local", "squares", "steps"):
        holds(getattr(found, name), [row[name] for row in expected])


@pytest.mark.parametrize("flush", [False, True])
@pytest.mark.parametrize("standard", ["normal", "any_order"])
@pytest.mark.parametrize("n", [2, 31, 33, 70])
@pytest.mark.parametrize("kind", ["plain", "far", "wide", "cancelling"])
def test_bounds_are_inside(kind: str, n: int, standard: str, flush: bool) -> None:
    """One rule, two readings: the certified bound of each row lies in the bracket of the arrays."""
    rng = np.random.default_rng([n, len(kind), flush])
    x, form = rows_of(rng, kind, (3, n)), get_format("float32")
    errors = np.abs(x) * 2.0**-20
    exact = [magnitudes([Fraction(float(one)) for one in row]) for row in x]
    totals = [sum(row["squares"]) for row in exact]
    near = np.asarray([float(total) for total in totals])
    total = Bracket(near * (1 - 2.0**-52), near * (1 + 2.0**-52))
    rule = get_standard(standard)
    with np.errstate(all="ignore"):
        row = float_rows(Approx(x), Bracket(errors, errors), total)
        found = error_of(FloatRows(), form, flush, rule, row)
    algebra = ScalarRows(200)
    for i, (parts, square) in enumerate(zip(exact, totals, strict=True)):
        vectors: dict[str, Any] = {
            name: Vector(rational(one) for one in values) for name, values in parts.items()
        }
        carried = Vector(rational(Fraction(float(one))) for one in errors[i])
        certain = type(row)(n=n, errors=carried, total=rational(square), **vectors)
        low, high = algebra.bounds(error_of(algebra, form, flush, rule, certain))
        assert found.low[i] <= float(high) * (1 + 1e-15)
        assert float(low) * (1 - 1e-15) <= found.high[i]
        assert found.high[i] <= found.low[i] * 1.001
