"""A run that the system ends goes on from its last turn, and damaged counts are refused."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.arena.registry import FAMILIES
from tests.arena.running import Run

OPS = ("cumulative_sum",)
ROOT = Path(__file__).parents[2]


def test_a_run_that_is_terminated_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "arena.json"
    command = [
        "-m",
        "tests.arena",
        "--ops",
        *OPS,
        "--longest",
        "8",
        "--hours",
        "1",
        "--guided",
        "0",
    ]
    process = subprocess.Popen(
        [sys.executable, *command, "--json", str(path)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 120
    while not path.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(0.1)  # somewhere in a later turn, or between two
    process.send_signal(signal.SIGTERM)
    assert process.wait() != 0
    families = tuple(f for f in FAMILIES if f.op in OPS)
    resumed = Run(families, path)
    turns = resumed.turn + 1
    resumed.until(lambda run: run.turn >= turns, longest=8)
    straight = Run(families)
    straight.until(lambda run: run.turn >= turns, longest=8)
    assert resumed.tally.tables == straight.tally.tables
    assert resumed.alarms == straight.alarms


@pytest.mark.parametrize("content", ["", "{", "[]", '{"layout": 1}', '{"layout": 0}', "\0" * 9])
def test_counts_that_are_damaged_are_refused(content: str, tmp_path: Path) -> None:
    path = tmp_path / "arena.json"
    path.write_text(content)
    with pytest.raises(
        SystemExit, match=r"arena\.json is of layout .*|arena\.json holds no counts"
    ):
        Run(FAMILIES, path)
    assert path.read_text() == content
