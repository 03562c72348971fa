"""Which infinities and NaN a complex step gives of infinities, NaN and zeros, certified."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from exactref_core.arithmetic import states
from exactref_core.arithmetic.certified import Scalar, finite, number, sign
from exactref_core.arithmetic.fast_choices import annex_g
from exactref_core.arithmetic.graph import Node
from exactref_core.arithmetic.infinities import ANNEX_G, PARTS, Special
from exactref_core.arithmetic.special_sets import SINGLE, SPECIALS, recovered_of_overflow
from exactref_core.exact.grid import reaches
from exactref_core.exact.interval import Interval, rational

if TYPE_CHECKING:
    from exactref_core.arithmetic.certified_bounds import CertifiedBounds, ScalarBound

__all__ = ["special_set"]


def special_set(
    reading: CertifiedBounds,
    node: Node,
    values: list[Scalar],
    bounds: list[ScalarBound],
    sets: list[int],
) -> int:
    """Return the part's own set, and that of the rule beside it or instead of it."""
    step: Special = node.attrs
    own, given = sets[0], any(s != states.FINITE for s in sets[1:])
    if step.name == "any":
        return own | SPECIALS if given else own
    if step.name == "dot":
        if not own & SPECIALS:
            return own
        certain = not finite(values[0]) and not own & states.FINITE
        return sets[1] if step.rule == ANNEX_G and certain else own | sets[1]
    by_zero = step.name == "divide" and all(finite(v) and sign(v) == 0 for v in values[3:5])
    if not by_zero and (step.rule == PARTS or not given):
        return own
    certain = all(s in SINGLE for s in sets[1:]) and not any(
        finite(v) and untold(reading, v, b.error)
        for v, b in zip(values[1:], bounds[1:], strict=True)
    )
    if not certain:
        return own | SPECIALS | (states.FINITE if step.name != "multiply" else 0)
    classes = [np.asarray(sign(v)) for v in values[1:]]
    found = int(states.of_values(annex_g(step.name, step.part, *classes)))
    if step.name != "sqrt" and not by_zero and overflows(reading, node, values[1:], bounds[1:]):
        more: Any = SPECIALS
        if step.name == "multiply":
            more = states.of_values(recovered_of_overflow(step.part, classes))
        return own | found | int(more)
    if step.rule == ANNEX_G:
        lost = step.name == "divide" and vanishes(reading, node, values[3:], bounds[3:])
        return own | found if lost else found
    return own | int(states.either_infinity(found) if by_zero else found)


def untold(reading: CertifiedBounds, value: Scalar, error: Any) -> bool:
    """Return whether an operand's error may change its sign or make it zero."""
    if not isinstance(error, Interval) and error == 0:
        return False
    size = reading.algebra.absolute(number(value))
    return bool(reaches(reading.algebra, error - size, rational(0)))


def vanishes(
    reading: CertifiedBounds, node: Node, values: list[Scalar], bounds: list[ScalarBound]
) -> bool:
    """Return whether a part of a divisor may be lost beside the other, or carries an error."""
    form, algebra = node.compute, reading.algebra
    if form is None or any(isinstance(b.error, Interval) or b.error != 0 for b in bounds):
        return form is not None
    if not all(finite(v) for v in values):
        return False
    c, d = (algebra.absolute(number(v)) for v in values)
    scale, none = rational(form.smallest_normal * 4), rational(0)
    near = [reaches(algebra, big * scale - small, none) for big, small in ((c, d), (d, c))]
    return any(near) and all(sign(v) != 0 for v in values)


def overflows(
    reading: CertifiedBounds, node: Node, values: list[Scalar], bounds: list[ScalarBound]
) -> bool:
    """Return whether a product, or a quotient, of finite parts overflows; see `overflowing`."""
    form, algebra = node.compute, reading.algebra
    if form is None:
        return False
    a, b, c, d = (
        algebra.absolute(number(v)) + bound.error if finite(v) else rational(0)
        for v, bound in zip(values, bounds, strict=True)
    )
    x, y, threshold = algebra.maximum(a, b), algebra.maximum(c, d), form.overflow_threshold
    if node.attrs.name == "multiply":
        return bool(reaches(algebra, x * y, rational(threshold)))
    over = bool(reaches(algebra, x - y * rational(threshold / 4), rational(0)))
    return over and bool(reaches(algebra, x, rational(form.eta)))
