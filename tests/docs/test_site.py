"""The site builds without a warning, by the command that the pages state, with every page."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.house.tree import ROOT

DOCS = ROOT / "docs"
COMMAND = "python -m sphinx -W -b html docs docs/_build"
INDEX = "# Index\n\n## Part\n\n| page |\n| --- |\n| [One](one.md) |\n"


def build(pages: Path, site: Path) -> subprocess.CompletedProcess[str]:
    """Run the stated command on other folders."""
    for module in ("sphinx", "myst_parser", "furo"):
        pytest.importorskip(module)
    command = [sys.executable, *COMMAND.split()[1:-2], str(pages), str(site)]
    return subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False
    )


def linked(page: Path) -> set[str]:
    """The links of a built page to other pages of the site."""
    return set(re.findall(r'href="([\w./-]+\.html)"', page.read_text()))


def test_the_site_builds_and_its_contents_lead_to_every_page(tmp_path: Path) -> None:
    done = build(DOCS, tmp_path)
    assert done.returncode == 0, done.stderr
    pages = {str(page.relative_to(DOCS).with_suffix(".html")) for page in DOCS.rglob("*.md")}
    assert pages - {"index.html"} <= linked(tmp_path / "index.html")
    assert all((tmp_path / page).is_file() for page in pages)
    assert ">conftest.py<" in (tmp_path / "how-to" / "cpp.html").read_text()


def test_a_page_that_the_index_leaves_out_fails_the_build(tmp_path: Path) -> None:
    pages = tmp_path / "pages"
    pages.mkdir()
    shutil.copy(DOCS / "conf.py", pages)
    shutil.copytree(DOCS / "_static", pages / "_static")
    (pages / "index.md").write_text(INDEX)
    (pages / "one.md").write_text("# One\n")
    assert build(pages, tmp_path / "whole").returncode == 0
    (pages / "two.md").write_text("# Two\n")
    done = build(pages, tmp_path / "broken")
    assert done.returncode == 1
    assert "two.md" in done.stderr


@pytest.mark.parametrize("page", ["README.md", "docs/index.md"])
def test_the_pages_state_the_command(page: str) -> None:
    assert COMMAND in (ROOT / page).read_text()


def test_what_the_site_needs_is_what_the_tests_need() -> None:
    text = (ROOT / "pyproject.toml").read_text()
    docs, test = (
        set(re.findall(r'"(.+?)"', re.findall(rf"^{extra} = \[(.*?)\]$", text, re.M | re.S)[0]))
        for extra in ("docs", "test")
    )
    assert {"sphinx>=8"} < docs < test
