"""Attention and softmax: bad input, special values, hard cases, and what several outputs say."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import exactref as er
from exactref_core.registry import get_standard

F32 = np.float32
LOWEST = float(np.finfo(F32).min)
attention = er.scaled_dot_product_attention


def zeros(*shape: int, form: str = "float32") -> er.Array:
    return (
        er.asarray(np.zeros(shape).tolist(), form)
        if 0 not in shape
        else er.asarray(np.zeros(shape, form))
    )


def simple(values: list[float], keys: list[float] | None = None, **params: Any) -> er.Result:
    """One query of 1 with one feature, scale 1."""
    k = np.array([[x] for x in (keys or [0.0] * len(values))], F32)
    v = np.array([[x] for x in values], F32)
    return attention(np.ones((1, 1), F32), k, v, **{"scale": 1.0, **params})


@pytest.mark.parametrize(
    ("shapes", "params", "message"),
    [
        (((2, 3), (4, 5), (4, 2)), {}, "3 features and key has 5"),
        (((2, 3), (4, 3), (5, 2)), {}, "4 positions and value has 5"),
        (((2, 3), (0, 3), (0, 2)), {}, "no keys"),
        (((2, 0), (4, 0), (4, 2)), {}, "no features"),
        (((3,), (4, 3), (4, 2)), {}, "query has shape"),
        (((2, 2, 3), (3, 4, 3), (3, 4, 2)), {}, "leading axes"),
        (((2, 2, 3), (2, 4, 3), (3, 4, 2)), {}, "leading axes"),
        (((4, 2, 3), (3, 4, 3), (3, 4, 2)), {"enable_gqa": True}, "4 heads.*multiple of the 3"),
        (((2, 3), (4, 3), (4, 2)), {"enable_gqa": True}, "third axis from the end"),
        (((2, 3), (4, 3), (4, 2)), {"attn_mask": np.ones((3, 4), bool)}, "does not broadcast"),
        (((2, 3), (4, 3), (4, 2)), {"attn_mask": np.ones((5, 2, 4), bool)}, "does not broadcast"),
        (((2, 3), (4, 3), (4, 2)), {"attn_mask": np.zeros((2, 3), F32)}, "does not broadcast"),
        (((2, 3), (4, 3), (4, 2)), {"is_causal": True, "attn_mask": [[True]]}, "ambiguous"),
        (((2, 3), (4, 3), (4, 2)), {"causal_alignment": "left"}, "causal_alignment is one of"),
        (((2, 3), (4, 3), (4, 2)), {"fully_masked": "inf"}, "fully_masked is one of"),
        (((2, 3), (4, 3), (4, 2)), {"dropout_p": 0.1}, "dropout"),
        (((2, 3), (4, 3), (4, 2)), {"scale": math.nan}, "scale must be a finite number"),
        (((2, 3), (4, 3), (4, 2)), {"scale": "1"}, None),
        (((2, 3), (4, 3), (4, 2)), {"scale": math.inf}, "scale must be a finite number"),
    ],
)
def test_bad_arguments(
    shapes: tuple[tuple[int, ...], ...], params: dict[str, Any], message: str | None
) -> None:
    tensors = [zeros(*shape) for shape in shapes]
    if message is None:  # a string that reads as a number is not a number
        params, message = {"scale": "one"}, "scale must be a finite number"
    with pytest.raises(ValueError, match=message):
        attention(*tensors, **params)


def test_bad_types() -> None:
    tensors = [zeros(2, 3), zeros(4, 3), zeros(4, 2)]
    with pytest.raises(TypeError, match="attn_mask is int64"):
        attention(*tensors, attn_mask=np.ones((2, 4), np.int64))
    with pytest.raises(TypeError, match="complex"):
        attention(*[er.asarray(x.values().tolist(), "complex64") for x in tensors])
    for op in (er.softmax, er.log_softmax, er.logsumexp):
        with pytest.raises(TypeError, match="complex"):
            op(np.zeros((2, 3), np.complex64))
        with pytest.raises(TypeError, match="axis"):
            op(np.zeros((2, 3), F32), dim=0)
    with pytest.raises(ValueError, match="axis"):
        er.softmax(np.zeros((2, 3), F32), axis=2)
    with pytest.raises(ValueError, match="axis"):
        er.softmax(np.zeros((2, 3), F32), axis=None)


def test_a_result_of_several_outputs() -> None:
    r = attention(zeros(2, 3), zeros(4, 3), zeros(4, 2))
    assert list(r.rounded) == ["output", "logsumexp"]
    assert r.shape.output == (2, 2)
    assert r.shape.logsumexp == (2,)
    with pytest.raises(TypeError, match=r'r\["output"\]|r\[.output.\]'):
        r.covers(np.zeros((2, 2), F32))
    er.assert_covers({"output": np.zeros((2, 2), F32)}, r)
    four = np.full(2, np.log(4), F32)
    er.assert_covers((np.zeros((2, 2), F32), four), r)
    with pytest.raises(AssertionError, match="logsumexp"):
        er.assert_covers({"logsumexp": four + 1}, r)


@pytest.mark.parametrize("form", ["bfloat16", "float16", "float32", "float64"])
def test_the_format_of_logsumexp(form: str) -> None:
    r = attention(*(zeros(*s, form=form) for s in ((2, 3), (4, 3), (4, 2))))
    assert r.dtype.output == form
    assert r.dtype.logsumexp == ("float64" if form == "float64" else "float32")
    narrow = attention(zeros(2, 3), zeros(4, 3), zeros(4, 2), dtype="float16")
    assert (narrow.dtype.output, narrow.dtype.logsumexp) == ("float16", "float32")


def test_a_row_that_keeps_no_key() -> None:
    mask = np.array([[True, False], [False, False]])
    v = np.array([[1.0], [2.0]], F32)
    r = attention(zeros(2, 1), zeros(2, 1), v, attn_mask=mask)
    assert r.rounded.output.tolist() == [[1.0], [0.0]]
    assert r.rounded.logsumexp.tolist() == [0.0, -math.inf]
    assert math.isnan(r.tolerance().logsumexp.tolist()[1])
    assert r.tolerance().output.tolist()[1] == [0.0]
    assert not r["output"].may_be("nan").any()
    nan = attention(zeros(2, 1), zeros(2, 1), v, attn_mask=mask, fully_masked="nan")
    assert math.isnan(nan.rounded.output.tolist()[1][0])
    assert nan["output"].covers(np.array([[1.0], [np.nan]], F32)).all()
    assert not nan["output"].covers(np.array([[1.0], [0.0]], F32)).all()
    added = np.where(mask, F32(0), F32(-np.inf))
    both = attention(zeros(2, 1), zeros(2, 1), v, attn_mask=added)["output"]
    assert both.covers(np.array([[1.0], [0.0]], F32)).all()
    assert both.covers(np.array([[1.0], [np.nan]], F32)).all()


def test_causal_alignments() -> None:
    v = np.arange(1.0, 5.0, dtype=F32)[:, None]
    top = attention(zeros(2, 1), zeros(4, 1), v, is_causal=True)
    assert top.rounded.output.tolist() == [[1.0], [1.5]]
    end = attention(zeros(2, 1), zeros(4, 1), v, is_causal=True, causal_alignment="bottom_right")
    assert end.rounded.output.tolist() == [[2.0], [2.5]]
    long = attention(
        zeros(4, 1), zeros(2, 1), v[:2], is_causal=True, causal_alignment="bottom_right"
    )
    assert long.rounded.output.tolist() == [[0.0], [0.0], [1.0], [1.5]]


def test_additive_masks() -> None:
    lowest = simple([1.0, 2.0, 4.0], attn_mask=np.array([[0.0, LOWEST, 0.0]], F32))
    assert lowest.rounded.output.tolist() == [[2.5]]
    gone = simple([1.0, 2.0, 4.0], attn_mask=np.array([[0.0, -np.inf, 0.0]], F32))
    assert gone.rounded.output.tolist() == [[2.5]]
    # A row of the lowest value only is uniform; one of -inf keeps nothing.
    all_lowest = simple([1.0, 2.0, 4.0], attn_mask=np.full((1, 3), LOWEST, F32))
    assert all_lowest.rounded.output.tolist() == [[float(F32(7 / 3))]]
    assert all_lowest.rounded.logsumexp.tolist() == [LOWEST]
    for mask in (math.nan, math.inf):
        bad = simple([1.0, 2.0], attn_mask=np.array([[0.0, mask]], F32))
        assert math.isnan(bad.rounded.output.tolist()[0][0])
    wide = simple([1.0, 2.0], attn_mask=np.array([[0.0, 1.0]]))  # float64, as it is
    assert wide.dtype.output == "float32"
    assert wide.rounded.logsumexp.tolist() == [float(F32(np.log1p(np.e)))]


@pytest.mark.parametrize("special", [math.nan, math.inf, -math.inf])
def test_specials_in_keys_and_values(special: float) -> None:
    mask = np.array([[True, False]])
    kept = simple([1.0, 2.0], [0.0, special])
    gone = simple([1.0, 2.0], [0.0, special], attn_mask=mask)
    if special == -math.inf:
        assert kept.rounded.output.tolist() == [[1.0]]
    else:
        assert math.isnan(kept.rounded.output.tolist()[0][0])
        assert math.isnan(kept.rounded.logsumexp.tolist()[0])
    # A masked key is never looked at.
    assert gone.rounded.output.tolist() == [[1.0]]
    assert not gone["output"].may_be("nan").any()
    value = simple([1.0, special])
    shown = value.rounded.output.tolist()[0][0]
    assert shown == special or (math.isnan(special) and math.isnan(shown))
    assert value.rounded.logsumexp.tolist() == [float(F32(np.log(2)))]
    # 0 * inf and 0 * nan of a masked value: some kernels store NaN.
    masked = simple([1.0, special], attn_mask=mask)
    assert masked.rounded.output.tolist() == [[1.0]]
    assert masked["output"].may_be("nan").all()
    assert masked["output"].covers(np.array([[1.0]], F32)).all()


def test_specials_in_rows() -> None:
    x = np.array([[0.0, -np.inf], [np.inf, 0.0], [np.nan, 0.0], [-np.inf, -np.inf]], F32)
    nan = math.nan
    wanted = {
        "softmax": [[1.0, 0.0], [nan, nan], [nan, nan], [0.0, 0.0]],
        "log_softmax": [[0.0, -math.inf], [nan, nan], [nan, nan], [nan, nan]],
        "logsumexp": [0.0, nan, nan, -math.inf],
    }
    for name, rows in wanted.items():
        op = getattr(er, name)
        r = op(x, axis=-1)
        assert np.array_equal(r.rounded.values(), np.array(rows), equal_nan=True), name
        assert r.covers(r.rounded).all()
    assert er.softmax(x).may_be("nan").tolist()[3] == [True, True]
    assert er.logsumexp(x, axis=-1).may_be("nan").tolist()[0] is False
    assert er.logsumexp(np.zeros((2, 0), F32), axis=-1).rounded.tolist() == [-math.inf] * 2
    assert er.softmax(np.zeros((2, 0), F32)).shape == (2, 0)


def test_a_score_that_cancels_in_another_order() -> None:
    # q = 49153, two keys 2^-9 apart: the scores round to the same number, torch's mean is 0.5.
    q = np.array([[49153.0]], F32)
    k, v = np.array([[24000.001953125], [24000.0]], F32), np.array([[0.0], [1.0]], F32)
    r = attention(q, k, v, scale=1.0)
    gap = 49153.0 * 2.0**-9
    assert abs(r.rounded.output.tolist()[0][0] - math.exp(-gap)) <= 2.0**-149
    assert r["output"].covers(np.array([[0.5]], F32)).all()
    assert not r["output"].covers(np.array([[1.5]], F32)).all()


def test_equal_scores_below_the_format() -> None:
    q, k = np.array([[2.0]], F32), np.array([[-1.8e38], [-1.8e38]], F32)
    r = attention(q, k, np.array([[2.0], [5.0]], F32))
    assert r.rounded.output.tolist() == [[3.5]]
    assert r["output"].may_be("nan").all()
    assert r["output"].covers(np.array([[0.0]], F32)).all()


def test_equal_scores_near_overflow() -> None:
    r = simple([3e38, 3e38])
    assert r.rounded.output.tolist() == [[float(F32(3e38))]]
    assert r["output"].covers(np.array([[np.inf]], F32)).all()
    assert not r["output"].covers(np.array([[-np.inf]], F32)).any()
    assert not r["output"].may_be("nan").any()
    one = simple([3e38, 1.0])["output"]
    assert not one.covers(np.array([[np.inf]], F32)).any()


def test_weights_that_are_subnormal() -> None:
    # 15 exp(-90) 1e38 / (1 + 15 exp(-90)) is about 1.2: a kernel that flushes exp returns 0.
    r = simple([1e38] * 15 + [0.0], [-90.0] * 15 + [0.0])["output"]
    exact = 15 * math.exp(-90) * float(F32(1e38))
    assert r.rounded.tolist()[0][0] == pytest.approx(exact, rel=1e-6)
    zero = np.zeros((1, 1), F32)
    assert not r.covers(zero).any()
    assert not r.covers(zero, "any_order").any()
    assert r.covers(zero, flush_to_zero=True).all()


def test_orders_that_only_any_order_admits() -> None:
    # Rescaled at every key: 256 rising scores, values that cancel to 2^-12 of their size.
    keys = np.linspace(0, 8, 256).astype(F32).tolist()
    r = simple([1.0] * 256, keys)["output"]
    assert r.tolerance("any_order").tolist()[0][0] > 8 * r.tolerance().tolist()[0][0]


@pytest.mark.parametrize("name", ["softmax", "log_softmax", "logsumexp"])
@pytest.mark.parametrize("kind", ["normal", "any_order"])
def test_ranges_of_rows_with_infinities_agree_with_certified_ones(name: str, kind: str) -> None:
    rng = np.random.default_rng(8)
    x = (rng.standard_normal((6, 9)) * 10).astype(F32)
    x[rng.random(x.shape) < 0.4] = -np.inf
    x[1], x[2, 3], x[3, 4] = -np.inf, np.nan, np.inf
    (output,) = getattr(er, name)(x, axis=-1).outputs.values()
    part, rule = output.parts[0], get_standard(kind)
    for flush in (False, True):
        whole = part.range(rule, flush)
        for flat in range(part.node.size):
            one = part.range_one(rule, flush, flat)
            for mine, theirs in zip(whole.arrays, one.arrays, strict=True):
                assert np.array_equal(mine[flat], theirs[0], equal_nan=True), (flat, flush)


def test_a_narrow_accumulator_widens_what_a_mean_never_leaves() -> None:
    # One kept key of 97: the sum of its exponential and zeros is exact, its value is stored narrow.
    v = np.full((97, 1), 0.16301009, F32)
    mask = np.arange(97)[None] == 0
    narrow = float(er.asarray([0.16301009], "bfloat16").values()[0])
    q, k = np.zeros((1, 1), F32), np.zeros((97, 1), F32)
    declared = er.nn.attention.AttentionAlgorithm(accumulator="bfloat16")
    output = np.array([[narrow]], F32)
    assert declared.covers({"output": output}, q, k, v, attn_mask=mask).output.all()
    plain = er.scaled_dot_product_attention(q, k, v, attn_mask=mask)["output"]
    assert not plain.covers(output, "any_order").any()
