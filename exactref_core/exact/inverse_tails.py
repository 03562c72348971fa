"""The inverse error function next to 1, from what is left beside it: the y with erfc y = t.

On logarithms, since t may be below all exponents: g(y) = log erfcx(y) - y^2 is the logarithm of
erfc y, falls, and has the slope -2 / (sqrt(pi) erfcx(y)), between -2 y - 2 and -2 y. Newton's steps
come near; a number with g above the logarithm of t is then below y, and one with g below it above.
"""

from __future__ import annotations

from typing import Any

import gmpy2

from exactref_core.exact.interval import Number, Unsure, opened
from exactref_core.exact.lines import LineArithmetic

__all__ = ["inverse_tail"]


def inverse_tail(a: LineArithmetic, t: Number) -> Number:
    """Return the y > 0 with erfc y = t, for 0 < t < 1/16."""
    low, high = a.ends(a.log(t))
    if not (gmpy2.is_finite(low) and gmpy2.is_finite(high)):
        raise Unsure
    return opened(bound(a, high, False), bound(a, low, True), a, True, True)


def bound(a: LineArithmetic, log: Any, up: bool) -> Any:
    """Return a number above (``up``) or below the y with log erfc y = log."""
    work = gmpy2.context(a.up, precision=a.precision + 32, round=gmpy2.RoundToNearest)
    y = work.sqrt(work.minus(log))
    for _ in range(4 + work.precision.bit_length()):
        scaled = erfcx(work, y)
        gap = work.sub(work.sub(work.log(scaled), work.square(y)), log)
        step = work.div(work.mul(gap, work.mul(work.sqrt(work.const_pi()), scaled)), 2)
        y = work.add(y, step)
        if work.abs(step) <= work.mul(y, work.exp2(gmpy2.mpfr(-work.precision // 2 - 8))):
            break
    toward = gmpy2.RoundUp if up else gmpy2.RoundDown
    check, other = (
        gmpy2.context(work, round=mode)
        for mode in (toward, gmpy2.RoundDown if up else gmpy2.RoundUp)
    )
    step = work.mul(y, work.exp2(gmpy2.mpfr(-a.precision - 4)))
    for _ in range(64):
        y = work.add(y, step) if up else work.sub(y, step)
        # Above y it takes log erfc rounded up to be at or below, below y rounded down above.
        found = check.sub(check.log(erfcx(check, y)), other.square(y))
        if found <= log if up else found >= log:
            return (a.up if up else a.down).plus(y)
        step = work.mul(step, 2)
    raise Unsure


def erfcx(context: Any, x: Any) -> Any:
    """Return e^(x^2) erfc(x), as the context rounds."""
    from exactref_core.exact.elementary_table import INTERNAL

    return INTERNAL["erfcx"].evaluate(context, x)
