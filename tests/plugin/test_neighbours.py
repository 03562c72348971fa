"""Beside other plugins and options of pytest: nothing lost, nothing doubled, nothing in the way."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from tests.plugin.sessions import DISTRIBUTIONS, HEAD, run_session, session, text

SOURCE = """
@pytest.mark.parametrize("n", [1, 2, 3])
def test_sum(exactref, n):
    x = np.arange(n, dtype=np.float32)
    exactref.check(x.sum(), er.sum(x))

@er.op("add", dtype=["float32", "float16"])
def test_add(x1, x2):
    return x1 + x2

def test_wrong(exactref):
    exactref.check(np.float32(1), er.sum(np.float32([1, 1])))
"""
RIGHT = ["test_add[float16]", "test_add[float32]", *(f"test_sum[{n}]" for n in (1, 2, 3))]
ALL = sorted([*RIGHT, "test_wrong"])
EVERY_WAY = pytest.mark.parametrize("how", DISTRIBUTIONS)


def checked(pytester: pytest.Pytester) -> list[dict[str, Any]]:
    """The checks in the JSON report of the last session."""
    found: list[dict[str, Any]] = json.loads((pytester.path / "out.json").read_text())["checks"]
    return found


def names(pytester: pytest.Pytester) -> list[str]:
    """The tests in it."""
    return sorted(check["nodeid"].split("::")[1] for check in checked(pytester))


@EVERY_WAY
def test_randomly(pytester: pytest.Pytester, how: str) -> None:
    pytest.importorskip("pytest_randomly")
    reports = []
    for seed in (1, 2):
        result = session(
            pytester,
            SOURCE,
            "--exactref-json=out.json",
            f"--randomly-seed={seed}",
            *DISTRIBUTIONS[how],
            shuffled=True,
        )
        result.assert_outcomes(passed=5, failed=1)
        assert names(pytester) == ALL
        reports.append(
            [(c["nodeid"], c["elements"], c["largest_ratio"]) for c in checked(pytester)]
        )
    # The session's own seed decides what is drawn, not the order or the state of `random`.
    assert reports[0] == reports[1]


@EVERY_WAY
def test_rerunfailures(pytester: pytest.Pytester, how: str) -> None:
    pytest.importorskip("pytest_rerunfailures")
    source = """
    from pathlib import Path

    def test_flaky(exactref):
        tries = Path("tries")
        tries.write_text("x" + (tries.read_text() if tries.exists() else ""))
        x = np.float32([1, len(tries.read_text())])
        exactref.check(np.float32(3), er.sum(x))
    """
    result = session(
        pytester, source, "--exactref-json=out.json", "--reruns=3", *DISTRIBUTIONS[how]
    )
    result.assert_outcomes(passed=1)
    assert "1 rerun" in text(result)
    (check,) = checked(pytester)  # of the run that counts
    assert (check["verdict"], check["elements"]) == ("normal", 1)


@EVERY_WAY
def test_cov(pytester: pytest.Pytester, how: str) -> None:
    pytest.importorskip("pytest_cov")
    arguments = ("--cov=test_it", "--cov-report=term", "--exactref-json=out.json")
    result = session(pytester, SOURCE, *arguments, *DISTRIBUTIONS[how], warnings="default")
    result.assert_outcomes(passed=5, failed=1)
    assert names(pytester) == ALL
    assert "test_it.py" in text(result)


@EVERY_WAY
def test_last_failed(pytester: pytest.Pytester, how: str) -> None:
    pytester.makeini("[pytest]\naddopts = -p cacheprovider")
    arguments = ("--exactref-json=out.json", *DISTRIBUTIONS[how])
    pytester.makepyfile(test_it=HEAD + SOURCE)
    first = run_session(pytester, "--exactref-examples=5", *arguments)
    first.assert_outcomes(passed=5, failed=1)
    second = run_session(pytester, "--lf", *arguments)
    second.assert_outcomes(failed=1)
    assert names(pytester) == ["test_wrong"]


@EVERY_WAY
def test_a_choice_by_keyword(pytester: pytest.Pytester, how: str) -> None:
    arguments = ("--exactref-json=out.json", "-k", "add and float16")
    session(pytester, SOURCE, *arguments, *DISTRIBUTIONS[how]).assert_outcomes(passed=1)
    assert names(pytester) == ["test_add[float16]"]


def test_a_stop_at_the_first_failure(pytester: pytest.Pytester) -> None:
    source = (
        "def test_first(exactref):\n    exactref.check(np.float32(2), er.sum(np.float32([1])))\n"
    )
    result = session(pytester, source + SOURCE, "--exactref-json=out.json", "--exactref", "-x")
    result.assert_outcomes(failed=1)
    assert names(pytester) == ["test_first"]
    assert "test_it.py::test_first" in text(result)


def test_without_the_plugin(pytester: pytest.Pytester) -> None:
    source = """
    @er.op("add", dtype="float32", values="well_scaled")
    def test_add(x1, x2):
        return x1 + x2

    @er.op("add", dtype="float32", values="well_scaled")
    def test_wrong(x1, x2):
        return x1 + x2 + 1

    def test_covers():
        er.assert_covers(np.float32(3), er.sum(np.float32([1, 2])))
    """
    pytester.makepyfile(test_it=HEAD + source.replace("\n    ", "\n"))
    result = pytester.runpytest_subprocess("-p", "no:exactref")
    result.assert_outcomes(passed=2, failed=1)
    assert "wrong, 0 correct but worse" in text(result)
    uses = "def test_it(exactref):\n    pass\n"
    fixture = session(pytester, uses, "-p", "no:exactref", budget=())
    assert "fixture 'exactref' not found" in text(fixture)


def test_optimised_bytecode(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_it=HEAD + SOURCE)
    command = [
        sys.executable,
        "-O",
        "-m",
        "pytest",
        "-W",
        "ignore:assertions not in test modules",
    ]
    done = subprocess.run(command, cwd=pytester.path, capture_output=True, text=True, check=False)
    assert "1 failed, 5 passed" in done.stdout
    assert "1 wrong, 0 correct but worse, 0 normal" in done.stdout


@pytest.mark.parametrize("rewriting", ["rewrite", "plain"])
def test_assertions_of_the_test_itself(pytester: pytest.Pytester, rewriting: str) -> None:
    source = """
    def test_mine(exactref):
        x = np.float32([1, 2])
        exactref.check(x.sum(), er.sum(x))
        assert list(x) == [1, 3]
    """
    result = session(pytester, source, f"--assert={rewriting}")
    result.assert_outcomes(failed=1)
    assert ("At index 1 diff" in text(result)) == (rewriting == "rewrite")


@pytest.mark.parametrize("spread", ["load", "loadscope", "loadfile", "worksteal"])
def test_every_way_to_spread_tests(pytester: pytest.Pytester, spread: str) -> None:
    arguments = ("-n2", f"--dist={spread}", "--exactref", "--exactref-json=out.json")
    result = session(pytester, SOURCE, *arguments)
    result.assert_outcomes(passed=5, failed=1)
    assert names(pytester) == ALL
    assert text(result).count("error/tolerance") >= 1


def test_a_worker_that_dies(pytester: pytest.Pytester) -> None:
    source = """
    import os

    def test_dies():
        os._exit(1)
    """
    arguments = ("-n2", "--exactref", "--exactref-json=out.json")
    result = session(
        pytester, source + SOURCE.replace("\n", "\n    "), *arguments, warnings="default"
    )
    result.assert_outcomes(passed=5, failed=2)
    assert names(pytester) == ALL
    assert "crashed" in text(result)
