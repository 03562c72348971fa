"""What a certified step takes over from its operands' errors, infinities and zeros included."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from exactref_core.arithmetic import certified_sets, rules, states
from exactref_core.arithmetic.certified import Scalar, answered, finite, number, sign
from exactref_core.arithmetic.floors import floor_of
from exactref_core.arithmetic.graph import GROWS, Node, is_float_input, sum_format
from exactref_core.arithmetic.step_sets import zero_of_either_sign
from exactref_core.exact.interval import rational
from exactref_core.exact.nonnegative import Unbounded, check_told, is_exact_zero

if TYPE_CHECKING:
    from exactref_core.arithmetic.certified_bounds import CertifiedBounds, ScalarBound

__all__ = ["grown_and_flushed", "inherited"]


def inherited(
    reading: CertifiedBounds,
    node: Node,
    flat: int,
    values: Sequence[Scalar],
    bounds: Sequence[ScalarBound],
) -> Any:
    """Return the error of a step before any rounding of its own; `Unbounded` where it has none."""
    verb, algebra = node.verb, reading.algebra
    result = reading.exact.value(node, flat)
    sizes = [algebra.absolute(number(x)) if finite(x) else rational(0) for x in values]
    size = algebra.absolute(number(result)) if finite(result) else rational(0)
    errors = [bound.error for bound in bounds]
    if verb == "special" and answered(node.attrs, values[1:], errors[1:]):
        if any(map(certified_sets.is_loose, values[1:], bounds[1:])):
            raise Unbounded  # the parts may be those of any numbers
        return rational(0)
    if verb == "sqrt" and finite(values[0]) and not finite(result):
        # The root of a negative number: how far what is stored may lie above zero.
        return algebra.sqrt(algebra.monus(errors[0], sizes[0]))
    if verb == "with_sign" and zero_of_either_sign(node.operands[1]) and sign(values[1]) == 0:
        # The sign of an exact zero is the one that a loop happens to give.
        errors[1] = rational(1)
    if verb == "with_sign" and bounds[1].states & (states.PLUS | states.MINUS | states.NAN):
        errors[1] = algebra.maximum(errors[1], sizes[1] + rational(1))  # of either sign
    if verb in rules.SEVERAL and not finite(result):
        return rules.from_zero(algebra, verb, sizes, errors)
    if verb == "by_sign" and not certified_sets.flips(reading, node, flat):
        sizes[1:] = [rational(0), rational(0)]
    elif verb == "by_sign" and finite(values[1]) and finite(values[2]):
        # What a choice that flips moves by: the candidates' difference, at most their sizes.
        gap = algebra.absolute(algebra.subtract(number(values[1]), number(values[2])))
        sizes[1:] = [gap, rational(0)]
    if verb == "divide":
        return quotient(reading, node, flat, values, bounds, size, sizes)
    return rules.inherited(algebra, verb, size, sizes, errors)


def quotient(
    reading: CertifiedBounds,
    node: Node,
    flat: int,
    values: Sequence[Scalar],
    bounds: Sequence[ScalarBound],
    size: Any,
    sizes: list[Any],
) -> Any:
    """Return what `inherited` does of a quotient, given its size and those of its operands."""
    algebra, verb, divisor = reading.algebra, node.verb, node.operands[1]
    result = reading.exact.value(node, flat)
    errors = [bound.error for bound in bounds]
    grows = reading.flush and divisor.attrs == GROWS
    least: Any = rational(floor_of(divisor, reading.flush) or 0)
    if is_float_input(divisor):
        errors[1] = rational(0)  # flushed, it is 0 and nothing between: a matter of sets
    elif grows:
        errors[1], own = grown(reading, divisor, flat)
        least = algebra.maximum(own, least)
    found: Any = rational(0)
    if certified_sets.never_divides(values[1], errors[1], bounds[1]):
        pass  # over an infinity or 0 that is certain
    elif finite(result) and (grows or may_be_below(algebra, sizes[1], errors[1], least)):
        found = rules.over_least(algebra, size, sizes, errors, least)
    elif finite(result):
        found = rules.inherited(algebra, verb, size, sizes, errors)
    elif finite(values[0]) and finite(values[1]):
        raise Unbounded  # the divisor is zero, give or take its error
    elif bounds[0].states & states.FINITE:
        found = rules.from_zero(algebra, verb, sizes, errors, least)
    if bounds[1].states & (states.PLUS | states.MINUS):
        found = algebra.maximum(found, size)
    return found


def may_be_below(algebra: Any, size: Any, error: Any, least: Any) -> bool:
    """Return whether a divisor may lie below a positive number, for all that its error says.

    Where it does not, that it is its floor tells nothing.
    """
    if is_exact_zero(least) or is_exact_zero(error):
        return False
    check_told(size, error)
    return bool(algebra.bounds(size - error)[0] < algebra.bounds(least)[1])


def grown(reading: CertifiedBounds, node: Node, flat: int) -> tuple[Any, Any]:
    """Return what `rules.grown` says of a sum that `GROWS`."""
    algebra, form, terms = reading.algebra, sum_format(node), []

    def size_of(x: Node) -> Any:
        value = reading.exact.value(x, flat)
        return algebra.absolute(number(value)) if finite(value) else rational(0)

    for operand in node.operands:
        bound, size = reading.bound(operand, flat), size_of(operand)
        if operand.verb == "multiply":
            terms.append(rules.flushed_product(algebra, form, size, bound.inherited))
        else:
            terms.append((bound.error, bound.error, algebra.monus(size, bound.error)))
    found: tuple[Any, Any] = rules.grown(algebra, form, size_of(node), terms)
    return found


def grown_and_flushed(reading: CertifiedBounds, node: Node, flat: int) -> Any:
    """Return the error of a sum that `GROWS` and may be flushed itself."""
    found = grown(reading, node, flat)
    return rules.flushed_sum(reading.algebra, sum_format(node), *found)
