"""What a failure says of itself: where, looks like; in the terminal, the reports and a replay."""

from __future__ import annotations

import html
import json
import pickle

import jsonschema
import numpy as np
import pytest

import exactref as er
from pytest_exactref.judging import Run, Terms, check
from pytest_exactref.options import Options
from pytest_exactref.reports.json_report import SCHEMA
from tests.plugin.replays import commands, run
from tests.plugin.sessions import DISTRIBUTIONS, session, text

SOURCE = """
rng = np.random.default_rng(3)
A = rng.standard_normal((24, 40)).astype(np.float32)
B = rng.standard_normal((40, 20)).astype(np.float32)
heads = [rng.standard_normal((2, 8, 16)).astype(np.float32) for _ in range(3)]

def narrow(x):
    return (x.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32)

def test_tile(exactref):
    out = (A.astype(np.float64) @ B).astype(np.float32)
    out[:, 16:] = 0
    exactref.check(out, er.matmul(A, B))

def test_narrow(exactref):
    exactref.check(narrow(A) @ narrow(B), er.matmul(A, B), standard="any_order")

def test_outputs(exactref):
    result = er.scaled_dot_product_attention(*heads)
    output = np.array(result["output"].rounded.data)
    output[1] *= 2
    exactref.check((output, np.array(result["logsumexp"].rounded.data) + 1), result)

def test_right(exactref):
    exactref.check((A.astype(np.float64) @ B).astype(np.float32), er.matmul(A, B))
"""
TILE = "every element of columns 16-19 (the last 4 of 20); each is 0"
NARROW = "inputs truncated to tfloat32 (every element covered)"


@pytest.mark.parametrize("how", DISTRIBUTIONS)
def test_terminal_reports_and_replay_say_the_same(pytester: pytest.Pytester, how: str) -> None:
    reports = ("--exactref-json=out.json", "--exactref-html=out.html")
    result = session(pytester, SOURCE, *reports, *DISTRIBUTIONS[how])
    result.assert_outcomes(failed=3, passed=1)
    assert f"where: {TILE}" in text(result)
    assert f"looks like: {NARROW}" in text(result)
    assert text(result).count("looks like: ") == 1
    found = json.loads((pytester.path / "out.json").read_text())
    jsonschema.validate(found, SCHEMA)
    checks = {(one["nodeid"].split("::")[1], one["output"]): one for one in found["checks"]}
    assert checks["test_tile", "output"]["where"] == TILE
    assert checks["test_tile", "output"]["looks_like"] == ""
    assert checks["test_narrow", "output"]["looks_like"] == NARROW
    assert checks["test_outputs", "output"]["where"] == (
        "every element of index 1 on axis 0 (the last of 2); each is 2 times the exact value"
    )
    assert checks["test_outputs", "logsumexp"]["where"] == (
        "everywhere (all 16 elements); each is 1 too large"
    )
    assert (checks["test_right", "output"]["where"], checks["test_right", "output"]["replay"]) == (
        "",
        "",
    )
    page = html.unescape((pytester.path / "out.html").read_text())
    assert f"Where: {TILE}." in page
    assert f"Looks like: {NARROW}." in page
    for command in commands(result):
        lines = run(command, pytester.path).stdout.splitlines()
        told = [line.strip() for line in lines if line.strip().startswith(("where", "looks"))]
        assert told
        assert all(line in text(result) for line in told)


def test_of_drawn_failures_only_those_that_are_read_are_explained(
    pytester: pytest.Pytester,
) -> None:
    pytester.makeconftest(
        """
        from exactref_core import failure

        given, calls = failure.explained, []

        def explained(*args):
            calls.append(args)
            return given(*args)

        failure.explained = explained

        def pytest_unconfigure():
            print(f"EXPLAINED {len(calls)}")
        """
    )
    source = """
    calls = []

    @er.op("multiply", values="well_scaled", shapes=(5,))
    def test_narrow(x1, x2):
        calls.append(1)
        return (x1 * x2 + 1).astype(np.float16).astype(np.float32)

    def test_count():
        print("CALLED", len(calls))
    """
    result = session(pytester, source, "-s")
    result.assert_outcomes(failed=1, passed=1)
    called, explained = (
        int(line.split()[-1])
        for name in ("CALLED", "EXPLAINED")
        for line in text(result).splitlines()
        if name in line
    )
    assert called > 10
    assert 1 <= explained <= 2  # hypothesis may read the smallest once itself


def test_a_standard_of_ones_own(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(
        """
        from exactref_core.extend import AnyOrder

        class Loose(AnyOrder):
            name = "loose"

        def pytest_exactref_standards():
            return [Loose()]
        """
    )
    result = session(pytester, SOURCE, "--exactref-standard=loose", "-k", "tile")
    assert f"where: {TILE}" in text(result)
    (command,) = commands(result)
    assert command.endswith("--import conftest.py")
    assert f"where: {TILE}" in run(command, pytester.path).stdout


def test_a_failure_can_be_sent_to_another_process() -> None:
    with pytest.raises(AssertionError) as caught:
        check(np.float32(1), er.sum(np.float32([1, 1])), Terms(), Run(Options()))
    sent = pickle.loads(pickle.dumps(caught.value))
    assert str(sent) == str(caught.value)
    assert "1 wrong" in str(sent)
    assert repr(sent) == repr(caught.value)


def test_a_huge_output_is_explained_from_its_blocks(pytester: pytest.Pytester) -> None:
    source = """
    def test_huge(exactref):
        x = np.ones((3000, 1000), np.float32)
        out = 2 * x
        out[2990:] = 0
        exactref.check(out, er.add(x, x))
    """
    result = session(pytester, source, "--exactref-save-limit=100")
    assert "where: every element of rows 2990-2999 (the last 10 of 3000); each is 0" in text(result)
    (command,) = commands(result)
    assert run(command, pytester.path).returncode == 1
