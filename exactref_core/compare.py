"""Judges an actual output against a result, element by element, and tells what it found."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain, islice
from typing import Any

from exactref_core.array import Array
from exactref_core.diagnosis.findings import Findings
from exactref_core.environment import in_default_environment
from exactref_core.errors import DTypeError, InputError
from exactref_core.evaluate.blocks import Apart, Box, blocks
from exactref_core.evaluate.executors import checked, outcomes
from exactref_core.evaluate.outputs import PartsOutput
from exactref_core.evaluate.parcels import OutputParcel, Rule, parcel_of, rule_parcel
from exactref_core.evaluate.supplied import supplied
from exactref_core.judgement import Judgement, Row, merged
from exactref_core.picture import Canvas
from exactref_core.registry import get_standard
from exactref_core.result import Result
from exactref_core.verdicts import Told, judge_one

__all__ = ["Judgement", "Row", "judge"]


@in_default_environment
def judge(
    output: Any,
    result: Result,
    *,
    standard: str = "normal",
    flush_to_zero: bool = False,
    rows: int = 10,
    progress: Callable[[float], None] | None = None,
    picture: bool = False,
    findings: dict[str, Findings] | None = None,
    executor: Any = None,
) -> tuple[Judgement, ...]:
    """Judge an output against a result, one `Judgement` for each output that is given.

    ``output`` is an array, a tuple of arrays in output order or a mapping of them by name; a lone
    array is the first output. Each element is normal, correct but worse (covered by "any_order"
    only) or wrong. At most ``rows`` offenders are described, the worst first. A huge output is
    judged in blocks; ``progress`` is told the part of it that is done, after each. ``picture`` asks
    for a map of the verdicts and a histogram of error/tolerance too; ``findings`` is filled with
    what is known of the failing elements, by output. With an ``executor``, as `compute` takes one,
    blocks are judged there: the answer is the same, to the text.
    """
    if not isinstance(result, Result):
        raise DTypeError(
            f"result must be what an operation of exactref returned, not {type(result)}"
        )
    get_standard(standard)
    count: Any = rows
    if not isinstance(count, int) or count < 0:
        raise InputError(f"rows must be an int of at least 0, not {rows!r}")
    if executor is not None:
        checked(executor)
    terms = (standard, flush_to_zero, rows)
    return tuple(
        judge_whole(array, result[name], name, terms, progress, picture, findings, executor)
        for name, array in supplied(output, result).items()
    )


def judge_whole(
    array: Any,
    result: Result,
    name: str,
    terms: tuple[str, bool, int],
    progress: Callable[[float], None] | None,
    picture: bool,
    findings: dict[str, Findings] | None,
    executor: Any,
) -> Judgement:
    """Judge one output, in blocks where it is huge and its definition can be split."""
    reference = result.outputs[name]
    if not isinstance(reference, PartsOutput):
        raise DTypeError("result is of another evaluator")
    actual = reference.check(array)
    found: list[Judgement] = []
    done = 0
    canvas, seen = watchers(reference, terms[0], picture, findings is not None)
    try:
        for one in judged_blocks(actual, reference, name, terms, (canvas, seen), executor):
            found.append(one)
            done += math.prod(one.shape)
            if progress is not None and (len(found) > 1 or done < reference.size):
                progress(done / reference.size)
    except Apart:
        canvas, seen = watchers(reference, terms[0], picture, findings is not None)
        found = [judge_one(actual, result, name, *terms, canvas, seen)]
    if findings is not None and seen is not None:
        findings[name] = seen
    whole = merged(found, reference.shape, terms[-1])
    return whole if canvas is None else replace(whole, picture=canvas.picture())


def judged_blocks(
    actual: Array,
    reference: PartsOutput,
    name: str,
    terms: tuple[str, bool, int],
    told: tuple[Canvas | None, Findings | None],
    executor: Any,
) -> Iterator[Judgement]:
    """Yield the judgements of an output's blocks, and tell the watchers of each."""
    parts = (
        (Array(actual.data[box], actual.format) if box else actual, output, box)
        for box, output in blocks(reference)
    )
    first = list(islice(parts, 2))
    if executor is None or len(first) < 2 or is_known(reference, *terms[:2]):
        for part, output, box in chain(first, parts):
            one = judge_one(part, Result({name: output}), name, *terms, *told, box)
            yield one.moved(tuple(side.start for side in box))
        return
    rule, asked = rule_parcel(terms[0]), tuple(one is not None for one in told)
    given = (
        (parcel_of(output), part, name, rule, terms, asked, box)
        for part, output, box in chain(first, parts)
    )
    for one, *words in outcomes(executor, judge_block, given, f"the check of {reference.op}"):
        for watcher, calls in zip(told, words, strict=True):
            for call in calls:
                watcher.add(*call)  # type: ignore[union-attr]  # there are none without a watcher
        yield one


def is_known(reference: PartsOutput, standard: str, flush: bool) -> bool:
    """Return whether the answers of an output are there, or are those of few elements."""
    rule = get_standard(standard)
    return reference.places is not None or all(
        part.roundings is not None and part.knows_range(rule, flush) for part in reference.parts
    )


@in_default_environment
def judge_block(
    parcel: OutputParcel,
    array: Array,
    name: str,
    rule: Rule,
    terms: tuple[str, bool, int],
    asked: tuple[bool, bool],
    box: Box,
) -> tuple[Judgement, Told, Told]:
    """Return the judgement of a block, and what the watchers that are asked for are to be told."""
    rule.standard()
    picture, findings = Told(), Told()
    result = Result({name: parcel.output()})
    told = picture if asked[0] else None, findings if asked[1] else None
    one = judge_one(array, result, name, *terms, *told, box)
    return one.moved(tuple(side.start for side in box)), picture, findings


def watchers(
    reference: PartsOutput, standard: str, picture: bool, findings: bool
) -> tuple[Canvas | None, Findings | None]:
    """Return what is told of every block that is judged."""
    canvas = Canvas(reference.shape) if picture else None
    if not findings:
        return canvas, None
    form, parts = reference.format, len(reference.parts)
    # One of the format's own; of integers every difference counts.
    spacing = 2.0 ** (1 - form.precision) if form.precision else 0.0
    wrong_only = standard == "any_order"
    return canvas, Findings(reference.op, reference.shape, spacing, parts, wrong_only)
