"""Docstrings as Markdown: code spans, and lists of arguments."""

from __future__ import annotations

import inspect
import re

HEADS = {"Args:": "Arguments", "Raises:": "Raises", "Returns:": "Returns"}


def markdown(doc: str | None) -> str:
    """A docstring as paragraphs and lists."""
    text = inspect.cleandoc(doc or "").replace("``", "`")
    # Outside of code an asterisk is a product or a power, never emphasis.
    plain = [
        re.sub(r"\*", r"\\*", part) if i % 2 == 0 else part
        for i, part in enumerate(text.split("`"))
    ]
    blocks = "`".join(plain).split("\n\n")
    return "\n\n".join(filter(None, map(block, blocks)))


def block(text: str) -> str:
    """One paragraph, or a section of arguments as a list."""
    head, _, body = text.partition("\n")
    if head not in HEADS:
        return "\n".join(line.strip() for line in text.splitlines())
    items = re.split(r"\n(?=\S)", inspect.cleandoc("\n" + body))
    joined = [" ".join(item.split()) for item in items]
    return f"{HEADS[head]}:\n\n" + "\n".join(f"- {named(item)}" for item in joined)


def named(item: str) -> str:
    """An item of a list, the names in front of its colon as code."""
    names, colon, meaning = item.partition(": ")
    return f"`{names}`: {meaning}" if colon and "`" not in names else item
