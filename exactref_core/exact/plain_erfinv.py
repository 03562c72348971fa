"""erfinv in plain float64 with proven radii, by one step from any starting point; u = 2**-53.

For 0 <= x < 1 and any y >= 0 let z = (x - erf y) / erf'(y), from erfc y - (1 - x) above x = 1/2,
where 1 - x is exact. The value is y + d with g(d) = z, g(d) the integral of e^-a, a = 2 y s + s^2,
over s from 0 to d, which rises. Where |z| and |y z| are at most 1/128:
- |d| <= 1.1 |z|, as e^-a > 0.98 up to there, and g' is as large;
- |e^-a - 1 + a| <= a^2 e^|a| / 2: |g(d) - d + y d^2| <= |d|^3 (1/3 + (2 y + |d|)^2 e^(1/16) / 6);
- w = z + y z^2 has |w| <= 1.01 |z| and w - y w^2 - z = -2 y^2 z^3 - y^3 z^4: |g(w) - z| is below
  |z|^3 (2.01 y^2 + 0.8 y^2 + 0.4) < 3 |z|^3 (1 + y^2), so that |d - w| <= 4 |z|^3 (1 + y^2).
z errs by what the table says and, with the difference, erf'(y) = 2 / sqrt(pi) e^(-y^2) (36 u for
y^2 <= 36, 2**-51 and 2 u) and two products, by 46 u of it; w by 1 + 2 |y z| times that, and its
sums and products round by 4 u. y + w rounds by u: 2**-46 |z| and 2**-51 of the result are claimed.

The slope is sqrt(pi) / 2 e^(y^2), and e^(y^2) <= 1 / erfc y = 1 / (1 - x): up to an argument d <=
(1 - |x|) / 4 away it is at most 1.19 / (1 - |x|).
"""

from __future__ import annotations

import math

import numpy as np

from exactref_core.exact.double_double import Floats
from exactref_core.exact.exponentials import exp_high
from exactref_core.exact.plain_exponentials import ROOM, Found
from exactref_core.exact.plain_tables import in_table
from exactref_core.exact.taylor_tables import SMALLEST, TABLES

__all__ = ["erfinv"]

HALF_ROOT = math.sqrt(math.pi) / 2
CLOSE = 2.0**-7
# The last float64 number below 1 is erf 5.86.
FARTHEST = 5.95


def kept(y: Floats) -> Floats:
    """Return starting points within the tables."""
    return np.minimum(np.where(y > 0, y, 0.0), FARTHEST)


def start(x: Floats) -> Floats:
    """Return Winitzki's approximation, 2e-3 off: sqrt(sqrt(a^2 - b) - a), without cancelling."""
    fall = np.log((1 - x) * (1 + x))
    a, b = 4.33 + fall / 2, fall / 0.147
    return kept(np.sqrt(-b / (np.sqrt(a * a - b) + a)))


def step(x: Floats, y: Floats) -> Found:
    """Return z and its radius."""
    upper = x > 0.5
    gap, off = np.empty(x.shape), np.empty(x.shape)
    for name, places in (("erf", np.flatnonzero(~upper)), ("erfc", np.flatnonzero(upper))):
        if places.size:
            there, off[places] = in_table(TABLES[name], y[places], None)
            part = x[places]
            gap[places] = part - there if name == "erf" else there - (1 - part)
    inverse = exp_high(y * y) * HALF_ROOT
    z = gap * inverse
    return z, off * inverse * (1 + 2.0**-40) + np.abs(z) * 2.0**-47


def erfinv(x: Floats, spread: Floats | None) -> Found:
    """Return the y with erf y = x."""
    inside = np.abs(x) < 1
    size = np.where(inside, np.abs(x), 0.0)
    y = start(size)
    z, _ = step(size, y)
    y = kept(y + z / (1 - y * z))  # Halley's step
    z, off = step(size, y)
    far = np.abs(z)
    good = inside & (np.maximum(y, 1.0) * (far + off) <= CLOSE)
    value = y + (z + y * z * z)
    radius = 4 * far * far * far * (1 + y * y) + far * 2.0**-46 + np.abs(value) * 2.0**-51
    radius += 1.04 * off + SMALLEST
    if spread is not None:
        rest = 1 - size
        good &= spread <= rest / 4
        radius += 1.19 * spread / rest * ROOM
    return np.where(good, np.copysign(value, x), 0.0), np.where(good, radius, np.inf)
