"""Which specials an elementwise step may store, as sets over arrays."""

from __future__ import annotations

from fractions import Fraction
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from exactref_core.arithmetic import rules, states
from exactref_core.arithmetic.approx import Approx, Bools, signs
from exactref_core.arithmetic.bound import Bound
from exactref_core.arithmetic.brackets import Bracket
from exactref_core.arithmetic.fast_choices import STEPS, annex_g
from exactref_core.arithmetic.floors import floor_of
from exactref_core.arithmetic.graph import NONNEGATIVE, Node
from exactref_core.formats.format import Format

__all__ = [
    "ANY_SIDE",
    "overflow_sets",
    "overflow_sides",
    "scaled_sets",
    "seven",
    "step_sets",
    "threshold",
    "without_numbers",
    "zero_of_either_sign",
]

UP = 1 + 2.0**-50
ANY_SIDE = states.PLUS | states.MINUS
EITHER: WeakKeyDictionary[Node, bool] = WeakKeyDictionary()
CHOICES = ("larger", "by_sign", "with_sign")
STORED = (*rules.ROUNDINGS, "within", "scaled")


def threshold(form: Format) -> tuple[float, float]:
    """Return float64 numbers at or below, and at or above, the overflow threshold."""
    exact = form.overflow_threshold
    try:
        near = float(exact)
    except OverflowError:
        near = np.inf
    if near == np.inf:
        return float(form.max), np.inf
    return near, near


def step_sets(
    node: Node,
    values: list[Approx],
    bounds: list[Bound],
    result: Approx,
    inherited: Bracket,
    flush: bool,
) -> tuple[Any, Any]:
    """Return the sets of a step's results and where they are unsure; None where all are finite."""
    tame = all(b.states is None and b.unsure is None for b in bounds) and result.special is None
    stores = node.compute is not None and node.verb in STORED
    tame = tame and (node.attrs == NONNEGATIVE or domain_is_clear(node.verb, values, bounds))
    if tame and not (stores and may_overflow(node.compute, result, inherited)):
        return None, None
    sets, unsure = raw_sets(node, values, bounds, flush)
    for bound in bounds:
        if bound.states is not None:
            sets = sets | (bound.states & states.STICKY)
        if bound.unsure is not None:
            unsure = unsure | bound.unsure
    if stores and node.compute is not None:
        more, vague = overflow_sets(node.compute, result, inherited, overflow_sides(node))
        finite = (sets & states.FINITE) != 0
        sets, unsure = sets | np.where(finite, more, 0), unsure | (vague & finite)
    if node.verb == "within" and node.compute is not None and not node.compute.infinity:
        sets = states.without_infinities(np.asarray(sets, np.uint8))
    return sets.astype(np.uint8), unsure


def domain_is_clear(verb: str, values: list[Approx], bounds: list[Bound]) -> bool:
    """Return whether finite operands certainly give a finite result, overflow apart."""
    if verb == "divide":
        x, error = values[1], bounds[1].error.high
        return bool((np.abs(x.high) > (np.asarray(x.spread) + error) * UP).all())
    if verb == "sqrt":
        x, error = values[0], bounds[0].error.high
        return bool((x.high >= (np.asarray(x.spread) + error) * UP).all())
    return True


def may_overflow(form: Format | None, result: Approx, inherited: Bracket) -> bool:
    """Return whether some result before its rounding may reach the overflow threshold."""
    if form is None:
        return False
    size = (np.abs(result.high) + result.spread + inherited.high) * UP
    return not (size < threshold(form)[0]).all()


def overflow_sides(node: Node) -> int:
    """Return the infinities that a step may overflow to: a function stays above its ``floor``."""
    source = node.operands[0]
    if node.verb != "within" or source.verb != "function":
        return ANY_SIDE
    plus = 0 if source.attrs.ceiling is not None else states.PLUS
    return plus | (0 if source.attrs.floor is not None else states.MINUS)


