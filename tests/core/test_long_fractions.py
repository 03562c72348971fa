"""Sums of many fractions without a short common denominator: as exact, and not as long each."""

from __future__ import annotations

from fractions import Fraction
from itertools import accumulate

import gmpy2
import numpy as np
import pytest

import exactref as er
from exactref_core.arithmetic.certified_prefixes import LAST, prefix_sums
from exactref_core.exact.interval import Interval
from exactref_core.exact.nonnegative import ScalarAlgebra
from exactref_core.exact.rationals import LONG, rational_sum, scale
from exactref_core.registry import get_standard


def fractions(n: int, bits: int) -> list[Fraction]:
    """Fractions of both signs over odd numbers of so many bits."""
    rng = np.random.default_rng([n, bits])

    def odd() -> int:
        return int.from_bytes(rng.bytes(bits // 8), "little") | 1

    return [Fraction((-1) ** (odd() % 4 // 2) * odd(), odd()) for _ in range(n)]


@pytest.mark.parametrize(("n", "bits"), [(1, 3 * LONG), (40, 64), (200, 1000)])
def test_sums_are_exact(n: int, bits: int) -> None:
    terms = fractions(n, bits)
    given = [gmpy2.mpq(x.numerator, x.denominator) for x in terms]
    total = rational_sum(given)
    assert Fraction(int(total.numerator), int(total.denominator)) == sum(terms)
    assert (scale(given) is None) == (n > 1 and n * bits > LONG)


@pytest.mark.parametrize("precision", [96, LAST])
def test_prefix_sums_are_enclosed(precision: int) -> None:
    terms = fractions(80, 1000)
    given = [gmpy2.mpq(x.numerator, x.denominator) for x in terms]
    found = prefix_sums(ScalarAlgebra(precision), given, get_standard("normal")).running
    exact = sum(abs(s) for s in accumulate(terms))
    if precision == LAST:
        assert (int(found.numerator), int(found.denominator)) == exact.as_integer_ratio()
        return
    assert isinstance(found, Interval)
    low, high = (Fraction(*end.as_integer_ratio()) for end in (found.low, found.high))
    assert low <= exact <= high
    assert high - low <= exact * Fraction(1, 2**80)


def test_the_sum_of_a_column_of_quotients() -> None:
    """Each has a denominator of its own, of a thousand bits: all of them together have 2^21."""
    rng = np.random.default_rng(3)
    g, y = (
        rng.standard_normal((2000, 1)) * 2.0 ** rng.integers(-250, 250, (2000, 1)) for _ in "gy"
    )
    x = np.array([0.75])
    column = er.backward.atan2(g, y, x)["grad_x2"]
    exact = -sum(
        Fraction(a) * Fraction(b) / (Fraction(b) ** 2 + Fraction(0.75) ** 2)
        for a, b in zip(g.ravel().tolist(), y.ravel().tolist(), strict=True)
    )
    assert column.rounded.tolist() == [float(exact)]
