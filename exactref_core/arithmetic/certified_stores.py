"""From a certified error bound to the ends of one element's range."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from exactref_core.arithmetic import states
from exactref_core.arithmetic.algebraic_reading import settled
from exactref_core.arithmetic.certified import CertifiedReading, Scalar, finite, number
from exactref_core.arithmetic.floors import floor_of
from exactref_core.arithmetic.graph import Node, Store, is_float_input, sum_format
from exactref_core.exact.grid import ceil_number, floor_number, round_number, upward
from exactref_core.exact.interval import Interval, Unsure, rational
from exactref_core.exact.nonnegative import Unbounded, check_bounded
from exactref_core.formats.format import Format
from exactref_core.formats.rounding import Overflow, Rounding, overflow_value, round_ratio

if TYPE_CHECKING:
    from exactref_core.arithmetic.certified_bounds import CertifiedBounds, ScalarBound

__all__ = ["ScalarOutput", "output", "rounded_exact", "rounded_value", "stored"]


@dataclass(frozen=True, eq=False)
class ScalarOutput:
    """One output element: ends of the range (NaN: none) and what it may be.

    ``low`` and ``high`` are the finite ends before a final flush to zero.
    """

    low: float
    high: float
    states: int


def rounded_value(algebra: Any, value: Scalar, store: Store) -> float:
    """Return the exact value rounded once; `Unsure` where its enclosure does not decide."""
    if not finite(value):
        return float(round_special(value, store.format, store.overflow))
    negative = isinstance(value, float) and math.copysign(1.0, value) < 0
    return round_number(
        algebra, number(value), store.format, store.rounding, store.overflow, negative
    )


def rounded_exact(exact: CertifiedReading, node: Node, flat: int, store: Store) -> float:
    """Return one element rounded once, decided by algebra where its enclosure does not."""
    try:
        return rounded_value(exact.arithmetic, exact.value(node, flat), store)
    except Unsure:
        value = settled(exact, node, flat, store.format)
        return rounded_value(exact.arithmetic, value, store)


def round_special(value: float, form: Format, overflow: Overflow) -> float:
    """Return an infinity or NaN as the format stores it."""
    if math.isnan(value) or form.infinity:
        return value
    return overflow_value(value < 0, form, Rounding.NEAREST_EVEN, overflow)


def is_exact_zero(value: Any) -> bool:
    """Return whether a number is certainly 0."""
    return not isinstance(value, Interval) and value == 0


def output(reading: CertifiedBounds, node: Node, flat: int) -> ScalarOutput:
    """Return the range of one output element, given its store node."""
    store: Store = node.attrs
    source = node.operands[0]
    rounded = rounded_exact(reading.exact, source, flat, store)
    bound = reading.bound(source, flat)
    value = reading.exact.value(source, flat)
    form, compute = store.format, node.compute
    sets = bound.states & ~states.STICKY
    special = not finite(value)
    if compute is None or (special and (math.isfinite(rounded) or not sets & states.FINITE)):
        sets |= int(states.of_values(rounded))
        low = high = rounded if math.isfinite(rounded) else math.nan
        if store.overflow is Overflow.SATURATE and form.is_float:
            low, high = saturate(low, high, sets, form)
        return ScalarOutput(low, high, held(sets, form))
    # A finite number stored for an infinity or NaN is bounded by its own size.
    x = rational(0) if special else number(value)
    error = bound.inherited if store.lone else bound.error
    check_bounded(error)
    if not (isinstance(error, Interval) and isinstance(x, Interval) and x.kin(error)):
        error = upward(reading.algebra, error)
    if store.lone and is_exact_zero(error):
        found = lone(reading.algebra, x, compute, store)
        low, high = min(found), max(found)
        more = 0
        for candidate in found:
            more |= int(states.of_values(candidate)) & ~states.FINITE
    else:
        clip = bound.clip
        if clip is None and floor_of(source, reading.flush) is not None:
            clip = rational(0), None
        low, high = outward(reading, node, flat, x, error, clip)
        more = store_set(reading.algebra, x, error, compute, store)
    if sets & states.FINITE:
        sets |= more
    sets |= int(states.of_values(rounded)) & ~states.FINITE
    low, high = cap(low, high, form)
    if store.overflow is Overflow.SATURATE:
        low, high = saturate(low, high, sets, form)
    return ScalarOutput(low, high, held(sets, form))


def held(sets: int, form: Format) -> int:
    """Return a set as the format stores it: an infinity that it does not have is NaN."""
    infinities = states.PLUS | states.MINUS
    if form.is_integer or form.infinity or not sets & infinities:
        return sets
    return (sets & ~infinities) | states.NAN


def lone(algebra: Any, x: Any, compute: Format, store: Store) -> list[float]:
    """Return what a lone step may give: rounded once, or through the compute format."""
    rule = (store.format, store.rounding, store.overflow)
    found = [round_number(algebra, x, *rule)]
    if compute != store.format:
        middle = round_number(algebra, x, compute)
        found.append(round_float(middle, *rule))
    side = -math.inf if algebra.bounds(x)[0] < 0 else math.inf
    return [side if math.isnan(v) else v for v in found]


def round_float(value: float, form: Format, rounding: Rounding, overflow: Overflow) -> float:
    """Return a float64 value rounded once into a format."""
    if not math.isfinite(value):
        if overflow is Overflow.SATURATE:
            return math.copysign(float(form.max), value)
        return round_special(value, form, overflow)
    ratio = Fraction(value)
    negative = math.copysign(1.0, value) < 0
    return round_ratio(ratio.numerator, ratio.denominator, form, rounding, overflow, negative)


def outward(
    reading: CertifiedBounds, node: Node, flat: int, x: Any, error: Any, clip: Any
) -> tuple[float, float]:
    """Return x -+ error, drawn back to ``clip``, outward on the compute grid, then stored.

    Algebra may tell on which side of the grid an end is that the enclosure of x leaves open.
    """
    store, form = node.attrs, sum_format(node)
    rule, ends = (store.format, store.rounding, store.overflow), []
    for find, shift in ((lower_end, error), (upper_end, -error)):
        try:
            end = find(reading.algebra, x, error, clip, form)
        except Unsure:
            if isinstance(error, Interval):
                raise
            near = settled(reading.exact, node.operands[0], flat, form, shift)
            end = find(reading.algebra, near, error, clip, form)
        found = round_ratio(end.numerator, end.denominator, *rule)
        ends.append((-math.inf if end < 0 else math.inf) if math.isnan(found) else found)
    return ends[0], ends[1]


def lower_end(algebra: Any, x: Any, error: Any, clip: Any, form: Format) -> Any:
    """Return x - error, down to a number of the grid."""
    below = x - error
    below = below if clip is None else algebra.maximum(below, clip[0])
    return floor_number(algebra, below, form)


def upper_end(algebra: Any, x: Any, error: Any, clip: Any, form: Format) -> Any:
    """Return x + error, up to a number of the grid."""
    above = x + error
    above = above if clip is None or clip[1] is None else -algebra.maximum(-above, -clip[1])
    return ceil_number(algebra, above, form)


def store_set(algebra: Any, x: Any, error: Any, compute: Format, store: Store) -> int:
    """Return the infinities (NaN in formats without them) that the final store itself may give."""
    if compute == store.format and not store.lone:
        return 0
    rule = (store.format, store.rounding, store.overflow)
    result = 0
    for end, bit in ((x + error, states.PLUS), (x - error, states.MINUS)):
        found = [round_number(algebra, end, *rule)]
        if store.lone and compute != store.format:
            found.append(round_float(round_number(algebra, end, compute), *rule))
        side = math.inf if bit == states.PLUS else -math.inf
        if any(value == side for value in found):
            result |= bit
        if any(math.isnan(value) for value in found):
            result |= states.NAN
    return result


def cap(low: float, high: float, form: Format) -> tuple[float, float]:
    """Return the finite ends; NaN twice where both are beyond the range on one side."""
    top = float(form.max)
    if low > top or high < -top:
        return math.nan, math.nan
    return max(low, -top), min(high, top)


def saturate(low: float, high: float, sets: int, form: Format) -> tuple[float, float]:
    """Return the range widened to the largest value where an infinity may be stored as it."""
    top = float(form.max)
    if sets & states.PLUS:
        low, high = (top if math.isnan(low) else low), top
    if sets & states.MINUS:
        low, high = -top, (-top if math.isnan(high) else high)
    return low, high


def stored(reading: CertifiedBounds, node: Node, flat: int) -> ScalarBound:
    """Return the bound of an earlier call's stored element, for the next call to use."""
    from exactref_core.arithmetic.certified_bounds import ScalarBound

    store: Store = node.attrs
    found = output(reading, node, flat)
    value = reading.exact.value(node, flat)
    zero = rational(0)
    if not finite(value):
        saturates = store.overflow is Overflow.SATURATE and math.isinf(value)
        if saturates or reading.bound(node.operands[0], flat).states & states.FINITE:
            raise Unbounded
    if not finite(value) or math.isnan(found.low):
        return ScalarBound(zero, zero, found.states)
    algebra, x = reading.algebra, number(value)
    low, high = found.low, found.high
    if reading.flush and store.format.is_float and not is_float_input(node):
        low, high = flushed(low, high, store.format)
    error = algebra.maximum(x - rational(low), rational(high) - x)
    error = upward(algebra, error)
    carried = states.CARRIED if found.states & (states.PLUS | states.MINUS) else 0
    return ScalarBound(error, error, found.states | carried)


def flushed(low: float, high: float, form: Format) -> tuple[float, float]:
    """Return ends moved by the smallest normal number, inward to the format."""
    lower = Fraction(low) - form.smallest_normal
    upper = Fraction(high) + form.smallest_normal
    return (
        round_ratio(lower.numerator, lower.denominator, form, Rounding.UP),
        round_ratio(upper.numerator, upper.denominator, form, Rounding.DOWN),
    )