def without_numbers(
    form: Format, result: Approx, error: Bracket, sets: Any, unsure: Any
) -> tuple[Any, Any]:
    """Return sets without numbers where all within ``error`` of the value are beyond the range.

    And where the sets are unsure.
    """
    least, most = threshold(form)
    spread = np.asarray(result.spread)
    reach = np.asarray(sets & states.PLUS) != 0
    lowest = (result.high - (spread + error.high) * UP) * (1 - 2.0**-50)
    highest = (result.high + spread * UP - error.low) * UP
    beyond = reach & (lowest >= most)
    vague = reach & ~beyond & ~(highest < least)
    return np.where(beyond, sets & ~np.uint8(states.FINITE), sets), unsure | vague


def overflow_sets(
    form: Format, result: Approx, inherited: Bracket, sides: int = ANY_SIDE
) -> tuple[Any, Bools]:
    """Return the infinities, of those in ``sides``, that rounding x +- inherited may give.

    And where that is unsure.
    """
    least, most = threshold(form)
    spread = np.asarray(result.spread)
    sets: Any = np.zeros(np.shape(result.high), np.uint8)
    unsure: Any = np.zeros(np.shape(result.high), bool)
    for side, bit in ((result.high, states.PLUS), (-result.high, states.MINUS)):
        if not sides & bit:
            continue
        upper = side + (spread + inherited.high) * UP
        upper = upper + np.abs(upper) * 2.0**-50
        lower = side - spread * UP + inherited.low
        lower = lower - np.abs(lower) * 2.0**-50
        exact = (spread == 0) & (np.asarray(inherited.high) == 0)
        may = np.where(exact, side >= most, ~(upper < least))
        sure = np.where(exact, side >= most, lower >= most)
        vague = (may & ~sure) | (exact & (side > least) & (side < most))
        sets = sets | np.where(sure, bit | states.WILD, 0)
        unsure = unsure | vague
    return sets, unsure


def raw_sets(node: Node, values: list[Approx], bounds: list[Bound], flush: bool) -> tuple[Any, Any]:
    """Return the sets by IEEE rules, without overflow."""
    shape = np.broadcast_shapes(*(x.high.shape for x in values))
    sets = [
        states.FINITE if b.states is None else b.states & ~np.uint8(states.STICKY) for b in bounds
    ]
    unsure = np.zeros(shape, bool)
    if node.verb in ("within", "kept", "flushed"):
        return np.broadcast_to(sets[0], shape), unsure
    if node.verb == "scaled":
        return scaled_sets(node, sets, shape), unsure
    if node.verb == "special":
        return special_sets(node, values, sets, shape)
    if node.verb in CHOICES:
        return choice_sets(node.verb, values, bounds, sets, shape)
    operands = []
    for source, x, b, s in zip(node.operands, values, bounds, sets, strict=True):
        operand, vague = seven(x, b, s, zero_of_either_sign(source), floor_of(source, flush))
        if node.attrs == NONNEGATIVE:
            operand, vague = operand & ~states.NEGATIVE, False
        operands.append(operand)
        unsure = unsure | vague
    return states.step(node.verb, operands), unsure


def scaled_sets(node: Node, sets: list[Any], shape: Any) -> Any:
    """Return the sets of scale * product + bias, signs of infinities by the sign of the scale."""
    product = np.broadcast_to(np.asarray(sets[0], np.uint8), shape)
    if node.attrs.value < 0:
        product = states.step("negative", [states.classes(product, True, True, True, True, True)])
    if len(sets) == 1:
        return product
    bias = np.broadcast_to(np.asarray(sets[1], np.uint8), shape)
    pair = [states.classes(s, True, True, True, True, True) for s in (product, bias)]
    return states.step("add", pair)


def zero_of_either_sign(node: Node) -> bool:
    """Return whether an exact zero may be stored with either sign.

    A loop over negative zeros gives -0.0, and 0.0 where it starts from 0.0; a maximum of zeros of
    both signs may be either.
    """
    if node not in EITHER:
        summed = node.verb in ("sum", "dot", "paired_dot", "prefix", "largest")
        EITHER[node] = summed or any(zero_of_either_sign(x) for x in node.operands)
    return EITHER[node]


