"""Which infinities and NaN complex steps give of infinities, NaN and zeros, as arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from exactref_core.arithmetic import states
from exactref_core.arithmetic.approx import Approx, signs
from exactref_core.arithmetic.bound import Bound
from exactref_core.arithmetic.fast_choices import annex_g
from exactref_core.arithmetic.graph import Node
from exactref_core.arithmetic.infinities import ANNEX_G, PARTS, Special
from exactref_core.formats.format import Format

__all__ = ["SPECIALS", "special_sets"]

SPECIALS = states.PLUS | states.MINUS | states.NAN
SINGLE = (states.FINITE, states.PLUS, states.MINUS, states.NAN)
UP, DOWN = 1 + 2.0**-50, 1 - 2.0**-50


def special_sets(
    node: Node, values: list[Approx], bounds: list[Bound], sets: list[Any], shape: Any
) -> tuple[Any, Any]:
    """Return the part's own set, that of the rule beside or instead of it; where it is unsure."""
    step: Special = node.attrs
    own = np.broadcast_to(sets[0], shape).astype(np.uint8)
    given = np.zeros(shape, bool)
    for s in sets[1:]:
        given = given | (np.asarray(s) != states.FINITE)
    if step.name == "any":
        return np.where(given, own | np.uint8(SPECIALS), own), np.zeros(shape, bool)
    if step.name == "dot":
        recovered = np.where(own & SPECIALS != 0, own | sets[1], own)
        if step.rule == ANNEX_G and values[0].special is not None:
            certain = (values[0].special != 0) & (own & states.FINITE == 0)
            recovered = np.where(certain, sets[1], recovered)
        return recovered.astype(np.uint8), np.zeros(shape, bool)
    return of_functions(node, values, bounds, own, given, sets)


def of_functions(
    node: Node, values: list[Approx], bounds: list[Bound], own: Any, given: Any, sets: list[Any]
) -> tuple[Any, Any]:
    """Return what Annex G's functions add; any set where an operand is not certain."""
    step: Special = node.attrs
    doubtful, unsure = untold_signs(values[1:], bounds[1:])
    certain = ~np.broadcast_to(doubtful, own.shape)
    for s in sets[1:]:
        certain = certain & np.isin(s, SINGLE)
    classes = [signs(x) for x in values[1:]]
    answer = states.of_values(annex_g(step.name, step.part, *(value for value, _ in classes)))
    anything = SPECIALS if step.name == "multiply" else states.FINITE | SPECIALS
    more = np.where(certain, answer, anything)
    by_zero = maybe_zero = np.zeros(own.shape, bool)
    if step.name == "divide":
        by_zero = np.all([(x == 0) & ~vague for x, vague in classes[2:]], axis=0)
        maybe_zero = np.all([(x == 0) | vague for x, vague in classes[2:]], axis=0)
    if step.rule != ANNEX_G:
        more = np.where(by_zero, states.either_infinity(more), more)
    if step.rule == PARTS:
        given = np.zeros(own.shape, bool)
    vague = unsure | np.any([vague for _, vague in classes], axis=0)
    vague = vague & (given | by_zero) & certain
    vague = vague | (maybe_zero & ~by_zero & ~given)
    beside = own if step.rule != ANNEX_G else np.where(certain, np.uint8(0), own)
    if step.name != "sqrt" and node.compute is not None and np.any(given):
        lost, unsure = overflowing(node.compute, step.name, values[1:], bounds[1:])
        found: Any = np.uint8(SPECIALS)  # what a scaled dividend that overflows leaves
        if step.name == "multiply":
            found = states.of_values(
                recovered_of_overflow(step.part, [value for value, _ in classes])
            )
        lost, unsure = lost & ~by_zero, unsure & ~by_zero
        more, beside = np.where(lost, more | found, more), np.where(lost, own, beside)
        vague = vague | (unsure & given & certain)
    if step.name == "divide" and step.rule == ANNEX_G and node.compute is not None:
        lost, unsure = vanishing(node.compute, values[3:], bounds[3:])
        beside, vague = np.where(lost, own, beside), vague | (unsure & given & certain)
    return np.where(given | by_zero, beside | more, own), vague


