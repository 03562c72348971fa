"""What a sweep judged is written down as it was, every operation that torch has among it."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from exactref_core.registry import get_op, ops
from tests.sweep import judged
from tests.sweep.__main__ import main
from tests.sweep.known import KNOWN
from tests.sweep.libraries import FORMATS, NUMPY, TORCH
from tests.sweep.running import Row, sweep

COUNTED = judged.load()


@pytest.mark.parametrize("form", FORMATS)
def test_every_kernel_of_torch_was_judged_in_every_format(form: str) -> None:
    had = [op.name for op in ops() if TORCH.reason(op) is None]
    assert {name for name in had if f"torch {name} {form}" in COUNTED} == set(had)


def test_what_was_wrong_is_known() -> None:
    wrong = {tuple(place.split()) for place, found in COUNTED.items() if "wrong" in found}
    assert {(library, *place) for library in KNOWN for place in KNOWN[library]} >= wrong


def test_rows_are_written_and_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judged, "FILE", tmp_path / "judged.json")
    judged.write(TORCH, [Row("exp", "float32", np.array([3, 2, 1, 4]))])
    judged.write(TORCH, [Row("exp", "float64", np.array([7, 0, 0, 0]), stopped=True)])
    row = "| `exp` | 7+ | 10: 4 wrong, 1 flushes, 2 worse |  |  |"
    assert judged.table("torch").splitlines()[2:] == [row]


def test_the_command_writes_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judged, "FILE", tmp_path / "judged.json")
    words = ["--library", "numpy", "--ops", "negative", "--formats", "float16", "--count"]
    monkeypatch.setattr(sys, "argv", ["sweep", *words])
    assert main() == 0
    (row,) = sweep(NUMPY, [get_op("negative")], ("float16",), [0])
    assert judged.load() == {"numpy negative float16": {"normal": row.counts.sum()}}


def test_a_row_stops_when_its_time_is_over() -> None:
    (row,) = sweep(NUMPY, [get_op("negative")], ("float16",), [0], seconds=-1)
    assert (row.stopped, row.counts.sum()) == (True, 0)
