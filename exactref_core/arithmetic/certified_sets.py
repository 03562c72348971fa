"""Which specials one stored element may be, certified."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from exactref_core.arithmetic import states
from exactref_core.arithmetic.certified import STEPS, Scalar, finite, is_negative, number, sign
from exactref_core.arithmetic.certified_prefixes import over_one_denominator
from exactref_core.arithmetic.floors import floor_of
from exactref_core.arithmetic.graph import NONNEGATIVE, Node
from exactref_core.arithmetic.rules import NEARLY
from exactref_core.arithmetic.special_certified_sets import special_set
from exactref_core.arithmetic.step_sets import ANY_SIDE, scaled_sets, zero_of_either_sign
from exactref_core.arithmetic.walk_term import WalkTerm
from exactref_core.exact.grid import reaches
from exactref_core.exact.interval import Interval, rational
from exactref_core.exact.nonnegative import ScalarAlgebra, Unbounded, check_told
from exactref_core.formats.format import Format

if TYPE_CHECKING:
    from exactref_core.arithmetic.certified_bounds import CertifiedBounds
    from exactref_core.arithmetic.scalar_bound import ScalarBound, ScalarTerm

__all__ = [
    "at_least",
    "branch",
    "flips",
    "ieee_product",
    "is_loose",
    "never_divides",
    "overflow_set",
    "pair_set",
    "scales",
    "step_set",
    "sum_set",
    "without_numbers",
]


def untold(value: Any, error: Any) -> bool:
    """Return whether nothing tells a value, of either sign, from its error: all may be stored."""
    try:
        for side in (value, -value):
            check_told(side, error)
    except Unbounded:
        return True
    return False


def at_least(algebra: ScalarAlgebra, value: Any, threshold: Any) -> bool:
    """Return whether a certified number is at or above a rational."""
    return reaches(algebra, value, threshold)


def overflow_set(
    algebra: ScalarAlgebra, form: Format, value: Any, error: Any, sides: int = ANY_SIDE
) -> int:
    """Return the infinities, of those in ``sides``, that rounding value +- error may give."""
    threshold = rational(form.overflow_threshold)
    result = 0
    if untold(value, error):
        return (sides & ANY_SIDE) | states.WILD
    if sides & states.PLUS and reaches(algebra, value + error, threshold):
        result |= states.PLUS | states.WILD
    if sides & states.MINUS and reaches(algebra, -value + error, threshold):
        result |= states.MINUS | states.WILD
    return result


def without_numbers(algebra: ScalarAlgebra, form: Format, value: Any, error: Any, sets: int) -> int:
    """Return a set without numbers, if all within ``error`` of the value are beyond the range."""
    if untold(value, error):
        return sets
    beyond = reaches(algebra, value - error, rational(form.overflow_threshold))
    return sets & ~states.FINITE if beyond else sets


def seven(
    algebra: ScalarAlgebra,
    value: Scalar,
    error: Any,
    sets: int,
    either: bool = False,
    floor: Fraction | None = None,
) -> int:
    """Return the set over the seven classes of a stored value; `Unsure` where a sign is not told.

    ``either``: an exact zero may have either sign. No stored number is below ``floor``.
    An enclosure that straddles zero is no knowledge of what may be stored.
    """
    if not finite(value):
        # What is stored for it as a number is no larger than the error.
        moved = isinstance(error, Interval) or error != 0
        below, zero = moved and floor is None, not floor
        return int(states.classes(sets, below, zero, moved, True, True))
    x = number(value)
    if not isinstance(error, Interval) and error == 0:
        side = sign(value)
        minus = side == 0 and (either or math.copysign(1.0, side) < 0)
        plus = side == 0 and (either or not minus)
        return int(states.classes(sets, side < 0, side == 0, side > 0, minus, plus))
    if untold(x, error):
        return int(states.classes(sets, True, True, True, True, True))
    high = sign(x + error)
    low = 1 if floor else sign(x - error)
    if floor is not None:
        low = max(low, 0)
    return int(states.classes(sets, low < 0, low <= 0 <= high, high > 0, True, True))


def pair_set(verb: str, x: ScalarTerm, y: ScalarTerm) -> int:
    """Return the set of a product or sum of two terms, overflow left out."""
    algebra = ScalarAlgebra(64)
    operands = [seven(algebra, t.value, t.error, t.states) for t in (x, y)]
    wild = (x.states | y.states) & states.STICKY
    return int(states.step(verb, operands)) | wild


def ieee_product(x: Scalar, y: Scalar) -> float:
    """Return the product of two values that are not both finite."""
    with np.errstate(all="ignore"):
        return float(np.float64(sign(x)) * np.float64(sign(y)))


def step_set(
    reading: CertifiedBounds, node: Node, values: list[Scalar], bounds: list[ScalarBound]
) -> int:
    """Return the set of one step, overflow left out."""
    verb, algebra = node.verb, reading.algebra
    wild = 0
    for bound in bounds:
        wild |= bound.states & states.STICKY
    sets = [bound.states & ~states.STICKY for bound in bounds]
    if verb in ("within", "kept", "flushed"):
        return sets[0] | wild
    if verb == "scaled":
        return int(scaled_sets(node, sets, ())) | wild
    if verb == "special":
        return special_set(reading, node, values, bounds, sets) | wild
    if verb == "with_sign":
        mirror = {states.PLUS: states.MINUS, states.MINUS: states.PLUS}
        both = sets[0]
        for bit, other in mirror.items():
            both |= other if sets[0] & bit else 0
        return both | wild
    if verb in ("larger", "by_sign"):
        # A choice by sign gets here only where either branch may be taken: of NaN, for one.
        if verb == "by_sign" or any(
            isinstance(b.error, Interval) or b.error != 0 for b in bounds[:-2]
        ):
            return sets[-2] | sets[-1] | wild
        first, second = rational(1), rational(2)
        chosen = STEPS[verb](algebra, None, *values[:-2], first, second)
        return (sets[-2] if chosen == first else sets[-1]) | wild
    operands = [
        seven(
            algebra,
            x,
            b.error,
            s,
            zero_of_either_sign(source),
            floor_of(source, reading.flush),
        )
        for source, x, b, s in zip(node.operands, values, bounds, sets, strict=True)
    ]
    if node.attrs == NONNEGATIVE:
        operands = [operand & ~states.NEGATIVE for operand in operands]
    return int(states.step(verb, operands)) | wild


def branch(reading: CertifiedBounds, node: Node, flat: int) -> Node | None:
    """Return the operand that a choice by sign takes; None where what is stored may be NaN, or take
    the other one."""
    source = node.operands[0]
    if reading.bound(source, flat).states & states.NAN or flips(reading, node, flat):
        return None
    return node.operands[2 if is_negative(reading.exact.value(source, flat)) else 1]


def flips(reading: CertifiedBounds, node: Node, flat: int) -> bool:
    """Return whether a choice by the sign of what is stored may be another one than by that of the
    exact value; NaN is taken for a number that is not negative."""
    source = node.operands[0]
    value, bound = reading.exact.value(source, flat), reading.bound(source, flat)
    if bound.states & (states.PLUS | states.NAN if is_negative(value) else states.MINUS):
        return True
    if is_loose(value, bound):
        return True
    if not isinstance(bound.error, Interval) and bound.error == 0:
        return False
    size = reading.algebra.absolute(number(value)) if finite(value) else rational(0)
    return at_least(reading.algebra, bound.error * rational(NEARLY) - size, rational(0))


def stays_finite(
    algebra: ScalarAlgebra, form: Format, terms: list[ScalarTerm], values: list[Any]
) -> bool:
    """Return whether certainly no partial sum overflows, in any order: no walk is needed then."""
    if any(term.states != states.FINITE for term in terms):
        return False
    size = algebra.total([algebra.absolute(x) for x in values])
    size = size + algebra.total([term.error for term in terms])
    reach = size * algebra.power(form.unit_roundoff, len(terms))
    return bool(algebra.bounds(reach)[1] < rational(form.overflow_threshold))


def sum_set(
    reading: CertifiedBounds, form: Format, terms: list[ScalarTerm], values: list[Any]
) -> int:
    """Return the set of a sum of terms, from the standard's walk."""
    algebra, threshold = reading.algebra, rational(form.overflow_threshold)
    if stays_finite(algebra, form, terms, values):
        return states.FINITE
    wild = 0
    for term in terms:
        wild |= term.states & states.STICKY
    # Bounds are proportional to the terms: integers take the place of fractions.
    unit, numbers = over_one_denominator(algebra, [*values, *(term.error for term in terms)])
    values, errors = numbers[: len(terms)], numbers[len(terms) :]
    walk = [
        WalkTerm(value, error, term.states & ~states.STICKY)
        for value, error, term in zip(values, errors, terms, strict=True)
    ]
    found: int = reading.standard.specials(
        walk, algebra, form.unit_roundoff, lambda x: reaches(algebra, x, threshold * unit)
    )
    return found | wild


def scales(divisor: Scalar, bound: ScalarBound) -> bool:
    """Return whether a divisor is a power of two, whose reciprocal is exact."""
    if not finite(divisor) or isinstance(bound.error, Interval) or bound.error != 0:
        return False
    value = number(divisor)
    if isinstance(value, Interval):
        return False
    top, bottom = abs(int(value.numerator)), int(value.denominator)
    return top > 0 and top & (top - 1) == 0 and bottom & (bottom - 1) == 0


def never_divides(divisor: Scalar, error: Any, bound: ScalarBound) -> bool:
    """Return whether a divisor is certainly stored as an infinity, NaN or 0."""
    exact = not isinstance(error, Interval) and bool(error == 0)
    if finite(divisor):
        return exact and sign(divisor) == 0
    return exact or not bound.states & states.FINITE  # a number stored for it is 0


def is_loose(value: Scalar, bound: ScalarBound) -> bool:
    """Return whether a number may be stored for an infinity or NaN."""
    return not finite(value) and bool(bound.states & states.FINITE)
