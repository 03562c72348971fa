"""The hooks that a conftest or another plugin may implement.

Each but the report's returns an iterable of what it adds for the session; `exactref.extend` has
the types. They are asked as soon as the plugin or conftest that has them is loaded.

PYTEST_DONT_REWRITE: there is no assert here, and rewriting would cost more than loading.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

__all__ = [
    "pytest_exactref_adapters",
    "pytest_exactref_formats",
    "pytest_exactref_ops",
    "pytest_exactref_report",
    "pytest_exactref_standards",
]


@pytest.hookspec(historic=True)
def pytest_exactref_ops(config: pytest.Config) -> Iterable[Any]:
    """Return operations (`exactref.extend.Op`)."""
    raise NotImplementedError


@pytest.hookspec(historic=True)
def pytest_exactref_standards(config: pytest.Config) -> Iterable[Any]:
    """Return standards, such as a subclass of `exactref.extend.AnyOrder`."""
    raise NotImplementedError


@pytest.hookspec(historic=True)
def pytest_exactref_formats(config: pytest.Config) -> Iterable[Any]:
    """Return number formats (`exactref.extend.Format`)."""
    raise NotImplementedError


@pytest.hookspec(historic=True)
def pytest_exactref_adapters(config: pytest.Config) -> Iterable[Any]:
    """Return adapters of array libraries (`exactref.extend.Adapter`)."""
    raise NotImplementedError


@pytest.hookspec
def pytest_exactref_report(config: pytest.Config, report: dict[str, Any]) -> None:
    """Do something with the checks of the session, as the JSON report has them, at its end.

    Called once, in the process that prints the summary, whatever runs the tests. The checks are
    collected where an implementation is there when the session starts: in a plugin, or in the
    conftest of the root or of a folder on the command line.
    """
