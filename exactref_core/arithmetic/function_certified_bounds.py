"""The bounds of elementary functions, certified: the rules of `function_bounds`, one element."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from exactref_core.arithmetic import states
from exactref_core.arithmetic.certified import finite, number
from exactref_core.arithmetic.certified_sets import at_least
from exactref_core.arithmetic.function_bounds import OVERFLOWN, SOME, at_flushed, limit_set
from exactref_core.arithmetic.graph import Node, is_float_input
from exactref_core.arithmetic.scalar_bound import ScalarBound
from exactref_core.arithmetic.step_sets import zero_of_either_sign
from exactref_core.exact.changes import always_beyond, change, is_below
from exactref_core.exact.elementary import Function
from exactref_core.exact.interval import rational
from exactref_core.exact.nonnegative import ScalarAlgebra, Unbounded, is_exact_zero

if TYPE_CHECKING:
    from exactref_core.arithmetic.certified_bounds import CertifiedBounds

__all__ = ["bound"]


def bound(reading: CertifiedBounds, node: Node, flat: int) -> ScalarBound:
    """Return the bound of one element."""
    function: Function = node.attrs
    source = node.operands[0]
    algebra = reading.algebra
    x, given = reading.exact.value(source, flat), reading.bound(source, flat)
    value = reading.exact.value(node, flat)
    apart = function.parts_flushed and is_float_input(source)
    error: Any = rational(0) if apart else given.error
    sets = given.states
    if not finite(x):
        if sets & states.FINITE:
            raise Unbounded
        inherited: Any = rational(0)
        outside = states.FINITE | (SOME if function.bounded_domain else 0)
    else:
        inherited = change(
            function, algebra, number(x), error, number(value) if finite(value) else value
        )
        outside = domain_set(function, algebra, number(x), error)
        if function.poles is not None and not finite(value):
            zero = is_exact_zero(number(x)) and zero_of_either_sign(source)
            outside = at_flushed(function) if zero else int(states.of_values(value))
        if overflows(reading, node, number(x), error, value):
            inherited, outside = rational(0), OVERFLOWN
        if apart and not is_exact_zero(given.error):
            outside |= at_flushed(function)
    inherited = at_infinities(function, algebra, value, sets, inherited)
    if function.is_exponential and sets & states.CARRIED:
        raise Unbounded
    result = (outside if sets & states.FINITE else 0) | (sets & states.STICKY)
    for bit, limit in (
        (states.PLUS, function.at_plus),
        (states.MINUS, function.at_minus),
        (states.NAN, math.nan),
    ):
        result |= limit_set(function, bit, limit) if sets & bit else 0
    return ScalarBound(inherited, inherited, result)


def at_infinities(
    function: Function, algebra: ScalarAlgebra, value: Any, sets: int, inherited: Any
) -> Any:
    """Return an error widened to the limits at infinities that may be stored.

    What is stored for an infinity or NaN, and is a number, is bounded by its size.
    """
    base = number(value) if finite(value) else rational(0)
    for bit, end in ((states.PLUS, math.inf), (states.MINUS, -math.inf)):
        limit = function.special(algebra, end)
        if sets & bit and not isinstance(limit, float):
            gap = algebra.absolute(algebra.subtract(base, limit))
            inherited = algebra.maximum(inherited, gap)
    return inherited


def overflows(reading: CertifiedBounds, node: Node, x: Any, error: Any, value: Any) -> bool:
    """Return whether +inf is certainly stored for a number, of an argument with an error."""
    if node.compute is None or not finite(value) or is_exact_zero(error):
        return False
    # A library's own error may bring what is at the threshold back into the range.
    kept = 1 - node.attrs.units * rational(node.compute.unit_roundoff)
    threshold = rational(node.compute.overflow_threshold) / kept
    return at_least(reading.algebra, number(value), threshold) and always_beyond(
        node.attrs, reading.algebra, x, error, threshold
    )


def domain_set(function: Function, algebra: ScalarAlgebra, x: Any, error: Any) -> int:
    """Return what the function may be of a number moved by an error."""
    result, inside = 0, True
    low, high = algebra.subtract(x, error), algebra.add(x, error)
    for end, at, is_low in (
        (function.low, function.at_low, True),
        (function.high, function.at_high, False),
    ):
        if end is None:
            continue
        edge = rational(end)
        near, far = (low, high) if is_low else (-high, -low)
        edge = edge if is_low else -edge
        result |= states.NAN if is_below(algebra, near, edge) else 0
        if at is None:
            inside = inside and not is_below(algebra, far, edge)
            continue
        touches = not is_below(algebra, edge, near) and not is_below(algebra, far, edge)
        result |= int(states.of_values(at)) if touches else 0
        inside = inside and is_below(algebra, edge, far)
    return result | (states.FINITE if inside else 0)
