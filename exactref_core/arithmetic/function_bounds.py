"""The bounds of elementary functions, as arrays: how far the value moves with its argument.

The function itself is no rounding point: `Verbs.apply` puts the library's error around it.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from exactref_core.arithmetic import states
from exactref_core.arithmetic.approx import Approx
from exactref_core.arithmetic.bound import ALGEBRA, Bound, either, magnitude, merge
from exactref_core.arithmetic.brackets import Bracket
from exactref_core.arithmetic.graph import Indices, Node, is_float_input
from exactref_core.arithmetic.step_sets import threshold, zero_of_either_sign
from exactref_core.exact.elementary import Function
from exactref_core.exact.elementary_arrays import changes
from exactref_core.exact.elementary_arrays import outside as outside_at

if TYPE_CHECKING:
    from exactref_core.arithmetic.bounds import FloatBounds

__all__ = ["bound"]

UP = 1 + 2.0**-50
# Nothing but +inf is stored, for a number beyond the range.
OVERFLOWN = states.PLUS | states.WILD
SOME = states.PLUS | states.MINUS | states.NAN


def bound(reading: FloatBounds, node: Node, flat: Indices | None) -> Bound:
    """Return the bounds of a function."""
    function: Function = node.attrs
    source = node.operands[0]
    x, given = reading.value(source, flat), reading.get(source, flat)
    shape = x.high.shape
    # Of a flushed input with a pole at 0 the stored value is 0 or itself, and nothing between.
    apart = function.parts_flushed and is_float_input(source)
    low, high = (np.broadcast_to(end, shape) for end in (given.error.low, given.error.high))
    ends = (0 * low, 0 * high) if apart else (low, high)
    outside, vague = domain_sets(function, x, *ends, zero_of_either_sign(source))
    if apart:
        outside = outside | np.where(high > 0, at_flushed(function), 0)
        low = high = np.zeros(shape)
    error = widened(
        function, reading, node, flat, moved(function, reading, node, flat, (low, high))
    )
    surely, maybe = overflown(reading, node, flat, error, high)
    error = either(surely, Bracket(0.0, 0.0), error)
    outside, vague = np.where(surely, OVERFLOWN, outside), vague | maybe
    if x.special is not None:
        # What is stored for an infinity or NaN and is a number may be any.
        anything = states.FINITE | (SOME if function.bounded_domain else 0)
        outside = np.where(x.special != 0, anything, outside)
        vague = vague & (x.special == 0)
    sets = np.full(shape, states.FINITE, np.uint8) if given.states is None else given.states
    finite = (sets & states.FINITE) != 0
    result = np.where(finite, outside, 0) | (sets & states.STICKY)
    for bit, limit in (
        (states.PLUS, function.at_plus),
        (states.MINUS, function.at_minus),
        (states.NAN, np.nan),
    ):
        result = result | np.where(sets & bit, limit_set(function, bit, limit), 0)
    unsure = merge(given.unsure, vague & finite)
    if np.all(result == states.FINITE) and not np.any(unsure):
        return Bound(error, error)
    return Bound(error, error, result.astype(np.uint8), unsure)


def at_flushed(function: Function) -> int:
    """Return what the function may be of an input that is flushed to 0, with either sign."""
    if function.poles is None:
        return int(states.of_values(function.at_low))
    return int(states.of_values(function.poles[1]) | states.of_values(function.poles[2]))


def overflown(
    reading: FloatBounds, node: Node, flat: Indices | None, error: Bracket, carried: Any
) -> tuple[Any, Any]:
    """Return where +inf is certainly stored for a number, of an argument with an error; where
    that is unsure."""
    value = reading.value(node, flat)
    none = np.zeros(value.high.shape, bool)
    if node.compute is None or not np.any(carried > 0):
        return none, none
    least, most = threshold(node.compute)
    spread = np.asarray(value.spread)
    moves = carried > 0 if value.special is None else (carried > 0) & (value.special == 0)
    reach = (value.high + spread) * UP >= least
    lowest = value.high - (spread + error.high) * UP
    # A library's own error may bring what is at the threshold back into the range.
    kept = 1 - node.attrs.units * float(node.compute.unit_roundoff)
    surely = moves & (lowest * ((1 - 2.0**-49) * kept) >= most)
    return surely, moves & ~surely & (reach | ~np.isfinite(spread))


def limit_set(function: Function, bit: int, limit: float) -> int:
    """Return the set of the value at an infinity or NaN."""
    if bit != states.NAN and function.has_irrational_limits:
        return states.FINITE
    return int(states.of_values(limit))


def moved(
    function: Function,
    reading: FloatBounds,
    node: Node,
    flat: Indices | None,
    ends: tuple[Any, Any],
) -> Bracket:
    """Return how far the function moves where its argument is a number that carries an error."""
    x = reading.value(node.operands[0], flat)
    low, high = ends
    moves = high > 0
    if x.special is not None:
        moves = moves & (x.special == 0)
    if not np.any(moves):
        return Bracket(np.zeros(x.high.shape), np.zeros(x.high.shape))
    if function.name == "exp":
        # It moves most upward: by e^x (e^d - 1).
        size = magnitude(reading.value(node, flat))
        least, most = (size * grown(end, moves) for end in (low, high))
        near = np.where(np.isfinite(low), least.low, np.inf)
        return Bracket(np.where(moves, near, 0.0), np.where(moves, most.high, 0.0))
    zero = np.zeros(x.high.shape)
    parts = (
        zero if part is None else np.broadcast_to(part, zero.shape)
        for part in (x.high, x.low, x.radius)
    )
    least, most = zero.copy(), zero.copy()
    high_word, low_word, radius = (part[moves] for part in parts)
    least[moves], most[moves] = changes(
        function,
        (high_word, low_word, radius),
        low[moves],
        high[moves],
        reading.fast.precise,
    )
    return Bracket(least, most)


def grown(d: Any, counts: Any) -> Bracket:
    """Return d + d^2 / 2 + ... = e^d - 1 for the numbers d >= 0 that count.

    It is d (1 + d/2 (1 + d/3 (...))). All terms are positive, so that three roundings for each of n
    terms are below 2^-47 of it for n < 20. For d <= 1 the terms after n are below e d^n / (n + 1)!
    of it, here below 2^-49. Six times t (t + 2) makes e^(64 d) - 1 of it.
    """
    large, near = d > 1, d <= 64
    d = np.where(large, np.where(near, d / 64, 1.0), d)
    top, terms = float(np.max(d, initial=0.0, where=counts)), 1
    while top**terms * 2.72 > math.factorial(terms + 1) * 2.0**-49:
        terms += 1
    series = np.ones_like(d)
    for k in range(terms, 1, -1):
        series = 1 + d / k * series
    value = Bracket(d, d) * Bracket(series * (1 - 2.0**-46), series * (1 + 2.0**-46))
    if not np.any(large):
        return value
    doubled = value
    for _ in range(6):
        doubled = doubled * (doubled + 2)
    value = either(large, doubled, value)
    return Bracket(value.low, np.where(near, value.high, np.inf))


def widened(
    function: Function, reading: FloatBounds, node: Node, flat: Indices | None, error: Bracket
) -> Bracket:
    """Return the error where an infinity may be stored for a number: as far as the limit there.

    It has no bound where a number may be stored for an infinity or NaN, nor do exponentials of an
    infinity that an earlier call stored.
    """
    x, given = reading.value(node.operands[0], flat), reading.get(node.operands[0], flat)
    if given.states is None:
        return error
    value = reading.value(node, flat)
    special = np.zeros(x.high.shape, bool) if x.special is None else x.special != 0
    for bit, limit in (
        (states.PLUS, function.near_limit(1)),
        (states.MINUS, function.near_limit(-1)),
    ):
        if np.isfinite(limit):
            # For an infinity or NaN, a number that is stored is bounded by its size.
            may = (given.states & bit) != 0
            # A limit that is irrational was rounded to the nearest float64 number.
            off = abs(limit) * 2.0**-53 if function.has_irrational_limits else 0.0
            away, room = np.abs(value.high - limit), np.asarray(value.spread) + off
            near = np.maximum((away - room) * (1 - 2.0**-50), 0.0)
            gap = Bracket(near, (away + room) * UP)
            error = either(may, ALGEBRA.maximum(error, gap), error)
    none = special & ((given.states & states.FINITE) != 0)
    if function.is_exponential:
        none = none | ((given.states & states.CARRIED) != 0)
    return either(none, Bracket(np.inf, np.inf), error)


def pole_sets(function: Function, x: Any, either: bool) -> Any:
    """Return what the function is at poles; of a zero with either sign, if ``either``."""
    found = states.of_values(outside_at(function, x))
    return np.where((x == 0) & either, at_flushed(function), found)


def domain_sets(
    function: Function, x: Approx, low: Any, high: Any, either: bool
) -> tuple[Any, Any]:
    """Return what the function may be of numbers x moved by ``low`` to ``high``; where unsure.

    ``either``: a zero may have either sign.
    """
    shape = x.high.shape
    sets, vague = np.zeros(shape, np.uint8), np.zeros(shape, bool)
    spread = np.asarray(x.spread)
    wide = np.where(spread == 0, high, (spread + high) * UP)
    near = np.where(spread == 0, low, np.maximum(low - spread * UP, 0.0))
    inside, surely = np.ones(shape, bool), np.ones(shape, bool)
    for end, at, side in (
        (function.low, function.at_low, 1.0),
        (function.high, function.at_high, -1.0),
    ):
        if end is None:
            continue
        gap = (x.high - end) * side  # its sign is exact
        may, sure = (gap - wide < 0), (gap - near < 0)
        sets = sets | np.where(may, states.NAN, 0)
        vague = vague | (may & ~sure)
        if at is not None:
            may, sure = (gap - wide <= 0) & (gap + wide >= 0), (gap - near <= 0) & (gap + near >= 0)
            sets = sets | np.where(may, states.of_values(at), 0)
            vague = vague | (may & ~sure)
            may, sure = gap + wide > 0, gap + near > 0
        else:
            may, sure = gap + wide >= 0, gap + near >= 0
        inside, surely = inside & may, surely & sure
    if function.poles is not None:
        # Where a pole may be reached by an error, there is no bound.
        pole = (x.high <= 0) & (np.rint(x.high) == x.high) & (wide == 0)
        sets = np.where(pole, pole_sets(function, x.high, either), sets)
        inside = inside & ~pole
        vague = vague | ((spread > 0) & (x.high - wide <= 0))
    return (sets | np.where(inside, states.FINITE, 0)).astype(np.uint8), vague | (inside & ~surely)
