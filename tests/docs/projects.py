"""Small projects on a page: the files that the blocks of a section name by ``title=``."""

from __future__ import annotations

import importlib.util
import re
import shutil
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from tests.docs.pages import fences

TITLE = re.compile(r"\w+ title=(?P<file>[\w./-]+)")
HEADING = re.compile(r"^## (?P<title>.+)$", re.M)


def projects(page: str) -> Iterator[tuple[str, dict[str, str]]]:
    """The sections of a page that have files, with the files' contents by name."""
    ends = [match.start() for match in HEADING.finditer(page)] + [len(page)]
    for start, end in pairwise(ends):
        section = page[start:end]
        files = {}
        for block in fences(section):
            title = TITLE.fullmatch(block["language"].strip())
            if title:
                files[title["file"]] = block["body"]
        if files:
            yield section.split("\n", 1)[0].removeprefix("## "), files


def missing(files: dict[str, str]) -> str | None:
    """What a project needs and this machine has not: a library, or a compiler."""
    text = "".join(files.values())
    needed = [name for name in ("torch", "triton") if re.search(rf"^import {name}$", text, re.M)]
    absent = [name for name in needed if importlib.util.find_spec(name) is None]
    if '"c++"' in text and shutil.which("c++") is None:
        absent.append("c++")
    return ", ".join(absent) or None


def write(files: dict[str, str], folder: Path) -> None:
    """Write the files of a project; what its pyproject.toml declares is as good as installed."""
    for name, body in files.items():
        if name != "pyproject.toml":
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(body)
    declared = re.findall(
        r"^\[project\.entry-points\.(\w+)\]\n((?:\w+ = .+\n)+)",
        files.get("pyproject.toml", ""),
        re.M,
    )
    if declared:
        info = folder / "project-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: project\nVersion: 1.0\n")
        points = "".join(f"[{group}]\n{body}" for group, body in declared).replace('"', "")
        (info / "entry_points.txt").write_text(points)
