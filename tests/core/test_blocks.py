"""Outputs in blocks: every rounding, range and verdict equals the whole's."""

from __future__ import annotations

import tracemalloc
from functools import partial
from typing import Any

import numpy as np
import pytest

import exactref as er
from exactref_core import compare
from exactref_core.arithmetic.boxes import cells
from exactref_core.evaluate.blocks import blocks
from exactref_core.evaluate.parcels import parcel_of
from exactref_core.registry import get_standard
from tests.core.block_cases import CASES, F32, X, real


@pytest.mark.parametrize("case", CASES)
def test_blocks_are_parts_of_the_whole(case: str) -> None:
    for output in CASES[case]().outputs.values():
        # Made before the whole is told: blocks know what it knows.
        splits = {most: list(blocks(output, most)) for most in (25, 400)}
        for most, found in splits.items():
            assert sum(block.size for _, block in found) == output.size
            assert len(found) > 1 or sum(cells(part.node) for part in output.parts) <= 8 * most
            for box, block in found:
                for one, part in zip(block.parts, output.parts, strict=True):
                    check_part(one, part, box)


def check_part(one: Any, part: Any, box: Any, flush: bool = False) -> None:
    shape = part.node.shape
    whole = part.rounded().reshape(shape)[box]
    np.testing.assert_array_equal(one.rounded().reshape(whole.shape), whole)
    np.testing.assert_array_equal(np.signbit(one.rounded()).reshape(whole.shape), np.signbit(whole))
    for standard in map(get_standard, ("normal", "any_order")):
        for mine, theirs in zip(
            one.range(standard, flush).arrays, part.range(standard, flush).arrays, strict=True
        ):
            np.testing.assert_array_equal(mine, theirs.reshape(shape)[box].reshape(-1))


def test_definitions_that_mix_the_axes_are_one_block() -> None:
    mixing = [
        er.softmax(real(100)),
        er.sum(X),
        er.add(X, X).transpose(),
        er.matrix_exp(real(8, 8)),
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
    rng = np.random.default_rng(3)
    a, b = (rng.standard_normal((*s, 2), F32).view(np.complex64)[..., 0] for s in ((40, 6), (6, 5)))
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


def test_products_are_split_along_rows_and_columns() -> None:
    for result in (
        er.matmul(real(64, 24), real(24, 96)),
        er.linear(real(64, 24), real(96, 24), real(96)),
    ):
        output: Any = result.outputs["output"]
        found = list(blocks(output, 5000))
        assert len({box[0].start for box, _ in found}) > 1
        assert len({box[1].start for box, _ in found}) > 1
        for box, block in found:
            for one, part in zip(block.parts, output.parts, strict=True):
                check_part(one, part, box)


def test_blocks_know_what_the_whole_knows() -> None:
    output: Any = er.exp(X).outputs["output"]
    (part,) = output.parts
    rule = get_standard("normal")
    low = part.range(rule, False).low.reshape(X.shape)
    part.roundings = np.arange(X.size, dtype=np.float64)  # told apart from what a block evaluates
    rounded = part.roundings.reshape(X.shape)
    for box, block in blocks(output, 50):
        (one,) = block.parts
        np.testing.assert_array_equal(one.rounded(), rounded[box].reshape(-1))
        np.testing.assert_array_equal(one.ranges["normal", False].low, low[box].reshape(-1))


@pytest.mark.parametrize("name", ["divide", "exp", "sqrt"])
def test_complex_parts_that_may_be_flushed(name: str) -> None:
    rng = np.random.default_rng(4)
    scale = np.float32([1, 1e-40, 1, 3e-39, 1, 1])[:, None]  # subnormal where not 1
    x, y = (rng.standard_normal((2, 6, 4), np.float32) * scale for _ in range(2))
    values = [part[0] + 1j * part[1] for part in (x, y)]
    output: Any = getattr(er, name)(*values[: 2 if name == "divide" else 1]).outputs["output"]
    found = list(blocks(output, 60))
    assert len(found) > 1
    travelled = [(box, parcel_of(block).output()) for box, block in found]
    for box, block in (*found, *travelled):
        for one, part in zip(block.parts, output.parts, strict=True):
            check_part(one, part, box, flush=True)
