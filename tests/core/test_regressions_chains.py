"""Chains of many calls, and values that chains use many times."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import exactref as er
from exactref_core.evaluate.outputs import PartsOutput
from exactref_core.registry import get_standard
from exactref_core.result import Result


def part_of(result: Result) -> PartsOutput:
    """Return the only output of a result."""
    (output,) = result.outputs.values()
    assert isinstance(output, PartsOutput)
    return output


def test_a_chain_of_two_thousand_sums() -> None:
    rng = np.random.default_rng(5)
    x = np.ldexp(rng.integers(-1000, 1000, (2000, 2)), -4).astype(np.float32)
    result = er.add(x[0], x[1])
    for row in x[2:]:
        result = er.add(result, row)
    exact = [sum(map(Fraction, column)) for column in x.T.tolist()]
    assert [Fraction(v) for v in result.rounded.tolist()] == exact
    assert result.tolerance().tolist() == [0.0, 0.0]  # every partial sum is a float32 number
    assert result.normal().tolist() == [float(v) for v in exact]
    assert result.exact.value(1).midpoint.to_fraction() == exact[1]


def test_a_chain_that_certified_numbers_decide() -> None:
    rng = np.random.default_rng(6)
    result = er.sqrt(np.array([2.0]))
    exact = 2.0**0.5
    for value in rng.integers(1, 9, 300).tolist():
        result = er.add(result, np.array([float(value)]))
        exact += value
    assert result.rounded.tolist() == [pytest.approx(exact, rel=1e-15)]
    part = part_of(result).parts[0]
    assert part.round_one(0) == result.rounded.tolist()[0]
    found = part.range_one(get_standard("normal"), False, 0)
    low, high = result.finite_range()
    assert (found.low.tolist(), found.high.tolist()) == (low.tolist(), high.tolist())


def test_a_value_that_is_doubled_sixty_times() -> None:
    third = er.divide(np.array([1.0, 2.0], np.float32), np.array([3.0, 3.0], np.float32))
    stored = third.rounded.values()
    for _ in range(60):
        third = er.add(third, third)
    assert third.rounded.tolist() == (stored * 2.0**60).tolist()
    assert third.covers((stored * 2.0**60).astype(np.float32)).all()
    assert third.tolerance(flush_to_zero=True).values().all()


def test_complex_quotients_of_quotients() -> None:
    rng = np.random.default_rng(7)
    z = [rng.standard_normal(3) + 1j * rng.standard_normal(3) for _ in range(6)]
    result = er.divide(z[0], z[1])
    expected = z[0] / z[1]
    for w in z[2:]:
        result = er.divide(result, w)
        expected = expected / w
    assert result.covers(expected).all()
    assert np.allclose(result.rounded.values(), expected, rtol=1e-13)
    assert np.isfinite(result.tolerance(flush_to_zero=True).values()).all()


def test_zero_over_an_irrational_number_has_its_sign() -> None:
    root = er.negative(er.sqrt(np.array([2.0])))
    zero = er.subtract(root, root)  # 0 exactly
    for top, sign in ((np.array([0.0]), True), (np.array([-0.0]), False), (zero, True)):
        result = er.divide(top, root)
        assert result.rounded.tolist() == [0.0]
        assert np.signbit(result.rounded.values()).tolist() == [sign]
        assert np.signbit(part_of(result).parts[0].round_one(0)) == sign


@pytest.mark.parametrize("standard", ["normal", "any_order"])
@pytest.mark.parametrize("narrow", ["bfloat16", "float16", "float8_e4m3fn"])
@pytest.mark.parametrize("wide", ["float32", "float64", "bfloat16"])
def test_a_result_that_is_only_stored_again_keeps_what_its_store_rounds(
    standard: str, narrow: str, wide: str
) -> None:
    rows = np.random.default_rng(0).standard_normal((64, 8)).astype(np.float32)
    result = er.sum(rows, axis=1, dtype=narrow)
    for flush in (False, True):
        low, high = result.finite_range(standard, flush_to_zero=flush)
        for output in (low, result.rounded, high):
            stored = er.asarray(er.asarray(output.values().astype(np.float64)), wide)
            again = er.astype(result, wide)
            assert again.covers(stored, standard, flush_to_zero=flush).all()
            moved = er.astype(result.reshape(8, 8).transpose(), wide)
            turned = er.asarray(stored.values().reshape(8, 8).T.astype(np.float64))
            assert moved.covers(er.asarray(turned, wide), standard, flush_to_zero=flush).all()


@pytest.mark.parametrize("standard", ["normal", "any_order"])
def test_no_number_comes_of_a_product_that_is_infinite_in_any_order(standard: str) -> None:
    rows = [[4.0, np.inf, 2.0, -1.0, -4.0], [3.0, 2.0, 0.0, 3.0, 0.0]]
    result = er.subtract(er.prod(rows, axis=-1), er.negative([-(2.0**-540), 1.0]))
    for end in result.finite_range(standard):
        assert np.array_equal(end.values(), [np.nan, 1.0], equal_nan=True)
    may = [result.may_be(value, standard).tolist()[0] for value in ("+inf", "-inf", "nan")]
    assert may == [True, False, False]
