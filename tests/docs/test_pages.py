"""Every python example of the documentation runs and prints what the page shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.pages import FENCE, Example, examples, fences, printed
from tests.house.tree import ROOT

PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])


def names(paths: list[Path]) -> list[str]:
    """Paths as a reader of the repository writes them."""
    return [str(path.relative_to(ROOT)) for path in paths]


@pytest.mark.parametrize("path", PAGES, ids=names(PAGES))
def test_examples_print_what_the_page_shows(path: Path) -> None:
    found = list(examples(path.read_text()))
    if any("import torch" in example.code for example in found):
        pytest.importorskip("torch")
    namespace: dict[str, object] = {"__name__": "page"}
    for example in found:
        shown = printed(example, path, namespace)
        assert shown == (example.expected or ""), f"{path.name}, line {example.line}"


@pytest.mark.parametrize("path", PAGES, ids=names(PAGES))
def test_every_output_block_belongs_to_an_example(path: Path) -> None:
    page = path.read_text()
    shown = [block for block in fences(page) if block["language"].strip() == "text"]
    claimed = [example for example in examples(page) if example.expected is not None]
    assert len(shown) == len(claimed)


def test_the_documentation_has_examples_with_outputs() -> None:
    found = [e for path in PAGES for e in examples(path.read_text()) if e.expected is not None]
    assert len(found) >= 20


def test_a_wrong_output_block_is_noticed(tmp_path: Path) -> None:
    page = "intro\n\n```python\nprint(1 + 1)\n```\n\n```text\n3\n```\n"
    (example,) = examples(page)
    assert example == Example(line=4, code="print(1 + 1)\n", expected="3\n")
    assert printed(example, tmp_path / "page.md", {}) == "2\n"


def test_a_text_block_after_prose_is_no_output() -> None:
    page = "```python\nx = 1\n```\nprose\n```text\n3\n```\n"
    assert [example.expected for example in examples(page)] == [None]


def test_links_between_pages_lead_somewhere() -> None:
    import re

    broken = [
        f"{path.relative_to(ROOT)}: {target}"
        for path in PAGES
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", FENCE.sub("", path.read_text()))
        if not (path.parent / target).exists()
    ]
    assert broken == []
