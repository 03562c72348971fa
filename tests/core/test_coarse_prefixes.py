"""Prefix sums of products in float32 and of chosen elements, against integers."""

from __future__ import annotations

from fractions import Fraction
from itertools import accumulate

import numpy as np
import pytest

import exactref as er
from exactref_core.arithmetic.bounds import FloatBounds
from exactref_core.exact import coarse_prefixes as coarse
from exactref_core.exact.prefix_products import (
    chosen_prefix_products,
    prefix_products,
    stacked_prefix_products,
)
from exactref_core.exact.products import magnitude_matmul
from exactref_core.registry import get_standard

UNIT = 2**1100  # of which every factor here is a multiple of the reciprocal
KINDS = ("plain", "wide", "cancelling", "sparse", "positive", "small", "large", "spread")
M, N = 40, 300


def factors(kind: str, k: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng([KINDS.index(kind), k])
    a, b = rng.standard_normal((M, k)), rng.standard_normal((k, N))
    if kind == "wide":
        a, b = (np.ldexp(x, rng.integers(-60, 60, x.shape)) for x in (a, b))
    elif kind == "cancelling" and k > 1:
        a[:, 1::2], b[1::2] = -a[:, : k - 1 : 2], b[: k - 1 : 2] * (1 + 2.0**-30)
    elif kind == "sparse":
        a, b = a * (rng.random(a.shape) < 0.1), b * (rng.random(b.shape) < 0.1)
    elif kind == "positive":
        a, b = np.abs(a), np.abs(b)
    elif kind == "small":
        a, b = np.ldexp(a, -150), np.ldexp(b, -180)
    elif kind == "large":
        a, b = np.ldexp(a, 150), np.ldexp(b, 180)
    elif kind == "spread":  # products far below float32's range beside others
        a[:, ::3], b[1::3] = np.ldexp(a[:, ::3], -140), np.ldexp(b[1::3], -160)
        b[: k // 2] = np.ldexp(b[: k // 2], -90)
    return a, b


def sums(a: np.ndarray, b: np.ndarray, i: int, j: int) -> list[Fraction]:
    """The three sums of one element."""
    pairs = zip(a[i].tolist(), b[:, j].tolist(), strict=True)
    terms = [int(Fraction(x) * UNIT) * int(Fraction(y) * UNIT) for x, y in pairs]
    spans = [terms[start : start + 32] for start in range(0, len(terms), 32)]
    found = (
        sum(map(abs, terms)),
        sum(map(abs, accumulate(terms))),
        sum(sum(map(abs, accumulate(span))) for span in spans),
    )
    return [Fraction(one, UNIT**2) for one in found]


@pytest.mark.parametrize("k", [1, 33, 200, 515])
@pytest.mark.parametrize("kind", KINDS)
def test_brackets_hold_the_sums(kind: str, k: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coarse, "MANY", 0)
    a, b = factors(kind, k)
    found = coarse.coarse_prefixes(a, b, magnitude_matmul(a, b)[1])
    assert found is not None
    rng = np.random.default_rng(k)
    rows, columns = rng.integers(0, M, 6), rng.integers(0, N, 6)
    chosen = chosen_prefix_products(a.T[:, rows], b[:, columns])
    for place, (i, j) in enumerate(zip(rows.tolist(), columns.tolist(), strict=True)):
        exact = sums(a, b, i, j)
        for (low, high), value in zip(found, exact[1:], strict=True):
            assert Fraction(low[i, j]) <= value <= Fraction(high[i, j])
            if kind != "spread":
                least = np.max(np.abs(a[i])) * np.max(np.abs(b[:, j])) * 2.0**-120
                assert high[i, j] - low[i, j] <= 2.0**-14 * float(value) + least
        for (low, high), value in zip(chosen, exact, strict=True):
            assert Fraction(low[place]) <= value <= Fraction(high[place])
            assert high[place] - low[place] <= 2.0**-33 * float(value)


def test_what_float32_does_not_tell() -> None:
    a, b = np.ones((128, 128)), np.ones((128, 128))
    total = magnitude_matmul(a, b)[1]
    assert coarse.coarse_prefixes(a, b, total) is not None
    assert coarse.coarse_prefixes(a * 2.0**250, b, total * 2.0**250) is None
    assert coarse.coarse_prefixes(a, b * 2.0**-250, total * 2.0**-250) is None
    assert coarse.coarse_prefixes(a[:64], b, total[:64]) is None
    deep = np.ones((8, coarse.DEEPEST + 1)), np.ones((coarse.DEEPEST + 1, 64))
    assert coarse.coarse_prefixes(*deep, np.ones((8, 64))) is None


@pytest.mark.parametrize(
    ("kind", "dtype"),
    [
        *((kind, np.float32) for kind in ("plain", "cancelling", "sparse", "wide", "spread")),
        ("plain", np.float64),
        ("wide", np.float64),
    ],
)
def test_ranges_are_those_of_float64_sums(
    kind: str, dtype: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every element's range is the certified one, of elements that float32 decides or does not."""
    k = 192
    a, b = (x.astype(dtype) for x in factors(kind, k))
    taken = []
    original = coarse.coarse_prefixes
    name = "exactref_core.arithmetic.whole_products.coarse_prefixes"
    monkeypatch.setattr(name, lambda *given: taken.append(1) or original(*given))
    (part,) = er.matmul(a, b).outputs["output"].parts  # type: ignore[attr-defined]
    rule = get_standard("normal")
    found = part.range_at(rule, False, None)
    assert taken
    monkeypatch.setattr(name, lambda *given: None)
    (again,) = er.matmul(a, b).outputs["output"].parts  # type: ignore[attr-defined]
    expected = again.range_at(rule, False, None)
    for mine, other in zip(found.arrays, expected.arrays, strict=True):
        assert np.array_equal(mine, other, equal_nan=True)
    for flat in np.random.default_rng(1).integers(0, M * N, 3).tolist():
        one = part.range_one(rule, False, flat)
        assert (one.low[0], one.high[0]) == (found.low[flat], found.high[flat])


def test_chosen_elements_of_batches() -> None:
    rng = np.random.default_rng(3)
    a, b = rng.standard_normal((3, 1, 20, 70)), rng.standard_normal((2, 70, 30))
    a[0, 0, 3, ::5] = 0
    (part,) = er.matmul(a, b).outputs["output"].parts  # type: ignore[attr-defined]
    bounds = FloatBounds(part.levels[0], get_standard("normal"), False, precise=True)
    flat = rng.integers(0, 3600, 50)
    flat[0] = 3 * 30 + 4
    found = bounds.at(part.source, flat).error
    for spot, place in enumerate(flat.tolist()):
        i, j, row, column = np.unravel_index(place, (3, 2, 20, 30))
        low, high = prefix_products(a[i, 0, row : row + 1], b[j][:, column : column + 1])[0]
        # n = 70: u (1 + u)^69 (M + 2 sum |t|) and (1 + u)^70 (u sum |t| + eta / 2 each)
        total = magnitude_matmul(a[i, 0, row : row + 1], b[j][:, column : column + 1])
        inside = prefix_products(a[i, 0, row : row + 1], b[j][:, column : column + 1])[1]
        least = 2.0**-53 * (max(low, inside[0]) + 3 * total[0])
        most = 2.0**-53 * (max(high, inside[1]) + 3 * total[1]) * (1 + 2.0**-45)
        assert least * (1 - 2.0**-40) <= found.low[spot] <= found.high[spot]
        assert found.high[spot] <= most * (1 + 2.0**-40)


@pytest.mark.parametrize("kind", KINDS)
def test_many_small_products_are_walked_through_as_one(kind: str) -> None:
    """Tiles of several sizes, of which the last is not full, hold the sums of each element."""
    for m, n, k in ((1, 1, 70), (2, 3, 33), (40, 60, 5)):
        a, b = factors(kind, 7 * k)
        some = np.stack([a[:m, i * k : (i + 1) * k] for i in range(7)])
        others = np.stack([b[i * k : (i + 1) * k, :n] for i in range(7)])
        found = stacked_prefix_products(some, others)
        for c in (0, 6):
            alone = prefix_products(some[c], others[c])
            wanted = sums(some[c], others[c], m - 1, n - 1)[1:]
            for mine, theirs, value in zip(found, alone, wanted, strict=True):
                low, high = (Fraction(float(end[c, m - 1, n - 1])) for end in mine)
                assert low <= value <= high
                for end, other in zip(mine, theirs, strict=True):
                    np.testing.assert_allclose(end[c], other, rtol=2.0**-40, atol=2.0**-1000)
