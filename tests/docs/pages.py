"""Read the examples of a Markdown page and run them as a reader would type them in one session."""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

FENCE = re.compile(
    r"^(?P<mark>`{3,})(?P<language>[^\n`]*)\n(?P<body>.*?)^(?P=mark)[ \t]*$", re.M | re.S
)


@dataclass(frozen=True)
class Example:
    """A ``python`` block, and what the ``text`` block right below it says that it prints."""

    line: int
    code: str
    expected: str | None


def fences(page: str) -> list[re.Match[str]]:
    """The fenced blocks of a page, in order."""
    return list(FENCE.finditer(page))


def examples(page: str) -> Iterator[Example]:
    """The python blocks of a page; a text block belongs to one when only blank lines lie between.

    A python block without such a text block prints nothing that the page shows: it is run all
    the same, so that it cannot rot.
    """
    blocks = fences(page)
    for block, after in zip_longest(blocks, blocks[1:]):
        if block["language"].strip() != "python":
            continue
        expected = None
        if after is not None and after["language"].strip() == "text":
            between = page[block.end() : after.start()]
            expected = None if between.strip() else after["body"]
        yield Example(page.count("\n", 0, block.start()) + 2, block["body"], expected)


def printed(example: Example, path: Path, namespace: dict[str, object]) -> str:
    """Run one example in ``namespace`` and return what it prints.

    The code is padded with empty lines, so that a traceback names the line of the page.
    """
    out = io.StringIO()
    padded = "\n" * (example.line - 1) + example.code
    with contextlib.redirect_stdout(out):
        exec(compile(padded, str(path), "exec", dont_inherit=True), namespace)
    return out.getvalue()
