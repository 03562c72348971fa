"""The JSON report: its schema, its numbers, alone and under xdist."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from pytest_exactref.reports.json_report import SCHEMA
from tests.plugin.sessions import DISTRIBUTIONS, session

SOURCE = """
x = np.arange(12, dtype=np.float32).reshape(3, 4)

@pytest.mark.parametrize("n", range(3))
def test_right(exactref, n):
    exactref.check(x.sum(axis=1), er.sum(x, axis=1), label="rows")

def test_wrong(exactref):
    exactref.check(x[:, 0], er.sum(x, axis=1))

def test_worse(exactref):
    row = [1e16, 0.0, 0.0, 0.0, -1e16, 0.0, 0.0, 0.0] + [1.0] * 96 + [0.0] * 104
    exactref.check(np.float64(72.0), er.sum(row), worse="allow")

@er.op("add")
def test_drawn(x1, x2):
    return x1 + x2
"""


def read(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text(), parse_constant=lambda text: 1 / 0)
    jsonschema.validate(found, SCHEMA)
    return found


@pytest.mark.parametrize("how", DISTRIBUTIONS)
def test_every_check_is_in_it_once(pytester: pytest.Pytester, how: str) -> None:
    target = "out/report.json"
    session(pytester, SOURCE, "--exactref", f"--exactref-json={target}", *DISTRIBUTIONS[how])
    found = read(pytester.path / target)
    assert found["seed"] == 1
    assert found["options"]["thorough"] is True
    verdicts = {check["nodeid"].split("::")[1]: check["verdict"] for check in found["checks"]}
    assert verdicts == {
        "test_drawn": "normal",
        "test_right[0]": "normal",
        "test_right[1]": "normal",
        "test_right[2]": "normal",
        "test_worse": "correct but worse",
        "test_wrong": "wrong",
    }
    assert len(found["checks"]) == 6
    by_test = {check["nodeid"].split("::")[1]: check for check in found["checks"]}
    assert by_test["test_wrong"]["wrong"] == 3
    assert by_test["test_right[0]"]["label"] == "rows"
    assert by_test["test_drawn"]["examples"] == 12
    for check in found["checks"]:
        assert check["elements"] == check["normal"] + check["worse"] + check["wrong"]
        ratio = check["largest_ratio"]
        assert ratio is None or float.fromhex(check["largest_ratio_hex"]) == ratio


def test_it_needs_no_thorough_run_and_may_be_an_ini_key(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\nexactref_json = here.json\n")
    session(pytester, SOURCE, "-k", "right")
    found = read(pytester.path / "here.json")
    assert found["options"]["thorough"] is False
    assert len(found["checks"]) == 3


def test_a_session_without_checks(pytester: pytest.Pytester) -> None:
    session(pytester, "def test_other():\n    pass\n", "--exactref-json=empty.json")
    assert read(pytester.path / "empty.json")["checks"] == []
