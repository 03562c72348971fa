"""What an elementwise step, no quotient, takes over from its operands' errors, as arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from exactref_core.arithmetic import rules, states
from exactref_core.arithmetic.approx import Approx, signs
from exactref_core.arithmetic.bound import ALGEBRA, Bound, either, magnitude
from exactref_core.arithmetic.brackets import Bracket
from exactref_core.arithmetic.fast_choices import STEPS, answered
from exactref_core.arithmetic.graph import Node
from exactref_core.arithmetic.step_sets import zero_of_either_sign

__all__ = ["cleared", "powers_of_two", "taken_over"]


def taken_over(node: Node, values: list[Approx], bounds: list[Bound], result: Approx) -> Bracket:
    """Return the error that a step, no quotient, takes over from its operands."""
    verb, errors = node.verb, adjusted(node, values, bounds)
    sizes = [magnitude(x) for x in values]
    own = sizes
    if verb == "by_sign":
        own = [sizes[0], *candidates(values[1], values[2], sizes[1:])]
    inherited: Bracket = rules.inherited(ALGEBRA, verb, magnitude(result), own, errors)
    if verb in rules.SEVERAL and result.special is not None:
        reach = rules.from_zero(ALGEBRA, verb, sizes, errors)
        inherited = either(result.special != 0, reach, inherited)
    if verb == "sqrt" and result.special is not None:
        # The root of a negative number: how far what is stored may lie above zero.
        reach = ALGEBRA.sqrt(ALGEBRA.monus(errors[0], sizes[0]))
        negative = np.isnan(result.special) & (np.asarray(values[0].high) < 0)
        inherited = either(negative, reach, inherited)
    if verb == "special":
        settled = answered(node.attrs[0], values[1:], [np.asarray(e.high) for e in errors[1:]])
        inherited = cleared(inherited, settled)
        for x, given in zip(values[1:], bounds[1:], strict=True):
            if x.special is not None and given.states is not None:
                loose = settled & (x.special != 0) & ((given.states & states.FINITE) != 0)
                inherited = either(loose, Bracket(np.inf, np.inf), inherited)
    return inherited


def candidates(x: Approx, y: Approx, sizes: list[Bracket]) -> list[Bracket]:
    """Return what a choice that flips moves by: the candidates' difference and 0, or both sizes."""
    gap, zero = magnitude(STEPS["subtract"](None, x, y)), Bracket(0.0, 0.0)
    if x.special is None and y.special is None:
        return [gap, zero]
    given = [np.zeros(()) if a.special is None else a.special for a in (x, y)]
    some = (given[0] != 0) | (given[1] != 0)
    return [either(some, sizes[0], gap), either(some, sizes[1], zero)]


def adjusted(node: Node, values: list[Approx], bounds: list[Bound]) -> list[Bracket]:
    """Return the errors of a step's operands, where they are not what the operands' bounds say."""
    errors = [b.error for b in bounds]
    if node.verb == "with_sign" and zero_of_either_sign(node.operands[1]):
        # The sign of an exact zero is the one that a loop happens to give.
        errors[1] = either(signs(values[1])[0] == 0, Bracket(1.0, 1.0), errors[1])
    if node.verb == "with_sign" and bounds[1].states is not None:
        none = (bounds[1].states & (states.PLUS | states.MINUS | states.NAN)) != 0
        wide = ALGEBRA.maximum(errors[1], magnitude(values[1]) + 1)  # of either sign
        errors[1] = either(none, wide, errors[1])
    return errors


def powers_of_two(x: Approx) -> Any:
    """Return which values are powers of two, whose reciprocal is exact."""
    return (np.abs(np.frexp(x.high)[0]) == 0.5) & (np.asarray(x.spread) == 0)


def cleared(error: Bracket, where: Any) -> Bracket:
    """Return an error that is 0 in places: what is stored there is never a number, or exact."""
    return either(where, Bracket(0.0, 0.0), error)
