"""Conforming kernels of the softmax family that were once outside: the smallest inputs found."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import exactref as er
from exactref_core.registry import get_standard

F32 = np.float32
MASK = np.array([[True, False]])
ETA, NORMAL = 2.0**-149, 2.0**-126
attention = er.scaled_dot_product_attention
Algorithm = er.nn.attention.AttentionAlgorithm


def column(*values: float) -> np.ndarray:
    return np.array([[x] for x in values], F32)


def covered(result: Any, output: float, standard: str = "normal", **rule: Any) -> bool:
    """Whether one output of one query is correct."""
    return bool(result["output"].covers(column(output), standard, **rule).all())


def test_products_round_up_to_more_than_every_value() -> None:
    # 60 weights of 0.1001 times 5 eta round from 0.5005 eta to eta: 65 / 7.006 is 9 eta.
    keys = column(0.0, *[np.log(0.1001)] * 60)
    values = np.full((61, 1), 5 * ETA, F32)
    p = np.exp(keys[:, 0].astype(np.float64)).astype(F32)
    mean, total = F32(0), F32(0)
    for i in range(61):
        mean, total = mean + p[i] * values[i, 0], total + p[i]
    output = mean / total
    assert output == 9 * F32(ETA)
    r = attention(column(1.0), keys, values, scale=1.0)
    assert covered(r, output)
    assert covered(r, output, "any_order")
    assert not covered(r, 40 * ETA)
    assert not covered(r, -2 * ETA, "any_order")


def test_small_weights_round_up_to_more_than_one_together() -> None:
    # 1/341 is 1.5015 times the smallest float8_e4m3fn: 341 weights of 2^-8 sum to 1.332.
    keys, values = np.zeros((341, 1), F32), np.ones((341, 1), F32)
    stored = er.asarray([float(F32(1) / F32(341))], "float8_e4m3fn").values()[0]
    output = 341 * stored
    assert output == 1.33203125
    declared = Algorithm(weights="float8_e4m3fn").result(column(1.0), keys, values)
    assert covered(declared, output)
    assert not covered(declared, 2.5)


@pytest.mark.parametrize("accumulator", ["bfloat16", "float16", "float8_e5m2"])
@pytest.mark.parametrize("value", [1.005, 1e-9, 3.3e-5])
def test_a_narrow_accumulator_rounds_its_first_term(accumulator: str, value: float) -> None:
    # The first term is stored in the accumulator's format too, below its smallest number as 0.
    stored = er.asarray([value], accumulator).values()[0]
    for n in (1, 2):
        declared = Algorithm(accumulator=accumulator)
        keys, values = np.zeros((n, 1), F32), column(value, *[0.0] * (n - 1))
        assert covered(declared.result(column(1.0), keys, values), stored / n)


def test_a_narrow_accumulator_overflows_at_its_own_threshold() -> None:
    keys, values = np.zeros((2, 1), F32), column(7e4, 1.0)
    declared = Algorithm(accumulator="float16").result(column(1.0), keys, values)
    assert covered(declared, np.inf)
    assert not declared["output"].may_be("nan").any()
    assert not covered(declared, -np.inf)
    assert (
        not Algorithm(accumulator="float16")
        .result(column(1.0), keys, values / 4)["output"]
        .may_be("+inf")
        .any()
    )
    # A format without infinities gives NaN.
    declared = Algorithm(accumulator="float8_e4m3fn").result(column(1.0), keys, values)
    assert covered(declared, np.nan)


def test_a_narrow_sum_of_exponentials_overflows() -> None:
    # 500 equal keys: float8_e4m3fn ends at 448, and a sum beyond is NaN.
    keys = np.zeros((500, 1), F32)
    declared = Algorithm(accumulator="float8_e4m3fn").result(column(1.0), keys, keys + 1)
    assert covered(declared, np.nan)
    assert declared["logsumexp"].may_be("nan").all()
    assert not attention(column(1.0), keys, keys + 1)["output"].may_be("nan").any()


def test_a_declared_weight_may_vanish_below_its_own_format() -> None:
    # exp(-20) is 2.06e-9, which float16 stores as 0: 0 * inf.
    keys, values = column(-20.0, 0.0), column(np.inf, 1.0)
    nan = {
        form: Algorithm(weights=form).result(column(1.0), keys, values, scale=1.0)["output"]
        for form in (None, "bfloat16", "float16")
    }
    assert [r.may_be("nan").all() for r in nan.values()] == [False, False, True]


def test_a_scaled_query_is_flushed() -> None:
    # 1.5 * 2^-126 / 2 is subnormal: a kernel that scales its inputs loses a score of 0.44.
    q, k, v = column(1.5 * NORMAL), column(1e38, 0.0), column(1.0, 0.0)
    r = attention(q, k, v, scale=0.25)
    assert covered(r, 0.5, "any_order", flush_to_zero=True)
    assert not covered(r, 0.5, "any_order")
    assert not covered(r, 0.5, flush_to_zero=True)


def test_a_scaled_query_underflows() -> None:
    # 31 eta / 64 is stored as 0, by kernels that scale the query alone.
    features = 1024
    q, k = np.full((1, features), 31 * ETA, F32), np.full((2, features), 3e38, F32)
    k[1] = 0
    r = attention(q, k, column(1.0, 0.0), scale=1 / 64)
    assert r.rounded.output.tolist()[0][0] > 0.5 + 2.0**-15
    assert covered(r, 0.5, "any_order")
    assert not covered(r, 0.5)


def test_a_scaled_query_overflows() -> None:
    q, k = column(3e38), column(1e-38, 0.0)
    r = attention(q, k, column(1.0, 0.0), scale=4.0)["output"]
    assert r.may_be("nan", "any_order").all()
    assert not r.may_be("nan").any()
    small = attention(column(3e37), k, column(1.0, 0.0), scale=4.0)["output"]
    assert not small.may_be("nan", "any_order").any()


def test_scores_that_may_change_places_overflow_together() -> None:
    # Scores half apart, each off by up to 0.262: the lower one may be the running maximum, with
    # weights exp(-0.024) and 1, where exp(0.262) (1 + exp(-0.5)) and exp(0.262) alone stay below.
    keys, values = column(1465000.0, 1464999.5), column(0.6 * 2.1564e38, 2.1564e38)
    r = attention(column(1.0), keys, values, scale=1.0)["output"]
    assert r.may_be("+inf").all()
    assert not r.may_be("-inf").any()
    apart = attention(column(1.0), column(1465000.0, 1464989.0), values, scale=1.0)["output"]
    assert not apart.may_be("+inf").any()


def test_the_logarithm_of_an_infinite_sum() -> None:
    # max + log sum exp(x - max) is NaN, and libraries look out for an infinite maximum.
    x = np.array([[np.inf, 0.0], [np.nan, np.inf], [-np.inf, -np.inf]], F32)
    r = er.logsumexp(x, axis=-1)
    assert r.may_be("+inf").tolist() == [True, False, False]
    # Of -inf alone it is -inf, as every library has it.
    assert r.may_be("nan").tolist() == [True, True, False]


def test_a_mask_that_the_compute_format_cannot_hold_is_rounded() -> None:
    # 1128 * 1.00045 - 1128.507: scale, product and the float64 mask are all off by about u |score|.
    q, k = (er.asarray([[x]], "bfloat16") for x in (1.0, 1128.0))
    scale, mask = 1.0004500748838296, -1128.5072631830951
    output = F32(1128) * F32(scale) + F32(mask)
    r = attention(q, k, q, attn_mask=np.array([[mask]]), scale=scale)["logsumexp"]
    assert r.covers(np.array([output], F32)).all()
    lost = attention(q, k, q, attn_mask=np.array([[-1e300]]))["output"]
    assert lost.rounded.tolist() == [[1.0]]
    assert lost.may_be("nan").all()


@pytest.mark.parametrize("key", [np.nan, np.inf, 3e38])
def test_a_mask_of_minus_infinity_is_added_to_an_infinity(key: float) -> None:
    # inf - inf, in kernels that add the mask: such a mask does not hide what a key overflows to.
    q, keys, v = column(2.0), column(0.0, key), column(1.0, 2.0)
    mask = np.array([[0.0, -np.inf]], F32)
    added = attention(q, keys, v, attn_mask=mask, scale=1.0)
    hidden = attention(q, keys, v, attn_mask=mask == 0, scale=1.0)
    for name, output in (("output", 1.0), ("logsumexp", 0.0)):
        assert added.rounded[name].values().reshape(()) == output
        assert added[name].may_be("nan").all()
        assert not hidden[name].may_be("nan").any()
    fine = attention(q, column(0.0, -np.inf), v, attn_mask=mask, scale=1.0)
    assert not fine["output"].may_be("nan").any()


def test_a_wide_accumulator_is_rounded_when_it_is_loaded() -> None:
    # A score kept in float64 is stored in float32 before it is scaled, where a product in float32
    # was rounded; so is the sum of the exponentials before its logarithm.
    one, key = column(1.0), column(1000.25)
    score, single = (
        [
            Algorithm(accumulator=form).result(one, k, one)["logsumexp"].tolerance().tolist()[0]
            for form in ("float32", "float64")
        ]
        for k in (key, column(0.0))
    )
    assert score[1] >= score[0]
    assert single[1] >= single[0] + 2.0**-24
    # Sums of many terms still err less.
    rng = np.random.default_rng(0)
    arrays = [rng.standard_normal(s).astype(F32) for s in ((1, 64), (99, 64), (99, 1))]
    many = [
        Algorithm(accumulator=form).tolerance(*arrays).output.tolist()[0][0]
        for form in ("float32", "float64")
    ]
    assert many[1] < many[0] / 2


def test_a_scale_of_zero_scales_exactly() -> None:
    q, k, v = column(1.0), column(1e38, 0.0), column(1.0, 0.0)
    r = attention(q, k, v, scale=0.0)["output"]
    assert r.rounded.tolist() == [[0.5]]
    tolerances = [r.tolerance("any_order", flush_to_zero=f).tolist()[0][0] for f in (False, True)]
    assert tolerances[1] < 2 * tolerances[0]


@pytest.mark.parametrize("size", [1e8, 1e20, 1e36])
@pytest.mark.parametrize("keys", [(1.0, 0.5), (1.0, 1.0, -1.0), (-1.0,)])
def test_large_scores_move_a_log_sum_exp_by_no_more_than_their_errors(
    size: float, keys: tuple[float, ...]
) -> None:
    # A relative error of exp(1e12) of the exponentials allowed any number, or was not decided.
    r = attention(column(size), column(*keys), column(*keys), scale=1.0)["logsumexp"]
    exact = size * keys[0]
    for standard, units in (("normal", 6), ("any_order", 12)):
        low, high = (end.tolist()[0] for end in r.finite_range(standard))
        assert (
            exact - units * 2.0**-24 * size < low < exact < high < exact + units * 2.0**-24 * size
        )
    assert not r.covers(np.zeros(1, F32), "any_order").any()
    logs = er.log_softmax(column(size, 0.0), axis=0)
    assert not logs.covers(column(0.0, 0.0), "any_order").all()


def test_a_huge_bound_of_a_narrow_sum_is_decided() -> None:
    # The relative error of the exponentials is beyond all formats, and so is the bound: the range
    # is that of the format.
    q, k = column(-1.86899385e17), column(9.41252322e17, 1.13941071e18)
    declared = Algorithm(accumulator="float8_e5m2").result(q, k, k, scale=1.0)["logsumexp"]
    top = float(np.finfo(F32).max)
    assert [end.tolist()[0] for end in declared.finite_range()] == [-top, top]


@pytest.mark.parametrize("standard", ["normal", "any_order"])
def test_both_readings_clip_to_values_that_may_be_flushed_alike(standard: str) -> None:
    # The float reading took one end of a value's error for the whole: two eta too wide.
    value = er.add(column(3 * ETA), column(5 * ETA))
    (part, *_) = attention(column(1.0), column(1.0), value).outputs["output"].parts
    rule = get_standard(standard)
    whole, one = part.range(rule, True), part.range_one(rule, True, 0)
    for mine, theirs in zip(whole.arrays, one.arrays, strict=True):
        assert np.array_equal(mine.reshape(-1), theirs.reshape(-1))


def test_inputs_may_be_scaled_beside_a_wide_accumulator() -> None:
    # Cancelling products: scaling the query in float32 first errs by u of each of them.
    q, k = np.array([[1e4, 1e4]], F32), np.array([[1.0, -1.0]], F32)
    declared = Algorithm(accumulator="float64").result(q, k, k, scale=0.7)["logsumexp"]
    low, high = (end.tolist()[0] for end in declared.finite_range("any_order"))
    assert high - low >= 2 * 4 * 2.0**-24 * 0.7 * 2e4


@pytest.mark.parametrize("least", [float(np.finfo(F32).min), -1e9])
def test_gradients_under_a_mask_of_the_least_number(least: float) -> None:
    """The weights of masked keys are e**-1e9 and less: their sums' signs need no telling."""
    rng = np.random.default_rng(0)
    grad, q, k, v = (rng.standard_normal((4, 4)).astype(F32) for _ in range(4))
    mask = np.triu(np.full((4, 4), least, F32), 1)
    found = er.backward.scaled_dot_product_attention(grad, q, k, v, attn_mask=mask)
    plain = er.backward.scaled_dot_product_attention(grad, q, k, v, is_causal=True)
    for name in ("grad_query", "grad_key", "grad_value"):
        assert np.array_equal(found[name].rounded.values(), plain[name].rounded.values())
        stored = plain[name].rounded.values().astype(F32)
        for standard in ("normal", "any_order"):
            assert found[name].covers(stored, standard).all()
    assert found["grad_query"].rounded.values()[0].tolist() == [0.0] * 4
    for zero in (0.0, -0.0):
        stored[:] = found["grad_query"].rounded.values()
        stored[0] = zero
        assert found["grad_query"].covers(stored, signed_zeros=True).all()


