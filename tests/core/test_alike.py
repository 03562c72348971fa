"""Equal elements are evaluated once: what is said of them is what each alone would be told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import exactref as er
from exactref_core.arithmetic.alike import alike
from exactref_core.evaluate.outputs import PartsOutput
from exactref_core.result import Result

F = np.float32
HOSTILE = np.asarray([0.0, -0.0, 1.0, -1.0, 2.0, 8.0, 0.7, 1e-40, -3e38, np.inf, np.nan], F)
ROWS = np.asarray([[1.0, 1.0, 1.0], [0.0, -1e4, -1e4], [-0.0, 0.0, 2.0], [2.0, 0.0, -0.0]], F)
TIMES = 7
# Called on elements (or rows) that repeat, and on each alone: of these exactly the same is said.
ELEMENTS: dict[str, Callable[[Any], Result]] = {
    "cbrt": lambda x: er.cbrt(x),
    "exp2": lambda x: er.exp2(x),
    "gelu": lambda x: er.gelu(x),
    "logaddexp": lambda x: er.logaddexp(x, er.asarray(np.full(x.shape, -1e4, F))),
    "pow": lambda x: er.backward.pow(np.ones(x.shape, F), x, np.full(x.shape, 3, F))["grad_x1"],
    "where": lambda x: er.where(x > F(0.5), er.sqrt(x), x),
}
LINES: dict[str, Callable[[Any], Result]] = {
    "sum": lambda x: er.sum(x, axis=-1),
    "prod": lambda x: er.prod(x, axis=-1),
    "logsumexp": lambda x: er.logsumexp(x, axis=-1),
    "softmax": lambda x: er.softmax(x),
    "log_softmax": lambda x: er.log_softmax(x),
    "layer_norm": lambda x: er.layer_norm(x),
    "std": lambda x: er.backward.std(np.ones(x.shape[:-1], F), x, axis=-1),
    "softmax gradient": lambda x: er.backward.softmax(x + F(1), x),
    "max gradient": lambda x: er.backward.max(np.ones(x.shape[:-1], F), x, axis=-1),
    "first maximum": lambda x: er.backward.max(np.ones(x.shape[:-1], F), x, axis=-1, ties="first"),
    "matmul": lambda x: er.matmul(x, ROWS.T),
}


def told(result: Result) -> list[np.ndarray]:
    """All that is said of an output."""
    found = [np.asarray(result.rounded.data)]
    for standard, flush in (("normal", False), ("any_order", True)):
        how = {"standard": standard, "flush_to_zero": flush}
        found += [np.asarray(result.tolerance(**how).data)]
        found += [np.asarray(end.data) for end in result.finite_range(**how)]
        found += [np.asarray(result.may_be(what, **how).data) for what in ("+inf", "-inf", "nan")]
    return found


def same(some: list[np.ndarray], others: list[np.ndarray]) -> None:
    for one, other in zip(some, others, strict=True):
        np.testing.assert_array_equal(one, other)
        if one.dtype.kind == "f":
            np.testing.assert_array_equal(np.signbit(one), np.signbit(other))


@pytest.mark.parametrize("name", ELEMENTS)
def test_elements_that_repeat(name: str) -> None:
    many = told(ELEMENTS[name](np.tile(HOSTILE, TIMES)))
    alone = [told(ELEMENTS[name](HOSTILE[i : i + 1])) for i in range(HOSTILE.size)]
    same(many, [np.tile(np.concatenate(column), TIMES) for column in zip(*alone, strict=True)])


@pytest.mark.parametrize("name", LINES)
def test_rows_that_repeat(name: str) -> None:
    many = told(LINES[name](np.tile(ROWS, (TIMES, 1))))
    alone = [told(LINES[name](ROWS[i : i + 1])) for i in range(len(ROWS))]
    joined = [np.concatenate(column) for column in zip(*alone, strict=True)]
    same(many, [np.tile(column, (TIMES, *(1,) * (column.ndim - 1))) for column in joined])


def test_a_row_without_axes_before_it_in_many_rows() -> None:
    @er.define(name="alike_gated", signature="(n),(m,n)->(m,n)")
    def gated(v: Any, x: Any, y: Any) -> Any:
        return v.multiply(v.softmax(x), y)

    x, y = np.zeros(3, F), np.tile(np.asarray([3, -6, 1e-40], F), (10, 1))
    rules = {"dtype": "bfloat16", "rounding": er.Rounding.DOWN}
    alone = told(gated(x, y[:1], **rules))
    same(told(gated(x, y, **rules)), [np.tile(part, (10, 1)) for part in alone])


def test_attention_with_masks() -> None:
    """Equal queries, of which a mask makes two kinds, and values that are equal in columns."""
    q, k = np.ones((1, 1, 24, 4), F), np.ones((1, 1, 6, 4), F)
    v = np.repeat(np.asarray([[1.0, 3.0], [2.0, 3.0], [7.0, 3.0]] * 2, F)[None, None], 4, axis=-1)
    mask = np.arange(6) < np.where(np.arange(24) % 2 == 0, 3, 6)[:, None]
    attend = er.scaled_dot_product_attention
    whole = told(attend(q, k, v, attn_mask=mask)["output"])
    for i in range(2):
        alone = told(attend(q[:, :, i : i + 1], k, v, attn_mask=mask[i : i + 1])["output"])
        same([x[:, :, i::2] for x in whole], [np.repeat(x, 12, axis=2) for x in alone])


def test_gradients_of_equal_queries() -> None:
    """Each query has a gradient of its own; equal keys and values make rows of equal numbers."""
    q = np.tile(np.asarray([[1, 2], [0, 0]], F), (8, 1))[None, None]
    k = np.ones((1, 1, 20, 2), F)
    v = np.tile(np.asarray([[1, 3], [2, 3]], F), (10, 1))[None, None]
    gradient = er.backward.scaled_dot_product_attention
    whole = told(gradient(q, q, k, v)["grad_query"])
    for i in range(2):
        one = q[:, :, i : i + 1]
        same([x[:, :, i : i + 1] for x in whole], told(gradient(one, one, k, v)["grad_query"]))
        same([x[:, :, i::2] for x in whole], [np.repeat(x[:, :, i : i + 1], 8, 2) for x in whole])


def kinds(result: Result) -> int:
    """How many elements answer for all of an output."""
    output = next(iter(result._outputs.values()))
    assert isinstance(output, PartsOutput)
    source = output.parts[0].source
    return int(alike(source, np.arange(source.size))[0].size)


def test_what_tells_elements_apart() -> None:
    """Signs of zeros, NaN beside numbers, the order of terms, and masks, but not the place."""
    x = np.tile(np.asarray([0.0, -0.0, np.nan, 1.0], F), 8)
    assert kinds(er.exp(x)) == 4
    assert kinds(er.add(x, np.arange(32, dtype=F) % 2)) == 4
    assert kinds(er.add(x, np.arange(32, dtype=F) // 16)) == 8
    rows = np.tile(np.asarray([[1, 2, 3], [3, 2, 1]], F), (16, 1))
    assert kinds(er.sum(rows, axis=-1)) == 2
    assert kinds(er.matmul(rows, rows[:2].T)) == 4
    assert kinds(er.softmax(rows)) == 6
    assert kinds(er.softmax(rows * 0)) == 1
    ones = np.ones(32, F)
    assert kinds(er.backward.max(ones, rows * 0, axis=-1)) == 1
    assert kinds(er.backward.max(ones, rows * 0, axis=-1, ties="first")) == 3
    assert kinds(er.cumulative_sum(rows * 0, axis=-1)) > 1  # of which nothing is known
