"""Every row under pytest-benchmark; at sizes that measure nothing without EXACTREF_BENCHMARKS."""

from __future__ import annotations

import os
from typing import Any

import pytest

from tests.benchmarks import measure
from tests.benchmarks.__main__ import main
from tests.benchmarks.rows import FULL, SMALL, Row, rows

MEASURED = bool(os.environ.get("EXACTREF_BENCHMARKS"))
ROWS = list(rows(FULL if MEASURED else SMALL))


def run(benchmark: Any, function: Any) -> object:
    return benchmark(function) if MEASURED else benchmark.pedantic(function, rounds=1)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_reference(row: Row, benchmark: Any) -> None:
    benchmark.group = row.name
    assert run(benchmark, row.subject) is not None


PEERS = [(row, name) for row in ROWS for name in row.peers]


@pytest.mark.parametrize(("row", "name"), PEERS, ids=lambda x: getattr(x, "name", x))
def test_peer(row: Row, name: str, benchmark: Any) -> None:
    benchmark.group = row.name
    assert run(benchmark, row.peers[name]) is not None


def test_the_tables_have_a_row_for_each_reference(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--small", "--rounds", "1"]) == 0
    printed = capsys.readouterr().out
    for row in rows(SMALL):
        assert f"| {row.name} | " in printed


def test_memory_is_measured_in_a_process_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measure, "MEMORY", "print(3000000, 1500000)")
    lines = measure.memory().splitlines()
    assert lines[2] == "| matmul 4096 float32: rounded | 3 | 2.0 |"
