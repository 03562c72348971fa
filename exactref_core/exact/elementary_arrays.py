"""Elementary functions of arrays: pairs with proven radii, by MPFR, one distinct element at a time.

An exact argument gives a value rounded to NEAR bits: |f - y| <= 2**-NEAR |y|. An argument known up
to a radius gives the hull of the function over it.
"""

from __future__ import annotations

from dataclasses import dataclass

import gmpy2
import numpy as np

from exactref_core.exact.changes import change
from exactref_core.exact.double_double import Floats
from exactref_core.exact.elementary import Function
from exactref_core.exact.elementary_rows import float_ends, hulls, inside, moves
from exactref_core.exact.elementary_slopes import SLOPES, bracketed
from exactref_core.exact.interval import EXPONENT_LIMIT, Interval, Number, Unsure, rational
from exactref_core.exact.nonnegative import ScalarAlgebra, Unbounded, is_exact_zero

__all__ = ["Values", "changes", "interval", "middle", "outside", "values"]

NEAR = 110
# A pair holds the 106 bits or more of a rounded value; its low word rounds once more.
PAIR = 2.0**-104
TINY = 2.0**-1074
LARGEST = 2.0**1020
ARITHMETIC = ScalarAlgebra(128)
NEAREST = gmpy2.context(precision=NEAR, emin=-EXPONENT_LIMIT, emax=EXPONENT_LIMIT)
# Above this many elements equal arguments are looked for.
MANY = 64


@dataclass(frozen=True)
class Values:
    """Flat arrays: values high + low within radius; specials; a radius of inf says nothing."""

    high: Floats
    low: Floats
    radius: Floats
    special: Floats


def outside(function: Function, x: Floats) -> Floats:
    """Return the infinity or NaN that the value is at exact arguments; 0 where it is a number."""
    found = np.zeros(x.shape)
    for end, at, sides in (
        (function.low, function.at_low, (np.less, np.equal)),
        (function.high, function.at_high, (np.greater, np.equal)),
    ):
        if end is not None:
            found = np.where(sides[0](x, end), np.nan, found)
            if at is not None:
                found = np.where(sides[1](x, end), at, found)
    if function.poles is not None:
        pole, plus, minus = function.poles
        zero = np.where(np.signbit(x), minus, plus)
        found = np.where((x <= 0) & (np.floor(x) == x), np.where(x == 0, zero, pole), found)
    return found


def values(function: Function, high: Floats, low: Floats | None, radius: Floats | None) -> Values:
    """Return a function's values at flat arguments |x - high - low| <= radius."""
    if low is None and radius is None:
        if high.size <= MANY:
            return at_numbers(function, high)
        # By bits, so that zeros keep their signs.
        bits, places = np.unique(high.view(np.int64), return_inverse=True)
        found = at_numbers(function, bits.view(np.float64))
        parts = (found.high, found.low, found.radius, found.special)
        return Values(*(part[places] for part in parts))
    zero = np.zeros(high.shape)
    lows, radii = (zero if part is None else part for part in (low, radius))
    rows = np.zeros((high.size, 4))
    reach = np.abs(lows) + radii
    alone = reach == 0
    if np.any(alone):
        found = at_numbers(function, high[alone])
        rows[alone] = np.stack([found.high, found.low, found.radius, found.special], axis=1)
    steady = inside(function, high, reach) & ~alone
    chosen = (part[steady] for part in (high, lows, radii))
    rows[steady] = np.reshape(hulls(function, ARITHMETIC, *chosen), (-1, 4))
    for i in np.flatnonzero(~steady & ~alone).tolist():
        h, t, r = float(high[i]), float(lows[i]), float(radii[i])
        rows[i] = known(function, interval(h, t, r), h)
    return Values(*rows.T)


def at_numbers(function: Function, x: Floats) -> Values:
    """Return a function's values at exact arguments."""
    special = outside(function, x)
    count = x.size
    high, low, radius = (np.zeros(count) for _ in range(3))
    for i in np.flatnonzero(special == 0).tolist():
        value = float(x[i])
        if not function.rounds_to_nearest:
            high[i], low[i], radius[i], _ = known(function, rational(value), value)
            continue
        y = function.evaluate(NEAREST, gmpy2.mpfr(value))
        h = float(y)
        if not abs(h) <= LARGEST:
            radius[i] = np.inf
            continue
        t = float(y - gmpy2.mpfr(h))
        if t == 0:  # perhaps a rational value
            exact = function.exact(rational(value))
            if exact is not None and exact == rational(h):
                high[i] = value if h == 0 and function.keeps_zero else h
                continue
        high[i], low[i], radius[i] = h, t, abs(h) * PAIR + TINY
    return Values(high, low, radius, special)


