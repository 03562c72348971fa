"""How far pow and atan2 move over a box: its numbers, by MPFR at 300 bits, move no further."""

from __future__ import annotations

import random
from typing import Any

import gmpy2
import pytest
from gmpy2 import mpq

from exactref_core.exact.interval import Interval
from exactref_core.exact.nonnegative import ScalarAlgebra, Unbounded
from exactref_core.exact.pair_table import PAIRS
from exactref_core.exact.pairs import Box

ALGEBRA = ScalarAlgebra(128)
PRECISE = gmpy2.context(precision=300)


def number(rng: random.Random) -> Any:
    """Zeros, small integers, halves, and numbers of 53 bits around 1 and far below it."""
    sign = rng.choice([-1, 1])
    kind = rng.randrange(4)
    if kind == 0:
        return mpq(rng.choice([0, 1, 2, 3]) * sign)
    if kind == 1:
        return mpq(rng.choice([1, 3, 5]) * sign, 2)
    return mpq(sign * rng.getrandbits(53), 1 << rng.choice([50, 52, 53, 60, 90]))


def error(rng: random.Random, x: Any) -> Any:
    """Nothing, as far as 0 or beyond, 1, or a part of the number."""
    kind = rng.randrange(4)
    if kind < 2:
        return [mpq(0), abs(x) * rng.choice([1, 2])][kind]
    return mpq(1) if kind == 2 else abs(x) * mpq(rng.getrandbits(20), 1 << rng.choice([20, 40]))


def inside(rng: random.Random, x: Any, reach: Any) -> Any:
    """A number of a box: an end, the middle, an integer where there is one, or any."""
    at = x + reach * mpq(rng.choice([-1000, 0, 1000, rng.randint(-1000, 1000)]), 1000)
    whole = mpq(round(at))
    return whole if rng.random() < 0.3 and abs(whole - x) <= reach else at


def distance(value: Any, other: Any) -> Any:
    """How far a number is from an exact value, or from an enclosure of it."""
    low, high = (mpq(end) for end in ALGEBRA.ends(value))
    return max(low - other, other - high, mpq(0))


@pytest.mark.parametrize("name", ["pow", "atan2"])
@pytest.mark.parametrize("seed", range(2))
def test_numbers_of_a_box_move_no_further(name: str, seed: int) -> None:
    rng = random.Random(f"{name} {seed}")
    function, moved, missing = PAIRS[name], 0, 0
    for _ in range(400):
        x, y = number(rng), number(rng)
        reach = error(rng, x), error(rng, y)
        boxes = [Box.around(ALGEBRA, *pair) for pair in zip((x, y), reach, strict=True)]
        value = function.value(ALGEBRA, x, y)
        if isinstance(value, float) or abs(y) + reach[1] > 60:
            continue
        try:
            most, nan = function.change(ALGEBRA, *boxes, value, (False, False))
        except Unbounded:
            continue
        bound = mpq(ALGEBRA.ends(most)[1])
        for _ in range(8):
            at = [inside(rng, *pair) for pair in zip((x, y), reach, strict=True)]
            found = function.evaluate(PRECISE, *(gmpy2.mpfr(v, 0, PRECISE) for v in at))
            if gmpy2.is_nan(found):
                assert nan, (x, y, reach, at)
                missing += 1
                continue
            off = distance(value, mpq(found))
            assert off <= bound + abs(mpq(found)) / (1 << 250), (x, y, reach, at)
            moved += off > bound / 4
    assert moved > 150
    assert (missing > 50) is (name == "pow")


def test_the_bound_is_reached_by_an_enclosure_too() -> None:
    """Of a base that is an enclosure, here of 1.5 within 2^-100."""
    ends = (ALGEBRA.down.add(1.5, -(2.0**-100)), ALGEBRA.up.add(1.5, 2.0**-100))
    base = Box.around(ALGEBRA, Interval(*ends, ALGEBRA), mpq(1, 4))
    power = Box.around(ALGEBRA, mpq(3), mpq(0))
    value = PAIRS["pow"].value(ALGEBRA, base.value, mpq(3))
    most, nan = PAIRS["pow"].change(ALGEBRA, base, power, value, (False, False))
    low, high = (mpq(end) for end in ALGEBRA.ends(most))
    assert not nan
    assert low <= mpq(7, 4) ** 3 - mpq(3, 2) ** 3 <= high <= low + mpq(1, 1 << 90)
