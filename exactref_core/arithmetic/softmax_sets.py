"""Which specials an element of the softmax family may be, certified."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from exactref_core.arithmetic import states
from exactref_core.arithmetic.certified import finite, number
from exactref_core.arithmetic.graph import Node
from exactref_core.arithmetic.softmax_certified import key_values
from exactref_core.arithmetic.softmax_fast import kept
from exactref_core.arithmetic.softmax_rules import power_share, sums_overflow_at
from exactref_core.arithmetic.softmax_verbs import RowRule
from exactref_core.exact.grid import reaches
from exactref_core.exact.interval import rational
from exactref_core.formats.format import Format

if TYPE_CHECKING:
    from exactref_core.arithmetic.certified_bounds import CertifiedBounds
    from exactref_core.arithmetic.softmax_certified_bounds import RowBound

__all__ = ["element_set", "loose"]

# Beyond this error of a score nothing is known of its exponential.
LARGE = 64
INFINITE = states.PLUS | states.MINUS


def element_set(reading: CertifiedBounds, node: Node, flat: int, found: RowBound) -> int:
    """Return the set of one element: what its row's scores bring, then what its values do."""
    sets = row_set(node, flat, found)
    if node.verb == "attend" and sets & states.FINITE and not found.row.empty:
        sets |= value_set(reading, node, flat, found)
    return sets


def loose(reading: CertifiedBounds, node: Node, flat: int, found: RowBound) -> bool:
    """Return whether a number may be stored for a score, or a kept value, that is none."""
    scores = found.row.scores
    if not all(map(finite, scores)):
        row = flat if node.verb == "logsumexp" else flat // node.shape[-1]
        looked_at = kept(node.attrs, node.operands[0], np.asarray([row]))[0].tolist()
        rows = zip(looked_at, scores, found.sets, strict=True)
        if any(k and not finite(v) and s & states.FINITE for k, v, s in rows):
            return True
    if node.verb != "attend":
        return False
    values, stored = key_values(reading.exact, node, flat), stored_sets(reading, node, flat)
    keys = zip(found.row.groups, values, stored, strict=True)
    return any(g is not None and not finite(v) and s & states.FINITE for g, v, s in keys)


def row_set(node: Node, flat: int, found: RowBound) -> int:
    """Return the set that a row's scores give.

    A score that may be NaN or +inf gives NaN, as does a maximum that may be -inf: a row that -inf
    alone empties gives its value or NaN. A log-sum-exp whose largest score may be +inf may also be
    +inf, in kernels that look out for infinite maxima. The mask's -inf added to a score that may be
    +inf or NaN gives NaN. A sum of exponentials that leaves the narrow
    format it is kept in gives NaN or, of its logarithm, +inf.
    """
    row = found.row
    infinite = states.PLUS if node.verb == "logsumexp" else 0
    if row.bad:
        return states.NAN | (0 if row.nan else infinite)
    if row.empty:
        return empty_set(node, flat, found)
    result = states.FINITE
    kept = found.kept_sets
    if node.verb == "log_weights" and row.groups[flat % found.n] is None:
        result = states.MINUS
    if any(s & (states.PLUS | states.NAN) for s in kept):
        result |= states.NAN
    if any(s & states.PLUS for s in kept) or sum_overflows(found):
        result |= states.NAN | infinite
    emptied = all(s & states.MINUS for s in kept)
    if emptied or added_to_infinity(node, flat, found):
        result |= states.NAN
    if emptied and node.verb == "logsumexp":
        result |= states.MINUS
    return result


def added_to_infinity(node: Node, flat: int, found: RowBound) -> bool:
    """Return whether -inf may be added to +inf or NaN, where a float mask takes keys out."""
    rule: RowRule = node.attrs
    if rule.finite is None or rule.keep is None:
        return False
    row = flat if node.verb == "logsumexp" else flat // node.shape[-1]
    added = (rule.finite & ~rule.keep).reshape(-1, found.n)[row]
    return any(
        s & (states.PLUS | states.NAN) for s, a in zip(found.sets, added.tolist(), strict=True) if a
    )


def sum_overflows(found: RowBound) -> bool:
    """Return whether the sum of the exponentials may leave a narrow format."""
    threshold = found.sum_form.overflow_threshold
    if threshold >= found.form.overflow_threshold:
        return False  # of float32 more keys than there are
    return reaches(found.algebra, found.row.total + found.errors.total, rational(threshold))


