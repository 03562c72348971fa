"""erf, erfc and tanh in plain float64, with proven radii, from the tables of `taylor_tables`.

p is within 2**-48 |a1 r| for the reasons given there. T + p comes in one number: T's low word is
below u |T|, u = 2**-53, and the sum rounds by u (|T| + |p|), |p| <= 2 |a1 r|; together that is
below 2**-47 |a1 r| + 2**-51 |T|. Arguments move the value as there.
"""

from __future__ import annotations

import numpy as np

from exactref_core.exact.double_double import Floats
from exactref_core.exact.plain_exponentials import ROOM, Found
from exactref_core.exact.taylor_tables import MOST, SMALLEST, STEPS, Table, columns, tabulated

__all__ = ["tabled"]


def tabled(table: Table, x: Floats, spread: Floats | None) -> Found:
    """Return values and radii at flat arguments known up to a spread."""
    size = np.abs(x)
    inside = size <= table.reach
    if spread is not None:
        inside &= spread <= MOST
    given = size if table.odd else x
    at = given if np.all(inside) else np.where(inside, given, 0.0)
    value, radius = in_table(table, at, spread)
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
