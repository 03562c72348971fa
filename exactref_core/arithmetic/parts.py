"""One real output: how it rounds, its range under a standard, and what it covers.

The range climbs the same ladder as the roundings: float64 brackets, double-double ones for the
elements left, certified numbers for the last.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from exactref_core.arithmetic.alike import alike
from exactref_core.arithmetic.bound import Bound
from exactref_core.arithmetic.bound_levels import bound_readings
from exactref_core.arithmetic.bounds import FloatBounds
from exactref_core.arithmetic.certified import CertifiedReading
from exactref_core.arithmetic.certified_bounds import CertifiedBounds
from exactref_core.arithmetic.certified_stores import ScalarOutput, output
from exactref_core.arithmetic.estimates import EVERYTHING, Estimate, estimate_of, known
from exactref_core.arithmetic.graph import Indices, Node
from exactref_core.arithmetic.ladder import MANY, Ladder
from exactref_core.arithmetic.range_ends import widen_by_flush
from exactref_core.arithmetic.ranges import Bools, Range, one_range
from exactref_core.arithmetic.remembered import recalled, remembered, under
from exactref_core.arithmetic.rounded_blocks import flatten
from exactref_core.arithmetic.stores import clip_of
from exactref_core.exact.double_double import Floats
from exactref_core.exact.nonnegative import Unbounded

__all__ = ["Part"]


class Part(Ladder):
    """A real output (or one part of a complex one), given the node that stores it."""

    question = "range"  # what the cache keeps ranges under

    def __init__(self, node: Node, label: str) -> None:
        super().__init__(node, label)
        self.bounds: dict[tuple[int, str, bool], CertifiedBounds] = {}  # rows serve many elements
        self.ranges: dict[tuple[str, bool], Range] = {}
        self.estimates: dict[tuple[str, bool], tuple[Estimate, bool]] = {}
        self.nearest: dict[tuple[str, bool], Bound] = {}

    # -- the range -----------------------------------------------------------------------------

    def range(self, standard: Any, flush: bool) -> Range:
        """Return the range of every element under a standard."""
        key = (standard.name, flush)
        if key not in self.ranges:
            what = under(self.question, standard, flush)
            arrays = remembered(
                self.node, what, lambda: self.range_at(standard, flush, None).arrays
            )
            self.ranges[key] = Range(*arrays)
        return self.ranges[key]

    def knows_range(self, standard: Any, flush: bool) -> bool:
        """Return whether the range is there without evaluating it."""
        key = (standard.name, flush)
        if key not in self.ranges:
            found = recalled(self.node, under(self.question, standard, flush))
            if found is not None:
                self.ranges[key] = Range(*found)
        return key in self.ranges

    def range_at(self, standard: Any, flush: bool, flat: Indices | None) -> Range:
        """Return the range of all elements or of those at flat indices, level by level."""
        result: Range | None = None

        def take(place: Indices, estimate: Estimate) -> Indices:
            nonlocal result
            if result is None:
                result = estimate.found.copy()
            else:
                result.merge(place, estimate.found)
            return estimate.left

        self.climb(standard, flush, flat, take)
        if result is None:
            raise ValueError("a range has at least one level")
        return result

    def within_range(
        self, values: Floats, standard: Any, flush: bool, flat: Indices | None
    ) -> Bools:
        """Return which values lie in their ranges, each end told only as far as that asks for."""
        result = np.zeros(values.shape, bool)

        def take(place: Indices, estimate: Estimate) -> Indices:
            result[place], rest = estimate.judge(values[place])
            return rest

        self.climb(standard, flush, flat, take)
        return result

    def climb(
        self,
        standard: Any,
        flush: bool,
        flat: Indices | None,
        take: Callable[[Indices, Estimate], Indices],
    ) -> None:
        """Estimate ranges level by level; ``take`` gets places and what a level knows of them, and
        says which of them the next one is asked for."""
        left = np.arange(self.node.size) if flat is None else flat
        place = np.arange(left.size)
        readings = bound_readings(self.readings(), standard, flush, flat is None)
        for level, bounds in enumerate(readings):
            if flat is None and level == 0:
                estimate = self.first_estimate(bounds)
            else:
                kinds, back = alike(self.source, left, self.node.size // MANY)
                estimate = self.estimate(bounds, kinds).spread(back)
            rest = take(place, estimate)
            left, place = left[rest], place[rest]
            if left.size == 0:
                return
        if left.size:
            kinds, back = alike(self.source, left)
            ranges = [self.range_one(standard, flush, index).arrays for index in kinds.tolist()]
            columns = zip(*ranges, strict=True)
            take(place, known(Range(*(np.concatenate(column)[back] for column in columns))))

    def first_estimate(self, bounds: FloatBounds) -> Estimate:
        """Return what the first level knows of all ranges, evaluated once."""
        key = (bounds.standard.name, bounds.flush)
        if key not in self.estimates:
            self.estimates[key] = self.estimate(bounds, None), bounds.took_coarse
        found, bounds.took_coarse = self.estimates[key]
        return found

    def estimate(self, bounds: FloatBounds, flat: Indices | None) -> Estimate:
        """Return what one level knows of the ranges of all elements, or of some."""
        reading, flush = bounds.fast, bounds.flush
        if flat is None:
            x, bound, shape = reading.whole(self.source), bounds.whole(self.source), self.node.shape
        else:
            x, bound = reading.at(self.source, flat), bounds.at(self.source, flat)
            shape = flat.shape
        bound = replace(bound, clip=clip_of(self.source, bound, flush))
        return estimate_of(flatten(x), bound.map(np.ravel, shape), self.compute, self.store, flush)

    def range_one(self, standard: Any, flush: bool, flat: int) -> Range:
        """Return one element's certified range."""
        top = 0.0 if self.store.format.is_integer else float(self.store.format.max)

        def ask(reading: CertifiedReading) -> ScalarOutput:
            key = (reading.arithmetic.precision, standard.name, flush)
            bounds = self.bounds.setdefault(key, CertifiedBounds(reading, standard, flush))
            return output(bounds, self.node, flat)

        try:
            found = self.raise_precision(flat, ask)
        except Unbounded:
            return one_range(-top, top, EVERYTHING, True)
        low, high = np.asarray([found.low]), np.asarray([found.high])
        if flush and not self.store.format.is_integer:
            low, high = widen_by_flush(low, high, self.store.format)
        return one_range(float(low[0]), float(high[0]), found.states, False)
