"""Scans of whole rows at once: what is said of each element is said of the sum or product alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import exactref as er
from exactref_core.arithmetic.approx import Approx
from exactref_core.arithmetic.prefix_products import products
from exactref_core.exact.prefix_pairs import prefix_pairs
from exactref_core.result import Result
from tests.core.test_alike import same, told

LENGTHS = (1, 2, 3, 5, 31, 33, 70)
RNG = np.random.default_rng(27)
N = 70


def rows(n: int) -> Iterator[np.ndarray]:
    """Rows of ordinary numbers, of wide exponents, of integers and of tiny numbers."""
    x = RNG.standard_normal((2, n))
    yield from (x, x * 2.0 ** RNG.integers(-60, 60, x.shape), np.round(3 * x), x * 2.0**-1060)
    yield x * 2.0**-14


def number(high: Any, low: Any) -> Fraction:
    return Fraction(float(high)) + Fraction(float(low))


@pytest.mark.parametrize("n", LENGTHS)
def test_sums_are_enclosed(n: int) -> None:
    for x in rows(n):
        lows = None if n % 2 else x * 2.0**-54 * RNG.random(x.shape)
        high, low, radius = prefix_pairs(x, lows)
        assert np.array_equal(high, high + low)
        assert np.all(radius <= 2.0**-85 * np.cumsum(np.abs(x), axis=-1) + 2.0**-1060)
        for i in np.ndindex(2):
            total = Fraction(0)
            for k in range(n):
                total += number(x[i][k], 0 if lows is None else lows[i][k])
                error = abs(total - number(high[i][k], low[i][k]))
                assert error <= Fraction(radius[i][k])


@pytest.mark.parametrize("n", LENGTHS)
def test_products_are_enclosed(n: int) -> None:
    for x in rows(n):
        found = products(Approx(x))
        high, low, radius = (
            np.broadcast_to(0.0 if part is None else part, x.shape)
            for part in (found.high, found.low, found.radius)
        )
        for i in np.ndindex(2):
            product = Fraction(1)
            for k in range(n):
                product *= Fraction(x[i][k])
                if abs(product) > Fraction(1, 2**1000):
                    assert radius[i][k] <= 2.0**-50 * abs(high[i][k])
                if np.isfinite(radius[i][k]):
                    error = abs(product - number(high[i][k], low[i][k]))
                    assert error <= Fraction(radius[i][k])


def hostile(dtype: str) -> np.ndarray:
    """Rows beside each other of which some overflow, cancel, vanish or hold what is no number."""
    x = RNG.standard_normal((9, N)).astype(dtype)
    top = float(np.finfo(dtype).max)
    x[1] = 1
    x[2, ::7] = top / 4
    x[3] *= float(np.finfo(dtype).smallest_subnormal) * 4
    x[4, 40], x[4, 60] = np.inf, -np.inf
    x[5, 3:] = np.where(np.arange(N - 3) % 2, -1e4, 1e4)
    x[6, 20] = np.nan
    x[7, 10], x[8, 33] = 0.0, -0.0
    return x


def heads(scan: Callable[..., Result], alone: Callable[..., Result], x: np.ndarray) -> None:
    whole = told(scan(x, axis=-1))
    some = np.asarray([k for k in (1, 2, 3, 32, 33, 65, N) if k <= x.shape[-1]])
    parts = [told(alone(x[:, :count], axis=-1)) for count in some.tolist()]
    same([part[:, some - 1] for part in whole], [np.stack(p, -1) for p in zip(*parts, strict=True)])


def test_sums_are_those_of_heads() -> None:
    heads(er.cumulative_sum, er.sum, hostile("float32"))
    heads(er.cumulative_sum, er.sum, hostile("float64")[[1, 4, 5]])


def test_products_are_those_of_heads() -> None:
    heads(er.cumulative_prod, er.prod, hostile("float32")[[1, 4, 7], :36])


def test_sums_of_what_carries_errors() -> None:
    """Terms with errors of their own, under every standard."""
    x = hostile("float32")[[0, 3, 5, 7]]
    for standard in ("normal", "any_order", "typical"):
        scan = er.cumulative_sum(er.multiply(x, x[::-1]), axis=-1).tolerance(standard)
        for count in (1, 33, N):
            head = er.multiply(x[:, :count], x[::-1, :count])
            alone = er.sum(head, axis=-1).tolerance(standard)
            np.testing.assert_array_equal(np.asarray(scan)[:, count - 1], np.asarray(alone))
