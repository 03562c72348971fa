"""Bounds of comparisons as arrays: 0 where stored numbers compare as the exact ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from exactref_core.arithmetic import fast_steps, states
from exactref_core.arithmetic.approx import Approx
from exactref_core.arithmetic.bound import Bound, magnitude, merge
from exactref_core.arithmetic.brackets import Bracket
from exactref_core.arithmetic.graph import Indices, Node
from exactref_core.arithmetic.order_fast import gaps, row_places, top_of
from exactref_core.arithmetic.order_rules import SHARE, SPAN, expected, ranks
from exactref_core.arithmetic.rules import NEARLY

if TYPE_CHECKING:
    from exactref_core.arithmetic.bounds import FloatBounds

__all__ = ["bound"]

# Above NEARLY, with room for the roundings here.
ROOM = float(NEARLY) * (1 + 2.0**-45)


def bound(reading: FloatBounds, node: Node, flat: Indices | None) -> Bound:
    """Return the bounds of a comparison, whole or at flat indices."""
    if node.verb == "order":
        return order(reading, node, flat)
    source = node.operands[0]
    if flat is None:
        return ties(reading.value(source, None), reading.get(source, None), node)
    places, index = row_places(node, flat)
    value = reading.value(source, places.reshape(-1)).map(lambda part: part.reshape(places.shape))
    given = reading.at(source, places.reshape(-1))
    given = given.map(lambda part: part.reshape(places.shape), (places.size,))
    found = ties(value, given, node)
    return found.map(lambda part: part.reshape(-1)[index], places.shape)


def settled(x: Approx, given: Bound) -> Any:
    """Return where a stored value has the class of the exact one and no other."""
    special = np.zeros(x.high.shape) if x.special is None else x.special
    sets = states.FINITE if given.states is None else given.states
    return np.broadcast_to(expected(sets, special), x.high.shape)


def bounded(sure: Any, not_sure: Any, span: Any, sets: Any, unsure: Any) -> Bound:
    """Return the bounds of answers: 0, the span, or one of these where float64 cannot tell."""
    low, high = np.where(not_sure, span, 0.0), np.where(sure, 0.0, span)
    error = Bracket(np.where(sure, 0.0, low), high)
    if sets is not None:
        sets = (np.broadcast_to(sets, high.shape) & states.STICKY) | np.uint8(states.FINITE)
    return Bound(
        error, error, sets, None if unsure is None else np.broadcast_to(unsure, sure.shape)
    )


def order(reading: FloatBounds, node: Node, flat: Indices | None) -> Bound:
    """Return the bounds of the order of two numbers."""
    (a, b), (one, two) = zip(
        *((reading.value(x, flat), reading.get(x, flat)) for x in node.operands), strict=True
    )
    same = settled(a, one) & settled(b, two)
    given = [np.zeros(()) if x.special is None else x.special for x in (a, b)]
    apart = (given[0] != 0) | (given[1] != 0)
    low, high = (one.error.low + two.error.low, one.error.high + two.error.high)
    gap = magnitude(fast_steps.subtract(None, a, b))
    near = apart | (high == 0) | (gap.low > high * ROOM)
    if node.operands[0] is node.operands[1]:
        near = np.ones(same.shape, bool)
    sure = same & near
    not_sure = ~same | (~apart & (low > gap.high))
    sets = merge(one.states, two.states)
    return bounded(sure, not_sure & ~sure, float(SPAN), sets, merge(one.unsure, two.unsure))


def ties(x: Approx, given: Bound, node: Node) -> Bound:
    """Return the bounds of the ties of rows."""
    shape = x.high.shape
    span = float(SHARE)
    low, high = (np.broadcast_to(end, shape) for end in (given.error.low, given.error.high))
    same = settled(x, given).all(axis=-1, keepdims=True)
    special = np.zeros(shape) if x.special is None else x.special
    rank = ranks(special, node.attrs.ignores_nan)
    numbers = (rank == 0) & (rank.max(axis=-1, keepdims=True, initial=-2.0) == 0)
    if not x.high.size:
        return bounded(np.ones(shape, bool), np.zeros(shape, bool), span, None, None)
    equal, near, far = gaps(x)
    alone = equal & (equal.sum(axis=-1, keepdims=True) == 1)
    radius = np.broadcast_to(0.0 if x.radius is None else x.radius, shape)
    least = np.maximum(near - (radius + top_of(radius, x)) * (1 + 2.0**-50), 0.0)
    most = far + (radius + top_of(radius, x)) * (1 + 2.0**-50)
    errs = high + top_of(high, x)
    # Alone at the top, or no nearer to it than the errors allow.
    below = (least > errs * ROOM) | ~numbers
    clear = below | alone | (errs == 0)
    close = numbers & ~alone & (low + top_of(low, x) > most)
    sure = same & (below | clear.all(axis=-1, keepdims=True))
    not_sure = ~same | (close.any(axis=-1, keepdims=True) & (close | equal))
    sets = given.states
    if sets is not None:
        sets = np.bitwise_or.reduce(np.broadcast_to(sets, shape), axis=-1, keepdims=True)
    unsure = None
    if given.unsure is not None:
        unsure = np.asarray(np.broadcast_to(given.unsure, shape).any(axis=-1, keepdims=True))
    return bounded(sure, not_sure & ~sure, span, sets, unsure)
