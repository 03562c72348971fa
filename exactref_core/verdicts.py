"""The judgement of one output, or a block of it: every element beside its reference."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from exactref_core.array import Array
from exactref_core.diagnosis.findings import Findings
from exactref_core.evaluate.blocks import Box
from exactref_core.judgement import Judgement, Row
from exactref_core.picture import Canvas
from exactref_core.result import Result

__all__ = ["Told", "judge_one"]


class Told(list[tuple[Any, ...]]):
    """What a watcher in another process is to be told."""

    def add(self, *given: Any) -> None:
        """Keep it."""
        self.append(given)


def judge_one(
    array: Any,
    result: Result,
    name: str,
    standard: str,
    flush: bool,
    rows: int,
    canvas: Canvas | Told | None = None,
    findings: Findings | Told | None = None,
    box: Box = (),
) -> Judgement:
    """Judge one output, or the block of it in a box, and tell the watchers."""
    reference: Any = result.outputs[name]
    actual = reference.check(array)
    start = time.perf_counter()
    rounded = split(result.rounded)
    values = split(actual)
    error = np.abs(distance(values, rounded))
    # Of which 0 needs none; the ranges behind it, once known, answer for what is covered.
    tolerance = split(result.tolerance(standard, flush_to_zero=flush)) if np.any(error) else error
    inner = "normal" if standard == "any_order" else standard
    normal = parts_of(result.covers(actual, inner, flush_to_zero=flush))
    any_order = normal  # which covers all that its own standard, the wider one, is asked about
    if not normal.all():
        any_order = normal | parts_of(result.covers(actual, "any_order", flush_to_zero=flush))
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
