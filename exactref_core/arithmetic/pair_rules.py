"""What a function of two stored values may be, and how far from the exact value: one element."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from exactref_core.arithmetic import states
from exactref_core.arithmetic.graph import Node, is_float_input
from exactref_core.arithmetic.step_sets import zero_of_either_sign
from exactref_core.exact.interval import Interval, Number, rational
from exactref_core.exact.nonnegative import ScalarAlgebra, Unbounded, is_exact_zero
from exactref_core.exact.pairs import Box, PairFunction, is_special, plain

__all__ = ["Stored", "bound", "signs_of"]

SPECIALS = ((states.PLUS, math.inf), (states.MINUS, -math.inf), (states.NAN, math.nan))


@dataclass(frozen=True)
class Stored:
    """An operand: its exact value, the error that it carries, what it may be.

    ``either``: a zero may be stored with either sign. ``apart``: of a flushed input, 0 or the
    value itself is stored, and nothing between. ``least``: +0 is stored, or that much or more.
    """

    value: Any
    error: Number
    sets: int
    either: bool
    apart: bool
    least: Number | None = None

    def choices(self, algebra: ScalarAlgebra) -> list[Any]:
        """Return what may be stored: a box of numbers, infinities and NaN."""
        found: list[Any] = [special for bit, special in SPECIALS if self.sets & bit]
        if self.sets & states.FINITE:
            if is_special(self.value):
                raise Unbounded  # any number may be stored for it
            alone = self.apart and not is_exact_zero(self.error)
            error = rational(0) if alone else self.error
            box = Box.around(algebra, plain(self.value), error)
            found += [box] if self.least is None else self.positive(algebra, box)
            if alone:
                found += [0.0] if self.least is not None else [0.0, -0.0]
        return found

    def positive(self, algebra: ScalarAlgebra, box: Box) -> list[Any]:
        """Return the numbers of a box that are stored, 0 apart."""
        if box.is_exact:
            return [0.0] if is_exact_zero(box.value) else [box]
        ends = (algebra.maximum(end, self.least) for end in (box.low, box.high))
        found: list[Any] = [Box(box.value, box.error, *ends)]
        return found if box.side(algebra) > 0 else [*found, 0.0]

    @property
    def certain(self) -> bool:
        """Whether the value itself is stored."""
        alone = self.sets & ~states.STICKY == int(states.of_values(classed(self.value)))
        return alone and is_exact_zero(self.error)


def signs_of(node: Node, source: Node) -> tuple[bool, bool, Number | None]:
    """Return `Stored.either`, ``apart`` and ``least`` of an operand.

    A magnitude is stored as a multiple of eta, whatever it is.
    """
    if node.attrs.of_magnitudes and source is node.operands[0] and node.compute is not None:
        return False, is_float_input(source), rational(node.compute.eta)
    return zero_of_either_sign(source), is_float_input(source), None


def classed(value: Any) -> float:
    """Return a float of the class of a value."""
    return value if is_special(value) else 0.0


def bound(
    function: PairFunction, algebra: ScalarAlgebra, value: Any, x: Stored, y: Stored
) -> tuple[Number, int]:
    """Return the error of the function of stored values and the set of what it may be.

    `Unbounded` where it has no bound, `Unsure` where enclosures do not tell.
    """
    sticky = (x.sets | y.sets) & states.STICKY
    if function.is_exponential and sticky & states.CARRIED:
        raise Unbounded
    error: Number = rational(0)
    sets = sticky
    for a in x.choices(algebra):
        for b in y.choices(algebra):
            found, more = one(function, algebra, value, (x, a), (y, b))
            error, sets = algebra.maximum(error, found), sets | more
    return error, sets


def one(
    function: PairFunction,
    algebra: ScalarAlgebra,
    value: Any,
    first: tuple[Stored, Any],
    second: tuple[Stored, Any],
) -> tuple[Number, int]:
    """Return error and set for one choice of what is stored for either operand."""
    (x, a), (y, b) = first, second
    inexact = [isinstance(part, Box) and not part.is_exact for part in (a, b)]
    apart = [isinstance(part, Box) and part.is_exact and part.value == 0 for part in (a, b)]
    if isinstance(a, Box) and isinstance(b, Box) and not (any(inexact) and any(apart)):
        if any(inexact) and function.never(algebra, a, b):
            return rational(0), states.NAN
        zero = [side.either and not isinstance(side.value, Interval) for side in (x, y)]
        error, missing = function.change(algebra, a, b, value, (zero[0], zero[1]))
        if a.is_exact and b.is_exact and is_special(value):
            return error, signs(function, algebra, x, y, value)
        return error, states.FINITE | (states.NAN if missing else 0)
    if any(inexact):
        return beside(function, algebra, value, first, second)
    left, right = (s.value if isinstance(c, Box) else c for s, c in (first, second))
    found = function.value(algebra, left, right)
    if is_special(found):
        return rational(0), int(states.of_values(found))
    # Of an infinity or NaN, what is stored as a number is bounded by its size.
    base = rational(0) if is_special(value) else plain(value)
    same = x.certain and y.certain
    gap = rational(0) if same else algebra.absolute(algebra.subtract(base, plain(found)))
    return gap, states.FINITE


def beside(
    function: PairFunction,
    algebra: ScalarAlgebra,
    value: Any,
    first: tuple[Stored, Any],
    second: tuple[Stored, Any],
) -> tuple[Number, int]:
    """Return error and set where one operand is any number in a box, the other no number or 0."""
    (x, a), (_, b) = first, second
    given, lone = second if isinstance(a, Box) and not a.is_exact else first
    points = [lone]
    if isinstance(lone, Box):  # a zero, with the sign that it has
        points = [rational(0), -0.0] if given.either else [given.value]
    found = []
    for point in points:
        ends = (point, b) if given is x else (a, point)
        found += function.beside(algebra, *ends)
    error: Number = rational(0)
    sets = 0
    for each in found:
        sets |= int(states.of_values(classed(each)))
        # The one answer that there is to a certain operand is the exact value.
        if not (is_special(each) or (len(found) == 1 and given.certain)):
            base = rational(0) if is_special(value) else plain(value)
            gap = algebra.absolute(algebra.subtract(base, plain(each)))
            error = algebra.maximum(error, gap)
    return error, sets


def signs(
    function: PairFunction, algebra: ScalarAlgebra, x: Stored, y: Stored, value: float
) -> int:
    """Return the set of a special value at numbers, with zeros of either sign."""
    sets = int(states.of_values(value))
    if x.either and not isinstance(x.value, Interval) and x.value == 0:
        for zero in (rational(0), -0.0):
            found = function.value(algebra, zero, y.value)
            sets |= int(states.of_values(classed(found)))
    return sets
