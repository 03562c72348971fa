"""What conftests and plugins add: given to the core for a session, and taken back at its end."""

from __future__ import annotations

from typing import Any, Final

import pytest

from exactref_core.providers import register, unregister

__all__ = ["add", "take_back"]


class Given:
    """A provider of what one implementation of a hook returned."""

    def __init__(self, kind: str, items: tuple[Any, ...]) -> None:
        self._text = f"pytest_exactref_{kind}"
        setattr(self, f"exactref_{kind}", lambda: items)

    def __repr__(self) -> str:
        return self._text


KEY: Final = pytest.StashKey[list[Given]]()


def add(config: pytest.Config, kind: str, found: Any) -> None:
    """Give what an implementation of ``pytest_exactref_<kind>`` returned to the core."""
    if isinstance(found, (str, bytes)) or not hasattr(found, "__iter__"):
        raise pytest.UsageError(f"pytest_exactref_{kind} must return an iterable, not {found!r}")
    given = Given(kind, tuple(found))
    register(given)
    config.stash.setdefault(KEY, []).append(given)


def take_back(config: pytest.Config) -> None:
    """Take from the core what this session gave to it."""
    for given in config.stash.get(KEY, []):
        unregister(given)
    config.stash[KEY] = []
