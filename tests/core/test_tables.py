"""Elementwise calls of narrow arrays are evaluated once a number: the answers stay the same."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import exactref as er
from exactref_core import compare
from exactref_core.evaluate import blocks, tables

SHAPE = (120, 500)
CALLS: dict[str, Any] = {
    "exp": er.exp,
    "gelu": er.gelu,
    "sqrt": er.sqrt,
    "negative": er.negative,
    "silu to float32": lambda x: er.silu(x, dtype="float32"),
    "astype": lambda x: er.astype(x, "float8_e4m3fn"),
    "leaky_relu": lambda x: er.leaky_relu(x, 0.125),
}


def narrow(kind: Any) -> np.ndarray:
    x = (np.random.default_rng(8).standard_normal(SHAPE) * 3).astype(kind)
    x[0, :6] = [np.inf, -np.inf, np.nan, 0.0, -0.0, 1e-6]
    return x


@pytest.mark.parametrize("kind", [np.float16, ml_dtypes.bfloat16, ml_dtypes.float8_e5m2])
@pytest.mark.parametrize("name", CALLS)
def test_answers_are_those_of_each_element(
    name: str, kind: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    x = narrow(kind)
    found = CALLS[name](x)
    places = found.outputs["output"].places
    assert places is not None
    monkeypatch.setattr(tables, "LEAST", x.size + 1)
    expected = CALLS[name](x[:2])
    for ask in (
        lambda r: [r.rounded],
        lambda r: [r.tolerance()],
        lambda r: [r.tolerance("any_order", flush_to_zero=True)],
        lambda r: list(r.finite_range()),
        lambda r: [r.may_be("+inf"), r.may_be("nan")],
    ):
        for whole, part in zip(ask(found), ask(expected), strict=True):
            assert whole.shape == SHAPE
            assert whole.data[:2].tobytes() == part.data.tobytes()
    off = expected.rounded.data.copy()
    off[:, ::2] = off[:, 1::2]
    whole = found.rounded.data.copy()
    whole[:2] = off
    off, whole = (er.Array(data, expected.rounded.format) for data in (off, whole))
    judged = found.covers(whole)
    assert judged.data[:2].tobytes() == expected.covers(off).data.tobytes()
    assert judged.data[2:].all()


def test_views_and_further_calls_of_a_table() -> None:
    x = narrow(np.float16)
    found, single = er.exp(x), er.exp(x.astype(np.float32), dtype="float16")
    assert single.outputs["output"].places is None  # type: ignore[attr-defined]
    for view in (
        lambda r: r[3],
        lambda r: r.reshape(-1),
        lambda r: r.transpose(1, 0)[::7],
        lambda r: er.sum(r, axis=1, dtype="float32"),
        lambda r: er.add(r, r),
    ):
        assert view(found).shape == view(single).shape
    np.testing.assert_array_equal(found[3].rounded.values(), found.rounded.values()[3])
    turned = found.transpose(1, 0)[::7].rounded.values()
    np.testing.assert_array_equal(turned, found.rounded.values().T[::7])
    middle = found.exact.value(3, 7).midpoint.to_fraction()
    assert middle == er.exp(x[3, 7]).exact.value().midpoint.to_fraction()
    total = er.sum(found[4:6], axis=1).rounded.tolist()
    assert total == [er.sum(er.exp(row)).rounded.tolist() for row in x[4:6]]


def test_huge_tables_are_judged_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    x = narrow(np.float16)
    result = er.sqrt(x)
    output = result.rounded.data.copy()
    output[7, 11] = 9
    (whole,) = compare.judge(output, result)
    monkeypatch.setattr(blocks, "CELLS", 20000)
    assert len(list(blocks.blocks(result.outputs["output"], 20000))) > 2  # type: ignore[arg-type]
    (split,) = compare.judge(output, er.sqrt(x))
    assert (split.total, split.normal, split.wrong) == (whole.total, whole.normal, whole.wrong)
    assert whole.wrong == 1


def test_what_has_no_table() -> None:
    x = narrow(np.float16)
    for result in (
        er.exp(x[:2]),
        er.exp(x.astype(np.float32)),
        er.add(x, x),
        er.softmax(x, axis=-1),
        er.exp(np.arange(40000, dtype=np.uint16).view(np.float16)),
        er.clip(x, -1.0, np.float16(1)),
    ):
        assert result.outputs["output"].places is None  # type: ignore[attr-defined]
