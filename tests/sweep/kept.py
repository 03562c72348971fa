"""The smallest sample known of each operation and format that a library gets wrong: inputs.json.

They are what `tests.sweep.known` rests on, and can be judged again without drawing any.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from exactref_core.op import Op
from exactref_core.registry import get_op
from tests.sweep.calls import calls_of
from tests.sweep.libraries import Library
from tests.sweep.running import Failure, Row
from tests.sweep.samples import Sample

FILE = Path(__file__).with_name("inputs.json")
SHORT = 40  # larger arrays are written as what most of their elements are, and the others

Place: TypeAlias = tuple[str, str, str]  # library, operation, format


def written(array: np.ndarray) -> Any:
    """An array as JSON has it."""
    if array.size <= SHORT and array.size:
        return array.tolist()
    flat = array.ravel()
    most = 0.0
    if flat.size:
        values, counts = np.unique(flat, return_counts=True)
        most = float(values[counts.argmax()])
    others = np.flatnonzero(~((flat == most) | (np.isnan(flat) & np.isnan(most))))
    but = [[int(i), float(flat[i])] for i in others]
    return {"shape": list(array.shape), "filled": most, "but": but}


def read(text: Any) -> np.ndarray:
    """The array of `written`."""
    if not isinstance(text, dict):
        return np.array(text, np.float64)
    array = np.full(text["shape"], text["filled"], np.float64)
    for place, value in text["but"]:
        array.flat[place] = value
    return array


def row(failure: Failure) -> dict[str, Any]:
    """A failure as JSON has it."""
    sample = failure.sample
    found: dict[str, Any] = {
        "call": calls_of(sample.op).index(sample.call),
        "layout": sample.layout,
        "tensors": [written(x) for x in sample.tensors],
    }
    if sample.grad is not None:
        found["grad"] = written(sample.grad)
    if sample.draws:
        found["draws"] = {name: written(u) for name, u in sample.draws.items()}
    return found


def sample_of(place: Place, found: dict[str, Any]) -> Sample:
    """The sample of a row."""
    op = get_op(place[1])
    return Sample(
        op,
        calls_of(op)[found["call"]],
        place[2],
        found["layout"],
        tuple(map(read, found["tensors"])),
        read(found["grad"]) if "grad" in found else None,
        {name: read(u) for name, u in found.get("draws", {}).items()},
    )


def load() -> dict[Place, Sample]:
    """All samples that are kept."""
    return {place: sample_of(place, found) for place, found in lines()}


def lines() -> Iterable[tuple[Place, dict[str, Any]]]:
    """The rows of the file."""
    for name, found in json.loads(FILE.read_text()).items() if FILE.exists() else ():
        library, op, form = name.split()
        yield (library, op, form), found


def again(library: Library, ops: Iterable[Op], forms: tuple[str, ...]) -> Iterator[Row]:
    """The rows of a sweep of the kept samples only."""
    kept = load()
    for op in ops:
        for form in forms:
            if (library.name, op.name, form) in kept:
                found = Row(op.name, form)
                found.take(library, kept[library.name, op.name, form])
                yield found


def keep(failures: Iterable[tuple[Place, Failure]]) -> None:
    """Write failures down, in the place of those of the same operation and format."""
    rows = dict(lines()) | {place: row(failure) for place, failure in failures}
    text = ",\n".join(f'"{" ".join(place)}": {json.dumps(rows[place])}' for place in sorted(rows))
    FILE.write_text("{\n" + text + "\n}\n")
