"""From an error bound to the ends of the range: the last roundings, as arrays.

Every end comes twice, as an outer and an inner estimate that bracket it; where they agree it is
decided, elsewhere a certified reading has to.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from exactref_core.arithmetic.approx import Approx, Bools
from exactref_core.arithmetic.bound import Clip
from exactref_core.arithmetic.brackets import Bracket
from exactref_core.arithmetic.graph import Store
from exactref_core.exact.double_double import Floats, two_sum
from exactref_core.formats.format import FLOAT64_PRECISION, Format
from exactref_core.formats.rounding import Overflow, Rounding
from exactref_core.formats.rounding_arrays import floor_to_grid, round_pair

__all__ = [
    "Ends",
    "Pair",
    "capped",
    "negate",
    "plain_ends",
    "round_twice",
    "rounded_ends",
    "shifted",
    "sideless",
    "store_ends",
    "store_value",
    "widen_by_flush",
]

Pair = tuple[Floats, Floats]


@dataclass(frozen=True, eq=False)
class Ends:
    """The two ends of the range, each as (outer, inner); infinities where an end overflows."""

    low: tuple[Floats, Floats]
    high: tuple[Floats, Floats]

    @property
    def decided(self) -> Bools:
        """Where both ends are known."""
        same: Bools = (self.low[0] == self.low[1]) & (self.high[0] == self.high[1])
        return same


def shifted(pair: Pair, shift: Any, outward: float) -> Pair:
    """Return a double-double at or beyond pair + shift, on the side that ``outward`` names."""
    s, e = two_sum(pair[0], np.asarray(shift, np.float64))
    low = np.broadcast_to(pair[1], s.shape)
    tail = e + low
    slack = np.where((e == 0) | (low == 0), 0.0, (np.abs(e) + np.abs(low)) * 2.0**-51)
    high, rest = two_sum(s, tail + outward * slack)
    infinite = ~np.isfinite(s)
    return np.where(infinite, s, high), np.where(infinite, 0.0, rest)


def floor_pair(pair: Pair, form: Format) -> Floats:
    """Return the largest number of the unbounded grid of ``form`` at or below a double-double."""
    high, low = pair
    floor = floor_to_grid(high, form.precision, form.eta_exponent)
    under = (floor == high) & (low < 0)
    if np.any(under):
        below = floor_to_grid(np.nextafter(high, -np.inf), form.precision, form.eta_exponent)
        floor = np.where(under, below, floor)
    return floor


def negate(pair: Pair) -> Pair:
    """Return minus a double-double."""
    return -pair[0], -pair[1]


def store_pair(pair: Pair, store: Store) -> Floats:
    """Return a double-double rounded once, as the store says."""
    return round_pair(*pair, store.format, store.rounding, store.overflow)


def store_value(value: Floats, store: Store) -> Floats:
    """Return float64 numbers rounded once, as the store says."""
    return round_pair(value, None, store.format, store.rounding, store.overflow)


def signed(stored: Floats, value: Floats) -> Floats:
    """Return stored values in which the NaN of a format without infinities has a sign."""
    return np.where(np.isnan(stored), np.copysign(np.inf, value), stored)


def round_twice(pair: Pair, compute: Format, store: Store) -> tuple[Floats, Floats]:
    """Return RN_out(x) and RN_out(RN_compute(x)), the answers of a lone step."""
    direct = store_pair(pair, store)
    if compute == store.format:
        return direct, direct
    through = round_pair(*pair, compute)
    most = float(store.format.max) if store.overflow is Overflow.SATURATE else np.inf
    return direct, store_value(np.clip(through, -most, most), store)


def rounded_ends(x: Approx, store: Store) -> tuple[Floats, Floats]:
    """Return the exact value rounded once, at the ends of its enclosure.

    An infinity stands for the NaN of a format without them, which does not tell the sides apart.
    """
    if x.low is None and x.radius is not None and store.format.precision < FLOAT64_PRECISION:
        least, most = plain_ends(x)
        return sided(least, None, store), sided(most, None, store)
    below, above = x.ends()
    low = sided(*below, store)
    return low, low if x.radius is None else sided(*above, store)


def plain_ends(x: Approx) -> Pair:
    """Return float64 numbers at or below, and at or above, values without low words.

    high +- wide rounds once, by less than 2**-53 (|high| + wide).
    """
    wide = np.abs(x.high)
    wide *= 2.0**-53
    wide += x.radius
    wide *= 1 + 2.0**-50
    return x.high - wide, x.high + wide


def sided(high: Floats, low: Floats | None, store: Store) -> Floats:
    """Return numbers rounded once, those that overflow as infinities in every format."""
    found = round_pair(high, low, store.format, store.rounding, store.overflow)
    return found if store.format.infinity else signed(found, high)


def sideless(found: Floats, store: Store) -> Floats:
    """Return what is stored where overflow was an infinity in every format."""
    return found if store.format.infinity else np.where(np.isinf(found), np.nan, found)


def store_ends(
    x: Approx, error: Bracket, compute: Format, store: Store, clip: Clip | None = None
) -> Ends:
    """Return the ends of the range: exact -+ error outward on the compute grid, then stored.

    An end that lies beyond ``clip`` is drawn back to it first; outward rounding and the store are
    monotone, so that the stored ends are compared instead.
    """
    below, above = x.ends()

    def end(value: Floats) -> Floats:
        return signed(store_value(value, store), value)

    def lower(pair: Pair, shift: Any, outward: float) -> Floats:
        return end(floor_pair(shifted(pair, -shift, outward), compute))

    def upper(pair: Pair, shift: Any, outward: float) -> Floats:
        return end(-floor_pair(shifted(negate(pair), -shift, -outward), compute))

    low = (lower(below, error.high, -1.0), lower(above, error.low, 1.0))
    high = (upper(above, error.high, 1.0), upper(below, error.low, -1.0))
    if clip is not None:
        least = [end(floor_pair((x, np.zeros(np.shape(x))), compute)) for x in clip.low]
        most = [end(-floor_pair((-x, np.zeros(np.shape(x))), compute)) for x in clip.high]
        low = (np.maximum(low[0], least[0]), np.maximum(low[1], least[1]))
        high = (np.minimum(high[0], most[0]), np.minimum(high[1], most[1]))
    if not store.lone:
        return Ends(low, high)
    return lone_ends(x, error, compute, store, Ends(low, high))


def lone_ends(x: Approx, error: Bracket, compute: Format, store: Store, ends: Ends) -> Ends:
    """Return the hull of the two roundings of a lone step where its operands carry no error."""
    below, above = (
        [signed(value, pair[0]) for value in round_twice(pair, compute, store)] for pair in x.ends()
    )
    low = (np.minimum(*below), np.minimum(*above))
    high = (np.maximum(*above), np.maximum(*below))
    outer, inner = np.asarray(error.high) == 0, np.asarray(error.low) == 0
    return Ends(
        (np.where(outer, low[0], ends.low[0]), np.where(inner, low[1], ends.low[1])),
        (np.where(outer, high[0], ends.high[0]), np.where(inner, high[1], ends.high[1])),
    )


def widen_by_flush(low: Floats, high: Floats, form: Format) -> tuple[Floats, Floats]:
    """Return ends after a final flush: moved by the smallest normal number, inward to the format.

    Only numbers of the format are ever stored, and a flush moves one by less than that.
    """
    least = float(form.smallest_normal)
    with np.errstate(invalid="ignore"):
        lower = round_pair(*two_sum(low, np.full(low.shape, -least)), form, Rounding.UP)
        upper = round_pair(*two_sum(high, np.full(high.shape, least)), form, Rounding.DOWN)
    return np.where(np.isfinite(low), lower, low), np.where(np.isfinite(high), upper, high)


def capped(low: Floats, high: Floats, form: Format) -> tuple[Floats, Floats]:
    """Return a range's finite ends; NaN where no finite output can occur."""
    top = float(form.max)
    empty = (low > top) | (high < -top)
    low, high = np.maximum(low, -top), np.minimum(high, top)
    return np.where(empty, np.nan, low), np.where(empty, np.nan, high)
