"""Public reports of wrong results: attention, softmax, their gradients, norms of long rows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import exactref as er

INF, NAN = np.inf, np.nan


def covered(result: Any, *output: float, standard: str = "normal") -> list[bool]:
    """Which elements of an output a correct implementation may return."""
    given = er.asarray(np.reshape(output, result.shape), result.dtype)
    found: list[bool] = np.asarray(result.covers(given, standard)).reshape(-1).tolist()
    return found


def attend(q: Any, k: Any, v: Any, form: str = "float32", **rules: Any) -> Any:
    """Attention of one query."""
    given = (er.asarray(np.asarray(x, float), form) for x in (q, k, v))
    return er.scaled_dot_product_attention(*given, **rules)["output"]


def test_softmax_of_infinities_and_nan() -> None:  # TensorFlow: rows of 64
    # inf - inf on the way; the limit [0, 1] is no step's answer.
    assert covered(er.softmax(np.float32([1, INF])), NAN, NAN) == [True, True]
    assert covered(er.softmax(np.float32([1, INF])), 0, 1) == [False, False]
    for special in (INF, NAN):
        x = np.zeros(64, np.float32)
        x[3] = special
        assert covered(er.softmax(x), *[0.0] * 64) == [False] * 64
        assert covered(er.softmax(x), *[NAN] * 64) == [True] * 64
    masked = er.softmax(np.full(64, -INF, np.float32))
    assert covered(masked, *[1 / 64] * 64) == [False] * 64
    assert covered(masked, *[0.0] * 64) == covered(masked, *[NAN] * 64) == [True] * 64


def test_the_gradient_of_a_log_softmax_that_sums_more_than_float16_holds() -> None:
    # 65536 ones: their sum is infinite in float16, and 1 - n / n is 0.
    scores = np.zeros((1, 65536), np.float16)
    grad = er.backward.log_softmax(np.ones_like(scores), scores)
    assert not np.any(grad.rounded)
    assert not np.any(np.asarray(grad.covers(np.full_like(scores, NAN), "any_order")))
    assert np.all(np.asarray(grad.covers(scores)))


def test_the_gradient_of_a_logsumexp_of_nothing() -> None:
    grad = er.backward.logsumexp(np.float32(1.0), np.float32([-INF, -INF]))
    assert covered(grad, NAN, NAN) == covered(grad, 0, 0) == [True, True]
    assert covered(grad, 0.5, 0.5) == [False, False]


def test_gradients_of_norms() -> None:
    result = er.backward.vector_norm(np.float32(1.0), np.float32([1e20, 1, 1]))
    assert result.rounded.tolist() == np.float32([1, 1e-20, 1e-20]).tolist()
    assert covered(result, 0, 0, 0)[0]  # 1e20 / inf: its squares overflow
    cubic = er.backward.vector_norm(
        er.asarray(1.0, "float16"), er.asarray([1e-4], "float16"), ord=3
    )
    assert cubic.rounded.tolist() == [1.0]
    assert covered(cubic, NAN) == covered(cubic, 0.0) == [False]
    rows = np.float32([[0, 0, 0], [1, 2, 2]])
    result = er.backward.vector_norm(np.float32([1, 1]), rows, axis=1)
    third = float(np.float32(1 / 3))
    assert result.rounded.tolist() == [[0, 0, 0], [third, 2 * third, 2 * third]]
    assert covered(result, NAN, NAN, NAN, third, third, third)[:3] == [False] * 3


def test_queries_that_are_masked_for_all_keys() -> None:
    nothing = np.zeros((1, 2), bool)
    q, k, v = [[1.0]], [[1.0], [2.0]], [[10.0], [20.0]]
    zero = attend(q, k, v, attn_mask=nothing)
    assert (covered(zero, 0.0), covered(zero, 15.0)) == ([True], [False])
    nan = attend(q, k, v, attn_mask=nothing, fully_masked="nan")
    assert (covered(nan, NAN), covered(nan, 15.0)) == ([True], [False])


def test_a_mask_of_the_least_number() -> None:
    # The exact sums keep their differences; rounded to float32 none is left, and both are admitted.
    mask = np.full((1, 3), np.finfo(np.float32).min, np.float32)
    result = attend([[1.0]], [[1.0], [2.0], [3.0]], np.eye(3), attn_mask=mask, scale=1.0)
    weights = np.exp([1.0, 2.0, 3.0]) / np.exp([1.0, 2.0, 3.0]).sum()
    np.testing.assert_allclose(result.rounded, [weights], 1e-6)
    assert covered(result, *[1 / 3] * 3) == covered(result, *weights) == [True] * 3


def test_values_beside_a_masked_nan() -> None:
    result = attend([[1.0]], [[1.0], [2.0]], [[4.0], [NAN]], attn_mask=np.array([[True, False]]))
    assert covered(result, 4.0) == covered(result, NAN) == [True]  # left out, or 0 * NaN
    product = er.matmul(np.float32([[1, 0]]), np.float32([[4], [NAN]]))
    assert (covered(product, NAN), covered(product, 4.0)) == ([True], [False])


def test_nothing_overflows_in_attention() -> None:
    large = [[133120.0] * 64]
    assert covered(attend(large, large, large, "bfloat16"), *[NAN] * 64) == [False] * 64
    result = attend([[1.0]], [[1.0], [1.0]], [[40000.0], [40000.0]], "float16")
    assert (covered(result, INF), covered(result, 40000.0)) == ([False], [True])


def test_weights_stored_in_bfloat16_are_declared() -> None:
    q, k, v = [[1.0]], [[0.0], [-0.010009765625]], [[100.0], [-100.0]]
    result = attend(q, k, v, "bfloat16", scale=1.0)
    assert (covered(result, 0.5), covered(result, 0.58984375)) == ([True], [False])
    flash = er.nn.attention.AttentionAlgorithm(weights="bfloat16")
    assert covered(attend(q, k, v, "bfloat16", scale=1.0, algorithm=flash), 0.58984375) == [True]


def test_an_angle_of_a_position_that_bfloat16_rounds() -> None:
    # 4095 times 10000 ** (-2 / 128): the angle of the second feature of 128.
    angle = 4095 * 10000 ** (-2 / 128)

    result = er.cos(np.array([angle]))
    assert math.isclose(float(np.asarray(result.rounded)[0]), -0.7423658176, rel_tol=1e-6)
    assert covered(result, 0.42384) == [False]


@pytest.mark.parametrize("length", [3, 10240])
def test_variances_of_nearly_equal_numbers(length: int) -> None:  # one-pass: below zero
    x = np.full(length, 256, np.float32)
    x[-1] = 255 if length > 3 else 255.9375
    result = er.var(x)
    exact = (1 - 1 / length) / length * float(256 - x[-1]) ** 2
    assert math.isclose(float(np.asarray(result.rounded)), exact, rel_tol=1e-6)
    assert covered(result, -0.0039) == [False]
    assert covered(er.layer_norm(x[:3], 3), NAN, NAN, NAN) == [False] * 3
