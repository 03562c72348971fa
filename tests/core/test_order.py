"""Comparisons of enclosures: what is decided holds for every number that they may hold."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import exactref as er
from exactref_core.arithmetic.approx import Approx
from exactref_core.arithmetic.order_fast import order, ties
from exactref_core.arithmetic.order_rules import Ties

SHAPE = (40, 4)
VALUES = [0.0, 1.0, 1.0, 2.0, -1.0, 1.7e308, -1.7e308, 5e-324]


def enclosures(rng: np.random.Generator) -> Approx:
    """Few values, so that they tie, with low words, radii, unknown numbers and specials."""
    high = rng.choice(VALUES, SHAPE)
    low = high * rng.choice([0.0, 0.0, 2.0**-54, -(2.0**-55)], SHAPE)
    radius = np.abs(high) * rng.choice([0.0, 0.0, 2.0**-53, 2.0**-3], SHAPE)
    radius = np.where(rng.random(SHAPE) < 0.05, np.inf, radius)
    special = np.where(rng.random(SHAPE) < 0.1, rng.choice([np.inf, -np.inf, np.nan], SHAPE), 0.0)
    given = special != 0
    high, low, radius = (np.where(given, 0.0, part) for part in (high, low, radius))
    high, low = (np.where(radius == np.inf, 0.0, part) for part in (high, low))
    return Approx(high, low, radius, special)


def held(rng: np.random.Generator, x: Approx) -> list[list[Any]]:
    """Numbers that enclosures may hold: ends, the middle, or between; specials as floats."""
    assert x.low is not None
    assert x.radius is not None
    assert x.special is not None
    rows = []
    for i in range(SHAPE[0]):
        row: list[Any] = []
        for j in range(SHAPE[1]):
            middle, radius = Fraction(x.high[i, j]) + Fraction(x.low[i, j]), x.radius[i, j]
            far = Fraction(10) ** 300 if radius == np.inf else Fraction(radius)
            number = middle + far * Fraction(int(rng.choice([-4, 0, 1, 4])), 4)
            row.append(float(x.special[i, j]) if x.special[i, j] != 0 else number)
        rows.append(row)
    return rows


def known(x: Approx) -> Any:
    return np.broadcast_to(x.known(), x.high.shape)


@pytest.mark.parametrize("seed", range(6))
@np.errstate(all="ignore")
def test_signs_of_differences(seed: int) -> None:
    rng = np.random.default_rng([1, seed])
    x, y = enclosures(rng), enclosures(rng)
    found = order(x, y, 2)
    for _ in range(6):
        pairs = zip(held(rng, x), held(rng, y), strict=True)
        for i, row in enumerate(zip(*pair, strict=True) for pair in pairs):
            for j, (a, b) in enumerate(row):
                wanted = 2 if a != a or b != b else (a > b) - (a < b)
                assert not known(found)[i, j] or found.high[i, j] == wanted, (a, b)
    assert known(found).mean() > 0.5


def shares(row: list[Any], rule: Ties) -> list[Fraction]:
    """What each of a row has of 1 that the largest share."""
    missing = -np.inf if rule.ignores_nan else np.inf
    keys = [(2 * missing if v != v else v, v != v) for v in row]
    rank = [(key, nan if missing > 0 else not nan) for key, nan in keys]
    best = max(rank)
    places = [i for i, one in enumerate(rank) if one == best]
    if rule.first:
        return [Fraction(i == places[0]) for i in range(len(row))]
    return [Fraction(i in places, len(places)) for i in range(len(row))]


@pytest.mark.parametrize("rule", [Ties(a, b) for a in (True, False) for b in (True, False)])
@pytest.mark.parametrize("seed", range(3))
@np.errstate(all="ignore")
def test_ties_of_rows(rule: Ties, seed: int) -> None:
    rng = np.random.default_rng([2, seed])
    x = enclosures(rng)
    found = ties(x, rule)
    for _ in range(6):
        for i, row in enumerate(held(rng, x)):
            for j, wanted in enumerate(shares(row, rule)):
                if known(found)[i, j]:
                    low = 0.0 if found.low is None else found.low[i, j]
                    radius = 0.0 if found.radius is None else found.radius[i, j]
                    off = abs(Fraction(found.high[i, j]) + Fraction(low) - wanted)
                    assert off <= Fraction(radius), (row, rule, j)
    assert known(found).mean() > 0.4


def test_sums_that_are_stored_as_one_number_may_tie() -> None:
    """1 + 2^-21 +- 0.49 ulp: further apart than either may be off, and stored as one number."""
    count = 30
    middle, part = (np.full(count, x, np.float32) for x in (1 + 2.0**-21, 0.49 * 2.0**-23))
    a, b = er.add(middle, part), er.add(middle, -part)
    grads = er.backward.maximum(np.ones(count, np.float32), a, b)
    for name, exact in (("grad_x1", 1.0), ("grad_x2", 0.0)):
        assert np.asarray(grads[name].rounded).tolist() == [exact] * count
        for stored in (0.5, 1 - exact, exact):
            output = np.full(count, stored, np.float32)
            assert np.asarray(grads[name].covers(output)).all(), (name, stored)
    apart = er.add(middle, np.float32(9 * 2.0**-23))
    sure = er.backward.maximum(np.ones(count, np.float32), apart, b)
    assert not np.asarray(sure["grad_x1"].covers(np.full(count, 0.5, np.float32))).any()
