"""The reference pages and the stubs are what the registry gives; every option has its row."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.reference_tables import generated
from tests.house.tree import ROOT


@pytest.mark.parametrize("path", generated(), ids=lambda path: path.name)
def test_what_is_generated_is_what_the_registry_gives(path: Path) -> None:
    assert path.read_text() == generated()[path], "run python -m tests.docs.reference_tables"


def test_every_option_has_its_row_and_every_row_its_option(pytester: pytest.Pytester) -> None:
    text = pytester.runpytest_subprocess("--help").stdout.str()
    options = set(re.findall(r"^  (--exactref[\w-]*)", text, re.M))
    page = (ROOT / "docs" / "reference" / "options.md").read_text()
    rows = re.findall(r"^\| `(--exactref[\w-]*)", page, re.M)
    assert options
    assert set(rows) == options
