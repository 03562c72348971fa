"""Stored outputs as arrays: what they may be, and how far from exact, for the next call to use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from exactref_core.arithmetic import states
from exactref_core.arithmetic.approx import Approx, Bools
from exactref_core.arithmetic.bound import Bound, Clip
from exactref_core.arithmetic.brackets import Bracket
from exactref_core.arithmetic.floors import floor_of
from exactref_core.arithmetic.graph import Indices, Node, Store, is_float_input
from exactref_core.arithmetic.range_ends import (
    Ends,
    Pair,
    capped,
    negate,
    round_twice,
    rounded_ends,
    shifted,
    sideless,
    store_ends,
    store_value,
    widen_by_flush,
)
from exactref_core.exact.double_double import Floats
from exactref_core.formats.format import Format
from exactref_core.formats.rounding import Overflow, Rounding

if TYPE_CHECKING:
    from exactref_core.arithmetic.bounds import FloatBounds

__all__ = ["clip_of", "held", "output_sets", "saturated", "store_sets", "stored"]


def store_sets(x: Approx, error: Bracket, compute: Format, store: Store) -> tuple[Any, Any]:
    """Return the infinities that the final store may give, and where that is unsure.

    A value of the compute grid within ``error`` of x rounds to at most what x + error rounds to. In
    the compute format itself nothing is rounded, and overflow belongs to the steps.
    """
    shape = x.high.shape
    if compute == store.format and not store.lone:
        return np.zeros(shape, np.uint8), np.zeros(shape, bool)
    below, above = x.ends()
    sets, unsure = np.zeros(shape, np.uint8), np.zeros(shape, bool)
    for near, far, bit in (
        (below, above, states.PLUS),
        (negate(above), negate(below), states.MINUS),
    ):
        mirror = store if bit == states.PLUS else mirrored(store)
        may = infinite(shifted(far, error.high, 1.0), compute, mirror)
        sure = infinite(shifted(near, error.low, -1.0), compute, mirror)
        sets |= np.where(sure, bit, 0).astype(np.uint8)
        unsure |= may & ~sure
    return sets, unsure


def infinite(pair: Pair, compute: Format, store: Store) -> Bools:
    """Return where a value may be stored as +inf (or as the NaN of a format without infinities)."""
    direct, through = round_twice(pair, compute, store)
    either = [direct, through] if store.lone else [direct]
    found: Bools = np.any([~(values <= float(store.format.max)) for values in either], axis=0)
    return found


def mirrored(store: Store) -> Store:
    """Return the store of -x that mirrors the store of x."""
    swap = {Rounding.UP: Rounding.DOWN, Rounding.DOWN: Rounding.UP}
    return Store(store.format, swap.get(store.rounding, store.rounding), store.overflow, store.lone)


def stored(reading: FloatBounds, node: Node, flat: Indices | None) -> Bound:
    """Return the bounds of an earlier call's stored output, for the next call to use."""
    source = node.operands[0]
    store: Store = node.attrs
    x, bound = reading.value(source, flat), reading.get(source, flat)
    error = bound.inherited if store.lone else bound.error
    if node.compute is None or store.format.is_integer:
        return Bound(error, error, bound.states, bound.unsure)
    ends = store_ends(x, error, node.compute, store, clip_of(source, bound, reading.flush))
    sets, unsure = output_sets(x, bound, error, node.compute, store)
    # An input that only changed its sign is still that number or 0.
    flush = reading.flush and not is_float_input(node)
    near = distance(x, ends, store.format, flush, sets, store)
    # What has no bound keeps none.
    low, high = (
        np.where(np.isinf(old), np.inf, new)
        for old, new in ((error.low, near.low), (error.high, near.high))
    )
    if x.special is not None:
        # A finite number stored for an infinity or NaN has no bound further on; else there is none.
        given = x.special != 0
        low, high = (np.where(given & np.isfinite(end), 0.0, end) for end in (low, high))
        apart = given & ((numbers(bound) & states.FINITE) != 0)
        if store.overflow is Overflow.SATURATE:
            apart = apart | np.isinf(x.special)
            sets = np.where(apart, sets | states.FINITE, sets)
        low, high = np.where(apart, np.inf, low), np.where(apart, np.inf, high)
    error = Bracket(low, high)
    sets = held(sets, store.format)
    infinite = (sets & (states.PLUS | states.MINUS)) != 0
    if x.special is not None:  # of what is no number, all that is stored is known
        infinite = infinite & (x.special == 0)
    sets = np.where(infinite, sets | states.CARRIED, sets).astype(np.uint8)
    known = None if np.all(sets == states.FINITE) and not np.any(unsure) else sets
    return Bound(error, error, known, None if known is None else unsure)


