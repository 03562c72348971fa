"""Answers of results ahead of being asked for, in blocks on an executor."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from exactref_core.arithmetic.boxes import cells
from exactref_core.arithmetic.parts import Part
from exactref_core.arithmetic.ranges import Range
from exactref_core.arithmetic.remembered import keep, recalled, under
from exactref_core.environment import in_default_environment
from exactref_core.errors import DTypeError, InputError
from exactref_core.evaluate.blocks import CELLS, Apart, Box, boxed, boxes_of
from exactref_core.evaluate.executors import checked, outcomes
from exactref_core.evaluate.outputs import PartsOutput
from exactref_core.evaluate.parcels import PartParcel, Rule, part_parcel, rule_parcel
from exactref_core.registry import get_standard
from exactref_core.result import Result, flag

__all__ = ["compute"]

QUESTIONS: Final = ("rounded", "tolerance")
# A part is split into this many blocks, unless they were larger than blocks are, or so small that
# sending them costs more.
TASKS: Final = 64
LEAST_CELLS: Final = 1 << 14

Arrays = tuple[npt.NDArray[Any], ...]


@dataclass(frozen=True, eq=False)
class Job:
    """What is asked of a part, in which blocks."""

    part: Part
    asked: tuple[str, ...]
    boxes: tuple[Box, ...]


def compute(
    *results: Result,
    executor: Any,
    questions: Sequence[str] = QUESTIONS,
    standard: str = "normal",
    flush_to_zero: bool = False,
) -> None:
    """Evaluate results on an executor; what was asked for is there when it returns.

    ``executor`` is a concurrent.futures.Executor, or has its submit(): processes of this machine,
    or of others by dask's or mpi4py's. ``questions`` are "rounded", "tolerance" or both, the
    latter under ``standard`` and ``flush_to_zero``; the tolerance answers finite_range(), may_be()
    and covers() as well. Answers are the same to the last bit as without an executor. A result is
    split as far as its operation keeps axes apart; what cannot be split is one task, or computed
    here where it is the only one. InputError for another question, ExactRefError where the executor
    breaks; what a worker raises is raised here.
    """
    checked(executor)
    asked = questions_of(questions)
    given = rule_parcel(standard)
    flush = flag("flush_to_zero", flush_to_zero)
    jobs = [job for part in parts_of(results) if (job := job_of(part, asked, given, flush)).asked]
    if sum(len(job.boxes) for job in jobs) > 1:
        jobs = spread(jobs, executor, given, flush)
    for job in jobs:
        answer_here(job, given, flush)


def spread(jobs: Sequence[Job], executor: Any, given: Rule, flush: bool) -> list[Job]:
    """Do jobs on an executor; return those left that turned out not to be split."""
    what = f"er.compute of {', '.join(dict.fromkeys(job.part.label for job in jobs))}"
    arguments = (
        (part_parcel(boxed(job.part, box)), job.asked, given, flush)
        for job in jobs
        for box in job.boxes
    )
    found = outcomes(executor, answers, arguments, what)
    left = list(jobs)
    try:
        for job in jobs:
            fill(job, found, given, flush)
            left.remove(job)
    except Apart:
        pass
    finally:
        found.close()
    return left


def questions_of(questions: Any) -> tuple[str, ...]:
    """Return the questions; InputError for one that is unknown."""
    asked = (questions,) if isinstance(questions, str) else tuple(questions)
    if not asked or not set(asked) <= set(QUESTIONS):
        raise InputError(f"questions must be of {QUESTIONS}, not {questions!r}")
    return asked


def parts_of(results: Sequence[Any]) -> list[Part]:
    """Return the parts of results, each once; integers are exact, and summed when asked for."""
    found: dict[int, Part] = {}
    for result in results:
        if not isinstance(result, Result):
            raise DTypeError(f"compute() takes results of operations, not {type(result).__name__}")
        for output in result.outputs.values():
            if isinstance(output, PartsOutput) and not output.format.is_integer:
                found |= {id(part): part for part in output.parts}
    return list(found.values())


def job_of(part: Part, asked: tuple[str, ...], given: Rule, flush: bool) -> Job:
    """Return what is not known of a part yet, and the blocks to ask it of."""
    rule, missing = get_standard(given.name), []
    if part.roundings is None:
        kept = recalled(part.node, "rounded")
        part.roundings = None if kept is None else kept[0]
    if part.roundings is None:  # which a tolerance is the distance from
        missing.append("rounded")
    if "tolerance" in asked and not part.knows_range(rule, flush):
        missing.append("tolerance")
    return Job(part, tuple(missing), tuple(boxes_in(part)) if missing else ())


def boxes_in(part: Part) -> Iterator[Box]:
    """Yield the boxes that a part is split into; one without axes where it cannot be."""
    output = PartsOutput(part.label, "", part.store.format, [part], [part.node], None)
    most = min(CELLS, max(LEAST_CELLS, cells(part.node) // TASKS))
    if part.node.size:
        yield from boxes_of(output, most)


@in_default_environment
@np.errstate(all="ignore")
def answers(parcel: PartParcel, asked: Sequence[str], given: Rule, flush: bool) -> list[Arrays]:
    """Return what a worker is asked of a block."""
    return answers_of(parcel.part(), asked, given, flush)


def answers_of(part: Part, asked: Sequence[str], given: Rule, flush: bool) -> list[Arrays]:
    """Return a part's answers, as flat arrays."""
    return [
        (part.rounded(),) if one == "rounded" else part.range(given.standard(), flush).arrays
        for one in asked
    ]


@in_default_environment
@np.errstate(all="ignore")
def answer_here(job: Job, given: Rule, flush: bool) -> None:
    """Answer what is asked of a part that is one block."""
    answers_of(job.part, job.asked, given, flush)


def fill(job: Job, found: Iterator[list[Arrays]], given: Rule, flush: bool) -> None:
    """Put the blocks' answers together, as the part's and for the cache."""
    part, rule = job.part, get_standard(given.name)
    whole: list[Arrays] = []
    for box, answer in zip(job.boxes, found, strict=False):
        if not whole:
            whole = [tuple(np.empty(part.node.shape, x.dtype) for x in one) for one in answer]
        for mine, theirs in zip(whole, answer, strict=True):
            for array, x in zip(mine, theirs, strict=True):
                array[box] = x.reshape(array[box].shape)
    for one, arrays in zip(job.asked, whole, strict=True):
        flat = tuple(array.reshape(-1) for array in arrays)
        if one == "rounded":
            part.roundings = flat[0]
            keep(part.node, "rounded", flat)
        else:
            part.ranges[rule.name, flush] = Range(*flat)
            keep(part.node, under(part.question, rule, flush), flat)
