"""Norms of prefix sums against integers: every bracket holds them, and is narrow."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate
from typing import Any

import numpy as np
import pytest

from exactref_core.exact.prefix_norms import Norms, prefix_norms, product_norms

UNIT = 2**1200  # of which every number here is a multiple of the reciprocal


def squares_of(terms: Sequence[int]) -> tuple[int, int, int]:
    """The three sums of squares of integers."""
    blocks = [terms[i : i + 32] for i in range(0, len(terms), 32)]
    return (
        sum(s * s for s in accumulate(terms)),
        sum(s * s for block in blocks for s in accumulate(block)),
        sum(sum(block) ** 2 for block in blocks),
    )


def scaled(values: Any) -> list[int]:
    return [int(Fraction(float(x)) * UNIT) for x in values]


def check(found: Norms, place: Any, terms: Sequence[int], unit: int, width: float) -> None:
    for name, square in zip(vars(found), squares_of(terms), strict=True):
        low, high = (float(end[place]) for end in getattr(found, name))
        assert (Fraction(low) * unit) ** 2 <= square, name
        assert not np.isfinite(high) or square <= (Fraction(high) * unit) ** 2, name
        assert high <= low * (1 + width), name


@pytest.mark.parametrize(
    ("n", "exponent"),
    [(1, 0), (31, 0), (32, 900), (33, 0), (33, -700), (320, 900), (32_768, 0), (70_001, -700)],
)
def test_rows(n: int, exponent: int) -> None:
    rng = np.random.default_rng([n, exponent + 1000])
    rows = np.ldexp(rng.standard_normal((2, n)), exponent)
    rows[1] = np.abs(rows[1])
    found = prefix_norms(rows)
    for place, row in enumerate(rows):
        check(found, place, scaled(row), UNIT, 1e-7 if n > 32_768 else 1e-8)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_rows_of_other_formats(dtype: str) -> None:
    rows = np.random.default_rng(1).standard_normal((300, 130)).astype(dtype)
    rows[0] = np.finfo(dtype).smallest_subnormal
    found = prefix_norms(rows)
    for place in (0, 7, 299):
        check(found, place, scaled(rows[place]), UNIT, 1e-10)


def test_a_row_of_zeros_has_none() -> None:
    found = prefix_norms(np.zeros((2, 40)))
    for low, high in vars(found).values():
        assert not low.any()
        assert (high < 2.0**-500).all()


def test_rows_beyond_float64_have_a_lower_bound() -> None:
    found = prefix_norms(np.full((1, 40), 1e308))
    low, high = found.running
    assert low[0] > 1e308
    assert np.isfinite(low[0])
    assert high[0] == np.inf


@pytest.mark.parametrize("exponent", [0, -400, 300])
def test_products(exponent: int) -> None:
    rng = np.random.default_rng(exponent + 500)
    a = np.ldexp(rng.standard_normal((70, 200)), exponent)
    b = np.ldexp(rng.standard_normal((200, 260)), exponent // 2)
    a[3] *= 2.0**-100
    found = product_norms(a, b)
    for place in ((0, 0), (3, 5), (69, 259)):
        columns = scaled(a[place[0]]), scaled(b[:, place[1]])
        terms = [x * y for x, y in zip(*columns, strict=True)]
        check(found, place, terms, UNIT**2, 1e-9)