def recovered_of_overflow(part: int, classes: list[Any]) -> Any:
    """Return what Annex G makes of a product where a NaN meets products that overflow.

    NaN counts as 0 there, and the product of what is left is multiplied with an infinity. With an
    infinity among the operands it is none of this: NaN.
    """
    a, b, c, d = (np.where(np.isnan(x), np.copysign(0.0, x), x) for x in classes)
    with np.errstate(all="ignore"):
        found = np.inf * (a * d + b * c if part else a * c - b * d)
    return np.where(np.any(np.isinf(np.broadcast_arrays(*classes)), axis=0), np.nan, found)


def untold_signs(values: list[Approx], bounds: list[Bound]) -> tuple[Any, Any]:
    """Return where an operand's error may change its sign or make it zero, and where maybe."""
    sure: Any = np.zeros((), bool)
    may = sure
    for x, bound in zip(values, bounds, strict=True):
        carried = np.asarray(bound.error.high) > 0
        if not carried.any():
            continue
        size, spread = np.abs(x.high), np.asarray(x.spread) * UP
        own = carried & (True if x.special is None else x.special == 0)
        may = may | (own & ((size - spread) * DOWN <= bound.error.high))
        sure = sure | (own & ((size + spread) * UP <= bound.error.low) & (bound.error.low > 0))
    return sure, may & ~sure


def vanishing(form: Format, values: list[Approx], bounds: list[Bound]) -> tuple[Any, Any]:
    """Return where a part of a divisor may be lost beside the other, and where float64 cannot tell.

    Annex G scales a divisor by a power of two, to a larger part in [1, 2): one that is smaller by
    2^(emin + 2) may be subnormal then.
    """
    c, d = (np.abs(x.high) for x in values)
    half = form.emin // 2
    small, big = np.minimum(c, d) * 2.0**-half, np.maximum(c, d) * 2.0 ** (form.emin + 2 - half)
    carried = np.any(np.broadcast_arrays(*(np.asarray(b.error.high) > 0 for b in bounds)), axis=0)
    unsure = np.any(np.broadcast_arrays(*(np.asarray(x.spread) > 0 for x in values)), axis=0)
    return carried | ((small > 0) & (small <= big)), unsure & ~carried


def overflowing(
    form: Format, name: str, values: list[Approx], bounds: list[Bound]
) -> tuple[Any, Any]:
    """Return where a product or quotient of finite parts overflows, and where float64 cannot tell.

    A quotient is that of the larger parts, and may be smaller by 1/4.
    """
    from exactref_core.arithmetic.step_sets import threshold

    ends = []
    for x, bound in zip(values, bounds, strict=True):
        finite = np.asarray(True if x.special is None else x.special == 0)
        size = np.where(finite, np.abs(x.high), 0.0)
        spread = np.where(finite, np.asarray(x.spread), 0.0) * UP
        error = [np.where(finite, end, 0.0) for end in (bound.error.low, bound.error.high)]
        ends.append((np.maximum(size - spread + error[0], 0.0) * DOWN, (size + spread + error[1])))
    (low_a, a), (low_b, b), (low_c, c), (low_d, d) = ends
    low_top, top = np.maximum(low_a, low_b), np.maximum(a, b)
    low_other, other = np.maximum(low_c, low_d), np.maximum(c, d)
    under, over = threshold(form)
    if name == "divide":
        over = min(over, float(form.max) * UP)
        sure = (low_top >= other * UP * over / 4) & (low_top > 0)
        may = ~(top * UP < low_other * DOWN * under / 4) & (top > 0)
    else:
        sure, may = low_top * low_other * DOWN >= over, ~(top * other * UP**3 < under)
    return sure, may & ~sure
