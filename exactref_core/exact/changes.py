"""How far an elementary function moves where its argument moves, certified."""

from __future__ import annotations

from typing import Any

from exactref_core.exact.elementary import Function
from exactref_core.exact.grid import LEAST, reaches
from exactref_core.exact.interval import Interval, Number, Unsure, rational
from exactref_core.exact.nonnegative import ScalarAlgebra, Unbounded, check_told, is_exact_zero
from exactref_core.exact.rationals import Rational

__all__ = ["always_beyond", "change", "is_below"]


def change(
    function: Function, algebra: ScalarAlgebra, x: Number, error: Number, value: Any
) -> Number:
    """Return the most by which the function moves where its argument ``x`` moves by ``error``.

    ``value`` is the function of ``x``: the same object as elsewhere, so that differences from it
    cancel. A change too small for the exponents of enclosures is rounded up.

    Arguments beyond the domain are left out: what is stored there is NaN. `Unbounded` where the
    function has no bound between the ends, or ``x`` itself is outside but the ends are not.
    """
    if is_exact_zero(error):
        return rational(0)
    if function.bounded_domain:
        check_told(x, error)
    span = clipped(function, algebra, x, error)
    if span is None:
        return rational(0)
    if isinstance(value, float):
        raise Unbounded
    least, most = function.extremes(algebra, *span)
    down, up = algebra.subtract(value, least), algebra.subtract(most, value)
    found = algebra.maximum(algebra.maximum(down, up), rational(0))
    return LEAST if isinstance(found, Interval) and found.high < LEAST else found


def clipped(
    function: Function, algebra: ScalarAlgebra, x: Number, error: Number
) -> tuple[Number, Number] | None:
    """Return the ends of x +- error inside the domain; None where they are outside it."""
    low, high = algebra.subtract(x, error), algebra.add(x, error)
    if function.low is not None and is_below(algebra, low, rational(function.low)):
        if is_below(algebra, high, rational(function.low)):
            return None
        low = rational(function.low)
    if function.high is not None and is_below(algebra, rational(function.high), high):
        if is_below(algebra, rational(function.high), low):
            return None
        high = rational(function.high)
    return low, high


def always_beyond(
    function: Function, algebra: ScalarAlgebra, x: Number, error: Number, threshold: Rational
) -> bool:
    """Return whether the function is at or above a threshold for all arguments x +- error."""
    span = clipped(function, algebra, x, error)
    if span is None:
        return False
    return reaches(algebra, function.extremes(algebra, *span)[0], threshold)


def is_below(algebra: ScalarAlgebra, left: Number, right: Number) -> bool:
    """Return whether left < right; `Unsure` where enclosures do not tell."""
    gap = algebra.subtract(right, left)
    if not isinstance(gap, Interval):
        return bool(gap > 0)
    if gap.low > 0 or (gap.low == 0 and gap.open_low):
        return True
    if gap.high < 0 or (gap.high == 0 and gap.open_high):
        return False
    raise Unsure
