"""Brackets of nonnegative numbers hold what they say, against fractions over the whole range."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import gmpy2
import numpy as np
import pytest

from exactref_core.arithmetic.brackets import LARGEST, Bracket, FloatAlgebra
from exactref_core.arithmetic.function_bounds import grown

ALGEBRA = FloatAlgebra()
SIZE = 600
EDGES = np.array([0.0, 2.0**-1074, 2.0**-1022, 2.0**-1000, 1.0, LARGEST])


def inside(rng: np.random.Generator) -> tuple[Bracket, list[Fraction]]:
    """Brackets, exact or wide, of all sizes, and a number in each."""
    size = np.ldexp(rng.uniform(1, 2, SIZE), rng.integers(-1080, 1024, SIZE))
    size = np.where(rng.random(SIZE) < 0.3, rng.choice(EDGES, SIZE), size)
    low = np.where(rng.random(SIZE) < 0.5, size, size * rng.choice([0.0, 0.5, 1 - 2.0**-50], SIZE))
    high = np.where(low < size, size, low)
    share = [Fraction(int(i), 7) for i in rng.integers(0, 8, SIZE)]
    ends = zip(low.tolist(), high.tolist(), share, strict=True)
    return Bracket(low, high), [Fraction(a) + (Fraction(b) - Fraction(a)) * s for a, b, s in ends]


def holds(found: Bracket, wanted: list[Fraction]) -> None:
    low, high = (np.broadcast_to(end, SIZE).tolist() for end in (found.low, found.high))
    for i, number in enumerate(wanted):
        assert Fraction(low[i]) <= number, i
        assert high[i] == np.inf or Fraction(high[i]) >= number, i


TWO: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "add": (Bracket.__add__, Fraction.__add__),
    "multiply": (Bracket.__mul__, Fraction.__mul__),
    "monus": (ALGEBRA.monus, lambda a, b: max(a - b, Fraction(0))),
    "maximum": (ALGEBRA.maximum, max),
    "minimum": (ALGEBRA.minimum, min),
}


@pytest.mark.parametrize("name", TWO)
@pytest.mark.parametrize("seed", range(4))
@np.errstate(all="ignore")
def test_steps_hold_the_exact_number(name: str, seed: int) -> None:
    rng = np.random.default_rng([17, seed])
    (a, x), (b, y) = inside(rng), inside(rng)
    bracket, exact = TWO[name]
    holds(bracket(a, b), [exact(one, other) for one, other in zip(x, y, strict=True)])


@pytest.mark.parametrize("seed", range(4))
@np.errstate(all="ignore")
def test_quotients_and_roots_hold_the_exact_number(seed: int) -> None:
    rng = np.random.default_rng([18, seed])
    (a, x), (b, y) = inside(rng), inside(rng)
    found = ALGEBRA.quotient(a, b)
    low, high = (np.broadcast_to(end, SIZE).tolist() for end in (found.low, found.high))
    for i in np.flatnonzero(np.array([bool(v) for v in y])).tolist():
        assert low[i] < np.inf
        assert Fraction(low[i]) * y[i] <= x[i]
        assert high[i] == np.inf or Fraction(high[i]) * y[i] >= x[i]
    root = ALGEBRA.sqrt(a)
    for least, most, number in zip(root.low.tolist(), root.high.tolist(), x, strict=True):
        assert Fraction(least) ** 2 <= number <= Fraction(most) ** 2


@pytest.mark.parametrize("bits", [2, 4, 8, 24, 53])
def test_powers_of_any_size_have_ends(bits: int) -> None:
    """Sums in a declared narrow format grow beyond float64: (5/4)^4000 is 2^1288."""
    unit = Fraction(1, 1 << bits)
    for exponent in (0, 1, 31, 4000):
        exact = (1 + unit) ** exponent
        for found, number in (
            (ALGEBRA.power(unit, exponent), exact),
            (ALGEBRA.power_minus_one(unit, exponent), exact - 1),
            (ALGEBRA.constant(exact / 3), exact / 3),
        ):
            assert Fraction(found.low) <= number
            if number > Fraction(LARGEST):
                assert (found.low, found.high) == (LARGEST, np.inf)
            else:
                assert number <= Fraction(found.high) <= number * (1 + Fraction(1, 1 << 50))


def test_how_far_an_exponential_moves() -> None:
    """e^d - 1 lies in its bracket, which is narrow: errors of stores in 8 bits come this far."""
    rng = np.random.default_rng(5)
    with gmpy2.context(precision=300, emin=-(10**6)):
        for top in (6, 4, 0.5, 0, -4, -20, -300, -1000, -1066):
            d = np.exp2(top - rng.uniform(0, 6, 40))
            d[0] = 2.0**top
            found = grown(d, np.ones(d.shape, bool))
            for x, low, high in zip(d.tolist(), found.low, found.high, strict=True):
                exact = gmpy2.expm1(gmpy2.mpfr(x))
                assert gmpy2.mpfr(float(low)) <= exact <= gmpy2.mpfr(float(high)), x
                assert high - low <= max(2.0**-38 * float(exact), 2.0**-1072)
    beyond = grown(np.asarray([65.0, np.inf, 0.0]), np.ones(3, bool))
    assert np.isinf(beyond.high).tolist() == [True, True, False]
    assert beyond.low[0] < 1.7e28  # below e^65 - 1
    assert beyond.low[2] == beyond.high[2] == 0
