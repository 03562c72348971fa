"""What is saved of failing tests: the smallest example, once, where the options say."""

from __future__ import annotations

import json
import re

import pytest

from exactref_core.array import Array
from exactref_core.evaluate.origin import Call
from exactref_core.saved import read
from tests.plugin.replays import commands, kept, run, said
from tests.plugin.sessions import DISTRIBUTIONS, session, text

WRONG = """
x = np.arange(12, dtype=np.float32).reshape(3, 4)

def test_rows(exactref):
    exactref.check(x[:, 0], er.sum(x, axis=1), label="rows", standard="any_order")
"""
EVERY_WAY = pytest.mark.parametrize("how", DISTRIBUTIONS)


@EVERY_WAY
def test_of_drawn_examples_the_smallest_is_saved(pytester: pytest.Pytester, how: str) -> None:
    source = """
    @er.op("add", dtype="bfloat16", values="well_scaled")
    def test_add(x1, x2):
        return x1 + np.where(x2 > 0, x2 + x2, x2).astype(x2.dtype)
    """
    result = session(pytester, source, *DISTRIBUTIONS[how])
    result.assert_outcomes(failed=1)
    (command,) = commands(result)
    (name,) = kept(pytester)
    check = read(pytester.path / ".exactref" / name)
    assert isinstance(check.origin, Call)
    inputs = [x for x in check.origin.inputs.values() if isinstance(x, Array)]
    paste = re.search(r"paste: @hypothesis.example\((.*)\)$", text(result), re.M)
    assert paste is not None
    for array in inputs:
        assert array.dtype == "bfloat16"
        assert f'er.asarray({array.tolist()}, "bfloat16")' in paste[1]
    done = run(command, pytester.path)
    assert done.returncode == 1
    assert [line.strip() for line in done.stdout.splitlines()] == said(result)


def test_a_hand_written_hypothesis_test_saves_its_smallest_too(pytester: pytest.Pytester) -> None:
    source = """
    from hypothesis import given, settings, strategies as st

    @settings(deadline=None)
    @given(st.lists(st.integers(0, 100), min_size=1))
    def test_sum(exactref, numbers):
        x = np.float32(numbers)
        exactref.check(np.float32(x.sum() + (x.max() > 10)), er.sum(x))
    """
    result = session(pytester, source)
    (command,) = commands(result)
    (name,) = kept(pytester)
    check = read(pytester.path / ".exactref" / name)
    assert isinstance(check.origin, Call)
    x = check.origin.inputs["x"]
    assert isinstance(x, Array)
    assert x.tolist() == [11.0]
    assert check.inputs is None
    assert run(command, pytester.path).returncode == 1


@EVERY_WAY
def test_what_fails_no_test_is_not_saved(pytester: pytest.Pytester, how: str) -> None:
    source = """
    def wrong(exactref):
        exactref.check(np.float32(1), er.sum(np.float32([1, 1])))

    @pytest.mark.xfail(strict=True)
    def test_known(exactref):
        wrong(exactref)

    def test_caught(exactref):
        with pytest.raises(AssertionError, match="1 wrong"):
            wrong(exactref)

    def test_warned(exactref):
        wrong_but_allowed = [1e16, 0.0, 0.0, 0.0, -1e16, 0.0, 0.0, 0.0] + [1.0] * 96 + [0.0] * 104
        exactref.check(np.float64(72.0), er.sum(wrong_but_allowed), worse="allow")
    """
    session(pytester, source, *DISTRIBUTIONS[how]).assert_outcomes(passed=2, xfailed=1)
    assert not (pytester.path / ".exactref").exists()


@EVERY_WAY
def test_reruns_save_the_last(pytester: pytest.Pytester, how: str) -> None:
    pytest.importorskip("pytest_rerunfailures")
    source = """
    from pathlib import Path

    def test_it(exactref):
        tries = Path("tries")
        tries.write_text("x" + (tries.read_text() if tries.exists() else ""))
        exactref.check(np.float32(0), er.sum(np.float32([len(tries.read_text())])))
    """
    result = session(pytester, source, "--reruns=2", *DISTRIBUTIONS[how])
    (command,) = commands(result)
    (name,) = kept(pytester)
    assert run(command, pytester.path).stdout.splitlines()[2].split()[2] == "3"
    assert name in command


def test_several_failures_of_a_test_have_a_file_each(pytester: pytest.Pytester) -> None:
    source = """
    def test_both(exactref):
        for label in ("one", "two"):
            try:
                exactref.check(np.float32(1), er.sum(np.float32([1, 1])), label=label)
            except AssertionError:
                pass
        exactref.check(np.float32(5), er.sum(np.float32([1, 1])), label="one")
    """
    session(pytester, source).assert_outcomes(failed=1)
    labels = [read(pytester.path / ".exactref" / name).label for name in kept(pytester)]
    assert sorted(labels) == ["one", "one", "two"]


def test_the_folder_is_an_option_and_an_ini_key(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\nexactref_save = kept/here\n")
    (command,) = commands(session(pytester, WRONG))
    assert " kept/here/test_rows-" in command
    assert run(command, pytester.path).returncode == 1
    (command,) = commands(session(pytester, WRONG, "--exactref-save=with a space"))
    assert "'with a space/test_rows-" in command
    assert run(command, pytester.path).returncode == 1
    result = session(pytester, WRONG, "--exactref-save=")
    assert "reproduce" not in text(result)
    assert "not saved" not in text(result)
    assert not (pytester.path / ".exactref").exists()


def test_what_is_too_large_is_said(pytester: pytest.Pytester) -> None:
    source = """
    def test_sum(exactref):
        exactref.check(np.float32(0), er.sum(np.ones(300_000, np.float32)))
    """
    result = session(pytester, source, "--exactref-save-limit=1", "--exactref-json=out.json")
    assert "not saved: its tensors take 1 MB, more than 1 MB" in text(result)
    assert kept(pytester) == []
    assert json.loads((pytester.path / "out.json").read_text())["checks"][0]["replay"] == ""
    assert commands(session(pytester, source, "--exactref-save-limit=2"))


def test_a_folder_that_cannot_be_written_is_said(pytester: pytest.Pytester) -> None:
    (pytester.path / "taken").write_text("")
    result = session(pytester, WRONG, "--exactref-save=taken/here", "--exactref-json=out.json")
    result.assert_outcomes(failed=1)
    assert re.search(r"taken/here/test_rows-\w+\.npz cannot be written: .*taken", text(result))
    assert json.loads((pytester.path / "out.json").read_text())["checks"][0]["replay"] == ""
