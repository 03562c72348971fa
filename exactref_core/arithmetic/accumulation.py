"""Bounds of sums and products as arrays: the terms, what they carry, and the standard's answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from exactref_core.arithmetic import states
from exactref_core.arithmetic.bound import ALGEBRA, Bound, Clip, magnitude
from exactref_core.arithmetic.brackets import Bracket
from exactref_core.arithmetic.fast import stored_rows
from exactref_core.arithmetic.graph import COUNTS, Indices, Node
from exactref_core.arithmetic.overflow_rows import Rows
from exactref_core.arithmetic.prefixes import PrefixSums, asks_norms
from exactref_core.arithmetic.step_sets import threshold
from exactref_core.arithmetic.terms import Terms, stored_terms
from exactref_core.arithmetic.whole_products import chosen_sums, product_sums
from exactref_core.exact.prefix_norms import prefix_norms
from exactref_core.exact.prefix_sums import magnitude_sums, prefix_sums
from exactref_core.exact.products import magnitude_matmul
from exactref_core.formats.format import Format

if TYPE_CHECKING:
    from exactref_core.arithmetic.bounds import FloatBounds

__all__ = ["accumulate", "magnitudes", "sums_of"]

GATHER = 1 << 20


def accumulate(reading: FloatBounds, node: Node, flat: Indices | None) -> Bound:
    """Return the bounds of a sum, a dot product, or one that adds the terms of a pair first."""
    direct = None
    if node.verb == "dot":
        direct = whole_dot(reading, node) if flat is None else chosen_dot(reading, node, flat)
    elif node.verb == "sum" and flat is None:
        direct = input_sums(reading, node)
    if direct is not None:
        return direct
    form = node.compute
    if form is None:
        raise ValueError("a sum has a compute format")
    count = node.size if flat is None else flat.size
    n = node.operands[0].shape[-1]
    size = max(1, GATHER // max(n, 1))
    parts = []
    for start in range(0, max(count, 1), size):
        with reading.scope():
            terms = stored_terms(reading, node, flat, slice(start, start + size))
            parts.append(row_bounds(reading, form, terms, node.attrs == COUNTS))
    joined = parts[0] if len(parts) == 1 else join(parts)
    if flat is not None:
        return joined
    return joined.map(lambda part: part.reshape(node.shape), (node.size,))


def join(parts: list[Bound]) -> Bound:
    """Return bounds of rows one after the other."""
    error = Bracket(
        np.concatenate([part.error.low for part in parts]),
        np.concatenate([part.error.high for part in parts]),
    )
    shapes = [np.shape(part.error.low) for part in parts]

    def gather(arrays: list[Any], default: Any) -> Any:
        if all(array is None for array in arrays):
            return None
        full = [
            np.broadcast_to(default if array is None else array, shape)
            for array, shape in zip(arrays, shapes, strict=True)
        ]
        return np.concatenate(full)

    sets = gather([part.states for part in parts], np.uint8(states.FINITE))
    unsure = gather([part.unsure for part in parts], False)
    clips = [part.clip for part in parts if part.clip is not None]
    clip = joined(clips) if len(clips) == len(parts) else None
    return Bound(error, error, sets, unsure, clip)


def joined(clips: list[Clip]) -> Clip:
    """Return clips of rows one after the other."""
    ends = [
        tuple(np.concatenate([getattr(clip, side)[place] for clip in clips]) for place in (0, 1))
        for side in ("low", "high")
    ]
    return Clip((ends[0][0], ends[0][1]), (ends[1][0], ends[1][1]))


def row_bounds(reading: FloatBounds, form: Format, terms: Terms, counts: bool) -> Bound:
    """Return the bounds of the sums of rows of terms; nothing rounds a sum that ``counts``."""
    n = terms.value.high.shape[-1]
    spread = terms.value.spread
    # Each prefix sum, and each magnitude, moves by at most the sum of the spreads.
    extra = np.asarray(spread).sum(axis=-1) * (1 + 2.0**-20) if np.any(spread) else 0.0
    sums = sums_of(reading, terms.value.high, extra)
    carried = None
    if terms.error is not None:
        shape = terms.value.high.shape
        low, high = (np.broadcast_to(end, shape) for end in (terms.error.low, terms.error.high))
        none = np.isinf(low).any(axis=-1)
        carried = Bracket(np.where(none, np.inf, magnitude_sums(low)[0]), magnitude_sums(high)[1])
    error = carried if counts else total_error(reading, form, n, sums, carried)
    error = Bracket(0.0, 0.0) if error is None else error
    count = terms.value.high.shape[:-1]
    error = Bracket(*(np.broadcast_to(end, count) for end in (error.low, error.high)))
    stored = None if counts else number_beside_special(terms)
    if stored is not None:
        # Measured from 0, as what is stored for an infinity or NaN is, with all other terms.
        beside = error + sums.magnitudes
        error = Bracket(
            np.where(stored, beside.low, error.low), np.where(stored, beside.high, error.high)
        )
    sets, unsure = row_sets(reading, form, sums.magnitudes, carried, terms)
    return Bound(error, error, sets, unsure)


def number_beside_special(terms: Terms) -> Any:
    """Return the rows in which a number may be stored for a term that is an infinity or NaN."""
    special = terms.value.special
    if special is None or terms.sets is None:
        return None
    rows = np.any((special != 0) & ((terms.sets & states.FINITE) != 0), axis=-1)
    return rows if np.any(rows) else None


def sums_of(reading: FloatBounds, rows: Any, extra: Any = 0.0) -> PrefixSums:
    """Return what the standard asks of rows of terms that are off by ``extra`` a row together."""
    n = rows.shape[-1]

    def moved(ends: Any, shift: Any) -> Bracket:
        return Bracket(np.maximum(ends[0] - shift, 0.0), ends[1] + shift)

    if not (reading.standard.prefixes and reading.precise):
        return PrefixSums(moved(magnitude_sums(rows), extra))
    sums = prefix_sums(rows)
    shift = 2 * n * np.asarray(extra)
    norms = []
    if asks_norms(reading.standard, n):
        # Of n sums of which each moves by that of the spreads, or by twice it.
        further = 2 * n**0.5 * np.asarray(extra) * (1 + 2.0**-20)
        norms = [moved(ends, further) for ends in vars(prefix_norms(rows)).values()]
    return PrefixSums(
        moved(sums.magnitudes, extra), moved(sums.running, shift), moved(sums.blocks, shift), *norms
    )


def whole_dot(reading: FloatBounds, node: Node) -> Bound | None:
    """Return the bounds of whole products of exact finite operands; None where they are not."""
    form = node.compute
    found = product_sums(reading, node)
    if found is None or form is None:
        return None
    sums, carried = found
    k = node.operands[0].shape[-1]
    error = total_error(reading, form, k, sums, carried)
    growth, top = ALGEBRA.power(form.unit_roundoff, k), threshold(form)[0]
    # The largest of all first: one number, where none comes near.
    most = sum(float(np.max(x.high, initial=0.0)) for x in (sums.magnitudes, carried))
    if most * growth.high * (1 + 2.0**-50) < top:
        return Bound(error, error)
    reach = (sums.magnitudes + carried) * growth
    near = ~(reach.high < top)
    flat = np.flatnonzero(near)
    if not flat.size:
        return Bound(error, error)
    sets, unsure = np.full(near.size, states.FINITE, np.uint8), near.reshape(-1).copy()
    if reading.precise:
        chosen = accumulate(reading, node, flat)
        sets[flat] = states.FINITE if chosen.states is None else chosen.states
        unsure[flat] = False if chosen.unsure is None else chosen.unsure
    return Bound(error, error, sets.reshape(near.shape), unsure.reshape(near.shape))


def chosen_dot(reading: FloatBounds, node: Node, flat: Indices) -> Bound | None:
    """Return the bounds of chosen elements of products of exact finite operands; None where the
    operands are not, or where a sum of any of these elements may overflow: walks tell that."""
    form = node.compute
    found = chosen_sums(reading, node, flat)
    if found is None or form is None:
        return None
    sums, carried = found
    k = node.operands[0].shape[-1]
    reach = (sums.magnitudes + carried) * ALGEBRA.power(form.unit_roundoff, k)
    if not np.all(reach.high < threshold(form)[0]):
        return None
    error = total_error(reading, form, k, sums, carried)
    error = error.map(lambda end: np.broadcast_to(end, flat.shape))
    return Bound(error, error)


def input_sums(reading: FloatBounds, node: Node) -> Bound | None:
    """Return the bounds of whole sums of inputs, straight from their storage; None where not."""
    form = node.compute
    rows = stored_rows(node.operands[0])
    if rows is None or form is None or not rows.size or reading.flush:
        return None
    rows = rows.reshape(-1, rows.shape[-1])
    with np.errstate(all="ignore"):
        if reading.standard.prefixes and reading.precise:
            sums = sums_of(reading, rows)
        else:
            parts = [
                magnitude_sums(part.astype(np.float64))
                for part in np.array_split(rows, pieces(rows))
            ]
            sums = PrefixSums(Bracket(*(np.concatenate(ends) for ends in zip(*parts, strict=True))))
    reach = (sums.magnitudes * ALGEBRA.power(form.unit_roundoff, rows.shape[-1])).high
    if not np.all(reach < threshold(form)[0]):
        return None
    error = total_error(reading, form, rows.shape[-1], sums, None)
    return Bound(error, error).map(lambda part: part.reshape(node.shape), (rows.shape[0],))


def pieces(rows: Any) -> int:
    """Return how many pieces of at most GATHER elements rows fall into."""
    return int(min(len(rows), -(-rows.size // GATHER)))


def total_error(
    reading: FloatBounds, form: Format, n: int, sums: PrefixSums, carried: Any
) -> Bracket:
    """Return the standard's bound, plus the errors that the terms carry."""
    unit = form.unit_roundoff
    if reading.precise:
        error: Bracket = reading.standard.error(ALGEBRA, unit, n, sums)
    else:
        error = reading.standard.bracket(ALGEBRA, unit, n, sums)
    if carried is not None:
        error = error + carried * ALGEBRA.power(unit, n)
    if reading.flush and n > 1:
        flushes = ALGEBRA.constant((n - 1) * form.smallest_normal)
        error = error + flushes * ALGEBRA.power(unit, n - 1)
    return error


