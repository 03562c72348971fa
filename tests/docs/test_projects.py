"""Every project that a page shows passes its tests, without pytest-xdist and with it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.docs.projects import missing, projects, write
from tests.house.tree import ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FOUND = [(page.stem, title, files) for page in PAGES for title, files in projects(page.read_text())]


@pytest.mark.parametrize("how", [["-p", "no:xdist"], ["-n2"]], ids=["alone", "n2"])
@pytest.mark.parametrize(
    "files", [files for _, _, files in FOUND], ids=[f"{page}: {title}" for page, title, _ in FOUND]
)
def test_a_project_passes(
    files: dict[str, str],
    how: list[str],
    pytester: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    absent = missing(files)
    if absent:
        pytest.skip(f"needs {absent}")
    write(files, pytester.path)
    path = [str(pytester.path), str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(path))
    options = [
        "-p",
        "no:cacheprovider",
        "-p",
        "no:benchmark",
        "-W",
        "error",
        "-W",
        "ignore::hypothesis.errors.NonInteractiveExampleWarning",
    ]
    result = pytester.runpytest_subprocess(*options, *how)
    assert result.ret == 0, result.stdout.str()
    if "slowest.txt" in str(files):
        assert Path(pytester.path / "slowest.txt").read_text() == "sum float32 took the longest\n"


def test_there_are_projects() -> None:
    assert len(FOUND) >= 6
