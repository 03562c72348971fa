"""log |gamma|, digamma and trigamma in plain float64 on both sides of 0; u = 2**-53.

Below -1/2, with the distance t = x - rint x to the nearest pole, which is exact (NIST Handbook,
5.5.3, and gamma(1 - x) = -x gamma(-x)):
- lgamma x = log(pi / |x sin(pi t)|) - lgamma(-x);
- digamma x = digamma(-x) - 1 / x - pi / tan(pi t);
- trigamma x = (pi / sin(pi t))^2 - trigamma(-x) + 1 / x^2.
pi t rounds by 2 u of itself, or of its distance to pi / 2 for |t| > 1/4, as 1/2 - |t| is exact;
that moves the sine and the cosine by 2 u of themselves at most, and with `sine_and_cosine` they
are within 2**-48 of themselves. pi / |x sin| is within 2**-47, pi / tan within 2**-46, and the
square within 2**-46. The sums round by u of their parts.

An argument known up to d moves the value by at most d times the largest slope, for d <= a fourth
of x above 0, of |t| below it, so that y = x + e, |e| <= d, is no nearer to a pole than 3/4 of that:
- y > 0: log y - 1 / y < digamma y < log y, as the difference of the convex lgamma at y + 1 and y,
  log y, lies between its slopes there; |log y| is within 0.3 of |log x|. The sum of 1 / (y + k)^2,
  of 2 / (y + k)^3, is at most its first term and the integral: 1 / y^2 + 1 / y, 2 / y^3 + 1 / y^2.
- y < 0: |digamma(1 - y)| <= log(1 - y) + 1, as 1 - y > 1, and pi / |tan(pi t)| <= 1 / |t|; trigamma
  is below (pi / sin(pi t))^2 <= (pi / 2 t)^2; its slope is below 2 sum |y + k|^-3 over all k <=
  (4 + 4 zeta(3) |t|^3) / |t|^3 <= 4.7 / |t|^3.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from exactref_core.exact.double_double import Floats
from exactref_core.exact.plain_circular import sine_and_cosine
from exactref_core.exact.plain_exponentials import ROOM, Found, log
from exactref_core.exact.plain_gammas import LARGE, SMALLEST, digamma, lgamma, trigamma

__all__ = ["GAMMAS"]

ABOVE = {"lgamma": lgamma, "digamma": digamma, "trigamma": trigamma}


def turned(t: Floats) -> tuple[Floats, Floats]:
    """Return |sin(pi t)| and cos(pi t), within 2**-48, for |t| <= 1/2."""
    size = np.abs(t)
    swap = size > 0.25
    s, c, _ = sine_and_cosine(np.where(swap, 0.5 - size, size) * math.pi)
    return np.where(swap, c, s), np.where(swap, s, c)


def reflected(name: str, x: Floats) -> Found:
    """Return a function below -1/2."""
    t = x - np.rint(x)
    s, c = turned(t)
    there, off = ABOVE[name](-x)
    if name == "lgamma":
        inverse = math.pi / (s * -x)
        part, more = log(inverse, inverse * 2.0**-47)
        value = part - there
        return value, off + more + (np.abs(part) + np.abs(there)) * 2.0**-52
    if name == "digamma":
        part = np.copysign(math.pi / s, t) * c
        value = there - 1 / x - part
    else:
        part = math.pi / s
        part *= part
        value = part - there + 1 / (x * x)
    return value, off + np.abs(part) * 2.0**-45 + (np.abs(there) + 4) * 2.0**-50


def slope(name: str, x: Floats, t: Floats) -> Floats:
    """Return a bound on the derivative within a fourth of x > 0, or of t from x < 0."""
    y = np.abs(t) * (0.75 / ROOM)
    if name == "lgamma":
        part, off = log(np.where(x > 0, x, 1 - x), None)
        return (np.abs(part) + off + np.where(x > 0, 0.3, 1.3) + 1 / y) * ROOM
    if name == "digamma":
        return np.where(x > 0, (1 + 1 / y) / y, 2.47 / (y * y)) * ROOM
    return np.where(x > 0, (1 + 2 / y) / (y * y), 4.7 / (y * y * y)) * ROOM


def kernel(name: str, x: Floats, spread: Floats | None) -> Found:
    """Return values and radii at flat arguments known up to a spread."""
    value, radius = np.zeros(x.shape), np.full(x.shape, np.inf)
    for inside, ask in ((x >= -0.5, ABOVE[name]), (x < -0.5, lambda z: reflected(name, z))):
        places = np.flatnonzero(inside)
        if places.size:
            value[places], radius[places] = ask(x[places])
    t = np.where(x > 0, x, x - np.rint(x))
    good = (np.abs(x) >= 1 / LARGE) & (t != 0)
    if spread is not None:
        good &= spread <= np.abs(t) / 4
        radius += spread * slope(name, x, t)
    radius += np.where(radius > 0, np.abs(value) * 2.0**-52 + SMALLEST, 0.0)
    good &= np.isfinite(value)
    return np.where(good, value, 0.0), np.where(good, radius, np.inf)


GAMMAS = {name: partial(kernel, name) for name in ABOVE}
