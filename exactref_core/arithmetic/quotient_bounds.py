"""The error that quotients take over, as arrays: flushed, infinite and special divisors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from exactref_core.arithmetic import rules, states
from exactref_core.arithmetic.approx import Approx
from exactref_core.arithmetic.bound import ALGEBRA, Bound, either, magnitude
from exactref_core.arithmetic.brackets import Bracket
from exactref_core.arithmetic.floors import floor_of
from exactref_core.arithmetic.graph import GROWS, Indices, Node, is_float_input, sum_format

if TYPE_CHECKING:
    from exactref_core.arithmetic.bounds import FloatBounds

__all__ = ["grown_and_flushed", "inherited"]


def inherited(
    reading: FloatBounds,
    node: Node,
    flat: Indices | None,
    result: Approx,
    values: list[Approx],
    bounds: list[Bound],
) -> Bracket:
    """Return the error of a quotient before any rounding of its own."""
    divisor, quotient = node.operands[1], magnitude(result)
    sizes, errors = [magnitude(x) for x in values], [b.error for b in bounds]
    grows = reading.flush and divisor.attrs == GROWS
    least = ALGEBRA.constant(floor_of(divisor, reading.flush) or 0)
    if grows:
        errors[1], own = grown(reading, divisor, flat)
        least = ALGEBRA.maximum(own, least)
    elif is_float_input(divisor):
        errors[1] = Bracket(0.0, 0.0)  # flushed, it is 0 and nothing between: a matter of sets
    if grows or below(sizes[1], errors[1], least):
        found: Bracket = rules.over_least(ALGEBRA, quotient, sizes, errors, least)
    else:
        found = rules.inherited(ALGEBRA, "divide", quotient, sizes, errors)
    found = divisor_may_be_infinite(found, quotient, bounds[1])
    return special_quotient(found, result, values, bounds, errors, least)


def below(size: Bracket, error: Bracket, least: Bracket) -> bool:
    """Return whether some divisors may lie below a positive number, for all that errors say.

    Where none does, that it is their floor tells nothing.
    """
    return least.low > 0 and not np.all(size.low >= (error.high + least.high) * (1 + 2.0**-50))


def grown(reading: FloatBounds, node: Node, flat: Indices | None) -> tuple[Bracket, Bracket]:
    """Return what `rules.grown` says of a sum that `GROWS`."""
    form, terms = sum_format(node), []
    for operand in node.operands:
        bound, size = reading.get(operand, flat), magnitude(reading.value(operand, flat))
        if operand.verb == "multiply":
            terms.append(rules.flushed_product(ALGEBRA, form, size, bound.inherited))
        else:
            terms.append((bound.error, bound.error, ALGEBRA.monus(size, bound.error)))
    size = magnitude(reading.value(node, flat))
    found: tuple[Bracket, Bracket] = rules.grown(ALGEBRA, form, size, terms)
    return found


def grown_and_flushed(reading: FloatBounds, node: Node, flat: Indices | None) -> Bracket:
    """Return the error of a sum that `GROWS` and may be flushed itself."""
    found: Bracket = rules.flushed_sum(ALGEBRA, sum_format(node), *grown(reading, node, flat))
    return found


def divisor_may_be_infinite(inherited: Bracket, quotient: Bracket, divisor: Bound) -> Bracket:
    """Return the inherited error of a quotient, widened to reach 0 where the divisor may be inf."""
    if divisor.states is None:
        return inherited
    may = (divisor.states & (states.PLUS | states.MINUS)) != 0
    low = np.where(may, np.maximum(inherited.low, quotient.low), inherited.low)
    return Bracket(low, np.where(may, np.maximum(inherited.high, quotient.high), inherited.high))


def special_quotient(
    found: Bracket,
    result: Approx,
    values: list[Approx],
    bounds: list[Bound],
    errors: list[Bracket],
    least: Bracket,
) -> Bracket:
    """Return the inherited error of a quotient by zero, or of infinities and NaN.

    It is 0 where these alone decide the quotient, and has no bound where a divisor of 0 carries an
    error, or an infinite one may be stored as a number. What is stored for an infinity or NaN over
    a number is measured from 0.
    """
    y, dy = values[1], errors[1]
    first, second = (numbers(b) for b in bounds)
    given = [np.zeros((), bool) if v.special is None else v.special != 0 for v in values]
    zero = (y.high == 0) & (np.asarray(y.spread) == 0) & ~given[1]
    moves, surely = np.asarray(dy.high) > 0, np.asarray(dy.low) > 0
    certain = (zero & ~moves) | (given[1] & (~moves | ~second))
    if result.special is not None:
        beside = (result.special != 0) & (given[0] | given[1])
        sizes = [magnitude(v) for v in values]
        found = either(beside, rules.from_zero(ALGEBRA, "divide", sizes, errors, least), found)
        certain = certain | (beside & ~first)
    # Of x / 0 for a number x there is no bound where 0 carries an error.
    none, maybe = zero & surely & ~given[0], zero & moves & ~given[0]
    low = np.where(certain | (maybe & ~surely), 0.0, np.where(none, np.inf, found.low))
    return Bracket(low, np.where(certain, 0.0, np.where(maybe, np.inf, found.high)))


def numbers(bound: Bound) -> Any:
    """Return where a number may be stored."""
    return np.True_ if bound.states is None else (bound.states & states.FINITE) != 0
