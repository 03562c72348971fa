"""The README's commands are the ones that CI runs, and name what pyproject.toml declares."""

from __future__ import annotations

import os
import re

import exactref
from tests.house.tree import ROOT

README = (ROOT / "README.md").read_text()
CI = (ROOT / ".ci" / "run").read_text()


def commands() -> list[str]:
    """The one-line commands of the README's console blocks, without the prompt."""
    blocks = re.findall(r"^```console\n(.*?)^```$", README, re.M | re.S)
    return [line[2:] for block in blocks for line in block.splitlines() if line.startswith("$ ")]


def test_the_first_command_installs_and_runs_the_main_job() -> None:
    first = commands()[0]
    assert "pip install" in first
    assert first.endswith("pytest --exactref docs/examples")


def test_the_second_command_installs_and_passes_the_tests() -> None:
    second = commands()[1]
    assert "pip install" in second
    assert re.search(r"&& \S*pytest -n auto$", second)


def test_ci_installs_what_the_second_command_installs() -> None:
    install = re.search(r"pip (install .*?) &&", commands()[1])
    assert install is not None
    assert f"pip {install[1]}" in CI


def test_ci_is_executable_and_asks_nothing() -> None:
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
    assert "read " not in CI


def test_the_version_has_a_changelog_entry() -> None:
    version = re.search(r'^version = "(.+)"$', (ROOT / "pyproject.toml").read_text(), re.M)
    assert version is not None
    assert f"## [{version[1]}]" in (ROOT / "CHANGELOG.md").read_text()
    assert version[1] == exactref.__version__
