"""Sums that were once answered wrongly or too slowly, with answers computed independently."""

from __future__ import annotations

from itertools import accumulate
from math import isqrt

import numpy as np
import numpy.typing as npt
import pytest

import exactref as er
from exactref_core.exact.prefix_sums import magnitude_sums, prefix_sums

BITS = 1200  # of a fixed point that holds every float64 number below


def fixed(values: npt.NDArray[np.float64]) -> list[int]:
    """Return float64 numbers as integers, in units of 2**-BITS."""
    found = []
    for value in values.tolist():
        top, bottom = value.as_integer_ratio()
        found.append((top << BITS) // bottom)
    return found


@pytest.mark.parametrize("n", [32768, 32769, 65567])
@pytest.mark.parametrize("kind", ["normal", "positive", "wide"])
def test_the_three_sums_of_long_rows(n: int, kind: str) -> None:
    rng = np.random.default_rng(n)
    x = rng.standard_normal(n)
    if kind == "positive":
        x = np.abs(x) * 1e-300
    elif kind == "wide":
        x = np.ldexp(x, rng.integers(-60, 60, n))
    prefixes = list(accumulate(fixed(x)))
    starts = [prefixes[k // 32 * 32 - 1] if k >= 32 else 0 for k in range(n)]
    exact = (
        sum(abs(t) for t in fixed(x)),
        sum(abs(s) for s in prefixes),
        sum(abs(s - b) for s, b in zip(prefixes, starts, strict=True)),
    )
    found = prefix_sums(x[None])
    for value, ends in zip(exact, (found.magnitudes, found.running, found.blocks), strict=True):
        low, high = fixed(np.concatenate(ends))
        assert low <= value <= high
    low, high = fixed(np.concatenate(found.running))
    assert (high - low) * 10**10 < high


@pytest.mark.parametrize("n", [0, 1, 255, 256, 6272, 100003])
def test_sums_of_magnitudes_of_long_rows_err_by_few_roundings(n: int) -> None:
    rng = np.random.default_rng(n)
    x = np.ldexp(rng.standard_normal((2, n)), rng.integers(-40, 40, (2, n)))
    for row, *ends in zip(x, *magnitude_sums(x), strict=True):
        low, high = fixed(np.asarray(ends))
        exact = sum(map(abs, fixed(row)))
        assert low <= exact <= high
        assert (high - low) * 2**52 <= (n + 8 if n < 256 else 4 * isqrt(n) + 64) * exact


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_sum_of_ten_million_terms(dtype: type) -> None:
    x = np.random.default_rng(1).standard_normal(10**7).astype(dtype)
    result = er.sum(x)
    running = np.abs(np.cumsum(x, dtype=np.float64)).sum()
    merged = np.ceil(np.log2(np.ceil(1e7 / 32))) * np.abs(x, dtype=np.float64).sum()
    unit = 2.0**-24 if dtype == np.float32 else 2.0**-53
    expected = unit * np.exp(np.log1p(unit) * (1e7 - 1)) * (running + merged)
    assert result.tolerance().tolist() == pytest.approx(expected, rel=1e-6)
    assert result.covers(x.sum()).all()


@pytest.mark.parametrize("n", [32, 33, 70])
@pytest.mark.parametrize("standard", ["normal", "any_order", "typical"])
def test_a_product_with_a_zero_is_zero_in_rows_of_any_length(n: int, standard: str) -> None:
    # The other factors' product is beyond the range, so that certified bounds are asked.
    x = np.full(n, 2.0**10, np.float32)
    x[7] = 0.0
    result = er.prod(x)
    assert result.tolerance(standard).tolist() == 0.0
    assert not result.covers(np.float32(2.0**-149), standard).tolist()