def empty_set(node: Node, flat: int, found: RowBound) -> int:
    """Return the set of a row that keeps no key.

    A log-sum-exp of its own, not of attention's scores, is -inf and nothing else: libraries look
    out for it.
    """
    if node.verb == "logsumexp":
        result = states.MINUS
        if node.operands[0].verb != "scaled":
            return result
    elif node.verb == "log_weights" or node.attrs.empty_is_nan:
        result = states.NAN
    else:
        result = states.FINITE
    masked = node.attrs.finite
    width = 1 if node.verb == "logsumexp" else node.shape[-1]
    by_scores = any(s & states.MINUS for s in found.sets)
    if masked is not None:
        by_scores = by_scores or bool(masked.reshape(-1, found.n)[flat // width].any())
    return result | (states.NAN if by_scores else 0)


def value_set(reading: CertifiedBounds, node: Node, flat: int, found: RowBound) -> int:
    """Return what values bring: infinities and NaN, and partial sums that overflow.

    A value that is not finite gives NaN where its key is not kept (0 * inf) or its weight may
    vanish; a kept one gives itself. +inf may come where, for some running maximum s_j, the
    positive part of sum exp(s_i - s_j) v_i over the kept i with s_i <= s_j may reach the
    threshold, -inf mirrored, and both give NaN.
    """
    values = key_values(reading.exact, node, flat)
    stored = stored_sets(reading, node, flat)
    least = least_weight(found.form, node.attrs.weights, reading.flush)
    result = 0
    for v, s, group in zip(values, stored, found.row.groups, strict=True):
        if finite(v) and s == states.FINITE:
            continue
        given = s & (INFINITE | states.NAN)
        vanishes = group is None or may_vanish(found, group, least)
        result |= states.NAN if vanishes or given & states.NAN else 0
        result |= 0 if group is None else given
    for bit, sign in ((states.PLUS, 1), (states.MINUS, -1)):
        if overflows(reading, node, flat, found, values, sign):
            result |= bit if found.sum_form.infinity else bit | states.NAN
    if result & states.PLUS and result & states.MINUS:
        result |= states.NAN
    return result


def stored_sets(reading: CertifiedBounds, node: Node, flat: int) -> list[int]:
    """Return what the values of one mean may be."""
    values = node.operands[1]
    n, d = values.shape[-2:]
    batch = flat // d // node.shape[-2]
    return [reading.bound(values, (batch * n + i) * d + flat % d).states for i in range(n)]


def least_weight(form: Format, stored: Format | None, flush: bool) -> Any:
    """Return a weight from which on none is stored as 0: half of eta is not, of a declared format,
    unless it flushes."""
    if stored is None:
        return rational(form.smallest_normal)
    declared = stored.smallest_normal if flush else stored.eta
    return rational(max(form.smallest_normal, declared))


def may_vanish(found: RowBound, group: int, smallest: Any) -> bool:
    """Return whether a weight may be stored as 0: its exponential does not clear its errors."""
    key = found.row.groups.index(group)
    algebra = found.algebra
    least = algebra.subtract(found.powers.items[key], found.errors.powers.items[key])
    share = algebra.divide(least, found.row.total + found.errors.total)
    return not reaches(algebra, share, smallest)


def overflows(
    reading: CertifiedBounds, node: Node, flat: int, found: RowBound, values: list[Any], sign: int
) -> bool:
    """Return whether a partial sum of one sign may reach the overflow threshold."""
    algebra, row, form = found.algebra, found.row, found.form
    threshold = rational(sums_overflow_at(form, found.sum_form))
    errors = [reading.bound(node.operands[1], i).error for i in places(node, flat)]
    parts = [
        algebra.monus(sign * number(v) + e, rational(0)) if finite(v) else rational(0)
        for v, e in zip(values, errors, strict=True)
    ]
    room = algebra.power(max(form.unit_roundoff, found.sum_form.unit_roundoff), 2 * found.n)
    top = algebra.total([p for p, g in zip(parts, row.groups, strict=True) if g is not None])
    rescales = reading.standard.rescales(found.n)
    whole = room * rational(1 + power_share(form, found.sum_form, rescales))
    if not reaches(algebra, top * whole, threshold):
        return False  # no exponential is above 1, errors included
    if reaches(algebra, found.errors.scores, rational(LARGE)):
        return True  # any key may be the running maximum
    return any(
        reaches(algebra, most, threshold)
        for most in running_sums(found, parts, room, whole, threshold)
    )


def running_sums(
    found: RowBound, parts: list[Any], room: Any, whole: Any, threshold: Any
) -> Iterator[Any]:
    """Yield, for each running maximum s_j, what the sum of parts before it may be stored as.

    A key whose score may be stored as no more than s_j weighs at most exp(s_i - s_j) by the errors
    of both exponentials, and at most ``whole``; the latter counts only near the threshold, and
    where exp(s_j) vanishes beside the row's maximum.
    """
    algebra, row = found.algebra, found.row
    ends = [algebra.ends(gap) for gap in row.gaps]
    off, own = [rational(0)] * len(ends), [rational(1)] * len(ends)
    kept = []
    for i, g in enumerate(row.groups):
        if g is not None:
            most = algebra.ends(found.score_errors.items[i])[1]
            off[g] = max(off[g], most)
            own[g] = algebra.maximum(own[g], found.errors.relative.items[i] + rational(1))
            kept.append((ends[g][0] - most, i))
    kept.sort()
    tops = [end[1] + most for end, most in zip(ends, off, strict=True)]
    below: Any = rational(0)
    place = 0
    for base in sorted(range(len(ends)), key=lambda g: tops[g]):
        # Scores that may be at most this one: the lower end of theirs is not above its upper end.
        while place < len(kept) and kept[place][0] <= tops[base]:
            i = kept[place][1]
            below = algebra.add(below, algebra.multiply(weight(found, i), parts[i]))
            place += 1
        if algebra.ends(row.powers[base])[0] <= 0:
            yield algebra.total([algebra.multiply(whole, parts[i]) for _, i in kept[:place]])
            continue
        factor = algebra.divide(own[base], row.powers[base]) * room
        if reaches(algebra, below * factor, threshold):
            capped = [
                algebra.multiply(algebra.minimum(weight(found, i) * factor, whole), parts[i])
                for _, i in kept[:place]
            ]
            yield algebra.total(capped)


def weight(found: RowBound, key: int) -> Any:
    """Return the most that the exponential of a key may be stored as, above the row's maximum."""
    return found.algebra.add(found.powers.items[key], found.errors.moved.items[key])


def places(node: Node, flat: int) -> list[int]:
    """Return the flat indices of the values that one output averages."""
    n, d = node.operands[1].shape[-2:]
    batch = flat // d // node.shape[-2]
    return [(batch * n + i) * d + flat % d for i in range(n)]
