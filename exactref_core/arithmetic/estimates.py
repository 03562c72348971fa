"""What one level of evaluation knows of ranges: enough to judge most values.

An end of a range that is not known yet lies between two numbers of the output format. A value
that does not is judged as by the end itself: ends are told to the last digit only where a value
lies next to them.
"""

from __future__ import annotations

from dataclasses import dataclass
from operator import itemgetter
from typing import Any

import numpy as np

from exactref_core.arithmetic import states
from exactref_core.arithmetic.approx import Approx
from exactref_core.arithmetic.bound import Bound
from exactref_core.arithmetic.graph import Indices, Store
from exactref_core.arithmetic.range_ends import (
    Ends,
    capped,
    store_ends,
    store_value,
    widen_by_flush,
)
from exactref_core.arithmetic.ranges import Bools, Range, within
from exactref_core.arithmetic.stores import held, output_sets, saturated
from exactref_core.exact.double_double import Floats
from exactref_core.formats.format import Format
from exactref_core.formats.rounding import Overflow

__all__ = ["EVERYTHING", "Estimate", "estimate_of", "known", "output_ends"]

# Elements whose arrays stay in the cache.
BLOCK = 12288
EVERYTHING = states.FINITE | states.PLUS | states.MINUS | states.NAN


@dataclass(frozen=True, eq=False)
class Estimate:
    """Ranges as one level knows them: ``found``, but for the elements at ``left``.

    The low and the high ends of those are given as (outer, inner), numbers of the output format
    between which they lie; infinite where this level does not tell. ``sets``: where it tells what
    else they may be.
    """

    found: Range
    left: Indices
    low: tuple[Floats, Floats]
    high: tuple[Floats, Floats]
    sets: Bools

    def spread(self, back: Indices) -> Estimate:
        """Return what is known of elements of which each is like one of these."""
        place = np.full(self.found.low.size, -1)
        place[self.left] = np.arange(self.left.size)
        left = np.flatnonzero(place[back] >= 0)
        own = place[back[left]]
        low, high = ((ends[0][own], ends[1][own]) for ends in (self.low, self.high))
        found = Range(*(array[back] for array in self.found.arrays))
        return Estimate(found, left, low, high, self.sets[own])

    def judge(self, values: Floats) -> tuple[Bools, Indices]:
        """Return which values are covered, and the places where this level does not tell."""
        result = within(self.found, values)
        if not self.left.size:
            return result, self.left
        rest = values[self.left]
        finite = np.isfinite(rest)
        inside = finite & (rest >= self.low[1]) & (rest <= self.high[1])
        outside = finite & ((rest < self.low[0]) | (rest > self.high[0]))
        told = np.where(finite, inside | outside, self.sets)
        result[self.left] = np.where(finite, inside, result[self.left] & self.sets)
        return result, self.left[~told]


def estimated(
    found: Range, inner: tuple[Floats, Floats], undecided: Bools, vague: Bools, unsure: Bools
) -> Estimate:
    """Return an estimate from outer ends (``found``) and inner ones.

    ``undecided``: where this level leaves anything open; ``vague``: where both ends are, whatever
    brackets say; ``unsure``: where it is open which infinities and NaN outputs may be.
    """
    left = np.flatnonzero(undecided)
    nothing = vague[left]
    low = np.where(nothing, -np.inf, found.low[left]), np.where(nothing, np.inf, inner[0][left])
    high = np.where(nothing, np.inf, found.high[left]), np.where(nothing, -np.inf, inner[1][left])
    return Estimate(found, left, low, high, ~unsure[left])


