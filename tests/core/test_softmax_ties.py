"""Ties of the softmax family that only algebra decides, and values next to them."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import exactref as er


def attend(
    scores: list[float], values: list[float], output: str, form: str = "float32", **more: object
) -> float:
    """The rounded mean of values under given scores."""
    q, k, v = ([[1.0]], [[s] for s in scores], [[x] for x in values])
    q, k, v = (er.asarray(x, form) for x in (q, k, v))
    result = er.scaled_dot_product_attention(q, k, v, scale=1.0, dtype=output, **more)
    return float(result.rounded.output.tolist()[0][0])


def test_equal_scores_and_a_mean_halfway() -> None:
    values = [1 - 2.0**-24, 1 + 2.0**-22, 1.0]
    q, k = er.asarray([[0.0]], "float32"), er.asarray([[1.0], [-3.0], [7.0]], "float32")
    v = er.asarray([[x] for x in values], "float32")
    result = er.scaled_dot_product_attention(q, k, v)
    mean = Fraction(2.0**-22) - Fraction(2.0**-24)
    assert mean / 3 == Fraction(2.0**-24)  # above 1: halfway to 1 + 2^-23
    assert result.rounded.output.tolist() == [[1.0]]
    assert result["output"].exact.value(0, 0).radius == 0
    assert result["output"].covers(np.array([[1.0]], np.float32)).all()


@pytest.mark.parametrize("seed", range(20))
def test_groups_with_the_same_mean(seed: int) -> None:
    # Every group of equal scores averages to the midpoint of 1 and 1 + 2^-7.
    rng = np.random.default_rng(seed)
    middle = 1 + 2.0**-8
    scores, values = [], []
    for level in rng.standard_normal(int(rng.integers(1, 5))).astype(np.float32).tolist():
        moved = (rng.integers(-64, 65, int(rng.integers(1, 4))) * 2.0**-12).tolist()
        offsets = [*moved, -sum(moved)]
        scores += [level] * len(offsets)
        values += [middle + x for x in offsets]
    assert attend(scores, values, "bfloat16") == 1.0
    assert attend(scores, values, "bfloat16", rounding="nearest_away") == 1 + 2.0**-7
    nudged = [values[0] + 2.0**-22, *values[1:]]
    assert attend(scores, nudged, "bfloat16") == 1 + 2.0**-7
    nudged = [values[0] - 2.0**-22, *values[1:]]
    assert attend(scores, nudged, "bfloat16", rounding="nearest_away") == 1.0


def test_the_mean_of_all_is_no_tie_where_groups_differ() -> None:
    # Values 1 and 1 + 2^-7 average to a midpoint, but their weights are not equal.
    assert attend([0.0, 1e-30], [1.0, 1 + 2.0**-7], "bfloat16") == 1 + 2.0**-7
    assert attend([0.0, -1e-30], [1.0, 1 + 2.0**-7], "bfloat16") == 1.0
    assert attend([0.0, 0.0], [1.0, 1 + 3 * 2.0**-7], "bfloat16") == 1 + 2 * 2.0**-7


@pytest.mark.parametrize("gap", [100.0, 3e3, 1e5, 1e10, 1e20, 3e38])
def test_a_weight_that_vanishes_decides_a_tie(gap: float) -> None:
    middle = 1 + 2.0**-8
    assert attend([0.0, -gap], [middle, middle + 1], "bfloat16") == 1 + 2.0**-7
    assert attend([0.0, -gap], [middle, middle - 1], "bfloat16") == 1.0
    assert attend([0.0, -gap], [middle, middle], "bfloat16") == 1.0
    assert attend([-gap, 0.0], [5.0, middle], "bfloat16") == 1 + 2.0**-7
    assert attend([0.0, -gap], [1.0, 2.0], "float32", rounding="up") == 1 + 2.0**-23
    assert attend([0.0, -gap], [1.0, 1.0], "float32", rounding="up") == 1.0


@pytest.mark.parametrize("gap", [1e3, 1e15, 1e38])
def test_of_two_weights_that_vanish_the_larger_one_decides(gap: float) -> None:
    middle = 1 + 2.0**-8
    for sign in (1, -1):
        values = [middle, middle + sign, middle - sign * 2.0**7]
        wanted = 1 + 2.0**-7 if sign > 0 else 1.0
        assert attend([0.0, -gap, -2 * gap], values, "bfloat16") == wanted
        even = [middle, middle + sign, middle - sign, middle - sign * 2.0**7]
        wanted = 1.0 if sign > 0 else 1 + 2.0**-7
        assert attend([0.0, -gap, -gap, -2 * gap], even, "bfloat16") == wanted


@pytest.mark.parametrize("gap", [200.0, 1e5, 1e12, 1e38])
@pytest.mark.parametrize("form", ["float64", "float32", "bfloat16"])
def test_logarithms_next_to_exact_ones(gap: float, form: str) -> None:
    x = er.asarray([5.0, 5.0 - gap], form)
    stored = x.values()
    lse = er.logsumexp(x, rounding="up")
    assert lse.rounded.tolist() == float(np.nextafter(5.0, 6.0)) or form != "float64"
    assert lse.rounded.tolist() > 5.0
    assert er.logsumexp(x, rounding="down").rounded.tolist() == 5.0
    logs = er.log_softmax(x).rounded.values()
    assert -1e-80 < logs[0] <= 0.0
    assert math.copysign(1.0, logs[0]) == -1.0
    assert logs[1] == er.asarray([stored[1] - 5.0], form).values()[0]
    for kind in ("normal", "any_order"):
        assert np.isfinite(er.log_softmax(x).tolerance(kind).values()).all()
        assert np.isfinite(er.softmax(x).tolerance(kind, flush_to_zero=True).values()).all()


def test_uniform_weights_are_rational() -> None:
    for n in (2, 3, 4, 7, 10, 1000):
        result = er.softmax(np.full(n, 2.5, np.float32))
        assert result.exact.value(0).midpoint.to_fraction() == Fraction(1, n)
        assert result.exact.value(0).radius == 0
        assert result.rounded.tolist() == [float(np.float32(1 / n))] * n


def test_an_irrational_scale_keeps_equal_scores_equal() -> None:
    # scale 1/sqrt(3), dot products 5 and 5 by different sums: weights 1/2 exactly.
    q = np.array([[1.0, 2.0, 3.0]], np.float32)
    k = np.array([[5.0, 0.0, 0.0], [1.0, 2.0, 0.0]], np.float32)
    v = np.array([[1.0], [1.0 + 2.0**-7]], np.float32)
    r = er.scaled_dot_product_attention(q, k, v, dtype="bfloat16")
    assert r.rounded.output.tolist() == [[1.0]]
    assert r["output"].exact.value(0, 0).radius == 0
    # An additive mask of the same number keeps them equal, another one does not.
    for mask, wanted in (([[0.5, 0.5]], 1.0), ([[0.5, 0.75]], 1 + 2.0**-7), ([[0.5, 0.25]], 1.0)):
        given = np.array(mask, np.float32)
        r = er.scaled_dot_product_attention(q, k, v, attn_mask=given, dtype="bfloat16")
        assert r.rounded.output.tolist() == [[wanted]]


def test_weights_in_narrow_formats_round_once() -> None:
    # Two keys, weights 1/(1 + exp(-x)): next to the midpoint 0.75 + 2^-9 of bfloat16.
    middle = 0.75 + 2.0**-9
    x = math.log(middle / (1 - middle))
    for step in range(-3, 4):
        score = x
        for _ in range(abs(step)):
            score = math.nextafter(score, math.inf * step)
        got = er.softmax(np.array([score, 0.0]), dtype="bfloat16").rounded.tolist()[0]
        exact = er.softmax(np.array([score, 0.0])).exact.value(0).midpoint.to_fraction()
        assert got == (0.75 if exact < Fraction(middle) else 0.75 + 2.0**-8)


def test_negative_values_widen_the_range_that_means_never_leave() -> None:
    # Near overflow the range is certified; its lower end was taken from 0 instead of the values.
    q, k = np.zeros((1, 1), np.float32), np.zeros((2, 1), np.float32)
    for values, mean in (([-3e38, -2e38], -2.5e38), ([-3e38, 1e38], -1e38)):
        v = np.array([[x] for x in values], np.float32)
        result = er.scaled_dot_product_attention(q, k, v)["output"]
        low, high = (end.tolist()[0][0] for end in result.finite_range())
        assert low <= mean * (1 - 2.0**-23) <= high
        assert result.covers(result.rounded).all()
