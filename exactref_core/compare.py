"""Judges an actual output against a result, element by element, and tells what it found."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from exactref_core.array import Array
from exactref_core.diagnosis.findings import Findings
from exactref_core.environment import in_default_environment
from exactref_core.errors import DTypeError, InputError
from exactref_core.evaluate.blocks import Apart, Box, blocks
from exactref_core.evaluate.outputs import PartsOutput
from exactref_core.evaluate.supplied import supplied
from exactref_core.judgement import Judgement, Row, merged
from exactref_core.picture import Canvas
from exactref_core.registry import get_standard
from exactref_core.result import Result

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
) -> tuple[Judgement, ...]:
    """Judge an output against a result, one `Judgement` for each output that is given.

    ``output`` is an array, a tuple of arrays in output order or a mapping of them by name; a lone
    array is the first output. Each element is normal, correct but worse (covered by "any_order"
    only) or wrong. At most ``rows`` offenders are described, the worst first. A huge output is
    judged in blocks; ``progress`` is told the part of it that is done, after each. ``picture`` asks
    for a map of the verdicts and a histogram of error/tolerance too; ``findings`` is filled with
    what is known of the failing elements, by output.
    """
    if not isinstance(result, Result):
        raise DTypeError(
            f"result must be what an operation of exactref returned, not {type(result)}"
        )
    get_standard(standard)
    count: Any = rows
    if not isinstance(count, int) or count < 0:
        raise InputError(f"rows must be an int of at least 0, not {rows!r}")
    terms = (standard, flush_to_zero, rows)
    return tuple(
        judge_whole(array, result[name], name, terms, progress, picture, findings)
        for name, array in supplied(output, result).items()
    )


def judge_whole(
    array: Any,
    result: Result,
    name: str,
    terms: tuple[str, bool, int],
    progress: Callable[[float], None] | None,
    picture: bool,
    findings: dict[str, Findings] | None = None,
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
        for box, output in blocks(reference):
            part = Array(actual.data[box], actual.format) if box else actual
            one = judge_one(part, Result({name: output}), name, *terms, canvas, seen, box)
            found.append(one.moved(tuple(side.start for side in box)))
            done += output.size
            if progress is not None and box:
                progress(done / reference.size)
    except Apart:
        canvas, seen = watchers(reference, terms[0], picture, findings is not None)
        found = [judge_one(actual, result, name, *terms, canvas, seen)]
    if findings is not None and seen is not None:
        findings[name] = seen
    whole = merged(found, reference.shape, terms[-1])
    return whole if canvas is None else replace(whole, picture=canvas.picture())


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


def judge_one(
    array: Any,
    result: Result,
    name: str,
    standard: str,
    flush: bool,
    rows: int,
    canvas: Canvas | None = None,
    findings: Findings | None = None,
    box: Box = (),
) -> Judgement:
    """Judge one output, or the block of it in a box, and tell the watchers."""
    reference: Any = result.outputs[name]
    actual = reference.check(array)
    start = time.perf_counter()
    inner = "normal" if standard == "any_order" else standard
    normal = parts_of(result.covers(actual, inner, flush_to_zero=flush))
    any_order = normal  # which covers all that its own standard, the wider one, is asked about
    if not normal.all():
        any_order = normal | parts_of(result.covers(actual, "any_order", flush_to_zero=flush))
    rounded = split(result.rounded)
    values = split(actual)
    error = np.abs(distance(values, rounded))
    # Of which 0 needs none.
    tolerance = split(result.tolerance(standard, flush_to_zero=flush)) if np.any(error) else error
    vacuous = reference.vacuous(standard, flush)
    seconds = time.perf_counter() - start
    worst: tuple[Row, ...] = ()
    if not normal.all() and (rows > 0 or findings is not None):
        ends = [split(result.tolerance(rule, flush_to_zero=flush)) for rule in (inner, "any_order")]
        worst = describe(reference, values, rounded, error, normal, any_order, ends, rows)
        if findings is not None:
            findings.add(normal, any_order, (values, rounded, ends[1]), box)
    wrong = int((~any_order).sum())
    ratio = ratios(error, tolerance, any_order if standard == "any_order" else normal)
    if canvas is not None:
        canvas.add(normal, any_order, ratio, box)
    return Judgement(
        op=reference.op,
        output=name,
        dtype=reference.dtype,
        shape=reference.shape,
        standard=standard,
        total=int(normal.size),
        normal=int(normal.sum()),
        worse=int((~normal).sum()) - wrong,
        wrong=wrong,
        worst_ratio=float(np.max(ratio, initial=0.0)),
        rows=worst,
        vacuous=vacuous,
        seconds=seconds,
    )


def parts_of(verdicts: Array) -> Any:
    """Return verdicts as a flat array."""
    return np.asarray(verdicts.data).reshape(-1)


def split(array: Array) -> Any:
    """Return values as a flat array, complex ones as real and imaginary parts in turn."""
    values = array.values()
    if np.iscomplexobj(values):
        values = np.stack([values.real, values.imag], axis=-1)
    return values.reshape(-1)


def distance(values: Any, rounded: Any) -> Any:
    """Return values - rounded as float64; 0 where both are the same infinity or NaN."""
    same = (values == rounded) | ((values != values) & (rounded != rounded))
    with np.errstate(invalid="ignore", over="ignore"):
        return np.where(same, 0.0, values.astype(np.float64) - rounded.astype(np.float64))


def ratios(error: Any, tolerance: Any, covered: Any) -> Any:
    """Return error / tolerance; where an infinity or NaN leaves none, 0 if covered, else inf."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        found = np.where(error == 0, 0.0, error / tolerance)
    apart = np.isnan(found) | ~np.isfinite(error)
    return np.where(apart, np.where(covered, 0.0, np.inf), found)


