"""Hypothesis's settings for a marked test: the session's budget and seed under what it states."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings

from pytest_exactref.options import KEY, Options

__all__ = ["apply", "prepare", "restore"]

# hypothesis keeps a test's settings and seed on the test under these names. Its own pytest plugin
# writes them too: the public decorators cannot be used here, since the budget is known only when
# the session runs, and a test that has settings already refuses others.
_SETTINGS = "_hypothesis_internal_use_settings"
_SEED = "_hypothesis_internal_use_seed"
_BASE = "_exactref_base"  # the settings of a test that states none, and what they were made of
_FOUND = "_exactref_found"  # the settings and the seed that a session found on a test


def prepare(marked: Any) -> None:
    """Give a newly marked test the settings that it has outside a session, if it states none."""
    if not hasattr(marked, _SETTINGS) or hasattr(marked, "_hypothesis_internal_settings_applied"):
        return
    stated = getattr(marked, _SETTINGS)
    merged = _merge(stated, Options().examples)
    setattr(marked, _BASE, (merged, stated))
    setattr(marked, _SETTINGS, merged)


def apply(test: Any, config: pytest.Config) -> None:
    """Give a marked test the session's budget and seed, until ``restore``.

    ``@settings`` and ``@seed`` on the test, ``--hypothesis-seed`` and a loaded profile stay in
    force where they say something else than hypothesis's defaults. There is no health check, and no
    deadline unless the test asks for one: references take the time they take.
    """
    marked = _marked(test)
    if marked is None:
        return
    found, seed = getattr(marked, _SETTINGS), getattr(marked, _SEED, None)
    setattr(marked, _FOUND, (found, seed))
    base, stated = getattr(marked, _BASE, (None, found))
    options = config.stash[KEY]
    setattr(marked, _SETTINGS, _merge(stated if found is base else found, options.examples))
    if seed is None and config.getoption("--hypothesis-seed", None) is None:
        setattr(marked, _SEED, options.seed)


def restore(test: Any) -> None:
    """Take back what ``apply`` did: the next parameters, or session, start from the same."""
    marked = _marked(test)
    if marked is not None and hasattr(marked, _FOUND):
        found, seed = getattr(marked, _FOUND)
        setattr(marked, _SETTINGS, found)
        setattr(marked, _SEED, seed)


def _marked(test: Any) -> Any:
    """The hypothesis test behind a marked one; None where it keeps its settings elsewhere."""
    function = getattr(test, "__func__", test)
    marked = getattr(function, "exactref_test", None)
    return marked if hasattr(marked, _SETTINGS) else None


def _merge(stated: settings, examples: int) -> settings:
    usual = settings.get_profile("default")
    is_usual = {
        name: getattr(stated, name) == getattr(usual, name)
        for name in ("max_examples", "deadline", "phases")
    }
    return settings(
        parent=stated,
        max_examples=examples if is_usual["max_examples"] else stated.max_examples,
        deadline=None if is_usual["deadline"] else stated.deadline,
        # Explaining traces every line that a failing example runs, the whole core among them.
        phases=[
            phase for phase in stated.phases if not (is_usual["phases"] and phase is Phase.explain)
        ],
        suppress_health_check=list(HealthCheck),
    )
