"""A run of the sweep: what each operation got in each format, and its smallest failing samples."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

import exactref as er
from exactref_core.op import Op
from tests.sweep.judging import VERDICTS, Judged, judge
from tests.sweep.libraries import Library
from tests.sweep.samples import Sample, samples
from tests.sweep.shrinking import shrunk

WRONG = VERDICTS.index("wrong")


@dataclass(frozen=True)
class Failure:
    """The first sample of an operation in a format that got a verdict, and the output."""

    sample: Sample
    judged: Judged
    verdict: int

    @property
    def place(self) -> tuple[int, ...]:
        """An element that got the verdict."""
        return tuple(np.argwhere(self.judged.verdicts == self.verdict)[0].tolist())


@dataclass
class Row:
    """An operation in a format: elements by verdict, and samples that nothing judged.

    ``stopped`` says that time ran out before all samples were judged.
    """

    op: str
    form: str
    counts: np.ndarray = field(default_factory=lambda: np.zeros(len(VERDICTS), int))
    unjudged: Counter[str] = field(default_factory=Counter)
    failures: dict[int, Failure] = field(default_factory=dict)
    stopped: bool = False

    @property
    def wrong(self) -> bool:
        """Whether an element was outside of everything."""
        return WRONG in self.failures

    def take(self, library: Library, sample: Sample) -> None:
        """Judge a sample; a call that is not defined, or that the library lacks, is noted."""
        try:
            found = judge(library, sample)
        except (er.UndecidedError, RuntimeError, TypeError, ValueError, IndexError) as error:
            self.unjudged[f"{type(error).__name__}: {error}".splitlines()[0]] += 1
            return
        for one in found:
            self.counts += np.bincount(one.verdicts.ravel(), minlength=len(VERDICTS))
            if one.worst() and one.worst() not in self.failures:
                self.failures[one.worst()] = Failure(sample, one, one.worst())


def failing(library: Library, failure: Failure) -> Failure:
    """The failure on the smallest sample that is found."""
    latest = failure

    def fails(sample: Sample) -> bool:
        nonlocal latest
        try:
            found = judge(library, sample)
        except Exception:  # a smaller call need not be one
            return False
        for one in found:
            if one.name == failure.judged.name and one.worst() == failure.verdict:
                latest = Failure(sample, one, failure.verdict)
                return True
        return False

    shrunk(failure.sample, fails)
    return latest


def sweep(
    library: Library,
    ops: Iterable[Op],
    forms: tuple[str, ...],
    turns: Iterable[int],
    seconds: float = float("inf"),
) -> Iterator[Row]:
    """One row for each operation and format, as it is done, or after so many processor seconds."""
    turns = tuple(turns)
    for op in ops:
        if library.reason(op) is not None:
            continue
        for form in forms:
            row, start = Row(op.name, form), time.process_time()
            for sample in (one for turn in turns for one in samples(op, form, turn)):
                row.stopped = time.process_time() - start > seconds
                if row.stopped:
                    break
                row.take(library, sample)
            yield row