def row_sets(
    reading: FloatBounds, form: Format, total: Bracket, carried: Any, terms: Terms
) -> tuple[Any, Any]:
    """Return the sets of sums, unsure where partial sums might overflow or might not."""
    values = terms.value.high
    size = total if carried is None else total + carried
    reach = (size * ALGEBRA.power(form.unit_roundoff, values.shape[-1])).high
    near = np.broadcast_to(~(reach < threshold(form)[0]), values.shape[:-1])
    if terms.sets is None:
        if not np.any(near):
            return None, None
        result, plain, unsure = np.full(near.shape, states.FINITE, np.uint8), near, near.copy()
    else:
        sets = np.broadcast_to(terms.sets, values.shape)
        doubts = np.broadcast_to(any_of(terms.unsure), near.shape)
        plain = near & np.all(sets == states.FINITE, axis=-1) & ~doubts
        result, unsure = combined(sets), near | doubts
    rows = np.flatnonzero(plain)
    if rows.size and reading.precise:
        error = terms.error or Bracket(0.0, 0.0)
        ends = (np.broadcast_to(end, values.shape)[rows] for end in (error.low, error.high))
        spread = np.broadcast_to(terms.value.spread, values.shape)[rows]
        found = reading.standard.overflow(
            Rows(form, values[rows], spread, Bracket(*ends), reading.standard)
        )
        result[rows], unsure[rows] = found.sets, found.unsure
    return result, unsure


