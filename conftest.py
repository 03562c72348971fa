"""What every test of the repository may use: pytester runs pytest inside a test."""

from __future__ import annotations

import pytest

pytest_plugins = ["pytester"]


@pytest.fixture
def pytester(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """The fixture of this name; its sessions run without pytest-randomly, wherever that is."""
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p no:randomly")
    return pytester
