"""The line while a huge output is judged: on a terminal alone, and gone at the end."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys

import pytest

from pytest_exactref.progress import progress
from tests.plugin.sessions import HEAD, session, text

SOURCE = """
import pytest_exactref.progress
pytest_exactref.progress.DELAY = pytest_exactref.progress.EVERY = 0.0

def test_large(exactref):
    x = np.random.default_rng(0).standard_normal(1_200_000).astype(np.float32)
    exactref.check(x + x, er.add(x, x))
"""
LINE = r"exactref: add float32 \(1200000,\) \[#+ *\] \d+%, \d+ s left"


def on_a_terminal(pytester: pytest.Pytester, *arguments: str) -> str:
    """What a session prints when it is started at a terminal."""
    pytester.makepyfile(test_it=HEAD + SOURCE)
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments]
    with subprocess.Popen(command, stdout=theirs, stderr=theirs, cwd=pytester.path) as process:
        os.close(theirs)
        shown = b""
        while True:
            try:
                found = os.read(ours, 4096)
            except OSError:  # the other end is closed
                break
            if not found:
                break
            shown += found
        process.wait()
    os.close(ours)
    return shown.decode()


@pytest.mark.parametrize("arguments", [(), ("-s",), ("--capture=sys",)], ids=str)
def test_a_terminal_shows_it(pytester: pytest.Pytester, arguments: tuple[str, ...]) -> None:
    shown = on_a_terminal(pytester, *arguments)
    assert "1 passed" in shown
    assert re.search(LINE, shown)
    assert re.search(r"left\s*\r +\r", shown)


def test_a_quiet_session_and_a_worker_show_nothing(pytester: pytest.Pytester) -> None:
    assert "exactref: add" not in on_a_terminal(pytester, "-q")
    assert "exactref: add" not in on_a_terminal(pytester, "-n1")


def test_a_file_gets_nothing(pytester: pytest.Pytester) -> None:
    result = session(pytester, SOURCE, "-s")
    result.assert_outcomes(passed=1)
    assert "exactref: add" not in text(result)


def test_what_is_quick_shows_nothing() -> None:
    written: list[str] = []
    with progress(written.append, "sum") as told:
        assert told is not None
        told(0.5)
    assert written == []
