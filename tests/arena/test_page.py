"""The page of the arena says what the kept counts say, and nothing else."""

from __future__ import annotations

import json
import re
from xml.etree import ElementTree

from tests.arena.page import PAGE, RESULTS, counted, generated
from tests.arena.registry import FAMILIES
from tests.arena.running import Run


def test_the_page_and_the_pictures_are_those_of_the_kept_counts() -> None:
    for path, text in generated().items():
        assert path.read_text() == text, f"{path.name}: run python -m tests.arena.page"


def test_no_mark_is_left_and_the_pictures_are_documents() -> None:
    for path, text in generated().items():
        if path == PAGE:
            assert not re.search(r"<!-- |\bnan\b", text)
        else:
            assert ElementTree.fromstring(text).tag.endswith("svg")


def test_a_run_goes_on_from_the_kept_counts() -> None:
    kept = Run(FAMILIES, RESULTS)
    assert kept.turn == 1
    assert kept.judged == counted(json.loads(RESULTS.read_text()), "right", "elements")


def test_the_tests_of_surroundings_are_there() -> None:
    """A file, or a function of one, in each row of the table."""
    rows = re.findall(r"^\| .* \| (.*tests/.*) \|$", PAGE.read_text(), re.M)
    assert len(rows) >= 17
    for name in re.findall(r"`([^`]+)`", " ".join(rows)):
        path, _, function = name.partition("::")
        text = (PAGE.parents[1] / path).read_text()
        assert f"def {function}(" in text if function else "def test_" in text, name


def test_the_kept_run_has_no_false_verdict_and_misses_nothing_beyond() -> None:
    data = json.loads(RESULTS.read_text())
    assert data["alarms"] == []
    assert counted(data, "right", "elements") >= 5_000_000
    assert counted(data, "marked", "caught") >= 0.95 * counted(data, "marked", "tests")
    for table, name in (
        ("right", "false_wrong"),
        ("right", "false_worse"),
        ("broken", "missed_beyond"),
        ("marked_right", "failed"),
    ):
        assert counted(data, table, name) == 0, name
