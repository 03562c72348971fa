"""Sums of products of which a factor is common, as arrays: errors of it do not add up.

A sum x r - m r is computed from stored values x', m', r' as (x' - m') r', but for the roundings of
its steps: of each product and each sum inside, relative to what it is of the stored values. A
rounding of a factor is multiplied by the other one.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

from exactref_core.arithmetic import rules
from exactref_core.arithmetic.bound import ALGEBRA, Bound, magnitude
from exactref_core.arithmetic.graph import Indices, Node, sum_format

if TYPE_CHECKING:
    from exactref_core.arithmetic.bounds import FloatBounds

__all__ = ["Of", "bound", "carried"]

# What is asked of a step: its magnitude, its error before its own rounding, and with it.
Of: TypeAlias = Callable[[Node], tuple[Any, Any, Any]]


def bound(reading: FloatBounds, node: Node, flat: Indices | None) -> Bound:
    """Return the bounds of the sum."""
    direct = node.operands[1]
    given = reading.get(direct, flat)

    def of(one: Node) -> tuple[Any, Any, Any]:
        found = reading.get(one, flat)
        return magnitude(reading.value(one, flat)), found.inherited, found.error

    moved = reading.get(node.operands[2], flat).error
    size = magnitude(reading.value(direct, flat))
    error = ALGEBRA.minimum(given.inherited, carried(ALGEBRA, node, moved, of, reading.flush))
    form, flush = sum_format(node), reading.flush
    whole = rules.rounded_step(ALGEBRA, form, size, error, 1, Fraction(0), flush)
    return Bound(whole, error, given.states, given.unsure)


def carried(algebra: Any, node: Node, moved: Any, of: Of, flush: bool) -> Any:
    """Return the error of the sum before its own rounding, given that of its factored form."""
    values = stored(node.operands[2])

    def off(one: Node) -> list[Any]:
        """Return how far a stored step is from what exact steps make of the stored values."""
        if one in values:
            return []
        size, before, _ = of(one)
        etas = rules.ROUNDINGS[one.verb][1]
        return [
            rules.own_rounding(algebra, sum_format(one), size, before, 1, etas, flush),
            *terms(one),
        ]

    def terms(one: Node) -> list[Any]:
        x, y = one.operands
        first, second = off(x), off(y)
        if one.verb in ("add", "subtract") or not (first or second):
            return first + second
        if one.verb != "multiply":
            raise ValueError(f"{one.verb} is no step of a sum of products")
        # x' y' - x y with x' off by dx from x, and |y'|, |x| no larger than stored values are.
        (a, _, da), (b, _, db) = of(x), of(y)
        zero = algebra.constant(0)
        dx, dy = sum(first, zero), sum(second, zero)
        return [dx * (b + db), dy * (a + da + dx)]

    return sum(terms(node.operands[1]), moved)


def stored(factors: Node) -> set[Node]:
    """Return the values that a step without roundings is made of."""
    found, waiting = set(), [factors]
    while waiting:
        one = waiting.pop()
        if one.compute is None and one.verb in rules.ROUNDINGS:
            waiting += one.operands
        else:
            found.add(one)
    return found