@pytest.mark.parametrize("standard", ["normal", "any_order"])
def test_a_masked_key_has_no_weight_where_the_sum_is_lost(standard: str) -> None:
    # Scores of 5.8e8 leave nothing of the sum; a key that is not kept is 0 in it all the same.
    result = er.backward.scaled_dot_product_attention(
        column(-14.0), column(-5.8e8), column(1.0, 3.0), column(2.0, 1.5), attn_mask=MASK
    )["grad_value"]
    (output,) = result.outputs.values()
    found = output.parts[0].range_one(get_standard(standard), False, 1)
    assert (found.low.tolist(), found.high.tolist()) == ([0.0], [0.0])
    assert result.tolerance(standard).tolist()[1] == [0.0]


@pytest.mark.parametrize("standard", ["normal", "any_order"])
def test_scores_beyond_every_number(standard: str) -> None:
    """Products of float64 numbers are compared exactly, also where no float64 number holds them."""
    keys, values = np.array([[1e200], [2e200], [1.0]]), np.array([[1.0], [2.0], [3.0]])
    r = attention(np.array([[1e200]]), keys, values)
    assert r["output"].rounded.tolist() == [[2.0]]
    assert r["logsumexp"].rounded.tolist() == [math.inf]
    for output in (2.0, math.nan):  # the scores are infinities, and their differences NaN
        assert r["output"].covers(np.array([[output]]), standard).all()
    assert not r["output"].covers(np.array([[3.5]]), standard).any()
