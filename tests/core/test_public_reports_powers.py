"""Public reports of wrong results: powers, angles, log-gamma, complex exponentials."""

from __future__ import annotations

import numpy as np

import exactref as er
from tests.core.test_public_reports_functions import covered, f32


def test_a_power_an_ulp_off() -> None:  # jax: pow(2, 16)
    result = er.pow(f32(2), f32(16))
    assert result.rounded.tolist() == [65536.0]
    assert covered(result, 65535.99609375) == [True]
    assert covered(result, 65535.9) == [False]


def test_log_gamma_near_its_zeros() -> None:  # jax: gammaln(2.00001), lgamma(1)
    result = er.lgamma(f32(2.00001, 1.0))
    assert np.allclose(result.rounded.tolist(), [4.23361723278e-6, 0.0], rtol=1e-6, atol=0)
    assert covered(result, 5.722046e-6, 4.7683716e-7, standard="any_order") == [False, False]
    assert covered(result, *result.rounded.tolist()) == [True, True]


def test_angles_by_signs_of_zeros() -> None:  # highway: atan2(0, -0.0); llvm: the sign of a zero
    result = er.atan2(np.array([0.0, -(2.0**-1022)]), np.array([-0.0, 1.797e308]))
    assert result.rounded.tolist() == [np.pi, 0.0]
    assert np.signbit(np.asarray(result.rounded.values())).tolist() == [False, True]
    assert covered(result, 0.0, 0.0) == [False, True]


def test_the_exponential_of_an_infinite_corner() -> None:  # numexpr: exp(-inf - inf i)
    result = er.exp(np.array([complex(-np.inf, -np.inf)]))
    assert result.rounded.tolist() == [0]
    nan = np.array([complex(np.nan, np.nan)])
    assert not np.asarray(result.covers(nan, "any_order")).any()
    assert np.asarray(result.covers(np.array([complex(-0.0, 0.0)]))).all()