def clip_of(node: Node, bound: Bound, flush: bool) -> Clip | None:
    """Return what the values of a node never leave: also 0, below which its floor says none is."""
    if bound.clip is not None or floor_of(node, flush) is None:
        return bound.clip
    return Clip((0.0, 0.0), (np.inf, np.inf))


def numbers(bound: Bound) -> Any:
    """Return the sets of a bound, all of them finite where it has none."""
    return np.asarray(states.FINITE if bound.states is None else bound.states)


def distance(x: Approx, ends: Ends, form: Format, flush: bool, sets: Any, store: Store) -> Bracket:
    """Return the bracket of the larger distance from the exact value to an end of the range."""
    outer, inner = capped(ends.low[0], ends.high[0], form), capped(ends.low[1], ends.high[1], form)
    if store.overflow is Overflow.SATURATE:
        outer, inner = (saturated(*pair, sets, form) for pair in (outer, inner))
    if flush:
        outer, inner = (widen_by_flush(*pair, form) for pair in (outer, inner))
    spread = np.asarray(x.spread)
    high = np.maximum(x.high - outer[0], outer[1] - x.high)
    low = np.maximum(x.high - inner[0], inner[1] - x.high)
    exact = (high == 0) & (spread == 0)
    high = np.where(exact, 0.0, (np.maximum(high, 0.0) + spread) * (1 + 2.0**-50))
    low = np.maximum((low - spread) * (1 - 2.0**-50), 0.0)
    return Bracket(np.where(np.isnan(low), 0.0, low), np.where(np.isnan(high), 0.0, high))


def held(sets: Any, form: Format) -> Any:
    """Return sets as the format stores them: an infinity that it does not have is NaN."""
    if form.infinity:
        return sets
    lost = np.where(sets & (states.PLUS | states.MINUS), states.NAN, 0)
    kept = sets & ~np.uint8(states.PLUS | states.MINUS)
    return np.asarray(kept | lost, np.uint8)


def saturated(low: Floats, high: Floats, sets: Any, form: Format) -> tuple[Floats, Floats]:
    """Return the range widened to the largest value where an infinity may be stored as it."""
    top = float(form.max)
    plus, minus = (sets & states.PLUS) != 0, (sets & states.MINUS) != 0
    low = np.where(minus, -top, np.where(np.isnan(low) & plus, top, low))
    high = np.where(plus, top, np.where(np.isnan(high) & minus, -top, high))
    return low, high


def output_sets(
    x: Approx, bound: Bound, error: Bracket, compute: Format, store: Store
) -> tuple[Any, Any]:
    """Return what the output may be: the steps' sets, the store's, and the class of ``rounded``."""
    more, vague = store_sets(x, error, compute, store)
    sets: Any = numbers(bound)
    if not store.format.infinity:
        more = np.where(more != 0, states.NAN, 0).astype(np.uint8)
    finite = (sets & states.FINITE) != 0
    sets = sets | np.where(finite, more, 0)
    unsure = vague if bound.unsure is None else vague | bound.unsure
    low, high = rounded_ends(x, store)
    special = np.zeros(low.shape) if x.special is None else x.special
    given = special != 0
    agree = (low == high) | given
    value = np.where(given, special, sideless(low, store))
    unsure = unsure | (~agree & ~(np.isfinite(low) & np.isfinite(high)))
    sets = np.where(agree & ~np.isfinite(value), sets | states.of_values(value), sets)
    if not store.format.infinity:
        largest = given & np.isfinite(store_value(special, store))
        sets = np.where(largest, sets | states.FINITE, sets)
    return (sets & ~np.uint8(states.STICKY)).astype(np.uint8), unsure
