"""The standard "typical" in a check, in the marker and as an option."""

from __future__ import annotations

import json

import pytest

from tests.plugin.sessions import session

SOURCE = """
x = np.random.default_rng(0).random((4, 10_000)).astype(np.float32)
loop = np.cumsum(x, axis=1)[:, -1]
dropped = loop - np.float32(0.75)

def test_loop(exactref):
    exactref.check(loop, er.sum(x, axis=1), standard="typical")

def test_dropped(exactref):
    exactref.check(dropped, er.sum(x, axis=1){terms})

@er.op("sum", axis=-1, standard="typical")
def test_marked(x):
    return np.cumsum(x, axis=-1)[..., -1] if x.shape[-1] else x.sum(axis=-1)
"""


def test_it_is_asked_in_checks_and_in_the_marker(pytester: pytest.Pytester) -> None:
    source = SOURCE.format(terms=", standard='typical'")
    result = session(pytester, source, "--exactref", "--exactref-json=found.json")
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(
        [
            "E *sum float32 (4,): 0 wrong, 4 correct but worse, 0 typical *standard: typical",
            "E *index *typical *any order *error/typical *verdict",
            "E *correct but worse",
        ]
    )
    checks = json.loads((pytester.path / "found.json").read_text())["checks"]
    assert {check["standard"] for check in checks} == {"typical"}
    assert sorted(check["verdict"] for check in checks) == ["correct but worse", "normal", "normal"]


def test_it_is_asked_by_an_option(pytester: pytest.Pytester) -> None:
    source = SOURCE.format(terms="")
    result = session(pytester, source, "-k", "dropped", "--exactref-standard=typical")
    result.assert_outcomes(failed=1, deselected=2)
    result.stdout.fnmatch_lines(["E *4 correct but worse, 0 typical *standard: typical"])
