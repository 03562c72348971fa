"""Monotone functions of many arguments that are known up to a radius, without objects in between.

The same enclosures as `Function.value` and `change` give, at the precision of the contexts: for x
between a and b, f(x) lies between f(a) and f(b), rounded outward, and f(x + d) - f(x) between f(a +
d) - f(b) and f(b + d) - f(a).
"""

from __future__ import annotations

from typing import Any

import gmpy2
import numpy as np
import numpy.typing as npt

from exactref_core.exact.double_double import Floats
from exactref_core.exact.elementary import Function
from exactref_core.exact.interval import Arithmetic

__all__ = ["float_ends", "hulls", "inside", "moves"]

PAIR = 2.0**-104
TINY = 2.0**-1074
LARGEST = 2.0**1020
ROOM = 1 + 2.0**-50

# Float64's own grid, in which nothing is rounded twice.
FLOAT64 = {"precision": 53, "emin": -1073, "emax": 1024, "subnormalize": True}
BELOW = gmpy2.context(round=gmpy2.RoundDown, **FLOAT64)
ABOVE = gmpy2.context(round=gmpy2.RoundUp, **FLOAT64)


def float_ends(low: Any, high: Any) -> tuple[float, float]:
    """Return float64 numbers at or beyond two MPFR numbers, at most the largest one below."""
    return float(BELOW.plus(low)), float(ABOVE.plus(high))


def inside(function: Function, high: Floats, reach: Floats) -> npt.NDArray[np.bool_]:
    """Return where a function rises or falls, and is finite, over all of high +- reach."""
    found = np.isfinite(reach) & function.is_steady
    if function.low is not None:
        found &= high - reach * ROOM > function.low
    if function.high is not None:
        found &= high + reach * ROOM < function.high
    return np.asarray(found, bool)


def hulls(
    function: Function, arithmetic: Arithmetic, high: Floats, low: Floats, radius: Floats
) -> list[tuple[float, float, float, float]]:
    """Return high, low, radius and special (0) of the values at flat arguments."""
    down, up, evaluate = arithmetic.down, arithmetic.up, function.evaluate
    falls = getattr(function, "falls", False)
    rows = []
    for x, t, r in zip(high.tolist(), low.tolist(), radius.tolist(), strict=True):
        a = down.sub(down.add(gmpy2.mpfr(x), t), r)
        b = up.add(up.add(gmpy2.mpfr(x), t), r)
        ends = (b, a) if falls else (a, b)
        least, most = evaluate(down, ends[0]), evaluate(up, ends[1])
        y = float(least)
        if not (abs(y) <= LARGEST and abs(float(most)) <= LARGEST):
            rows.append((0.0, 0.0, np.inf, 0.0))
            continue
        rest = down.sub(least, y)
        s = float(rest)
        width = float(up.sub(most, least)) * ROOM
        rows.append((y, s, width + abs(y) * PAIR + TINY, 0.0))
    return rows


def moves(
    function: Function,
    arithmetic: Arithmetic,
    x: tuple[Floats, Floats, Floats],
    least: Floats,
    most: Floats,
) -> list[tuple[float, float]]:
    """Return bounds on how far the function moves where flat arguments move."""
    down, up, evaluate = arithmetic.down, arithmetic.up, function.evaluate
    falls = getattr(function, "falls", False)
    rows = []
    columns = (part.tolist() for part in (*x, least, most))
    for h, t, r, near, far in zip(*columns, strict=True):
        middle = gmpy2.mpfr(h)
        a = down.sub(down.add(middle, t), r)
        b = up.add(up.add(middle, t), r)
        below = [(down.sub(a, far), up.sub(b, near)), (down.add(a, near), up.add(b, far))]
        own = between(evaluate, down, up, a, b, falls)
        bounds = [gap(down, up, between(evaluate, down, up, *e, falls), own) for e in below]
        low, high = (max(bound[end] for bound in bounds) for end in (0, 1))
        rows.append(float_ends(low, high))
    return rows


def between(evaluate: Any, down: Any, up: Any, a: Any, b: Any, falls: bool) -> tuple[Any, Any]:
    """Return numbers below and above the function between a and b."""
    return (evaluate(down, b), evaluate(up, a)) if falls else (evaluate(down, a), evaluate(up, b))


def gap(down: Any, up: Any, one: tuple[Any, Any], other: tuple[Any, Any]) -> tuple[Any, Any]:
    """Return bounds on the distance of two numbers that are known by their own."""
    first, second = down.sub(one[0], other[1]), up.sub(one[1], other[0])
    if first >= 0:
        return first, second
    if second <= 0:
        return down.sub(other[0], one[1]), up.sub(other[1], one[0])
    return gmpy2.mpfr(0), max(second, up.sub(other[1], one[0]))
