"""The bounds of functions of two numbers, as arrays: where operands carry errors, one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from exactref_core.arithmetic import states
from exactref_core.arithmetic.approx import Approx
from exactref_core.arithmetic.bound import Bound, magnitude
from exactref_core.arithmetic.brackets import Bracket
from exactref_core.arithmetic.graph import Indices, Node
from exactref_core.arithmetic.pair_rules import Stored, signs_of
from exactref_core.arithmetic.pair_rules import bound as rule
from exactref_core.exact.elementary_arrays import ARITHMETIC
from exactref_core.exact.interval import Unsure
from exactref_core.exact.nonnegative import Unbounded
from exactref_core.exact.pair_arrays import argument, between, ends
from exactref_core.exact.pairs import PairFunction
from exactref_core.exact.plain_exponentials import log

if TYPE_CHECKING:
    from exactref_core.arithmetic.bounds import FloatBounds

__all__ = ["bound", "fixed"]

# Brackets that are wider are left to MPFR, and products that may have lost digits.
CLOSE, TINY = 1 + 2.0**-14, 2.0**-960


def bound(reading: FloatBounds, node: Node, flat: Indices | None) -> Bound:
    """Return the bounds of a function of two numbers."""
    values = [reading.value(x, flat) for x in node.operands[:2]]
    bounds = [reading.get(x, flat) for x in node.operands[:2]]
    result = reading.value(node, flat)
    shape = result.high.shape
    sets = np.full(shape, states.FINITE, np.uint8)
    if result.special is not None:
        sets = np.where(result.special != 0, states.of_values(result.special), sets)
    least, most, vague = np.zeros(shape), np.zeros(shape), np.zeros(shape, bool)
    how = [signs_of(node, x) for x in node.operands[:2]]
    one_by_one = np.full(shape, how[0][0] or how[1][0])
    for given in bounds:
        one_by_one |= np.broadcast_to(given.error.high, shape) > 0
        if given.states is not None:
            one_by_one |= given.states != states.FINITE
    if not reading.fast.precise:
        low, high, tight = by_exponent(node, values, bounds, how, result)
        tight &= one_by_one
        least, most = np.where(tight, low, least), np.where(tight, high, most)
        one_by_one &= ~tight
    for i in np.flatnonzero(one_by_one).tolist():
        at = np.unravel_index(i, shape)
        operands = [operand(*pair, at, shape) for pair in zip(values, bounds, how, strict=True)]
        found = element(node.attrs, operands)
        least[at], most[at], sets[at], vague[at] = found
    for given in bounds:
        if given.unsure is not None:
            vague |= given.unsure
    # What may be stored, if it is not known, may leave no bound, and may be nothing of that kind.
    error = Bracket(np.where(vague, 0.0, least), most)
    if np.all(sets == states.FINITE) and not np.any(vague):
        return Bound(error, error)
    return Bound(error, error, sets, vague)


@np.errstate(all="ignore")
def by_exponent(
    node: Node, values: list[Approx], bounds: list[Bound], how: Any, result: Approx
) -> tuple[Any, Any, Any]:
    """Return brackets of how far x^y moves with y alone, for exact x > 0, and where they are tight.

    x^(y + d) is farthest from x^y where |d| is the error e and x^d > 1: x^y (e^t - 1) away, with
    t = e |log x|, and t + t^2 / 2 < e^t - 1 < t + t^2 / 2 + t^3 / 4 for t <= 1/2. Eight roundings.
    """
    shape = result.high.shape
    none = np.zeros(shape), np.zeros(shape), np.zeros(shape, bool)
    if node.attrs.name != "pow" or not all(one[2] is None for one in how):
        return none
    (x, _), (first, second) = values, bounds
    base = np.broadcast_to(x.high, shape)
    exact = (base > 0) & (np.asarray(x.spread) == 0) & (np.asarray(first.error.high) == 0)
    for part in (*values, result):
        exact = exact if part.special is None else exact & (part.special == 0)
    for given in bounds:
        exact = exact if given.states is None else exact & (given.states == states.FINITE)
    size, off = (part.reshape(shape) for part in log(np.where(exact, base, 1.0).ravel(), None))
    low = second.error.low * np.maximum(np.abs(size) - off, 0.0)
    high = second.error.high * (np.abs(size) + off)
    around = magnitude(result)
    low = around.low * (low * (1 + low / 2)) * (1 - 2.0**-49)
    below = high <= 0.5
    high = around.high * (high * (1 + high / 2 * (1 + high / 2))) * (1 + 2.0**-49)
    tight = exact & below & (low > TINY) & (high <= low * CLOSE) & (high < np.inf)
    return low, high, tight


def fixed(reading: FloatBounds, node: Node, flat: Indices | None) -> Any:
    """Return where a library has no choice but to return the value, if it is a number."""
    found: Any = False
    for numbers in node.attrs.fixed:
        here: Any = True
        for source, number in zip(node.operands[:2], numbers, strict=True):
            if number == number:
                value, given = reading.value(source, flat), reading.get(source, flat)
                here = here & certainly(value, given, number)
        found = found | here
    return found


def certainly(value: Approx, given: Bound, number: float) -> Any:
    """Return where a number, or an infinity, is stored and nothing else."""
    special = np.zeros(()) if value.special is None else value.special
    exact = (np.asarray(value.spread) == 0) & (np.asarray(given.error.high) == 0)
    sets = states.FINITE if given.states is None else given.states & ~np.uint8(states.STICKY)
    is_it = np.where(special != 0, special, value.high) == number
    return is_it & exact & (sets == int(states.of_values(number)))


def operand(
    value: Approx, given: Bound, how: tuple[bool, bool, Any], at: Any, shape: Any
) -> Stored | None:
    """Return one operand; None where nothing is known of it."""

    def pick(part: Any, missing: float) -> float:
        return missing if part is None else float(np.broadcast_to(part, shape)[at])

    parts = (pick(part, 0.0) for part in (value.high, value.low, value.radius, value.special))
    x = argument(*parts)
    low, high = pick(given.error.low, 0.0), pick(given.error.high, 0.0)
    if x is None or not high < np.inf:
        return None
    sets = states.FINITE if given.states is None else int(given.states[at])
    return Stored(x, between(low, high), sets, *how)


def element(
    function: PairFunction, operands: list[Stored | None]
) -> tuple[float, float, int, bool]:
    """Return the ends of an error, the set, and whether they are unsure."""
    x, y = operands
    if x is None or y is None:
        return 0.0, np.inf, states.FINITE, True
    try:
        value = function.value(ARITHMETIC, x.value, y.value)
        error, sets = rule(function, ARITHMETIC, value, x, y)
    except Unsure:
        return 0.0, np.inf, states.FINITE, True
    except Unbounded:
        return np.inf, np.inf, states.FINITE, False
    return *ends(error), sets, False
