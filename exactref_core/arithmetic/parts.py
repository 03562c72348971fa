"""One real output: the ladder that decides how it rounds, its range, and what it covers.

Float64 brackets answer for all elements, double-double ones for those left, certified numbers for
the last; an element that the highest precision leaves open is an error, never a pass.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import zip_longest
from typing import Any, TypeVar

import numpy as np

from exactref_core.arithmetic.approx import Approx
from exactref_core.arithmetic.bound import Bound
from exactref_core.arithmetic.bound_levels import bound_readings
from exactref_core.arithmetic.bounds import FloatBounds
from exactref_core.arithmetic.boxes import local_parts
from exactref_core.arithmetic.certified import CertifiedReading, Scalar
from exactref_core.arithmetic.certified_bounds import CertifiedBounds
from exactref_core.arithmetic.certified_stores import ScalarOutput, output, rounded_exact
from exactref_core.arithmetic.estimates import EVERYTHING, Estimate, estimate_of, known, output_ends
from exactref_core.arithmetic.fast import FastReading
from exactref_core.arithmetic.graph import Indices, Node, Store
from exactref_core.arithmetic.level_choices import is_sliced, is_small
from exactref_core.arithmetic.range_ends import (
    Ends,
    widen_by_flush,
)
from exactref_core.arithmetic.ranges import Bools, Range, one_range
from exactref_core.arithmetic.remembered import recalled, remembered, under
from exactref_core.arithmetic.rounded_blocks import flatten, round_in_blocks
from exactref_core.arithmetic.softmax_rounded import rounded_rows
from exactref_core.errors import UndecidedError
from exactref_core.exact.double_double import Floats
from exactref_core.exact.interval import Unsure
from exactref_core.exact.nonnegative import Unbounded
from exactref_core.formats.format import Format

__all__ = ["Part"]

# Cells of a graph whose float64 arrays stay in the cache together.
CACHED = 1 << 16
# Bits of the formats that plain float64 decides nearly always.
NARROW = 24
PRECISIONS = tuple(96 << i for i in range(9))

T = TypeVar("T")


class Part:
    """A real output (or one part of a complex one), given the node that stores it."""

    question = "range"  # what the cache keeps ranges under

    def __init__(self, node: Node, label: str) -> None:
        self.node = node
        self.source = node.operands[0]
        self.store: Store = node.attrs
        self.label = label
        precise = FastReading(True)
        self.small = is_small(self.source)
        self.levels: tuple[FastReading, ...]
        alone = self.small or is_sliced(self.source, self.store.format)
        self.levels = (precise,) if alone else (self.filter(), precise)
        self.pairs, self.finest = FastReading(False), FastReading(True, split=False)
        self.certified: dict[int, CertifiedReading] = {}
        self.bounds: dict[tuple[int, str, bool], CertifiedBounds] = {}  # rows serve many elements
        self.ranges: dict[tuple[str, bool], Range] = {}
        self.estimates: dict[tuple[str, bool], tuple[Estimate, bool]] = {}
        self.roundings: Floats | None = None
        self.start: tuple[int, ...] = ()  # where a block begins in the whole

    @property
    def compute(self) -> Format:
        """The compute format (the output's own where nothing is computed)."""
        return self.node.compute or self.store.format

    @property
    def narrow(self) -> bool:
        """Whether all that is stored has few enough bits for plain float64 to decide."""
        return max(self.compute.precision, self.store.format.precision) <= NARROW

    def filter(self) -> FastReading:
        """Return a reading of the cheapest level."""
        return FastReading(False, narrow=self.narrow)

    @cached_property
    def coarse(self) -> FastReading:
        """The reading from which a bound is told that most outputs keep: no digits are needed."""
        return self.filter() if self.small and self.narrow else self.levels[0]

    def readings(self) -> Iterator[FastReading]:
        """Yield the fast readings in the order of their cost, as far as each knows more."""
        yield self.levels[0]
        if self.levels[0].has_plain:
            yield self.pairs
        yield from self.levels[1:]
        if self.levels[-1].has_split:
            yield self.finest

    # -- the exact value -----------------------------------------------------------------------

    def raise_precision(self, flat: int, ask: Callable[[CertifiedReading], T]) -> T:
        """Return the answer of a certified reading, at the lowest precision that has one."""
        for precision in PRECISIONS:
            reading = self.certified.setdefault(precision, CertifiedReading(precision))
            try:
                return ask(reading)
            except Unsure:
                continue
        raise UndecidedError(
            f"{self.label}: element {self.index(flat)} is not decided at {PRECISIONS[-1]} bits; "
            "its exact value seems to lie on a tie that enclosures cannot see"
        )

    def index(self, flat: int) -> tuple[int, ...]:
        """Return the index of an element, in the whole where this is a block of it."""
        inside = np.unravel_index(flat, self.node.shape)
        return tuple(int(i) + first for i, first in zip_longest(inside, self.start, fillvalue=0))

    def scalar(self, flat: int, precision: int = PRECISIONS[1]) -> Scalar:
        """Return one element's certified value, to at least this precision."""
        for bits in (p for p in PRECISIONS if p >= precision):
            reading = self.certified.setdefault(bits, CertifiedReading(bits))
            try:
                return reading.value(self.source, flat)
            except Unsure:
                continue
        return self.raise_precision(flat, lambda reading: reading.value(self.source, flat))

    def rounded(self) -> Floats:
        """Return the exact values rounded once, flat, as float64 (specials as they are stored)."""
        if self.roundings is None:
            (self.roundings,) = remembered(self.node, "rounded", lambda: (self.round_all(),))
        return self.roundings

    def round_all(self) -> Floats:
        """Decide every rounding, level by level."""
        readings = self.readings()
        result, undecided = self.round_whole(next(readings))
        left = np.flatnonzero(undecided)
        for reading in readings:
            if left.size == 0:
                return result
            x = reading.at(self.source, left)
            result[left], undecided = round_in_blocks(flatten(x), self.store)
            left = left[undecided]
        for flat in left.tolist():
            result[flat] = self.round_one(flat)
        return result

    def round_whole(self, reading: FastReading) -> tuple[Floats, Any]:
        """Return the rounded values that one level decides, and where it does not.

        Elements with terms of their own are evaluated in parts that stay in the cache.
        """
        whole = reading.precise or reading.knows(self.source)
        if not whole and (rows := rounded_rows(reading, self.source, self.store)) is not None:
            return rows
        parts = [] if whole else local_parts(self.source, CACHED)
        if not parts:
            return round_in_blocks(flatten(reading.whole(self.source)), self.store)
        value, undecided = np.empty(self.node.size), np.empty(self.node.size, bool)
        for run, node in parts:
            local = self.filter()
            x = local.whole(node)
            reading.has_plain |= local.has_plain
            value[run], undecided[run] = round_in_blocks(flatten(x), self.store)
        return value, undecided

    def round_one(self, flat: int) -> float:
        """Return one element's certified rounding."""
        found = self.raise_precision(
            flat, lambda reading: rounded_exact(reading, self.source, flat, self.store)
        )
        return found if found == found else math.nan

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
                estimate = self.estimate(bounds, left)
            rest = take(place, estimate)
            left, place = left[rest], place[rest]
            if left.size == 0:
                return
        for spot, index in zip(place, left.tolist(), strict=True):
            take(np.asarray([spot]), known(self.range_one(standard, flush, index)))

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
        return estimate_of(flatten(x), bound.map(np.ravel, shape), self.compute, self.store, flush)

    def ends(self, x: Approx, bound: Bound) -> Ends:
        """Return the ends before they are made finite."""
        return output_ends(x, bound, self.compute, self.store)

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
