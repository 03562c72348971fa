"""erf, erfc and tanh in plain float64, with proven radii, from the tables of `taylor_tables`.

p is within 2**-48 |a1 r| for the reasons given there. T + p comes in one number: T's low word is
below u |T|, u = 2**-53, and the sum rounds by u (|T| + |p|), |p| <= 2 |a1 r|; together that is
below 2**-47 |a1 r| + 2**-51 |T|. Arguments move the value as there.

e^(x^2) erfc(x), x >= 0:
- up to 6 it is the product, where fl(x^2) moves the exponential by 36 u of it, `exp_high` by
  2**-51, and the product rounds by u: below 2**-47. It moves by at most 2 / sqrt(pi) < 1.13 of its
  argument.
- from 6 on it is S / (x sqrt(pi)), S = sum (-1)^k (2k - 1)!! w^k, w = 1 / (2 x^2) <= 1/72, whose
  partial sums lie above and below in turn (NIST Handbook, 7.12(i)): TERMS of them leave out less
  than 49!! / 72^25 < 2**-48. In nested form each step rounds by u and multiplies what was by 47/72
  at most, the last ones by far less: 2**-50 with the quotient. Below 2**-47 together. Its slope is
  2 / sqrt(pi) (sqrt(pi) x f - 1), below 1 / (sqrt(pi) x^2) as S >= 1 - w: below 1.01 / x^2 a
  quarter of x further down.
- erfc itself is e^(-x^2) of it there, where fl(x^2) counts by u x^2; it moves by 1.13 d e^(-x^2)
  e^(2 x d), and e^t <= 1 + 2 t for t <= 1.
"""

from __future__ import annotations

import math

import numpy as np

from exactref_core.exact.double_double import Floats
from exactref_core.exact.exponentials import exp_high
from exactref_core.exact.plain_exponentials import ROOM, Found, exp
from exactref_core.exact.taylor_tables import (
    MOST,
    SMALLEST,
    STEPS,
    TABLES,
    Table,
    columns,
    tabulated,
)

__all__ = ["erfcx", "tabled"]

TERMS = 24
# e^(-x^2) and its slope are below 2**-990 long before, and squares of numbers up to it are finite.
FAR = 2.0**500
ROOT = math.sqrt(math.pi)


def tabled(table: Table, x: Floats, spread: Floats | None) -> Found:
    """Return values and radii at flat arguments known up to a spread."""
    size = np.abs(x)
    inside = size <= table.reach
    if spread is not None:
        inside &= spread <= MOST
    given = size if table.odd else x
    at = given if np.all(inside) else np.where(inside, given, 0.0)
    value, radius = in_table(table, at, spread)
    if not table.odd:
        tail = np.flatnonzero(x > table.reach)
        value[tail], radius[tail] = far_erfc(x[tail], None if spread is None else spread[tail])
        inside |= x > table.reach
    rest = np.flatnonzero(~inside)
    if rest.size:
        h, t, off = tabulated(table, given[rest], None, None if spread is None else spread[rest])
        value[rest], radius[rest] = h, (off + np.abs(t)) * ROOM
    return (np.copysign(value, x) if table.odd else value), radius


def in_table(table: Table, at: Floats, spread: Floats | None) -> Found:
    """Return values and radii within the table."""
    i = np.rint(at * STEPS)
    r = at - i / STEPS
    top, _, series = columns(table)
    place = i.astype(np.intp)
    if not table.odd:
        place += table.reach * STEPS
    first = p = series[-1][place]
    for row in series[-2::-1]:
        first = row[place]
        p *= r
        p += first
    p *= r
    value = top[place]
    r *= first
    radius = np.abs(r) * 2.0**-47 + np.abs(value) * 2.0**-51 + SMALLEST
    if spread is not None:
        radius += spread * np.abs(first) * 1.125
    value += p
    return value, radius


def far_erfcx(x: Floats) -> Floats:
    """Return e^(x^2) erfc(x) from 6 on, within 2**-47."""
    w = 0.5 / (x * x)
    total = np.ones(x.shape)
    for k in range(TERMS, 0, -1):
        total *= w * (2 * k - 1)
        np.subtract(1.0, total, out=total)
    return total / (x * ROOT)


def far_erfc(x: Floats, spread: Floats | None) -> Found:
    """Return erfc from 6 on."""
    x = np.minimum(x, FAR)
    square = x * x
    bell, off = exp(-square, None)
    scaled = far_erfcx(x)
    value = bell * scaled
    radius = value * (2.0**-46 + square * 2.0**-52) + off * scaled * ROOM + SMALLEST
    if spread is None:
        return value, radius
    reach = x * spread
    radius += 1.13 * spread * (bell + off) * (1 + 4 * reach) * ROOM
    return value, np.where(reach <= 0.5, radius, np.inf)


def erfcx(x: Floats, spread: Floats | None) -> Found:
    """Return e^(x^2) erfc(x) for x >= 0."""
    table = TABLES["erfc"]
    near = x <= table.reach
    at = np.where(near, x, 0.0)
    part, off = in_table(table, at, None)
    power = exp_high(at * at)
    value, radius = part * power, power * off * ROOM
    radius += value * 2.0**-47
    if spread is not None:
        radius += 1.13 * spread
    if not np.all(near):
        given = np.where(near, table.reach, x)
        far = far_erfcx(given)
        wide = far * 2.0**-46
        if spread is not None:
            wide = np.where(spread <= given / 4, wide + 1.01 * spread / given / given, np.inf)
        value, radius = np.where(near, value, far), np.where(near, radius, wide)
    return value, np.where((x >= 0) & (x <= FAR), radius, np.inf)
