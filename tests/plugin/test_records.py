"""Records: plain data on the report, which come back from a worker as they were."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import exactref as er
from exactref_core.compare import Judgement, judge
from exactref_core.vacuity import QUESTIONS
from pytest_exactref.records import ASKED, ATTRIBUTE, CheckRecord, Ledger, attach
from pytest_exactref.reports.summary import summary_lines
from pytest_exactref.showing import keep
from pytest_exactref.vacuity import PASSES_TOO

BUILTINS = (str, bool, int, float)


def is_plain(value: Any) -> bool:
    """Whether a value is made of builtins all the way down."""
    if type(value) is dict:
        return all(type(name) is str and is_plain(each) for name, each in value.items())
    return all(map(is_plain, value)) if type(value) is list else type(value) in BUILTINS


def record(**changes: Any) -> CheckRecord:
    """A record of one check of four elements."""
    facts: dict[str, Any] = {"checks": 1, "elements": 4, "normal": 4, **changes}
    return CheckRecord("test_a.py::test_b", "sum", "output", "float32", "normal", **facts)


def report(nodeid: str = "test_a.py::test_b") -> pytest.TestReport:
    """The report of a test that passed."""
    return pytest.TestReport(nodeid, ("test_a.py", 1, "test_b"), {}, "passed", None, "call")


def test_plain_data_is_builtins_only_whatever_was_added() -> None:
    added = record()
    added.elements += np.int64(3)
    added.ratio = np.float32(0.5)
    added.drawn = bool(1)
    plain = added.to_plain()
    assert is_plain(plain)
    assert CheckRecord.from_plain(plain) == record(elements=7, ratio=0.5, drawn=True)


def test_a_report_carries_its_records_through_serialisation(
    pytestconfig: pytest.Config,
) -> None:
    sent = report()
    x = np.float32([1, 2, 3])
    (judged,) = judge(x, er.add(x, x), picture=True)
    pictured = record(wrong=1)
    keep(pictured, judged, True, None)
    assert is_plain(pictured.to_plain())
    records = [record(ratio=float("inf"), wrong=1), record(label="second"), pictured]
    attach(sent, records)
    hook = pytestconfig.hook
    data = hook.pytest_report_to_serializable(config=pytestconfig, report=sent)
    data = json.loads(json.dumps(data))
    received = hook.pytest_report_from_serializable(config=pytestconfig, data=data)
    assert [CheckRecord.from_plain(each) for each in getattr(received, ATTRIBUTE)] == records


def test_the_ledger_keeps_the_last_report_of_each_test_in_order() -> None:
    ledger = Ledger()
    for nodeid, wrong in (("b", 1), ("a", 2), ("b", 0)):
        sent = report(nodeid)
        attach(sent, [record(wrong=wrong, label=nodeid)])
        ledger.pytest_runtest_logreport(sent)
    ledger.pytest_runtest_logreport(report("c"))  # a test that checked nothing
    assert [(each.label, each.wrong) for each in ledger.records()] == [("a", 2), ("b", 0)]


@pytest.mark.parametrize(
    ("outcome", "wasxfail", "expected"),
    [
        ("passed", False, "passed"),
        ("failed", False, "failed"),
        ("skipped", True, "xfailed"),
        ("passed", True, "xpassed"),
    ],
)
def test_the_ledger_knows_how_the_test_ended(outcome: Any, wasxfail: bool, expected: str) -> None:
    sent = pytest.TestReport("a", ("a.py", 1, "a"), {}, outcome, None, "call")
    if wasxfail:
        sent.wasxfail = "known"
    attach(sent, [record()])
    ledger = Ledger()
    ledger.pytest_runtest_logreport(sent)
    assert [each.outcome for each in ledger.records()] == [expected]


def judged(output: list[float], ones: int) -> Judgement:
    """An output judged against as many ones."""
    x = np.full(ones, 0.5, np.float32)
    (found,) = judge(np.float32(output), er.add(x, x), picture=True)
    return found


def test_a_failing_example_is_shown_before_a_passing_one() -> None:
    several = record()
    keep(several, judged([1, 1, 1, 1], 4), False, None)
    assert several.shown["shape"] == [4]
    keep(several, judged([1, 2], 2), True, None)
    keep(several, judged([1], 1), False, None)
    assert several.shown["shape"] == [2]
    assert [sum(bins) for bins in several.histogram] == [6, 0, 1]


def test_of_drawn_failures_the_last_is_shown_and_the_first_counted() -> None:
    shrunk = record(drawn=True)
    keep(shrunk, judged([1, 1], 2), False, None)
    keep(shrunk, judged([1, 9, 9], 3), True, None)
    shrunk.failed = True
    keep(shrunk, judged([1], 1), False, None)
    keep(shrunk, judged([3], 1), True, {"x1": er.asarray([0.5], "float32")})
    assert shrunk.shown["shape"] == [1]
    assert shrunk.shown["rows"][1][0] == "[0]"
    assert shrunk.shown["paste"] == '@hypothesis.example(x1=er.asarray([0.5], "float32"))'
    assert [sum(bins) for bins in shrunk.histogram] == [3, 0, 2]


def test_of_calls_that_pass_the_largest_ratio_is_shown() -> None:
    several, seen = record(), []
    x = np.full(64, 0.1, np.float32)
    for ulps in (0, 3, 1):
        output = np.float32(er.sum(x).rounded.tolist()) + ulps * np.spacing(np.float32(6.4))
        (found,) = judge(output, er.sum(x), standard="any_order", picture=True)
        keep(several, found, False, None)
        seen.append(found.worst_ratio)
    assert seen[0] < seen[2] < seen[1] < 1
    assert several.shown["ratio"] == seen[1]


@pytest.mark.parametrize(
    ("drawn", "answers", "expected"),
    [
        (False, [], False),
        (False, [True], True),
        (False, [False, True, False], True),  # three calls of check: one is blind
        (True, [True, False], False),  # another example can tell
        (True, [True, True], True),
        (True, [], False),
    ],
)
def test_a_question_is_settled_by_examples_that_can_tell(
    drawn: bool, answers: list[bool], expected: bool
) -> None:
    found = record(drawn=drawn)
    for passes in answers:
        found.answer("zeros", passes, 4)
    assert found.lets_pass("zeros") is expected
    assert found.lets_pass("narrower") is False
    assert found.is_settled("zeros") is (drawn and False in answers)
    if answers:
        assert found.asked["zeros"][2] == 4 * sum(answers)
    found.failed = drawn  # an example that fails could tell
    assert found.lets_pass("zeros") is (expected and not drawn)


def test_so_many_checks_are_asked() -> None:
    found = record()
    for _ in range(ASKED):
        assert not found.is_settled("zeros")
        found.answer("zeros", True, 1)
    assert found.is_settled("zeros")
    assert found.lets_pass("zeros")


def test_each_question_has_words() -> None:
    assert list(PASSES_TOO) == list(QUESTIONS)


def test_summary_rows_and_notices() -> None:
    records = [
        record(worse=1, ratio=0.25, seconds=1.234, label="left"),
        record(elements=9, vacuous=2, asked={"zeros": [0, 1, 9], "narrower": [0, 1, 8]}),
        CheckRecord("t.py::test_m", "matmul", "output", "bfloat16", "any_order", wrong=3),
    ]
    lines = summary_lines(records)
    assert lines[0].split()[:4] == ["test", "op", "dtype", "standard"]
    left = "test_a.py::test_b (left) sum float32 normal 4 4 1 0 0.25 1 1.23 s"
    assert lines[1].split() == left.split()
    assert lines[3].split()[:4] == ["t.py::test_m", "matmul", "bfloat16", "any_order"]
    assert len({len(line) for line in lines[:4]}) == 1
    assert lines[4].startswith("the standard guarantees nothing where")
    assert lines[5] == "  test_a.py::test_b (normal): 2 of 9 elements"
    assert lines[6] == "vacuous, since an output of zeros would also pass:"
    assert lines[7] == "  test_a.py::test_b: 9 elements could not tell"
    assert lines[8].startswith("vacuous, since the result of inputs in the next narrower format")
    assert lines[9] == "  test_a.py::test_b: 8 elements could not tell"
    assert len(lines) == 10


def test_a_summary_without_checks_says_so() -> None:
    assert summary_lines([]) == ["no check ran"]