def any_of(unsure: Any) -> Any:
    """Return which rows hold an unsure term."""
    return False if unsure is None else np.any(unsure, axis=-1)


def combined(sets: Any) -> Any:
    """Return the set of each row's sum where partial sums stay finite, by IEEE rules.

    An infinity needs one term that may be it and no term that must be the other or NaN; NaN needs a
    term that may be NaN, or two terms that may be opposite infinities.
    """
    plus, minus, nan = ((sets & bit) != 0 for bit in (states.PLUS, states.MINUS, states.NAN))
    finite = np.all(sets & states.FINITE, axis=-1)
    up = plus.any(axis=-1) & np.all(sets & (states.FINITE | states.PLUS), axis=-1)
    down = minus.any(axis=-1) & np.all(sets & (states.FINITE | states.MINUS), axis=-1)
    opposed = plus.any(axis=-1) & minus.any(axis=-1) & ((plus | minus).sum(axis=-1) > 1)
    bad = nan.any(axis=-1) | opposed
    result = np.where(finite, states.FINITE, 0) | np.where(up, states.PLUS, 0)
    result = result | np.where(down, states.MINUS, 0) | np.where(bad, states.NAN, 0)
    wild = np.bitwise_or.reduce(sets, axis=-1) & states.STICKY if sets.shape[-1] else 0
    return (result | wild).astype(np.uint8)


def magnitudes(reading: FloatBounds, node: Node) -> Bracket:
    """Return the bracket of the sum of the magnitudes of the exact terms, for all elements."""
    values = [reading.fast.whole(x) for x in node.operands]
    sizes = [magnitude(x) for x in values]
    if node.verb == "sum":
        low, high = (magnitude_sums(np.asarray(end)) for end in (sizes[0].low, sizes[0].high))
        return Bracket(low[0], high[1])
    a, b = sizes
    return Bracket(magnitude_matmul(a.low, b.low)[0], magnitude_matmul(a.high, b.high)[1])
