"""The layers hold: every import contract of pyproject.toml is kept."""

from __future__ import annotations

import os
import sys

import pytest

from tests.house.tree import ROOT


def test_every_import_contract_is_kept(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    cli = pytest.importorskip("importlinter.cli")
    # import-linter reads pyproject.toml of the working directory and puts that on sys.path.
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(sys, "path", [os.fspath(ROOT), *sys.path])
    failed = cli.lint_imports(no_cache=True)
    assert not failed, capfd.readouterr().out
