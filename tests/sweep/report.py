"""What a sweep found, as text: a table, the smallest samples, and what was not swept."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from exactref_core.op import Op
from tests.sweep.judging import RULES, VERDICTS
from tests.sweep.libraries import Library
from tests.sweep.running import WRONG, Failure, Row


def table(rows: Iterable[Row]) -> str:
    """Elements by verdict of each operation in each format."""
    lines = [f"| operation | format | {' | '.join(VERDICTS)} | not judged |"]
    lines.append("| --- " * (len(VERDICTS) + 3) + "|")
    for row in rows:
        cells = (row.op, row.form, *row.counts.tolist(), sum(row.unjudged.values()))
        lines.append(f"| {' | '.join(map(str, cells))} |")
        lines += [f"  {count} samples: {why}" for why, count in row.unjudged.items()]
    return "\n".join(lines)


def shown(failure: Failure) -> str:
    """A failure in a few lines: the call, its numbers, what came back, and what is right."""
    sample, judged, place = failure.sample, failure.judged, failure.place
    lines = [
        f"{VERDICTS[failure.verdict]}: {sample.op.name} {sample.form} {sample.layout}, "
        f"{sample.call.text()}, element {list(place)} of {judged.name}"
    ]
    arrays = dict(zip(sample.names, sample.tensors, strict=True)) | sample.arrays()
    if sample.grad is not None:
        arrays = {"grad_output": sample.grad} | arrays
    lines += [f"  {name} = {numbers(array)}" for name, array in arrays.items()]
    standard, flush = RULES[min(failure.verdict, WRONG) - 1]
    low, high = judged.result.finite_range(standard, flush_to_zero=flush)
    returned = float(judged.output[place])
    rounded = judged.result.rounded.values()[place]
    ends = (float(end.values()[place]) for end in (low, high))
    lines.append(f"  returned {returned!r}, rounded {float(rounded)!r}, {standard} {list(ends)}")
    flags = judged.result.may_be
    reached = [flag for flag in ("+inf", "-inf", "nan") if flags(flag, standard).values()[place]]
    return "\n".join([*lines, *([f"  may be {', '.join(reached)}"] if reached else [])])


def numbers(array: np.ndarray) -> str:
    """An array's numbers, a large one's in short."""
    text = str(array.tolist())
    return text if len(text) < 400 else f"{text[:400]}... of shape {array.shape}"


def absent(library: Library, ops: Iterable[Op]) -> str:
    """The operations without a kernel, with the reasons."""
    reasons = ((op.name, library.reason(op)) for op in ops)
    return "\n".join(f"not swept: {name}: {why}" for name, why in reasons if why is not None)
