"""pow and atan2 in plain float64, with proven radii; u = 2**-53.

- x^y, x > 0: log x within r, y within d, t = fl(y log x) within |y| r + d (|log x| + r) + u |t|,
  and e^t of that spread. An exact negative x takes that of |x| with the sign that an exact integer
  y gives; 0, and powers that are NaN, are left.
- atan2(y, x) of exact arguments but 0: a = atan(small / large) of the magnitudes, which the
  quotient's rounding moves by u of it, and a, pi/2 - a, pi - a or pi/2 + a do not cancel, as
  a <= pi/4: with the constants they round by less than 2**-51 of themselves.
"""

from __future__ import annotations

import math

import numpy as np

from exactref_core.exact.double_double import Floats
from exactref_core.exact.plain_circular import atan
from exactref_core.exact.plain_exponentials import ROOM, Found, exp, log, told

__all__ = ["PAIRS", "plain_pair"]

SMALLEST = 2.0**-1070


def power(x: Floats, y: Floats, off_x: Floats | None, off_y: Floats | None) -> Found:
    """Return x^y."""
    size, radius = log(np.abs(x), off_x)
    t = y * size
    moved = np.abs(y) * radius + np.abs(t) * 2.0**-53
    if off_y is not None:
        moved += off_y * (np.abs(size) + radius)
    value, off = exp(t, moved * ROOM + SMALLEST)
    whole = np.floor(y) == y
    odd = np.abs(np.fmod(y, 2.0)) == 1.0
    value = np.where((x < 0) & odd, -value, value)
    certain = (x < 0) & whole & (off_x is None and off_y is None)
    return value, np.where((x > 0) | certain, off, np.inf)


def angle(y: Floats, x: Floats, off_y: Floats | None, off_x: Floats | None) -> Found | None:
    """Return the angle of the point (x, y); None where that is not exact."""
    if off_y is not None or off_x is not None:
        return None
    across, up = np.abs(x), np.abs(y)
    small, large = np.minimum(across, up), np.maximum(across, up)
    a, off = atan(small / large, None)
    value = np.where(up > across, math.pi / 2 - a, a)
    value = np.where(x < 0, math.pi - value, value)
    radius = off + value * 2.0**-50 + SMALLEST
    good = (small > 0) & (small >= large * 2.0**-900)
    return np.copysign(value, y), np.where(good, radius, np.inf)


PAIRS = {"pow": power, "atan2": angle}


@np.errstate(all="ignore")
def plain_pair(
    name: str, x: Floats, y: Floats, off_x: Floats | None, off_y: Floats | None
) -> Found | None:
    """Return values and radii of a function at finite flat arguments, within their spreads.

    A radius of inf says nothing; None where there is no kernel.
    """
    found = PAIRS[name](x, y, off_x, off_y) if name in PAIRS else None
    return None if found is None else told(found)
