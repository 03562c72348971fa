"""The error that quotients take over, as arrays: flushed, infinite and special divisors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from exactref_core.arithmetic import rules, states
from exactref_core.arithmetic.approx import Approx
from exactref_core.arithmetic.bound import ALGEBRA, Bound, magnitude
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
    quotient: Bracket,
    values: list[Approx],
    bounds: list[Bound],
) -> Bracket:
    """Return the error of a quotient before any rounding of its own."""
    divisor = node.operands[1]
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
    return special_quotient(found, values, errors)


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


def special_quotient(inherited: Bracket, values: list[Approx], errors: list[Bracket]) -> Bracket:
    """Return the inherited error of a quotient by zero, or of infinities and NaN.

    It is 0 where these alone decide the quotient, and has no bound where a divisor of 0
    carries an error, or an infinite one may be stored as a number.
    """
    low, high = inherited.low, inherited.high
    (x, y), (dx, dy) = values, errors
    given = np.zeros(x.high.shape, bool)
    for operand in values:
        if operand.special is not None:
            given |= operand.special != 0
    moves, surely = np.asarray(dy.high) > 0, np.asarray(dy.low) > 0
    certain = given & np.isfinite(dx.high) & np.isfinite(dy.high)
    if y.special is not None:
        certain &= ~((y.special != 0) & (x.high != 0) & moves)
    zero = (y.high == 0) & (np.asarray(y.spread) == 0) & ~given
    certain |= zero & ~moves
    low = np.where(certain | (zero & ~surely), 0.0, low)
    high = np.where(certain, 0.0, high)
    return Bracket(np.where(zero & surely, np.inf, low), np.where(zero & moves, np.inf, high))
