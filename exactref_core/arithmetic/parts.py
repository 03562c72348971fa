"""One real output: how it rounds, and its range under a standard.

The range climbs the same ladder as the roundings: float64 brackets, double-double ones for the
elements left, certified numbers for the last.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from exactref_core.arithmetic import states
from exactref_core.arithmetic.approx import Approx
from exactref_core.arithmetic.bound import Bound
from exactref_core.arithmetic.bounds import FloatBounds
from exactref_core.arithmetic.certified import CertifiedReading
from exactref_core.arithmetic.certified_bounds import CertifiedBounds
from exactref_core.arithmetic.certified_stores import ScalarOutput, output
from exactref_core.arithmetic.graph import Indices, Node
from exactref_core.arithmetic.ladder import Ladder
from exactref_core.arithmetic.range_ends import (
    Ends,
    capped,
    store_ends,
    store_value,
    widen_by_flush,
)
from exactref_core.arithmetic.ranges import Range, one_range
from exactref_core.arithmetic.remembered import recalled, remembered, under
from exactref_core.arithmetic.rounded_blocks import flatten
from exactref_core.arithmetic.stores import held, output_sets, saturated
from exactref_core.exact.double_double import Floats
from exactref_core.exact.nonnegative import Unbounded
from exactref_core.formats.rounding import Overflow

__all__ = ["Part"]

EVERYTHING = states.FINITE | states.PLUS | states.MINUS | states.NAN


class Part(Ladder):
    """A real output (or one part of a complex one), given the node that stores it."""

    question = "range"  # what the cache keeps ranges under

    def __init__(self, node: Node, label: str) -> None:
        super().__init__(node, label)
        self.bounds: dict[tuple[int, str, bool], CertifiedBounds] = {}  # rows serve many elements
        self.ranges: dict[tuple[str, bool], Range] = {}

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
        left = np.arange(self.node.size) if flat is None else flat
        place = np.arange(left.size)
        for reading in self.readings():
            bounds = FloatBounds(reading, standard, flush, precise=True)
            whole = flat is None and result is None
            x = flatten(reading.whole(self.source)) if whole else reading.at(self.source, left)
            bound = bounds.whole(self.source) if whole else bounds.at(self.source, left)
            shape = self.node.shape if whole else left.shape
            found, undecided = self.range_of(x, bound.map(np.ravel, shape), flush)
            if result is None:
                result = found
            else:
                result.merge(place, found)
            left, place = left[undecided], place[undecided]
            if left.size == 0:
                return result
        for spot, index in zip(place.tolist(), left.tolist(), strict=True):
            if result is not None:
                result.merge(np.asarray([spot]), self.range_one(standard, flush, index))
        if result is None:
            raise ValueError("a range has at least one level")
        return result

    def range_of(self, x: Approx, bound: Bound, flush: bool) -> tuple[Range, Any]:
        """Return ranges from one level's arrays and where they are not decided."""
        store = self.store
        error = bound.inherited if store.lone else bound.error
        with np.errstate(all="ignore"):
            ends = self.ends(x, bound)
            sets, unsure = output_sets(x, bound, error, self.compute, store)
        undecided = ~ends.decided | unsure
        given = None if x.special is None else (x.special != 0) & ~self.apart(x, bound)
        low, high = self.finish(ends.low[0], ends.high[0], sets, flush, given)
        sets = held(sets, store.format)
        unbounded = np.isinf(error.low) | np.zeros(x.high.shape, bool)
        if given is not None:
            undecided = (undecided & ~given) | (unsure & given)
            top = float(store.format.max)
            low = np.where(unbounded & given, -top, low)
            high = np.where(unbounded & given, top, high)
        sets = np.where(unbounded, EVERYTHING, sets).astype(np.uint8)
        return Range(low, high, sets, unbounded), undecided

    def apart(self, x: Approx, bound: Bound) -> Any:
        """Return where a number may be stored for an infinity or NaN that the format has."""
        if x.special is None or bound.states is None or self.store.format.is_integer:
            return np.zeros(x.high.shape, bool)
        stored = x.special if self.store.format.infinity else store_value(x.special, self.store)
        return (x.special != 0) & ((bound.states & states.FINITE) != 0) & ~np.isfinite(stored)

    def ends(self, x: Approx, bound: Bound) -> Ends:
        """Return the ends before they are made finite."""
        if self.store.format.is_integer:
            return Ends((x.high, x.high), (x.high, x.high))
        error = bound.inherited if self.store.lone else bound.error
        return store_ends(x, error, self.compute, self.store, bound.clip)

    def finish(
        self, low: Floats, high: Floats, sets: Any, flush: bool, given: Any
    ) -> tuple[Floats, Floats]:
        """Return the finite ends, saturated and flushed as asked; NaN where a special is given."""
        form = self.store.format
        if form.is_integer:
            return low, high
        low, high = capped(low, high, form)
        if given is not None:
            low, high = np.where(given, np.nan, low), np.where(given, np.nan, high)
        if self.store.overflow is Overflow.SATURATE:
            low, high = saturated(low, high, sets, form)
        return widen_by_flush(low, high, form) if flush else (low, high)

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
