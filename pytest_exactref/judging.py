"""One test being run: its checks are judged and recorded here, and fail it where they must."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from pytest_exactref.failures import MOST, Failure, FailureText, Place, check_of
from pytest_exactref.options import Options
from pytest_exactref.progress import progress
from pytest_exactref.records import CheckRecord
from pytest_exactref.showing import keep
from pytest_exactref.vacuity import ask

if TYPE_CHECKING:
    from exactref_core.array import Array
    from exactref_core.compare import Judgement
    from exactref_core.diagnosis.findings import Findings

__all__ = ["DTYPE", "CorrectButWorse", "Run", "Terms", "check", "current", "enter", "leave"]


class CorrectButWorse(UserWarning):
    """An output is correct, but worse than normal accumulation (``worse="warn"``)."""


@dataclass(frozen=True)
class Terms:
    """How a check is to be judged; None leaves it to the options."""

    standard: str | None = None
    worse: str | None = None
    label: str | None = None
    flush_to_zero: bool | None = None
    executor: Any = None

    def __post_init__(self) -> None:
        from exactref_core.registry import standards

        if self.standard is not None and self.standard not in standards():
            known = " or ".join(map(repr, standards()))
            raise pytest.UsageError(f"standard={self.standard!r} is none of {known}")
        if self.worse not in (None, "fail", "warn", "allow"):
            raise pytest.UsageError(f"worse={self.worse!r} is none of 'fail', 'warn', 'allow'")
        if not isinstance(self.label, (str, type(None))):
            raise pytest.UsageError(f"label={self.label!r} is no string")
        if self.flush_to_zero not in (None, True, False):
            raise pytest.UsageError(f"flush_to_zero={self.flush_to_zero!r} is no bool")
        if self.executor is not None and not callable(getattr(self.executor, "submit", None)):
            raise pytest.UsageError(f"executor={self.executor!r} has no submit()")


@dataclass
class Run:
    """A test while it runs: the options, its arguments, and the records of its checks so far."""

    options: Options = field(default_factory=Options)
    nodeid: str = ""
    dtype: str | None = None  # of the parametrized id, for a marked test with several
    arguments: Mapping[str, Any] = field(default_factory=dict)
    records: dict[tuple[str, ...], CheckRecord] = field(default_factory=dict)
    warned: set[tuple[str, ...]] = field(default_factory=set)
    place: tuple[str, int] = ("", 1)  # file and line of the test, for warnings
    strategies: dict[str, Any] = field(default_factory=dict)  # of the inputs, by dtype
    terminal: Callable[[str], None] | None = None  # writes past the capture
    start: Path = field(default_factory=Path)  # where pytest was started
    failures: dict[tuple[Any, ...], Failure] = field(default_factory=dict)
    outer: Run | None = None

    def record(self, judgement: Judgement, label: str, drawn: bool) -> CheckRecord:
        """The record that this judgement adds to."""
        key = (judgement.op, judgement.output, judgement.dtype, judgement.standard, label)
        if key not in self.records:
            self.records[key] = CheckRecord(self.nodeid, *key, drawn=drawn)
        return self.records[key]


DTYPE: Final = "_exactref_dtype"  # the parametrized name behind a marker's list of dtypes

_current: Run | None = None


def enter(run: Run) -> None:
    """Make ``run`` the test that checks belong to (pytest can run inside a pytest test)."""
    global _current
    run.outer, _current = _current, run


def leave(run: Run) -> None:
    """Give back to the test that ran around this one."""
    global _current
    _current = run.outer


def current() -> Run | None:
    """The test that runs now; None where pytest runs none, as in a plain call of a marked test."""
    return _current


def check(
    output: Any, result: Any, terms: Terms, run: Run, inputs: Mapping[str, Array] | None = None
) -> None:
    """Judge ``output`` against ``result``, record it, and fail or warn where the terms say so.

    Raises:
        AssertionError: an element is wrong, or correct but worse where that fails; its text holds
            the failure tables.
    """
    __tracebackhide__ = True
    options = run.options
    worse = terms.worse or options.worse
    standard = terms.standard or options.standard
    if terms.flush_to_zero is not None:
        options = options._replace(flush_to_zero=terms.flush_to_zero)
    findings: dict[str, Findings] = {}
    with progress(run.terminal, _name(result)) as told:
        judgements = _judge(output, result, terms, options, progress=told, findings=findings)
    failed = [judgement for judgement in judgements if judgement.fails(worse)]
    label, drawn = terms.label or "", _is_drawn()
    records = [run.record(judgement, label, drawn) for judgement in judgements]
    if options.thorough and not failed:
        ask(
            records,
            judgements,
            result,
            lambda outputs: _judge(outputs, result, terms, options, rows=0),
            lambda judgement: judgement.fails(worse),
        )
    for record, judgement in zip(records, judgements, strict=True):
        if judgement.picture is not None:
            keep(record, judgement, judgement in failed, inputs)
        if not record.failed:
            _add(record, judgement)
        record.failed = record.failed or (drawn and bool(failed))
    if failed:
        from exactref_core.failure import arrays_of

        found = [record for record, one in zip(records, judgements, strict=True) if one in failed]
        flush, arrays = options.flush_to_zero, arrays_of(output, result)
        failure = Failure(failed, found, label, inputs, arrays, result, findings, flush)
        said = {"standard": standard, "worse": worse, "label": label, "nodeid": run.nodeid}
        _keep_failure(run, failure, {**said, "drawn": inputs is not None}, options)
        _raise(failure)
    if worse == "warn" and standard != "any_order":
        _warn([judgement for judgement in judgements if judgement.worse], label, run)


def _name(result: Any) -> str:
    outputs = getattr(result, "outputs", None) or {}
    return ", ".join(f"{one.op} {one.dtype} {one.shape}" for one in list(outputs.values())[:1])


def _judge(
    output: Any,
    result: Any,
    terms: Terms,
    options: Options,
    rows: int | None = None,
    progress: Callable[[float], None] | None = None,
    findings: dict[str, Findings] | None = None,
) -> Sequence[Judgement]:
    __tracebackhide__ = True
    from exactref_core.compare import judge
    from exactref_core.errors import DTypeError, InputError, UnknownNameError

    picture = options.html is not None and rows is None
    rows = options.rows if rows is None else rows
    try:
        return judge(
            output,
            result,
            standard=terms.standard or options.standard,
            flush_to_zero=options.flush_to_zero,
            rows=rows,
            progress=progress,
            picture=picture,
            findings=findings,
            executor=terms.executor,
        )
    except (DTypeError, InputError, UnknownNameError) as error:
        # The call is at fault: show it, without the depths of the core.
        raise error.with_traceback(None) from None


def _is_drawn() -> bool:
    """Whether hypothesis drew the inputs, so that this check is one of many alike."""
    hypothesis = sys.modules.get("hypothesis")
    return hypothesis is not None and bool(hypothesis.currently_in_test_context())


def _add(record: CheckRecord, judgement: Judgement) -> None:
    record.checks += 1
    record.elements += judgement.total
    record.normal += judgement.normal
    record.worse += judgement.worse
    record.wrong += judgement.wrong
    record.ratio = max(record.ratio, judgement.worst_ratio)
    record.seconds += judgement.seconds
    record.vacuous += judgement.vacuous


def _keep_failure(run: Run, failure: Failure, terms: Mapping[str, Any], options: Options) -> None:
    """Keep what is told if the test fails: of drawn examples the last, which is the smallest."""
    ops = [(judgement.op, judgement.output, judgement.dtype) for judgement in failure.judgements]
    key: tuple[Any, ...] = (
        failure.label,
        ops[0],
        any(judgement.wrong for judgement in failure.judgements),
    )
    if not _is_drawn():
        key = (*key, len(run.failures))
    if key not in run.failures and len(run.failures) >= MOST:
        return
    run.failures[key] = failure
    if options.save:
        failure.place = Place.of(run.start, options.save, run.nodeid, key)
        failure.limit = options.save_limit
        failure.check = check_of(failure.outputs, failure.result, terms, options, run.start)


def _raise(failure: Failure) -> None:
    # hypothesis tells failures apart by the line that raises. Two lines keep an output that is
    # wrong from shrinking into one that is merely worse.
    __tracebackhide__ = True
    text = FailureText(failure)
    if any(judgement.wrong for judgement in failure.judgements):
        raise AssertionError(text)
    raise AssertionError(text)


def _warn(judgements: Sequence[Judgement], label: str, run: Run) -> None:
    from pytest_exactref.reports.text import failure_text

    for judgement in judgements:
        key = (judgement.op, judgement.output, judgement.dtype, label)
        if key not in run.warned:
            text = failure_text([judgement], label)
            warnings.warn_explicit(text, CorrectButWorse, run.place[0], run.place[1])
            # Only now: where warnings are errors, the line above raises for every example.
            run.warned.add(key)
