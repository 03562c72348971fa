"""Bounds of single comparisons, certified: the rules of `order_bounds`, one element."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from exactref_core.arithmetic import states
from exactref_core.arithmetic.certified import finite, number
from exactref_core.arithmetic.certified_sets import at_least
from exactref_core.arithmetic.graph import Node
from exactref_core.arithmetic.order_certified import largest, row_of
from exactref_core.arithmetic.order_rules import SHARE, SPAN, expected, ranks
from exactref_core.arithmetic.rules import NEARLY
from exactref_core.exact.interval import rational
from exactref_core.exact.nonnegative import is_exact_zero

if TYPE_CHECKING:
    from exactref_core.arithmetic.certified_bounds import CertifiedBounds, ScalarBound

__all__ = ["bound"]


def bound(reading: CertifiedBounds, node: Node, flat: int) -> ScalarBound:
    """Return the bound of one comparison."""
    from exactref_core.arithmetic.certified_bounds import ScalarBound

    if node.verb == "order":
        places = [(x, flat) for x in node.operands]
        sure, span = apart_or_exact, SPAN
    else:
        places = [(node.operands[0], i) for i in row_of(node, flat)]
        sure, span = ties_are_sure, SHARE
    given = [reading.bound(*place) for place in places]
    values = [reading.exact.value(*place) for place in places]
    sticky = 0
    for one in given:
        sticky |= one.states & states.STICKY
    same = all(
        bool(expected(one.states, np.asarray(0.0 if finite(x) else x)))
        for one, x in zip(given, values, strict=True)
    )
    error = 0 if same and sure(reading, node, flat, values, [b.error for b in given]) else span
    return ScalarBound(rational(error), rational(error), states.FINITE | sticky)


def clear(reading: CertifiedBounds, x: Any, y: Any, error: Any) -> bool:
    """Return whether two numbers are further apart than an error."""
    algebra = reading.algebra
    gap = algebra.absolute(algebra.subtract(number(x), number(y)))
    return not at_least(algebra, error * rational(NEARLY) - gap, rational(0))


def apart_or_exact(
    reading: CertifiedBounds, node: Node, flat: int, values: list[Any], errors: list[Any]
) -> bool:
    """Return whether two stored numbers certainly compare as the exact ones do."""
    if node.operands[0] is node.operands[1] or not all(map(finite, values)):
        return True
    if all(map(is_exact_zero, errors)):
        return True
    return clear(reading, values[0], values[1], errors[0] + errors[1])


def ties_are_sure(
    reading: CertifiedBounds, node: Node, flat: int, values: list[Any], errors: list[Any]
) -> bool:
    """Return whether an element of a row certainly ties, or does not, as the exact one does."""
    special = np.asarray([0.0 if finite(x) else x for x in values])
    rank = ranks(special, node.attrs.ignores_nan)
    places = [i for i in range(len(values)) if rank[i] == 0]
    own = flat % node.shape[-1]
    if rank.max() != 0 or rank[own] != 0:
        return True
    numbers = {i: number(values[i]) for i in places}
    top = largest(reading.exact.arithmetic, list(numbers.values()))
    place = next(i for i, x in numbers.items() if x is top)

    def distant(i: int) -> bool:
        return clear(reading, numbers[i], top, errors[i] + errors[place])

    def fixed(i: int) -> bool:
        return i == place or (is_exact_zero(errors[i]) and is_exact_zero(errors[place]))

    if own != place and distant(own):
        return True
    return all(fixed(i) or distant(i) for i in places)
