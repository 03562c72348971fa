"""Bounds of all means at once, by matrix products, against those of single elements."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import exactref as er
from exactref_core.arithmetic import attend_whole, softmax_bounds
from exactref_core.arithmetic.bounds import FloatBounds
from exactref_core.arithmetic.fast import FastReading
from exactref_core.registry import get_standard
from tests.core.softmax_hostile import KINDS, hostile


def both(part: Any, standard: str, flush: bool, precise: bool) -> tuple[Any, Any]:
    """The bounds of all elements, and those of the same elements by their indices."""
    node = part.source
    found = []
    for _ in range(2):
        reading = FloatBounds(FastReading(False), get_standard(standard), flush, precise)
        whole = not found
        bound = reading.whole(node) if whole else reading.at(node, np.arange(node.size))
        found.append(bound.map(np.ravel, node.shape if whole else (node.size,)))
    return found[0], found[1]


def overlap(one: Any, other: Any) -> bool:
    return bool(np.all(one.low <= other.high) and np.all(other.low <= one.high))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("precise", [False, True])
def test_brackets_hold_the_same_numbers(kind: str, precise: bool, monkeypatch) -> None:
    monkeypatch.setattr(attend_whole, "TERMS", 150)
    rng = np.random.default_rng([5, KINDS.index(kind)])
    for round_ in range(3):
        case = hostile(rng, kind, ("float32", "bfloat16", "float32")[round_])
        declared = {"algorithm": er.nn.attention.AttentionAlgorithm(weights="bfloat16")}
        result = case.call(**(declared if round_ == 2 else {}))["output"]
        (part,) = result._outputs["output"].parts
        for standard in ("normal", "any_order", "typical"):
            for flush in (False, True):
                whole, single = both(part, standard, flush, precise)
                assert overlap(whole.error, single.error)
                for side in ("low", "high"):
                    ends = [getattr(b.clip, side) for b in (whole, single)]
                    assert np.allclose(ends[0][0], ends[1][0], rtol=1e-12, atol=0)
                    assert np.allclose(ends[0][1], ends[1][1], rtol=1e-12, atol=0)
                unsure = [
                    np.zeros(1, bool) if b.unsure is None else b.unsure for b in (whole, single)
                ]
                assert np.array_equal(*np.broadcast_arrays(*unsure))


def test_brackets_are_tight() -> None:
    rng = np.random.default_rng(6)
    q, k, v = (er.asarray(rng.standard_normal((3, 40, 8)).tolist(), "float32") for _ in range(3))
    (part,) = er.scaled_dot_product_attention(q, k, v)._outputs["output"].parts
    for standard in ("normal", "any_order", "typical"):
        whole, _ = both(part, standard, False, True)
        assert np.all(whole.error.high <= whole.error.low * (1 + 2.0**-38))


def test_values_that_carry_errors(monkeypatch) -> None:
    monkeypatch.setattr(attend_whole, "TERMS", 100)
    rng = np.random.default_rng(7)
    q, k, v = (rng.standard_normal((2, 9, 5)).astype(np.float32) for _ in range(3))
    bias = rng.standard_normal((2, 1, 5)).astype(np.float32)
    keep = rng.random((2, 9, 9)) < 0.7
    result = er.scaled_dot_product_attention(q, k, er.add(v, bias), attn_mask=keep)["output"]
    (part,) = result._outputs["output"].parts
    for standard in ("normal", "any_order", "typical"):
        for flush in (False, True):
            whole, single = both(part, standard, flush, True)
            assert overlap(whole.error, single.error)
            ends = [whole.error.high, single.error.high]
            assert np.allclose(*ends, rtol=2.0**-38, atol=0)


def test_infinite_values(monkeypatch) -> None:
    monkeypatch.setattr(softmax_bounds, "TERMS", 10)
    x = np.zeros((4, 2), np.float32)
    v = np.asarray([[1, 2, 3], [np.inf, 2, 3], [1, np.nan, 3], [1, 2, 3]], np.float32)
    keep = np.tri(4, dtype=bool)
    result = er.scaled_dot_product_attention(x, x, v, attn_mask=keep)["output"]
    assert result.may_be("+inf").values().tolist() == [[i > 0, False, False] for i in range(4)]
    assert result.may_be("nan").values().tolist() == [[i < 1, True, False] for i in range(4)]