def seven(
    x: Approx, bound: Bound, sets: Any, either: bool = False, floor: Fraction | None = None
) -> tuple[Any, Any]:
    """Return the sets over the seven classes and where a sign is unsure.

    ``either``: an exact zero may have either sign. No stored number is below ``floor``. A number
    that is stored for an infinity or NaN, whose high word is 0, is no larger than the error.
    """
    spread = np.asarray(x.spread)
    # Of an exact value the sign of a rounded difference is that of the difference.
    alone = spread == 0
    wide = np.where(alone, bound.error.high, (spread + bound.error.high) * UP)
    near = np.where(alone, bound.error.low, np.maximum(bound.error.low - spread * UP, 0.0))
    below, above = x.high - wide < 0, x.high + wide > 0
    sure_below, sure_above = x.high - near < 0, x.high + near > 0
    zero = ~((x.high - wide > 0) | (x.high + wide < 0))
    sure_zero = ~((x.high - near > 0) | (x.high + near < 0))
    if floor is not None:
        below, sure_below = below & False, sure_below & False
        zero, sure_zero = zero & (floor == 0), sure_zero & (floor == 0)
    exact = (wide == 0) & (not either)
    if x.special is not None:
        exact = exact & (x.special == 0)  # a zero stored for NaN may have either sign
    minus = np.where(exact, np.signbit(x.high), True)
    plus = np.where(exact, ~np.signbit(x.high), True)
    vague = (below & ~sure_below) | (above & ~sure_above) | (zero & ~sure_zero)
    vague = vague & ((np.asarray(sets) & states.FINITE) != 0)
    return states.classes(sets, below, zero, above, minus, plus), vague


def choice_sets(
    verb: str, values: list[Approx], bounds: list[Bound], sets: list[Any], shape: Any
) -> tuple[Any, Any]:
    """Return the chosen candidate's set, both where what is compared carries an error."""
    if verb == "with_sign":
        mirrored = states.step(
            "negative", [states.classes(sets[0], False, False, False, True, True)]
        )
        finite = np.asarray(sets[0]) & states.FINITE
        mirrored = np.asarray(sets[0]) | mirrored | finite
        return mirrored | np.zeros(shape, np.uint8), np.zeros(shape, bool)
    first, second = (np.broadcast_to(np.asarray(s, np.uint8), shape) for s in sets[-2:])
    if verb == "by_sign":  # asked only where either branch may be taken: of NaN, for one
        return first | second, np.zeros(shape, bool)
    one, two = (Approx(np.full(shape, value)) for value in (1.0, 2.0))
    chosen = STEPS[verb](None, *values[:-2], one, two)
    alone = np.where(chosen.high == 1, first, second)
    may, surely = (
        np.any([np.broadcast_to(np.asarray(end) > 0, shape) for end in ends], axis=0)
        for ends in zip(*((b.error.high, b.error.low) for b in bounds[:-2]), strict=True)
    )
    vague = (first != second) & ~surely & (may | ~chosen.known())
    return np.where(may | ~chosen.known(), first | second, alone), vague


def special_sets(node: Node, values: list[Approx], sets: list[Any], shape: Any) -> tuple[Any, Any]:
    """Return the part's own set and Annex G's answer; any set where an operand is not certain."""
    own = np.broadcast_to(sets[0], shape).astype(np.uint8)
    given = np.zeros(shape, bool)
    certain = np.ones(shape, bool)
    for s in sets[1:]:
        given = given | (np.asarray(s) != states.FINITE)
        certain = certain & np.isin(s, (states.FINITE, states.PLUS, states.MINUS, states.NAN))
    classes = [signs(x) for x in values[1:]]
    answer = states.of_values(annex_g(*node.attrs, *(values for values, _ in classes)))
    anything = states.FINITE | states.PLUS | states.MINUS | states.NAN
    more = np.where(certain, answer, anything)
    by_zero = maybe_zero = np.zeros(shape, bool)
    if node.attrs[0] == "divide":
        by_zero = np.all([(x == 0) & ~unsure for x, unsure in classes[2:]], axis=0)
        maybe_zero = np.all([(x == 0) | unsure for x, unsure in classes[2:]], axis=0)
    more = np.where(by_zero, states.either_infinity(more), more)
    vague = np.any([unsure for _, unsure in classes], axis=0) & (given | by_zero) & certain
    return np.where(given | by_zero, own | more, own), vague | (maybe_zero & ~by_zero & ~given)
