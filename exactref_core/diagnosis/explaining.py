"""Which declared computation a failing output looks like: the first that covers every element.

A computation is tried on one block with a failing element first, and on all elements only where it
covers that. One that would cover anything explains nothing: it has to refuse the opposite numbers
of at least half the failing elements. One that only rounds more would show nearly everywhere: it
explains no few elements that fail, none at a place of their own, and no errors that have something
in common.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any, Final

import numpy as np

from exactref_core.array import Array
from exactref_core.diagnosis.declared import Declared, declared
from exactref_core.diagnosis.findings import Findings
from exactref_core.evaluate.blocks import Apart, Block, Box, blocks, part_of
from exactref_core.evaluate.origin import Origin
from exactref_core.evaluate.outputs import PartsOutput
from exactref_core.formats.format import Format
from exactref_core.formats.rounding_arrays import round_pair
from exactref_core.result import Result

__all__ = ["SECONDS", "looks_like"]

CELLS: Final = 1 << 15  # of all steps of a block, so that the time is looked at often
SECONDS: Final = 3.0  # for all computations of one output, and at most for judging it once


def looks_like(
    actual: Array,
    result: Result,
    name: str,
    findings: Findings,
    flush_to_zero: bool = False,
    seconds: float = SECONDS,
) -> str:
    """Return what the output ``name`` of a result looks like, in words; "" where nothing fits.

    After so many seconds no further block is evaluated.
    """
    reference = result.outputs[name]
    if not isinstance(result.origin, Origin) or not isinstance(reference, PartsOutput):
        return ""
    if findings.severity is None:
        return ""
    if not np.any(findings.severity == 2):
        return "another order of the operations (every element covered)"
    failing = findings.failing
    worst = first_worst(findings)
    noisy = findings.is_noise
    deadline = time.perf_counter() + seconds
    with np.errstate(all="ignore"):
        for one in declared(result.origin, reference.format):
            if (one.flush and flush_to_zero) or (one.widens and not noisy):
                continue
            trial = Trial(actual, name, one, deadline)
            try:
                if trial.explains(failing, worst):
                    return f"{one.words} (every element covered)"
            except Late:
                return ""
            except Exception:
                # Definitions, of users too, are run on what they were not made for: they may refuse
                # it in any way, which must not hide the failure that is told.
                continue
    return ""


def first_worst(findings: Findings) -> tuple[int, ...]:
    """Return the index of the first wrong element, or the first that is correct but worse."""
    severity: Any = findings.severity
    flat = int(np.argmax(severity))
    return tuple(int(i) for i in np.unravel_index(flat, severity.shape))


class Late(Exception):
    """There is no time for another block."""


class Trial:
    """A computation, tried on an output; `Late` when it is not done by the deadline."""

    def __init__(self, actual: Array, name: str, one: Declared, deadline: float) -> None:
        self.actual, self.name, self.one, self.deadline = actual, name, one, deadline

    def explains(self, failing: Any, worst: tuple[int, ...]) -> bool:
        """Return whether the computation covers every element, and would not cover anything."""
        values = self.actual.values()
        if self.one.held is not None and not holds(self.one.held, values):
            return False
        output = self.one.make().outputs[self.name]
        if not isinstance(output, PartsOutput):
            return False
        if output.format != self.actual.format:
            self.actual = Array.from_values(values, output.format)
        if not all(self.covers(output, box) for box in corner(output, worst)):
            return False
        try:
            return self.fits(blocks(output, CELLS), failing)
        except Apart:
            return self.fits([((), output)], failing)

    def fits(self, parts: Iterable[Block], failing: Any) -> bool:
        """Return whether every element is covered, and half the failing ones tell something."""
        told = 0
        for box, part in parts:
            actual = self.part(box)
            if not self.verdicts(part, actual).all():
                return False
            if failing[box].any():
                told += self.telling(part, actual, failing[box])
        return self.one.flush or self.one.infinities or 2 * told >= int(failing.sum())

    def telling(self, output: PartsOutput, actual: Array, failing: Any) -> int:
        """Return how many failing elements would be refused with the opposite sign."""
        values = actual.values()
        opposite = Array.from_values(np.where(failing, -values, values), actual.format)
        refused = ~self.verdicts(output, opposite).reshape(*failing.shape, -1).all(axis=-1)
        return int((refused & failing).sum())

    def covers(self, output: PartsOutput, box: Box) -> bool:
        """Return whether the elements in a box are covered."""
        return bool(self.verdicts(part_of(output, box), self.part(box)).all())

    def verdicts(self, output: PartsOutput, actual: Array) -> Any:
        """Return which elements are covered, in any order; of complex ones both parts."""
        if time.perf_counter() > self.deadline:
            raise Late
        found = Result({self.name: output}).covers(
            actual, "any_order", flush_to_zero=self.one.flush
        )
        return np.asarray(found.data)

    def part(self, box: Box) -> Array:
        """Return the outputs in a box."""
        return Array(self.actual.data[box], self.actual.format) if box else self.actual


def holds(form: Format, values: Any) -> bool:
    """Return whether a format has all these numbers, and that says something about them.

    Powers of two, which sums stop at and which every format has, say nothing.
    """
    told = np.unique(np.frexp(values[np.isfinite(values)])[0])
    if np.count_nonzero(np.abs(told) > 0.5) < 2:
        return False
    if bool(np.isnan(values).any()) and not form.nan:
        return False
    return np.array_equal(round_pair(values, None, form), values, equal_nan=True)


def corner(output: PartsOutput, index: tuple[int, ...]) -> list[Box]:
    """Return the smallest box of an element that its definition lets be evaluated alone, if any."""
    found: list[Box] = []
    for depth in range(1, len(index) + 1):
        box = tuple(slice(place, place + 1) for place in index[:depth])
        try:
            part_of(output, box)
        except Apart:
            break
        found = [box]
    return found if output.places is None else []