def interval(high: float, low: float, radius: float) -> Number | None:
    """Return the number or enclosure that high + low +- radius is; None where nothing is known."""
    if not radius < np.inf:
        return None
    middle = rational(high) + rational(low)
    if radius == 0:
        return middle
    ends = [ARITHMETIC.ends(middle + sign * rational(radius)) for sign in (-1, 1)]
    return Interval(ends[0][0], ends[1][1], ARITHMETIC)


def known(function: Function, x: Number | None, zero: float) -> tuple[float, float, float, float]:
    """Return high, low, radius and special of one value; ``zero`` has the sign of a 0."""
    try:
        found = None if x is None else function.value(ARITHMETIC, x)
    except Unsure:
        found = None
    if found is None:
        return 0.0, 0.0, np.inf, 0.0
    if isinstance(found, float):
        return 0.0, 0.0, 0.0, found
    if is_exact_zero(found):
        return (zero if function.keeps_zero and is_exact_zero(x) else 0.0), 0.0, 0.0, 0.0
    return middle(found)


def middle(found: Number) -> tuple[float, float, float, float]:
    """Return high, low, radius and special (0) of a number."""
    low, high = ARITHMETIC.ends(found)
    if not (abs(low) <= LARGEST and abs(high) <= LARGEST):
        return 0.0, 0.0, np.inf, 0.0
    if is_exact_zero(found):
        return 0.0, 0.0, 0.0, 0.0
    centre = NEAREST.div_2exp(NEAREST.add(low, high), 1)
    h = float(centre)
    t = float(centre - gmpy2.mpfr(h))
    # The whole width for half of it: room for every rounding here.
    width = float(ARITHMETIC.up.sub(high, low)) * (1 + 2.0**-50)
    return h, t, width + abs(h) * PAIR + TINY, 0.0


def changes(
    function: Function,
    x: tuple[Floats, Floats, Floats],
    least: Floats,
    most: Floats,
    precise: bool,
) -> tuple[Floats, Floats]:
    """Return bounds below and above on how far the function moves with its flat arguments.

    ``x`` are high, low and radius of the arguments; they move by something from ``least`` to
    ``most``. (0, inf) where that is not told, both inf where there is no bound. ``precise``: by
    MPFR alone.
    """
    found = np.zeros((least.size, 2))
    steady = inside(function, x[0], np.abs(x[1]) + x[2] + most) & (most > 0)
    left = np.ones(least.size, bool)
    slope = None if precise else SLOPES.get(function.name)
    if slope is not None:
        below, above, tight = bracketed(slope, x, least, most)
        tight &= steady
        found[tight, 0], found[tight, 1] = below[tight], above[tight]
        left, steady = ~tight, steady & ~tight
    chosen = (x[0][steady], x[1][steady], x[2][steady])
    found[steady] = np.reshape(
        moves(function, ARITHMETIC, chosen, least[steady], most[steady]), (-1, 2)
    )
    for i in np.flatnonzero(left & ~steady).tolist():
        h, t, r = (float(part[i]) for part in x)
        found[i] = moved(function, interval(h, t, r), float(least[i]), float(most[i]))
    return found[:, 0], found[:, 1]


def moved(function: Function, x: Number | None, least: float, most: float) -> tuple[float, float]:
    """Return bounds on how far the function moves with one argument."""
    if most == 0:
        return 0.0, 0.0
    if x is None or not most < np.inf:
        return (np.inf, np.inf) if least == np.inf else (0.0, np.inf)
    error = rational(most)
    if least != most:
        error = Interval(gmpy2.mpfr(least), gmpy2.mpfr(most), ARITHMETIC)
    try:
        found = change(function, ARITHMETIC, x, error, function.value(ARITHMETIC, x))
    except Unsure:
        return 0.0, np.inf
    except Unbounded:
        return np.inf, np.inf
    low, high = float_ends(*ARITHMETIC.ends(found))
    return max(low, 0.0), high
