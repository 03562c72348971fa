"""Windows and softcaps of attention: exact values, kernels inside, planted faults outside."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import gmpy2
import numpy as np
import pytest

import exactref as er
from exactref_core.errors import InputError
from exactref_core.formats.catalogue import get_format
from tests.core.softmax_hostile import KINDS, Hostile, hostile
from tests.core.softmax_kernels import Kernel, Machine, block_order, random_tree
from tests.core.softmax_oracle import fraction, round_fraction

F32 = np.float32
PRECISE = gmpy2.context(precision=400)


def window_mask(queries: int, keys: int, left: int, right: int, offset: int) -> np.ndarray:
    """What a window keeps, key by key."""
    found = np.zeros((queries, keys), bool)
    for i in range(queries):
        for j in range(keys):
            after = j - (i + offset)
            found[i, j] = (left < 0 or -after <= left) and (right < 0 or after <= right)
    return found


@pytest.mark.parametrize("alignment", ["top_left", "bottom_right"])
@pytest.mark.parametrize("causal", [False, True])
def test_windows_are_masks(alignment: str, causal: bool) -> None:
    rng = np.random.default_rng(1)
    for queries, keys in ((5, 5), (3, 7), (7, 3), (1, 6)):
        q, k, v = (rng.standard_normal(s).astype(F32) for s in ((queries, 2), (keys, 2), (keys, 3)))
        for left, right in ((0, 0), (2, 0), (-1, 1), (1, -1), (-1, -1), (9, 9), (0, 2)):
            offset = keys - queries if alignment == "bottom_right" else 0
            reach = min(right, 0) if right >= 0 else 0
            keep = window_mask(queries, keys, left, reach if causal else right, offset)
            rules = {"is_causal": causal, "causal_alignment": alignment}
            given = er.scaled_dot_product_attention(q, k, v, window=(left, right), **rules)
            masked = er.scaled_dot_product_attention(q, k, v, attn_mask=keep)
            for name in ("output", "logsumexp"):
                one, other = given[name], masked[name]
                assert np.array_equal(one.rounded.values(), other.rounded.values())
                bounds = [r.tolerance().values() for r in (one, other)]
                assert np.array_equal(*bounds, equal_nan=True)


def test_a_window_and_a_mask_keep_what_both_keep() -> None:
    rng = np.random.default_rng(2)
    x = rng.standard_normal((6, 3)).astype(F32)
    mask = rng.random((6, 6)) < 0.6
    both = mask & window_mask(6, 6, 2, 1, 0)
    bias = np.where(mask, rng.standard_normal((6, 6)), -np.inf).astype(F32)
    for given, same in ((mask, both), (bias, np.where(both, bias, F32(-np.inf)))):
        one = er.scaled_dot_product_attention(x, x, x, attn_mask=given, window=(2, 1))
        other = er.scaled_dot_product_attention(x, x, x, attn_mask=same)
        assert np.array_equal(one.rounded.output.values(), other.rounded.output.values())
        assert np.array_equal(one.rounded.logsumexp.values(), other.rounded.logsumexp.values())


def capped_answer(case: Hostile, scale: Any, form: str) -> np.ndarray:
    """Attention with a softcap, to 400 bits, rounded once."""
    with gmpy2.context(PRECISE):
        q, k, v = (
            [[gmpy2.mpq(float(a)) for a in row] for row in x] for x in (case.q, case.k, case.v)
        )
        cap = gmpy2.mpfr(case.cap)
        found = np.zeros((len(q), len(v[0])))
        for i, row in enumerate(q):
            kept = np.flatnonzero(case.keep[i]).tolist()
            if not kept:
                continue
            scores = []
            for j in kept:
                s = scale * sum(a * b for a, b in zip(row, k[j], strict=True))
                bias = 0 if case.bias is None else gmpy2.mpfr(float(case.bias[i, j]))
                scores.append(cap * gmpy2.tanh(gmpy2.mpfr(s) / cap) + bias)
            top = max(scores)
            powers = [gmpy2.exp(s - top) for s in scores]
            for d in range(len(v[0])):
                terms = [p * v[j][d] for p, j in zip(powers, kept, strict=True)]
                mean = gmpy2.fsum(terms) / gmpy2.fsum(powers)
                found[i, d] = round_fraction(fraction(mean), get_format(form))
    return found


@pytest.mark.parametrize("form", ["float32", "bfloat16", "float64"])
def test_capped_scores_are_exact(form: str) -> None:
    rng = np.random.default_rng(3)
    for kind in ("normal", "steep", "causal", "bool mask", "infinite mask", "cancelling values"):
        given = hostile(rng, kind, form if form != "float64" else "float32")
        case = replace(given, cap=float(rng.choice([0.5, 2.0, 30.0, 0.1])))
        scale = gmpy2.mpq(case.params.get("scale", 0.5))
        case.params["scale"] = float(scale)
        result = case.call(softcap=case.cap, dtype=form)
        wanted = capped_answer(case, scale, form)
        assert np.array_equal(result["output"].rounded.values(), wanted), kind


KERNELS = {
    "normal": (
        Kernel(),
        Kernel(scaling="divide", divide="late reciprocal"),
        Kernel(block=32, scaling="exp2"),
        Kernel(divide="early", order=block_order, features=block_order),
    ),
    "any_order": (
        Kernel(block=1, scaling="exp2"),
        Kernel(block=7, order=random_tree, features=random_tree),
        Kernel(scaling="query", order=random_tree),
    ),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("standard", ["normal", "any_order"])
@pytest.mark.parametrize("flush", [False, True])
@np.errstate(all="ignore")
def test_kernels_with_caps_and_windows_are_inside(kind: str, standard: str, flush: bool) -> None:
    rng = np.random.default_rng([4, KINDS.index(kind)])
    for form in ("float32", "bfloat16"):
        case = hostile(rng, kind, form)
        case = replace(case, cap=float(rng.choice([0.3, 1.0, 5.0, 30.0, 50.0])))
        queries, keys = case.keep.shape
        left, right = int(rng.integers(-1, 40)), int(rng.integers(-1, 40))
        band = window_mask(queries, keys, left, right, keys - queries)
        more: dict[str, Any] = {"softcap": case.cap}
        if kind != "causal":
            more |= {"window": (left, right), "causal_alignment": "bottom_right"}
            case = replace(case, keep=case.keep & band)
        result = case.call(**more)
        for kernel in KERNELS[standard]:
            m = Machine(flush=flush, ulps=int(rng.integers(2)), rng=rng)
            for name, array, out in zip(
                ("output", "logsumexp"), kernel.run(m, case), (form, "float32"), strict=True
            ):
                covered = result[name].covers(er.asarray(array, out), standard, flush_to_zero=flush)
                assert covered.all(), (name, kernel, case)


def inputs(seed: int) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng([seed, 9])
    shapes = ((24, 16), (48, 16), (48, 4))
    return tuple(rng.standard_normal(s).astype(F32) * 2 for s in shapes)


def faulty(seed: int, fault: str) -> tuple[np.ndarray, np.ndarray]:
    """A float32 kernel with a window (7, 2) and a softcap of 5, and a fault."""
    q, k, v = inputs(seed)
    s = (q @ k.T).astype(F32) * F32(0.25)
    cap = F32({"another cap": 6}.get(fault, 5))
    if fault != "missing cap":
        s = cap * np.tanh(s / cap)
    if fault == "cap applied twice":
        s = cap * np.tanh(s / cap)
    left = 7 + {"window one longer": 1, "window one shorter": -1}.get(fault, 0)
    right = 2 + {"right end one later": 1, "right end one earlier": -1}.get(fault, 0)
    offset = {"top left": 0}.get(fault, 24)
    s = np.where(window_mask(24, 48, left, right, offset), s, F32(-np.inf))
    if fault == "capped after the mask":
        s = cap * np.tanh(s)
    p = np.exp(s - s.max(axis=-1, keepdims=True))
    total = p.sum(axis=-1, keepdims=True)
    return p @ v / total, (s.max(axis=-1) + np.log(total[:, 0])).astype(F32)


@pytest.mark.parametrize(
    "fault",
    [
        "missing cap",
        "another cap",
        "cap applied twice",
        "capped after the mask",
        "window one longer",
        "window one shorter",
        "right end one later",
        "right end one earlier",
        "top left",
    ],
)
def test_planted_faults_are_outside(fault: str) -> None:
    for seed in range(3):
        rules = {"window": (7, 2), "softcap": 5.0, "causal_alignment": "bottom_right"}
        r = er.scaled_dot_product_attention(*inputs(seed), **rules)
        for name, right, wrong in zip(
            ("output", "logsumexp"), faulty(seed, ""), faulty(seed, fault), strict=True
        ):
            assert r[name].covers(right, standard="any_order").all()
            covered = r[name].covers(wrong, standard="any_order").values().astype(bool)
            assert covered.mean() < 0.9


def test_equal_capped_scores_are_seen_to_be_equal() -> None:
    """Ties at a midpoint: two keys of equal capped scores, the mean of values between numbers."""
    x = np.asarray([[1.0]], F32)
    keys = np.asarray([[0.7], [0.7], [-3.0]], F32)
    v = np.asarray([[1.0], [1 + 2.0**-23], [1 + 2.0**-24 * 3]], F32)
    mask = np.asarray([[True, True, False]])
    for bias in (mask, np.asarray([[0.25, 0.25, -np.inf]], F32)):
        r = er.scaled_dot_product_attention(x, keys, v, attn_mask=bias, softcap=3.0)
        assert r["output"].rounded.tolist() == [[1.0]]


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        ({"window": (1, -2)}, "window must be"),
        ({"window": 3}, "window must be"),
        ({"window": (1.5, 0)}, "window must be"),
        ({"window": (1, 2, 3)}, "window must be"),
        ({"softcap": -1.0}, "softcap must be"),
        ({"softcap": float("inf")}, "softcap must be"),
        ({"softcap": "30"}, "softcap must be"),
        ({"softcap": True}, "softcap must be"),
        ({"causal_alignment": "middle"}, "causal_alignment is one of"),
        ({"algorithm": {"weights": "bfloat16"}}, "algorithm must be an exactref.nn.attention"),
        ({"algorithm": "bfloat16"}, "algorithm must be an exactref.nn.attention"),
    ],
)
def test_what_does_not_fit_is_named(rules: dict[str, Any], words: str) -> None:
    x = np.ones((2, 2), F32)
    with pytest.raises(InputError, match=words):
        er.scaled_dot_product_attention(x, x, x, **rules)


def test_windows_of_unequal_lengths_say_where_they_lie() -> None:
    q, k = np.ones((2, 2), F32), np.ones((3, 2), F32)
    with pytest.raises(InputError, match="bottom_right"):
        er.scaled_dot_product_attention(q, k, k, window=(1, 0))


@pytest.mark.parametrize("size", [30.0, 3e4, 3e10])
def test_gradients_of_saturated_scores_vanish_with_their_signs(size: float) -> None:
    """Of two keys with weights 1/2 and values 1 and 2, the slopes are -+(1 - tanh^2) / 4."""
    one, q = np.ones((1, 1), F32), np.asarray([[size]], F32)
    k, v = np.asarray([[1.0], [0.75]], F32), np.asarray([[1.0], [2.0]], F32)
    found = er.backward.scaled_dot_product_attention(one, q, k, v, softcap=1.0, scale=1.0)
    given = [*found["grad_key"].rounded.values().ravel(), *found["grad_query"].rounded.values()[0]]
    # The second slope is far above the first, and what is far below the range has its sign.
    assert [bool(np.signbit(value)) for value in given] == [True, False, False]
    rests = [PRECISE.exp(gmpy2.mpfr(-2 * size * x)) for x in (1, 0.75)]
    falls = [float(4 * p / (1 + p) ** 2) for p in rests]
    want = [-falls[0] / 4 * size, falls[1] / 4 * size, (0.75 * falls[1] - falls[0]) / 4]
    assert np.allclose(given, np.asarray(want, F32), rtol=1e-6, atol=0)
