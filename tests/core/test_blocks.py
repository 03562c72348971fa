"""Outputs in blocks: every rounding, range and verdict equals the whole's."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import exactref as er
from exactref_core import compare
from exactref_core.arithmetic.boxes import cells
from exactref_core.evaluate.blocks import blocks
from exactref_core.registry import get_standard

F32 = np.float32
RNG = np.random.default_rng(20)


def real(*shape: int) -> Any:
    return RNG.standard_normal(shape).astype(F32)


def complex_(*shape: int) -> Any:
    return (real(*shape) + 1j * real(*shape)).astype(np.complex64)


X = real(6, 5, 7)
# Special values take part: a block may hold some where the whole does not, and the other way round.
X[1, 2, 3], X[4, 0, 0], X[5, 4, 6] = np.inf, np.nan, -0.0
HEADS = [real(2, 3, 6, 4), real(2, 3, 5, 4), real(2, 3, 5, 4)]
CASES: dict[str, Callable[[], Any]] = {
    "add, broadcast": lambda: er.add(X, real(5, 7)),
    "multiply by a column": lambda: er.multiply(X, real(6, 1, 1)),
    "complex multiply": lambda: er.multiply(complex_(6, 5), complex_(5)),
    "complex divide": lambda: er.divide(complex_(6, 5), complex_(5)),
    "complex sqrt": lambda: er.sqrt(complex_(6, 5)),
    "square": lambda: er.square(X),
    "sum": lambda: er.sum(X, axis=-1),
    "sum of the first axis": lambda: er.sum(X, axis=0),
    "mean": lambda: er.mean(X, axis=-1, keepdims=True),
    "prod": lambda: er.prod(X, axis=-1),
    "max": lambda: er.max(X, axis=-1),
    "var": lambda: er.var(X, axis=-1),
    "vector_norm": lambda: er.vector_norm(X, axis=-1),
    "cumulative_sum": lambda: er.cumulative_sum(X, axis=-1),
    "softmax": lambda: er.softmax(X),
    "log_softmax": lambda: er.log_softmax(X),
    "logsumexp": lambda: er.logsumexp(X, axis=-1),
    "matmul": lambda: er.matmul(real(9, 8), real(8, 6)),
    "batched matmul": lambda: er.matmul(real(3, 9, 8), real(8, 6)),
    "complex matmul": lambda: er.matmul(complex_(9, 4), complex_(4, 3)),
    "linear": lambda: er.linear(real(9, 4), real(3, 4), real(3)),
    "addmm": lambda: er.addmm(real(6, 3), real(6, 4), real(4, 3)),
    "where": lambda: er.where(RNG.random((6, 5, 7)) > 0.5, X, real(6, 5, 7)),
    "maximum": lambda: er.maximum(X, real(7)),
    "gelu": lambda: er.gelu(X),
    "layer_norm": lambda: er.layer_norm(X, 7, real(7), real(7)),
    "rms_norm": lambda: er.rms_norm(X, 7, real(7)),
    "group_norm": lambda: er.group_norm(real(4, 6, 3), 2, real(6), real(6)),
    "rope": lambda: er.rope(real(2, 3, 6, 4), real(6, 2), real(6, 2)),
    "cross_entropy": lambda: er.cross_entropy(real(6, 4), np.arange(6) % 4, reduction="none"),
    "causal attention": lambda: er.scaled_dot_product_attention(*HEADS, is_causal=True),
    "biased attention": lambda: er.scaled_dot_product_attention(*HEADS, attn_mask=real(6, 5)),
    "softmax's gradient": lambda: er.backward.softmax(real(6, 5), real(6, 5)),
    "matmul's gradient": lambda: er.backward.matmul(real(6, 3), real(6, 4), real(4, 3)),
    "max's gradient": lambda: er.backward.max(real(6, 5), np.round(X * 2), axis=-1),
    "maximum's gradient": lambda: er.backward.maximum(X, real(6, 5, 7), X)["grad_x1"],
    "group_norm's gradient": lambda: er.backward.group_norm(real(4, 6, 3), real(4, 6, 3), 2),
    "chain": lambda: er.softmax(er.add(er.matmul(real(6, 4), real(4, 5)), real(5))),
}


@pytest.mark.parametrize("most", [40, 400])
@pytest.mark.parametrize("case", CASES)
def test_blocks_are_parts_of_the_whole(case: str, most: int) -> None:
    for output in CASES[case]().outputs.values():
        found = list(blocks(output, most))
        assert sum(block.size for _, block in found) == output.size
        assert len(found) > 1 or sum(cells(part.node) for part in output.parts) <= 2 * most
        for box, block in found:
            for one, part in zip(block.parts, output.parts, strict=True):
                check_part(one, part, box)


def check_part(one: Any, part: Any, box: Any) -> None:
    shape = part.node.shape
    whole = part.rounded().reshape(shape)[box]
    np.testing.assert_array_equal(one.rounded().reshape(whole.shape), whole)
    np.testing.assert_array_equal(np.signbit(one.rounded()).reshape(whole.shape), np.signbit(whole))
    for standard in map(get_standard, ("normal", "any_order")):
        for mine, theirs in zip(
            one.range(standard, False).arrays, part.range(standard, False).arrays, strict=True
        ):
            np.testing.assert_array_equal(mine, theirs.reshape(shape)[box].reshape(-1))


def test_definitions_that_mix_the_axes_are_one_block() -> None:
    mixing = [
        er.softmax(X, axis=0),
        er.batch_norm(real(4, 6, 3), None, None, real(6), real(6), training=True),
        er.add(X, X).transpose(),
        er.matrix_exp(real(3, 4, 4)),
    ]
    for result in mixing:
        ((box, block),) = blocks(result.outputs["output"], 10)
        assert box == ()
        assert block is result.outputs["output"]


@pytest.mark.parametrize("shape", [(0, 4), (4, 0), (1,), ()])
def test_empty_and_tiny_outputs(shape: tuple[int, ...]) -> None:
    x = real(*shape)
    found = list(blocks(er.add(x, x).outputs["output"], 1))
    assert sum(block.size for _, block in found) == x.size


@pytest.mark.parametrize("standard", ["normal", "any_order"])
def test_verdicts_in_blocks(monkeypatch: pytest.MonkeyPatch, standard: str) -> None:
    a, b = complex_(40, 6), complex_(6, 5)
    out = a @ b
    out[3, 1] += 1
    out[39, 4] *= 1 + 1e-3
    out[20, 2] = np.nan
    (whole,) = compare.judge(out, er.matmul(a, b), standard=standard, rows=4)
    told: list[float] = []
    monkeypatch.setattr(compare, "blocks", partial(blocks, most=300))
    (parts,) = compare.judge(out, er.matmul(a, b), standard=standard, rows=4, progress=told.append)
    assert len(told) > 3
    assert told == sorted(told)
    assert told[-1] == 1
    # NaN rows differ from themselves: the text does not.
    assert parts.table() == whole.table()
    assert parts.wrong == 5
    assert parts.worst_ratio == whole.worst_ratio
    assert (parts.total, parts.vacuous) == (whole.total, whole.vacuous)


def test_rows_of_an_output_of_three_axes_keep_their_index(monkeypatch: pytest.MonkeyPatch) -> None:
    x = real(3, 40, 6)
    out = x + x
    out[2, 17, 5] = 7
    monkeypatch.setattr(compare, "blocks", partial(blocks, most=100))
    (found,) = compare.judge(out, er.add(x, x))
    assert [row.index for row in found.rows] == [(2, 17, 5)]
    assert found.shape == (3, 40, 6)


def test_memory_grows_by_one_copy_of_the_output() -> None:
    peaks = []
    for n in (1_000_000, 2_000_000):
        x = real(n)
        out, result = x + x, er.add(x, x)
        tracemalloc.start()
        compare.judge(out, result)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] - peaks[0] <= 1.05 * 4_000_000
