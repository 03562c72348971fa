"""A line on the terminal while a huge output is judged: how far it is, gone when it is done."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

import pytest

__all__ = ["progress", "terminal_of"]

DELAY: Final = 2.0  # seconds before the line appears
EVERY: Final = 0.2  # seconds between two of them
WIDTH: Final = 30  # characters of the bar


def terminal_of(config: pytest.Config) -> Callable[[str], None] | None:
    """A function that writes to the terminal past pytest's capture; None where there is none."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None or not reporter.isatty or config.get_verbosity() < 0:
        return None
    capture: Any = config.pluginmanager.get_plugin("capturemanager")

    def write(text: str) -> None:
        with capture.global_and_fixture_disabled():
            reporter.write(text, flush=True)

    return write


@contextmanager
def progress(
    write: Callable[[str], None] | None, name: str
) -> Iterator[Callable[[float], None] | None]:
    """A function that is told the part that is done; None where nobody would see it."""
    if write is None:
        yield None
        return
    bar = Bar(write, name)
    try:
        yield bar.tell
    finally:
        bar.clear()


class Bar:
    """The line."""

    def __init__(self, write: Callable[[str], None], name: str) -> None:
        self.write, self.name = write, name
        self.start = time.monotonic()
        self.shown = self.start + DELAY - EVERY
        self.length = 0

    def tell(self, part: float) -> None:
        """Draw the line, if it is time to."""
        now = time.monotonic()
        if now - self.shown < EVERY or part >= 1:
            return
        self.shown = now
        full = int(part * WIDTH)
        left = (now - self.start) * (1 - part) / part
        text = f"exactref: {self.name} [{'#' * full:{WIDTH}}] {part:.0%}, {left:.0f} s left"
        self.write(f"\r{text:{self.length}}")
        self.length = len(text)

    def clear(self) -> None:
        """Take the line away."""
        if self.length:
            self.write(f"\r{'':{self.length}}\r")
