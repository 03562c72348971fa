"""Row sums block by block, against rationals: radii hold, and exact sums have none."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from exactref_core.exact.block_sums import BLOCK, WIDTH, block_sums

KINDS = ("plain", "wide", "cancelling", "integers", "tiny", "huge", "zeros")


def row(kind: str, n: int) -> np.ndarray:
    rng = np.random.default_rng([KINDS.index(kind), n])
    x = rng.standard_normal(n)
    if kind == "wide":
        return np.ldexp(x, rng.integers(-300, 300, n))
    if kind == "cancelling":
        x[n // 2 : 2 * (n // 2)] = -x[: n // 2] * (1 + 2.0**-52)
    elif kind == "integers":
        return rng.integers(-1000, 1000, n).astype(np.float64)
    elif kind == "tiny":
        return np.ldexp(x, -1070)
    elif kind == "huge":
        return np.ldexp(x, 1020)
    elif kind == "zeros":
        return x * 0
    return x


def exact(values: np.ndarray) -> Fraction:
    """The sum of numbers, as what is left of it again and again, rounded once each time."""
    down = 0 if np.max(np.abs(values)) < 2.0**900 else 100
    parts: list[float] = []
    while True:
        rest = math.fsum([*np.ldexp(values, -down).tolist(), *(-part for part in parts)])
        if rest == 0:
            return sum(map(Fraction, parts), Fraction(0)) * 2**down
        parts.append(rest)


@pytest.mark.parametrize("extract", [False, True])
@pytest.mark.parametrize("n", [1, 7, WIDTH, WIDTH + 1, BLOCK + WIDTH + 5])
@pytest.mark.parametrize("kind", KINDS)
def test_radii_hold(kind: str, n: int, extract: bool) -> None:
    x = np.stack([row(kind, n), row("plain", n)])
    high, low, radius = block_sums(x, extract)
    for i, values in enumerate(x):
        if np.isfinite(radius[i]):
            found = Fraction(high[i]) + Fraction(0.0 if low is None else low[i])
            assert abs(found - exact(values)) <= Fraction(radius[i])
        else:
            assert kind == "huge"
            assert i == 0
        if extract and kind in ("integers", "zeros"):
            assert radius[0] == 0


@pytest.mark.parametrize("extract", [False, True])
@pytest.mark.parametrize("n", [5, BLOCK + 9])
@pytest.mark.parametrize("special", [np.inf, -np.inf, np.nan])
def test_nothing_is_said_of_specials(special: float, n: int, extract: bool) -> None:
    for place in (0, n - 1):
        x = row("plain", n)
        x[place] = special
        assert not np.isfinite(block_sums(x[None], extract)[2]).any()