def describe(
    output: Any,
    values: Any,
    rounded: Any,
    error: Any,
    normal: Any,
    any_order: Any,
    ends: list[Any],
    rows: int,
) -> tuple[Row, ...]:
    """Return rows for the worst offenders: wrong before worse, larger errors first.

    ``ends`` are the tolerances under the inner standard and under "any_order".
    """
    offenders = np.flatnonzero(~normal)
    shape = (*output.shape, 2) if output.dtype.startswith("complex") else output.shape
    special = ~np.isfinite(error[offenders])
    ratio = ratios(error, ends[0], False)[offenders]
    # Where nothing is granted every ratio is inf: the relative error tells them apart.
    with np.errstate(all="ignore"):
        relative = np.nan_to_num(error[offenders] / np.abs(rounded[offenders]), nan=0.0)
    order = np.lexsort((-relative, -ratio, ~special, any_order[offenders]))[:rows]
    return tuple(
        Row(
            index=tuple(int(i) for i in np.unravel_index(flat, shape)),
            output=number(values[flat]),
            rounded=number(rounded[flat]),
            error=number(error[flat]),
            normal=number(ends[0][flat]),
            any_order=number(ends[1][flat]),
            verdict="correct but worse" if any_order[flat] else "wrong",
            note=note(number(values[flat]), number(rounded[flat])),
        )
        for flat in offenders[order].tolist()
    )


def number(value: Any) -> float:
    """Return a Python number."""
    return value.item() if hasattr(value, "item") else value  # type: ignore[no-any-return]


def note(output: float, rounded: float) -> str:
    """Return what is wrong with an infinity or NaN, in words."""
    finite = np.isfinite(output), np.isfinite(rounded)
    if all(finite):
        return ""
    if finite[0]:
        return f"{name_of(rounded)} required, missing"
    return f"{name_of(output)} present, not allowed"


def name_of(value: float) -> str:
    """Return the name of an infinity or NaN."""
    return "NaN" if value != value else f"{value:+}"
