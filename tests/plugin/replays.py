"""Saved checks of inner sessions: the lines that reproduce them, run as printed."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.plugin.sessions import text

__all__ = ["commands", "kept", "run", "said"]


def commands(result: pytest.RunResult) -> list[str]:
    """The lines that reproduce failures, in order, each once."""
    return list(dict.fromkeys(re.findall(r"^E\s+reproduce: (.+)$", text(result), re.M)))


def run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command line as printed."""
    python, *arguments = shlex.split(command)
    assert python == "python"
    return subprocess.run(
        [sys.executable, *arguments], cwd=folder, capture_output=True, text=True, check=False
    )


def said(result: pytest.RunResult) -> list[str]:
    """The failure's own lines, from its headline to the line before the reproduction."""
    lines = [line[1:].strip() for line in text(result).splitlines() if line.startswith("E ")]
    start = next(i for i, line in enumerate(lines) if line.startswith("AssertionError: "))
    stop = next(i for i, line in enumerate(lines) if line.startswith("reproduce: "))
    return [line.removeprefix("AssertionError: ").strip() for line in lines[start:stop]]


def kept(pytester: pytest.Pytester, folder: str = ".exactref") -> list[str]:
    """The saved files."""
    return sorted(path.name for path in (pytester.path / folder).glob("*.npz"))
