"""The picture of verdicts: no failing element out of sight, every ratio in its bin."""

from __future__ import annotations

import json
import math
import re
from functools import partial
from typing import Any

import numpy as np
import pytest

import exactref as er
from exactref_core import compare
from exactref_core.arithmetic.boxes import boxes
from exactref_core.compare import judge
from exactref_core.evaluate.blocks import blocks
from exactref_core.judgement import Judgement
from exactref_core.picture import BINS, CELLS, HIGHEST, LOWEST, SLICES, Canvas, Picture

MARKS = {".": 0, "o": 1, "x": 2}


def drawn(severity: Any, ratios: Any = None) -> Picture:
    """The picture of a tensor of severities 0 normal, 1 worse, 2 wrong."""
    severity = np.asarray(severity)
    flat = severity.reshape(-1)
    ratios = np.zeros(flat.shape) if ratios is None else np.asarray(ratios, np.float64)
    canvas = Canvas(severity.shape)
    canvas.add(flat == 0, flat < 2, ratios)
    return canvas.picture()


def cells(text: str) -> list[int]:
    """The severities of run-length coded cells."""
    return [
        MARKS[mark] for count, mark in re.findall(r"(\d+)([.ox])", text) for _ in range(int(count))
    ]


def expected(plane: Any, step: tuple[int, int]) -> list[int]:
    """The worst severity under each cell, element by element in plain Python."""
    rows, columns = plane.shape
    grid = math.ceil(rows / step[0]), math.ceil(columns / step[1])
    worst = [[0] * grid[1] for _ in range(grid[0])]
    for i in range(rows):
        for j in range(columns):
            cell = worst[i // step[0]]
            cell[j // step[1]] = max(cell[j // step[1]], int(plane[i, j]))
    return [severity for row in worst for severity in row]


@pytest.mark.parametrize("shape", [(1, 1, 5, 3), (64, 65), (130, 3), (2, 200), (3, 1, 129, 64)])
def test_a_cell_shows_the_worst_verdict_inside_it(shape: tuple[int, ...]) -> None:
    severity = np.random.default_rng(1).choice(3, size=shape, p=[0.95, 0.03, 0.02])
    found = drawn(severity)
    planes = severity.reshape(-1, *shape[-2:])
    assert max(found.grid) <= CELLS
    assert len(found.slices) == len(planes)
    for shown, plane in zip(found.slices, planes, strict=True):
        assert cells(shown.cells) == expected(plane, found.step)
        assert (shown.wrong, shown.worse) == ((plane == 2).sum(), (plane == 1).sum())
        assert len(cells(shown.cells)) == found.grid[0] * found.grid[1]


@pytest.mark.parametrize("size", [1, 2, 64, 65, 4096, 4097, 9000])
def test_one_axis_is_read_like_text(size: int) -> None:
    severity = np.zeros(size, int)
    severity[size // 2] = 2
    found = drawn(severity)
    (shown,) = found.slices
    step = found.step[1]
    where = [place for place, cell in enumerate(cells(shown.cells)) if cell]
    assert where == [(size // 2) // step]
    assert len(cells(shown.cells)) == math.ceil(size / step) <= CELLS**2
    assert found.grid[0] == math.ceil(math.ceil(size / step) / CELLS)


@pytest.mark.parametrize("shape", [(3, 4, 130, 5), (6, 1, 70), (9, 200), (500,), (2, 9000)])
def test_blocks_make_the_picture_of_the_whole(shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(2)
    severity = rng.choice(3, size=shape, p=[0.95, 0.03, 0.02])
    ratios = rng.random(shape) * 3
    canvas, count = Canvas(shape), 0
    for box in boxes(shape, 40, len(shape)):
        block = severity[box].reshape(-1)
        canvas.add(block == 0, block < 2, ratios[box].reshape(-1), box)
        count += 1
    assert count > 5
    assert canvas.picture() == drawn(severity, ratios.reshape(-1))


def test_a_huge_output_has_one_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.random.default_rng(3).standard_normal((3, 40, 6)).astype(np.complex64)
    out = x + x
    out[2, 17:, 5] = 7
    (whole,) = judge(out, er.add(x, x), picture=True)
    monkeypatch.setattr(compare, "blocks", partial(blocks, most=100))
    (parts,) = judge(out, er.add(x, x), picture=True)
    assert parts.picture == whole.picture
    assert whole.picture is not None
    assert [each.wrong for each in whole.picture.slices] == [0, 0, 23]


def test_slices_with_the_most_failures_are_shown_in_order() -> None:
    severity = np.zeros((4, 5, 2, 2), int)
    severity[3, 4] = 2
    severity[0, 1, 0, 0] = 2
    severity[2, 0] = 1
    for k in range(5):
        severity[1, k, 0, 0] = 1
    found = drawn(severity)
    labels = [shown.label for shown in found.slices]
    assert len(labels) == SLICES
    assert labels == [
        f"[{i}, {j}, :, :]" for i, j in ((0, 1), (1, 0), (1, 1), (1, 2), (2, 0), (3, 4))
    ]
    assert (found.hidden, found.hidden_failing) == (14, 2)


def test_axes_of_extent_one_are_left_out() -> None:
    found = drawn(np.zeros((3, 1, 4, 1, 5), int))
    assert (found.axes, found.extents) == ((2, 4), (4, 5))
    assert [shown.label for shown in found.slices] == [f"[{i}, 0, :, 0, :]" for i in range(3)]
    assert drawn(np.zeros((1, 7, 1), int)).axes == (1,)


def test_tensors_without_axes_or_elements() -> None:
    (single,) = drawn(np.array(2)).slices
    assert (single.label, single.cells) == ("[]", "1x")
    for shape in ((0,), (3, 0), (0, 2, 4)):
        empty = drawn(np.zeros(shape, int))
        assert (empty.slices, empty.hidden) == ((), 0)


def test_a_complex_element_has_the_worse_verdict_of_its_parts() -> None:
    severity = np.array([[0, 0], [0, 2], [1, 0], [1, 2]]).reshape(-1)
    canvas = Canvas((4,))
    canvas.add(severity == 0, severity < 2, np.zeros(8))
    found = canvas.picture()
    assert found.slices[0].cells == "1.1x1o1x"
    assert (found.slices[0].wrong, found.slices[0].worse) == (2, 1)
    assert [sum(bins) for bins in found.histogram] == [4, 2, 2]


def bin_of(ratio: float) -> int:
    """The bin of a ratio, by walking over the edges."""
    if ratio == 0:
        return 0
    if ratio == math.inf:
        return BINS - 1
    edges = [math.ldexp(1.0, power) for power in range(LOWEST, HIGHEST + 1)]
    return 1 + sum(edge < ratio for edge in edges)


def test_every_ratio_is_in_the_bin_of_its_octave() -> None:
    powers = [math.ldexp(1.0, power) for power in range(LOWEST - 3, HIGHEST + 4)]
    near = [
        value for p in powers for value in (math.nextafter(p, 0), p, math.nextafter(p, math.inf))
    ]
    ratios = [0.0, *near, 5e-324, 1e300, math.inf, math.inf, 0.3, 1.0]
    severity = [0, 1, 2] * (len(ratios) // 3) + [0] * (len(ratios) % 3)
    found = drawn(severity, ratios)
    for kind in range(3):
        wanted = [0] * BINS
        for ratio, each in zip(ratios, severity, strict=True):
            wanted[bin_of(ratio)] += each == kind
        assert list(found.histogram[kind]) == wanted
    assert bin_of(1.0) == -LOWEST + 1  # the last one below the tolerance


def test_a_judgement_has_a_picture_only_if_it_is_asked_for() -> None:
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    wrong = x + x
    wrong[1, 2] += 1
    (plain,) = judge(wrong, er.add(x, x))
    assert plain.picture is None
    assert Judgement.from_dict(plain.to_dict()) == plain
    (asked,) = judge(wrong, er.add(x, x), picture=True)
    assert asked.picture is not None
    assert asked.picture.slices[0].cells == "6.1x5."
    assert sum(map(sum, asked.picture.histogram)) == 12
    through = json.loads(json.dumps(asked.to_dict()))
    assert Judgement.from_dict(through) == asked
