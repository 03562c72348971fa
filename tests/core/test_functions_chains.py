"""Functions of stored results: infinities, choices near their thresholds, numbers beyond all."""

from __future__ import annotations

import numpy as np
import pytest

import exactref as er

F32 = np.float32


def test_arctan_of_a_stored_infinity() -> None:
    # Below the threshold 65520 of float16 by less than the sum's error: inf may be stored.
    total = er.sum(F32([65519.996, 0.003, 0.0009]), dtype="float16")
    assert total.may_be("+inf").tolist()
    result = er.atan(total, dtype="float32")
    for stored in (np.inf, 65504.0):
        assert np.asarray(result.covers(np.arctan(F32(stored)))).all()
    assert not np.asarray(result.covers(F32(1.5707))).any()


def test_a_number_stored_for_nan_may_have_either_sign() -> None:
    # gelu(-inf) = -inf / 2 * (1 + erf(-inf)) may be an infinity, of which the next makes one.
    once = er.gelu(er.divide(F32([0.5]), F32([-0.0])))
    assert [once.may_be(flag).tolist() for flag in ("+inf", "-inf", "nan")] == [[True]] * 3
    twice = er.gelu(once)
    assert [twice.may_be(flag).tolist() for flag in ("+inf", "-inf", "nan")] == [[True]] * 3


def test_limits_at_infinities_stored_for_nan() -> None:
    # gelu(-inf) may be an infinity, whose tanh is a number.
    once = er.gelu(er.divide(F32([0.5]), F32([-0.0])))
    for name, limits in (("tanh", (1, -1)), ("atan", (np.pi / 2, -np.pi / 2)), ("erfc", (0, 2))):
        result = getattr(er, name)(once)
        for limit in (*limits, np.nan):
            assert np.asarray(result.covers(F32([limit]))).all(), (name, limit)
        assert not np.asarray(result.covers(F32([2.5]))).any()


def test_a_library_may_stay_below_the_threshold() -> None:
    # The sum may be stored as 128: 2^128 less 5u is the largest number.
    result = er.exp2(er.add(F32([-1.0609095096588135]), F32([129.0609130859375])))
    assert np.asarray(result.covers(np.asarray([np.finfo(F32).max]))).all()
    assert np.asarray(result.covers(F32([np.inf]))).all()
    assert not np.asarray(result.covers(F32([3.4e38]))).any()


def test_the_exponential_of_a_certain_infinity() -> None:
    result = er.exp2(er.divide(F32([0.5, -0.5]), F32([0.0, 0.0])))
    assert result.may_be("nan").tolist() == [False, False]
    assert np.asarray(result.covers(F32([np.inf, 0.0]))).all()
    assert not np.asarray(result.covers(F32([5.0, 5.0]))).any()


@pytest.mark.parametrize("name", ["silu", "gelu", "mish", "softplus", "sigmoid", "elu"])
@pytest.mark.parametrize(
    "terms",
    [
        [3e38, 1e38],
        [1e30, 1e30],
        [-3e38, -3e38, 1.0],
        [-1.277999997138977, -4.490682770925814e17, -3.4410228971094636e35, 3.4410228971094636e35],
    ],
)
def test_chains_beyond_all_exponents_are_decided(name: str, terms: list[float]) -> None:
    result = getattr(er, name)(er.sum(F32(terms)))
    for standard in ("normal", "any_order"):
        for flush in (False, True):
            result.finite_range(standard, flush_to_zero=flush)
    assert result.rounded is not None


def test_of_a_positive_number_below_all_exponents() -> None:
    result = er.softplus(er.softplus(er.matmul(F32([-4.4e36]), F32([1.7e36]))))
    assert np.asarray(result.covers(F32(np.log(2)))).all()
    assert result.tolerance().tolist() < 1e-6


@pytest.mark.parametrize(
    ("beta", "threshold", "x"),
    [(0.1, 20.0, 200.0), (0.3, 1.0, np.nextafter(1 / 0.3, 0)), (3.0, 2.0, 2 / 3)],
)
@pytest.mark.parametrize("form", [np.float64, np.float32])
def test_softplus_compares_a_stored_product(beta: float, threshold: float, x: float, form) -> None:  # type: ignore[no-untyped-def]
    near = form(x) * (1 + np.arange(-8, 9).astype(form) * np.finfo(form).eps)
    y, ones = near * form(beta), np.ones_like(near)
    result = er.softplus(near, beta=beta, threshold=threshold)
    smooth = np.log1p(np.exp(y)) / form(beta)
    assert np.asarray(result.covers(np.where(y > form(threshold), near, smooth))).all()
    slope = er.backward.softplus(ones, near, beta=beta, threshold=threshold)
    sigmoid = np.exp(y) / (np.exp(y) + 1)
    assert np.asarray(slope.covers(np.where(y > form(threshold), ones, sigmoid))).all()
    # Elsewhere the choice is certain.
    far = result.tolerance().tolist()[0], result.tolerance().tolist()[-1]
    assert max(far) < 20 * np.finfo(form).eps * abs(x)


def test_a_choice_that_may_flip_moves_by_the_difference_alone() -> None:
    near = er.softplus(er.sum(F32([20.0, 1e-6, -1e-6])))
    assert near.tolerance().tolist() < 2e-5
    # Of x near 0 elu's branches differ by x^2 / 2.
    kink = er.elu(er.sum(F32([1.0, 1e-3, -1.0, -1e-3])))
    assert kink.tolerance().tolist() < 1e-6


@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
@pytest.mark.parametrize("exponent", [1e7, 1e12])
def test_angles_beyond_every_precision_are_undecided(name: str, exponent: float) -> None:
    """e^1e12 has 10^12 bits before the point: that it cannot be told is told at once."""
    angle = er.exp(np.array([exponent]))
    with pytest.raises(er.UndecidedError):
        getattr(er, name)(angle).rounded  # noqa: B018
