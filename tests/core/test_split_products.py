"""Products of float64 matrices by slices: the enclosures hold against exact rationals."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import exactref as er
from exactref_core.arithmetic.fast import FastReading
from exactref_core.arithmetic.row_products import row_products
from exactref_core.exact.split_products import split_matmul

KINDS = ("plain", "wide", "whole range", "tiny", "huge", "float32", "integers", "full slices")


def matrix(rng: np.random.Generator, kind: str, shape: tuple[int, ...]) -> np.ndarray:
    x = rng.standard_normal(shape)
    if kind == "wide":
        return np.ldexp(x, rng.integers(-80, 80, shape))
    if kind == "whole range":
        return np.ldexp(x, rng.integers(-1060, 500, shape))
    if kind == "tiny":
        return np.ldexp(x, -530) * (rng.random(shape) < 0.7)
    if kind == "huge":
        return np.ldexp(x, 509)
    if kind == "float32":
        return x.astype(np.float32).astype(np.float64)
    if kind == "integers":
        return rng.integers(-1000, 1000, shape).astype(np.float64)
    if kind == "full slices":  # all of one sign, as large as scaling leaves them
        return np.nextafter(np.ones(shape), 0.0)
    return x


def check(a: np.ndarray, b: np.ndarray, some: int) -> float:
    """Check elements against rationals; return the largest radius over |product|."""
    with np.errstate(all="ignore"):
        high, low, radius = split_matmul(a, b)
    rng = np.random.default_rng(1)
    worst = 0.0
    for _ in range(some):
        i, j = int(rng.integers(a.shape[0])), int(rng.integers(b.shape[1]))
        value = sum(
            Fraction(x) * Fraction(y) for x, y in zip(a[i].tolist(), b[:, j].tolist(), strict=True)
        )
        h, e, r = (float(part[i, j]) for part in (high, low, radius))
        if not np.isfinite([h, e, r]).all():
            assert abs(value) > 2**1000
            continue
        assert h + e == h
        assert abs(Fraction(h) + Fraction(e) - value) <= Fraction(r)
        worst = max(worst, float(Fraction(r) / abs(value)) if value else 0.0)
    return worst


@pytest.mark.parametrize("k", [1, 2, 3, 64, 65, 700])
@pytest.mark.parametrize("kind", KINDS)
def test_enclosures_hold(kind: str, k: int) -> None:
    rng = np.random.default_rng([k, KINDS.index(kind)])
    a, b = matrix(rng, kind, (9, k)), matrix(rng, kind, (k, 8))
    check(a, b, 40)
    check(a, matrix(rng, "plain", (k, 8)), 20)


def test_how_much_is_known() -> None:
    rng = np.random.default_rng(7)
    a, b = matrix(rng, "plain", (6, 512)), matrix(rng, "plain", (512, 6))
    assert check(a, b, 36) < 2.0**-70


@pytest.mark.parametrize("kind", ["integers", "float32"])
def test_what_is_exact_has_no_radius(kind: str) -> None:
    """Numbers of few bits have no third slice."""
    rng = np.random.default_rng(3)
    a, b = (np.round(matrix(rng, kind, (4, 96)) * 2**20) / 2**20 for _ in range(2))
    assert check(a, b.T.copy(), 16) == 0.0


def test_products_of_any_rank() -> None:
    rng = np.random.default_rng(4)
    a, b = rng.standard_normal((3, 2, 5, 7)), rng.standard_normal((2, 7, 4))
    high, low, radius = split_matmul(a, b)
    for i in range(3):
        for j in range(2):
            h, e, r = split_matmul(a[i, j], b[j])
            apart = np.abs((high[i, j] - h) + (low[i, j] - e))
            assert (apart <= radius[i, j] + r).all()


def test_chosen_rows_of_views_and_batches() -> None:
    rng = np.random.default_rng(12)
    a, b = rng.standard_normal((2, 40, 300)), rng.standard_normal((1, 50, 300))
    node = er.matmul(a, b.swapaxes(1, 2)).outputs["output"].parts[0].source  # type: ignore[attr-defined]
    rows = np.array([3, 17, 39, 41, 78])
    flat = (rows[:, None] * 50 + np.arange(50)).reshape(-1)
    found = row_products(FastReading(True), node, flat)
    assert found is not None
    assert found.low is not None
    assert found.radius is not None
    for place in rng.integers(0, flat.size, 40).tolist():
        row, column = divmod(int(flat[place]), 50)
        left, right = a.reshape(-1, 300)[row].tolist(), b[0, column].tolist()
        exact = sum(Fraction(x) * Fraction(y) for x, y in zip(left, right, strict=True))
        value = Fraction(float(found.high[place])) + Fraction(float(found.low[place]))
        assert abs(value - exact) <= Fraction(float(found.radius[place]))
    assert row_products(FastReading(True), node, flat[1:]) is None
    assert row_products(FastReading(True), node, flat[:50]) is None


def test_float64_products_are_rounded_once() -> None:
    """Rows that cancel to their last bits, ties, and exact zeros, against rationals."""
    rng = np.random.default_rng(11)
    k = 64
    a, b = rng.standard_normal((24, k)), rng.standard_normal((k, 24))
    a[1::4, 1::2] = -a[1::4, ::2]
    b[1::2, 1::4] = b[::2, 1::4] * (1 + 2.0**-50)
    a[2::4] = np.round(a[2::4] * 64)
    b[:, 2::4] = np.round(b[:, 2::4] * 2.0**40)
    a[3::4], b[:, 3::4] = np.ldexp(a[3::4], -700), np.ldexp(b[:, 3::4], -350)
    rounded = er.matmul(a, b).rounded.values()
    for i in range(24):
        for j in range(24):
            pairs = zip(a[i].tolist(), b[:, j].tolist(), strict=True)
            exact = sum(Fraction(x) * Fraction(y) for x, y in pairs)
            assert rounded[i, j] == float(exact), (i, j)  # Python rounds to nearest, ties to even


def test_what_scaling_drops_is_in_the_radius() -> None:
    """An element 2^2074 below another of its row vanishes where the row is scaled."""
    for big, tiny in ((2.0**1000, 2.0**-1074), (2.0**1023, 3 * 2.0**-1074)):
        a, b = np.array([[big, tiny]]), np.array([[0.0], [1.0]])
        for left, right in ((a, b), (b.T, a.T)):
            (high,), (low,), (radius,) = (part[0] for part in split_matmul(left, right))
            assert abs(Fraction(high) + Fraction(low) - Fraction(tiny)) <= Fraction(radius)
