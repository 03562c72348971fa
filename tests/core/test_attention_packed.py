"""Packed sequences: each is what it is alone, with its own bounds; wrong lengths are outside."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import exactref as er
from exactref_core.errors import DTypeError, InputError
from tests.core.softmax_kernels import Kernel, Machine

F32 = np.float32
ENDS_Q, ENDS_K = [0, 4, 4, 7, 9, 42], [0, 5, 6, 6, 12, 46]
RULES: dict[str, dict[str, Any]] = {
    "plain": {},
    "causal": {"is_causal": True, "causal_alignment": "bottom_right"},
    "window": {"window": (2, 1), "causal_alignment": "top_left"},
    "cap": {"softcap": 1.5, "scale": 0.7, "fully_masked": "nan"},
}


def inputs(seed: int = 0, heads: int = 2) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    shapes = ((heads, ENDS_Q[-1], 4), (heads, ENDS_K[-1], 4), (heads, ENDS_K[-1], 3))
    return [rng.standard_normal(s).astype(F32) for s in shapes]


def alone(tensors: list[np.ndarray]) -> list[tuple[slice, slice, list[np.ndarray]]]:
    """Each sequence with its places."""
    q, k, v = tensors
    found = []
    for i, j in zip(pairwise(ENDS_Q), pairwise(ENDS_K), strict=True):
        a, b = slice(*i), slice(*j)
        found.append((a, b, [q[:, a], k[:, b], v[:, b]]))
    return found


def same(one: Any, other: Any, standard: str, flush: bool) -> None:
    more = {"standard": standard, "flush_to_zero": flush}
    assert np.array_equal(one.rounded.values(), other.rounded.values(), equal_nan=True)
    for a, b in zip(one.finite_range(**more), other.finite_range(**more), strict=True):
        assert np.array_equal(a.values(), b.values(), equal_nan=True)
    for value in ("+inf", "-inf", "nan"):
        flags = (r.may_be(value, **more).values() for r in (one, other))
        assert np.array_equal(*flags)


@pytest.mark.parametrize("case", RULES)
def test_each_sequence_is_what_it_is_alone(case: str) -> None:
    tensors = inputs()
    rules = RULES[case]
    packed = er.scaled_dot_product_attention(
        *tensors, cu_seqlens_q=ENDS_Q, cu_seqlens_k=np.asarray(ENDS_K, np.int32), **rules
    )
    for places, keys, parts in alone(tensors):
        if keys.start == keys.stop:
            empty = packed["output"][:, places].rounded.values()
            assert np.all(np.isnan(empty) if case == "cap" else empty == 0)
            assert np.all(packed["logsumexp"][:, places].rounded.values() == -np.inf)
        elif places.start < places.stop:
            single = er.scaled_dot_product_attention(*parts, **rules)
            for standard, flush in (("normal", False), ("any_order", True)):
                for name in ("output", "logsumexp"):
                    same(packed[name][:, places], single[name], standard, flush)


def test_one_of_the_lengths_stands_for_both() -> None:
    x = np.random.default_rng(1).standard_normal((7, 3)).astype(F32)
    one = er.scaled_dot_product_attention(x, x, x, cu_seqlens_q=(0, 3, 7))
    two = er.scaled_dot_product_attention(x, x, x, cu_seqlens_q=[0, 3, 7], cu_seqlens_k=[0, 3, 7])
    same(one["output"], two["output"], "normal", False)


def test_many_sequences() -> None:
    """More than a byte counts: single keys return their values."""
    rng = np.random.default_rng(2)
    q, v = rng.standard_normal((300, 2)).astype(F32), rng.standard_normal((300, 3)).astype(F32)
    r = er.scaled_dot_product_attention(q, q, v, cu_seqlens_q=np.arange(301))
    assert np.array_equal(r.rounded.output.values(), v)


def test_bounds_are_those_of_the_sequence_not_of_the_pack() -> None:
    """A mask over the whole pack says the same values, with the bounds of 200 keys."""
    x = np.random.default_rng(3).standard_normal((200, 4)).astype(F32)
    mask = np.zeros((200, 200), bool)
    mask[:3, :3] = mask[3:, 3:] = True
    packed = er.scaled_dot_product_attention(x, x, x, cu_seqlens_q=[0, 3, 200])["output"][:3]
    masked = er.scaled_dot_product_attention(x, x, x, attn_mask=mask)["output"][:3]
    assert np.array_equal(packed.rounded.values(), masked.rounded.values())
    bounds = [r.tolerance(standard="any_order").values() for r in (packed, masked)]
    assert np.all(bounds[0] * 4 < bounds[1])


def kernel(tensors: list[np.ndarray], ends_q: list[int], ends_k: list[int]) -> tuple[Any, Any]:
    """Attention of each sequence in float32 blocks of 32 keys, causal from the end of each."""

    class Case:
        scale, bias, cap = 0.5, None, 0.0

    q, k, v = tensors
    output, logs = np.zeros((*q.shape[:-1], v.shape[-1]), F32), np.full(q.shape[:-1], -np.inf, F32)
    for head in range(len(q)):
        for i, j in zip(pairwise(ends_q), pairwise(ends_k), strict=True):
            a, b = slice(*i), slice(*j)
            rows, keys = i[1] - i[0], j[1] - j[0]
            if rows and keys:
                case = Case()
                case.q, case.k, case.v = q[head, a], k[head, b], v[head, b]
                case.keep = np.tri(rows, keys, keys - rows, dtype=bool)
                with np.errstate(all="ignore"):
                    output[head, a], logs[head, a] = Kernel(block=32).run(Machine(), case)
    return output, logs


FAULTS = {
    "a key more": (ENDS_Q, [0, 5, 7, 7, 12, 46]),
    "a query more": ([0, 5, 5, 7, 9, 42], ENDS_K),
    "one sequence of all": ([0, 42], [0, 46]),
    "keys by the queries' lengths": (ENDS_Q, [0, 4, 4, 7, 9, 46]),
}


@pytest.mark.parametrize("fault", ["", *FAULTS])
def test_kernels_are_inside_and_wrong_lengths_are_not(fault: str) -> None:
    for seed in range(3):
        tensors = inputs(seed)
        r = er.scaled_dot_product_attention(
            *tensors, cu_seqlens_q=ENDS_Q, cu_seqlens_k=ENDS_K, **RULES["causal"]
        )
        found = kernel(tensors, *FAULTS.get(fault, (ENDS_Q, ENDS_K)))
        for name, array in zip(("output", "logsumexp"), found, strict=True):
            assert r[name].covers(array).all() == (not fault), (name, seed)


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("case", ["plain", "causal", "cap"])
def test_gradients_are_those_of_each_sequence(case: str, groups: int) -> None:
    q, k, v = inputs(5)
    k, v = k[: 2 // groups], v[: 2 // groups]
    rng = np.random.default_rng(6)
    g, h = (rng.standard_normal(s).astype(F32) for s in ((2, 42, 3), (2, 42)))
    rules = {**RULES[case], "enable_gqa": groups > 1}
    packed = er.backward.scaled_dot_product_attention(
        g, q, k, v, grad_logsumexp=h, cu_seqlens_q=ENDS_Q, cu_seqlens_k=ENDS_K, **rules
    )
    for places, keys, parts in alone([q, k, v]):
        if places.start < places.stop and keys.start < keys.stop:
            single = er.backward.scaled_dot_product_attention(
                g[:, places], *parts, grad_logsumexp=h[:, places], **rules
            )
            for name in ("grad_query", "grad_key", "grad_value"):
                at = places if name == "grad_query" else keys
                same(packed[name][:, at], single[name], "any_order", False)
        elif keys.start < keys.stop:
            for name in ("grad_key", "grad_value"):  # nothing attends to these keys
                assert not packed[name][:, keys].rounded.values().any()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"cu_seqlens_q": [0, 4, 8]}, "cu_seqlens_q must rise from 0 to 9"),
        ({"cu_seqlens_q": [1, 4, 9]}, "cu_seqlens_q must rise"),
        ({"cu_seqlens_q": [0, 5, 4, 9]}, "cu_seqlens_q must rise"),
        ({"cu_seqlens_q": [0, 9], "cu_seqlens_k": [0, 4, 9]}, "as many"),
        ({"cu_seqlens_k": [0, 9]}, "without cu_seqlens_q"),
        ({"cu_seqlens_q": [0, 9], "attn_mask": np.ones((9, 9), bool)}, "attn_mask and cu_seqlens"),
        (
            {"cu_seqlens_q": [0, 4, 9], "cu_seqlens_k": [0, 5, 9], "is_causal": True},
            "bottom_right",
        ),
    ],
)
def test_lengths_that_do_not_fit_are_named(given: dict[str, Any], words: str) -> None:
    x = np.ones((9, 2), F32)
    with pytest.raises(InputError, match=words):
        er.scaled_dot_product_attention(x, x, x, **given)
    with pytest.raises(DTypeError, match="integers"):
        er.scaled_dot_product_attention(x, x, x, cu_seqlens_q=[0.0, 9.0])