def estimate_of(x: Approx, bound: Bound, compute: Format, store: Store, flush: bool) -> Estimate:
    """Return what `block_estimate` does, block by block."""
    size = x.high.size
    if size <= 2 * BLOCK:
        return block_estimate(x, bound, compute, store, flush)
    parts = []
    for start in range(0, size, BLOCK):
        cut = itemgetter(slice(start, start + BLOCK))
        part = bound.map(cut, x.high.shape)
        parts.append(block_estimate(x.map(cut), part, compute, store, flush))
    found = Range(*map(np.concatenate, zip(*(part.found.arrays for part in parts), strict=True)))
    left = np.concatenate([start * BLOCK + part.left for start, part in enumerate(parts)])
    low, high = (
        (
            np.concatenate([getattr(part, side)[0] for part in parts]),
            np.concatenate([getattr(part, side)[1] for part in parts]),
        )
        for side in ("low", "high")
    )
    return Estimate(found, left, low, high, np.concatenate([part.sets for part in parts]))


def block_estimate(x: Approx, bound: Bound, compute: Format, store: Store, flush: bool) -> Estimate:
    """Return what one level's arrays tell of ranges."""
    error = bound.inherited if store.lone else bound.error
    with np.errstate(all="ignore"):
        ends = output_ends(x, bound, compute, store)
        sets, unsure = output_sets(x, bound, error, compute, store)
    undecided = ~ends.decided | unsure
    given = None if x.special is None else (x.special != 0) & ~apart(x, bound, store)
    low, high = finished(ends.low[0], ends.high[0], sets, store, flush, given)
    inner = finished(ends.low[1], ends.high[1], sets, store, flush, given)
    unbounded = np.isinf(error.low) | np.zeros(x.high.shape, bool)
    vague = unbounded if x.special is None else unbounded | (x.special != 0)
    if bound.unsure is not None:
        vague = vague | bound.unsure  # what an operand may be moves functions and quotients of it
    if store.overflow is Overflow.SATURATE:
        vague = vague | unsure  # the finite ends depend on what else there is
    if given is not None:
        undecided = (undecided & ~given) | (unsure & given)
    if np.any(unbounded):
        # What an operand may be, where it is open, may be what has a bound after all.
        alone = unbounded if bound.unsure is None else unbounded & ~bound.unsure
        undecided = undecided & ~(alone if given is None else alone & ~given)
        top = float(store.format.max)
        low, high = np.where(unbounded, -top, low), np.where(unbounded, top, high)
    sets = np.where(unbounded, EVERYTHING, held(sets, store.format)).astype(np.uint8)
    found = Range(low, high, sets, unbounded)
    return estimated(found, inner, undecided, vague, np.broadcast_to(unsure, low.shape))


def apart(x: Approx, bound: Bound, store: Store) -> Any:
    """Return where a number may be stored for an infinity or NaN that the format has."""
    if x.special is None or bound.states is None or store.format.is_integer:
        return np.zeros(x.high.shape, bool)
    stored = x.special if store.format.infinity else store_value(x.special, store)
    return (x.special != 0) & ((bound.states & states.FINITE) != 0) & ~np.isfinite(stored)


def output_ends(x: Approx, bound: Bound, compute: Format, store: Store) -> Ends:
    """Return the ends before they are made finite."""
    if store.format.is_integer:
        return Ends((x.high, x.high), (x.high, x.high))
    error = bound.inherited if store.lone else bound.error
    return store_ends(x, error, compute, store, bound.clip)


def finished(
    low: Floats, high: Floats, sets: Any, store: Store, flush: bool, given: Any
) -> tuple[Floats, Floats]:
    """Return the finite ends, saturated and flushed as asked; NaN where a special is given."""
    form = store.format
    if form.is_integer:
        return low, high
    low, high = capped(low, high, form)
    if given is not None:
        low, high = np.where(given, np.nan, low), np.where(given, np.nan, high)
    if store.overflow is Overflow.SATURATE:
        low, high = saturated(low, high, sets, form)
    return widen_by_flush(low, high, form) if flush else (low, high)


def known(found: Range) -> Estimate:
    """Return ranges of which all is known."""
    none = np.zeros(0)
    return Estimate(found, np.zeros(0, np.intp), (none, none), (none, none), np.zeros(0, bool))
