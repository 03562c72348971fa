"""Public reports of wrong results: scans, norms, losses, functions, casts, gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import exactref as er

INF, NAN = np.inf, np.nan


def f32(*values: float) -> np.ndarray:
    return np.float32(values)


def covered(result: Any, *output: float, standard: str = "normal") -> list[bool]:
    """Which elements of an output a correct implementation may return."""
    given = er.asarray(list(output), result.dtype).reshape(*result.shape)
    found: list[bool] = np.asarray(result.covers(given, standard)).reshape(-1).tolist()
    return found


def test_scans_in_a_narrow_accumulator() -> None:  # pytorch: cumsum of float16
    result = er.cumulative_sum(er.asarray([2048.0, 1, 1, 1], "float16"))
    assert result.rounded.tolist() == [2048, 2048, 2050, 2052]
    assert covered(result, 2048, 2048, 2048, 2048) == [True, True, False, False]
    result = er.cumulative_sum(f32(*[1e-5] * 6))
    # A block that starts anew.
    assert covered(result, *f32(1e-5, 2e-5, 3e-5, 1e-5, 2e-5, 3e-5).tolist())[3:] == [False] * 3


def test_variances_that_cancel_and_overflow() -> None:
    result = er.var(f32(2281.5, 2281.25), correction=1)
    assert result.rounded.tolist() == 0.03125
    assert covered(result, 0.0, standard="any_order") == [False]
    large = f32(1.4061e38, -5.5003e36, 9.9729e36, 1.3677e38, -6.5232e37)
    assert covered(er.var(large), INF) == [True]
    # The squares underflow in float32, so that 0 is what two correct passes give; in float64 no.
    assert covered(er.std(f32(1e-30, 3e-30), correction=1), 0.0) == [True]
    assert covered(er.std(np.array([1e-30, 3e-30]), correction=1), 0.0) == [False]
    assert er.var([3.0, 0, 1, 2]).rounded.tolist() == 1.25
    assert er.var([3.0, 0, 1, 2], correction=1).rounded.tolist() == 5 / 3


def test_a_norm_whose_squares_overflow() -> None:  # pytorch: norm of 1e20
    result = er.vector_norm(f32(1e20, 1, 1))
    assert result.rounded.tolist() == np.float32(1e20)
    assert covered(result, INF) == [True]  # of the plain root of a dot product
    assert covered(result, 0.0) == [False]


def test_logsumexp_of_nothing_but_negative_infinities() -> None:
    result = er.logsumexp(f32(-INF, -INF))
    assert covered(result, -INF) == [True]
    assert covered(result, NAN) == [False]


def test_losses_and_their_logarithms() -> None:
    assert covered(er.log_softmax(f32(88.72284)), -INF) == [False]  # exp overflows, not the loss
    result = er.cross_entropy(f32(1e8, 1e8), np.int64(1))
    assert result.rounded.tolist() == np.float32(np.log(2))
    # x - (max + log 2) loses log 2 beside 1e8: it is one of the formulas, and says so.
    assert result.tolerance().tolist() > 5
    scores = er.asarray(np.zeros((1, 300), np.float32))
    grad = er.backward.log_softmax(np.ones((1, 300), np.float32), scores)
    assert not grad.may_be("nan").any()
    assert covered(er.softplus(er.asarray([1.0], "float16"), beta=1e-6), INF) == [True]


def test_layer_norm_by_the_mean_of_squares() -> None:  # one-pass variance below 0
    result = er.layer_norm(f32(40000, 40001, 40002, 40003))
    assert covered(result, *[NAN] * 4, standard="any_order") == [False] * 4
    np.testing.assert_allclose(result.rounded, [-1.3416, -0.4472, 0.4472, 1.3416], 1e-4)
    result = er.layer_norm(f32(256, 256, 255.9375))
    assert covered(result, NAN, NAN, NAN) == [False] * 3


def test_batch_norm_in_a_narrow_format() -> None:
    x = er.asarray([[4.03125], [4.0625]], "bfloat16")
    result = er.batch_norm(x, training=True)
    assert result.rounded.tolist() == [[-0.98046875], [0.98046875]]
    assert covered(result, NAN, NAN) == [False, False]
    gone = er.batch_norm(er.asarray([[INF], [1.0]], "float16"), training=True)
    assert covered(gone, NAN, NAN) == [True, True]  # inf - inf


def test_addmm_does_not_read_what_beta_0_leaves_out() -> None:
    one = f32(1).reshape(1, 1)
    result = er.addmm(f32(NAN), one, one, beta=0)
    assert result.rounded.tolist() == [[1.0]]
    assert covered(result, NAN) == [False]


def test_gradients_of_sigmoid_from_the_input() -> None:
    # s (1 - s) from a stored s loses all of 1 - s; as a function of x that is what steps give.
    result = er.backward.sigmoid(f32(1, 1, 1, 1), f32(5, 10, 16.75, 85))
    assert covered(result, 0.006648033, 4.535708e-5, 0, 0) == [True] * 4
    exact = (0.00664805667079, 4.53958077360e-5, 5.31578468927e-8, 1.2160992993e-37)
    np.testing.assert_allclose(result.rounded, exact, 1e-6)
    assert covered(result, 0.0066, 4.5e-5, 1e-6, 1e-6) == [False] * 4


def test_gelu_far_below_zero() -> None:
    result = er.gelu(f32(-4, -5, -6), approximate="tanh")
    exact = (-7.02459481924e-5, -2.29179619663e-7, -8.43964670076e-11)
    np.testing.assert_allclose(result.rounded, exact, 1e-6)
    # 1 + tanh cancels: right to about u |x|, and not relatively.
    assert covered(result, -7.0214e-5, -2.9802e-7, 0) == [True] * 3
    assert covered(result, -7.2e-5, -2e-6, 2e-6) == [False] * 3


def test_tanh_and_erf() -> None:
    assert covered(er.tanh(f32(8.83)), 1.0000001192) == [True]  # 2.7 ulp, of 2.5 allowed, rounded
    assert covered(er.tanh(f32(8.83)), 1.000001) == [False]
    assert covered(er.erf(f32(1e-8, 1e-7, 1e-5)), 0, 0, 1.1086e-5) == [False] * 3
    assert covered(er.erf(f32(INF, -INF)), NAN, NAN) == [False, False]
    assert er.erf(f32(INF, -INF)).rounded.tolist() == [1.0, -1.0]
    inverse = er.erfinv(f32(1 - 2**-24))
    assert inverse.rounded.tolist() == [np.float32(3.83250690)]
    assert covered(inverse, INF) == [False]


def test_log1p_that_is_129_ulps_off() -> None:
    result = er.log1p(np.array([-0.4141892]))
    assert covered(result, -0.53475840843205963057 + 1.43e-14) == [False]


@pytest.mark.parametrize(
    ("name", "returned", "right"),
    [("exp", 169984, 162816), ("log", 2.46875, 2.484375), ("cos", 0.84765625, 0.84375)],
)
def test_bfloat16_functions(name: str, returned: float, right: float) -> None:
    result = getattr(er, name)(er.asarray([12.0], "bfloat16"))
    assert result.rounded.tolist() == [right]
    assert covered(result, returned) == [False]


def test_arguments_that_are_reduced_badly() -> None:
    assert covered(er.sin(f32(-3.1415)), 0.27539) == [False]
    np.testing.assert_allclose(er.sin(f32(-3.1415)).rounded, -9.26574043579e-5, 1e-7)
    # The angle of a position that bfloat16 rounds.
    assert covered(er.cos(np.array([3546.12390416])), 0.42384) == [False]


def test_reciprocal_roots() -> None:
    assert covered(er.rsqrt(f32(2.0**-126, 2.0**-126)), 1.383168e19, 9.223372e18) == [False, True]
    result = er.rsqrt(er.asarray([0.53125], "bfloat16"))
    assert covered(result, 1.375) == [True]
    assert covered(result, 1.3671875) == [False]  # the root was stored in bfloat16
    assert covered(er.rsqrt(np.array([5e-324])), INF) == [False]


def test_nan_that_is_swallowed() -> None:
    nan = f32(NAN)
    assert covered(er.sigmoid(nan), 4.156e-39) == [False]
    assert covered(er.tanh(nan), 1.0) == [False]
    assert covered(er.relu(nan), 0.0) == [False]
    assert covered(er.maximum(nan, f32(1)), 1.0) == [False]
    assert covered(er.maximum(nan, f32(1), nan="ignore"), 1.0) == [True]
    assert covered(er.max(f32(NAN, INF)), INF) == [False]
    assert covered(er.max(f32(NAN, INF), nan="ignore"), INF) == [True]


def test_casts() -> None:
    assert covered(er.astype([65536.0], "float16"), 65504.0) == [False]  # inf
    result = er.astype([0.2691408770292272, 3.14], "bfloat16")
    assert covered(result, 0.267578125, 3.125) == [False, False]  # truncated
    assert result.rounded.tolist() == [0.26953125, 3.140625]
    eight = [464.0, 465.0, 1000.0]
    assert covered(er.astype(eight, "float8_e4m3fn"), 448, NAN, NAN) == [True] * 3
    assert covered(er.astype(eight, "float8_e4m3fn"), 448, 448, 448) == [True, False, False]
    saturated = er.astype(eight, "float8_e4m3fn", overflow="saturate")
    assert covered(saturated, 448, 448, 448) == [True] * 3
    assert covered(er.astype([1.125], "float8_e5m2"), 1.25) == [False]  # a tie to even
    assert er.astype([-1e-10], "float8_e4m3fnuz").rounded.tolist() == [0.0]
