"""Functions of blocks in plain float64 with one bound for all elements, the cheapest to carry on.

Arguments are numbers x, |x| <= top, of which the true ones lie within rho |x| + d; the values err
by a relative number and an absolute one. u = 2**-53, D = rho top + d.

- exp, exp2: as in `plain_exponentials`, with D for the spread; `exp_near` up to 90.
- log: as there, with max|z|; it moves by at most (rho x + d) / ((1 - rho) x - d), below 2 rho +
  d / ((1 - rho) min x - d) where that is at least min x / 2.
- log1p from -1/2 on: beyond 2**-6 log(1 + x), where 1 + x rounds by u of it, within 2**-48, which
  is 2**-41.9 of what is above 2**-6.1; nearer seven terms of the series leave out |x|^7 / 8 / (1 -
  |x|) < 2**-44.9 of x, and round by less than 2**-49: 2**-41 is claimed. |x f'(x) / f(x)| is at
  most 1 above 0 and 1 / (1 + x) <= 2 below.
- expm1: beyond 2**-5 e^x - 1, within 2**-51 e^x, and e^x / |e^x - 1| < 33: 2**-45.9; nearer seven
  terms leave out |x|^7 / 8! (1 + |x|) < 2**-50: 2**-45 is claimed. |x f'(x) / f(x)| <= 1 + |x|.
- tanh, erf, erfc: TERMS coefficients of the tables; by the bounds of `taylor_tables` the rest of
  the series is below |a1 r| B sum_(k >= TERMS) 2**-8k / (k + 1) < 2**-41.7 |a1 r|. The value errs
  by 2**-47 |a1 r| and 2**-51 |T| more (`plain_tables`). erf and tanh are concave from 0 on, where
  they are 0: f(c) >= c f'(c), so that |a1 r| <= |T| / 2 beyond c = 0, and there, T = 0, the value
  is at least |a1 r| (1 - 2**-4). erfc'/erfc is at most 2 (x + 1) <= 14 up to 6: |a1 r| < 2**-5 |T|.
  2**-41 is claimed of the value. x f'(x) <= f(x) also says that erf and tanh pass a relative spread
  on, but for the slope within it (below 1.06 twice); that of erfc counts 14 times 1.13, as D.
  Beyond the tables the functions stay within 2.2e-17 of their ends, erfc at the left one; at the
  right one its elements are unknown.
- x^y of exact x > 0 and y: t = fl(y log x) is within |y| (a + r |log x|) + u |t|, and e^t as above.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from exactref_core.exact.double_double import Floats
from exactref_core.exact.exponentials import LEAST, MOST, exp2_high, exp_near, in_range
from exactref_core.exact.plain_exponentials import EXP, NEAR, REACH, ROOM, TWO
from exactref_core.exact.taylor_tables import STEPS, TABLES, Table, columns

__all__ = ["block_power", "block_values"]

# Values, their relative error, their absolute one, and which are unknown; None where the block is
# left to `plain`.
Bounded: TypeAlias = tuple[Floats, float, float, npt.NDArray[np.bool_] | None] | None

CLOSE = 90.0
COARSE = 2.0**-39
PLAIN = 2.0**-45
TERMS = 6
TABLED = 2.0**-41
# Where series take over, and their coefficients, the last first.
SMALL_LOG, LOG_SERIES = 2.0**-6, tuple((-1.0) ** (k + 1) / k for k in range(7, 1, -1))
SMALL_EXP, EXP_SERIES = 2.0**-5, tuple(1 / math.factorial(k) for k in range(7, 1, -1))
# Spreads of more than this are left; relative ones stay within `taylor_tables`'s MOST then.
FINE = 2.0**-16
STEEP = 14 * 1.13
# Blocks of which more than one element in 2**FEW is unknown are left.
FEW = 4


def exp(x: Floats, rho: float, d: float, top: float) -> Bounded:
    """Return e^x."""
    if top > CLOSE:
        low, top = x.min(), x.max()
        if not (low >= LEAST and top <= MOST):
            return None
        value, relative, top = in_range(x), EXP, max(-low, top)
    else:
        value, relative = exp_near(x), COARSE
    spread = rho * top + d
    if not spread <= FINE:
        return None
    return value, relative + (spread + spread * spread) * ROOM, 0.0, None


def exp2(x: Floats, rho: float, d: float, top: float) -> Bounded:
    """Return 2^x."""
    spread = rho * top + d
    if not (top <= TWO and spread <= FINE):
        return None
    return exp2_high(x), EXP + (spread + spread * spread) * ROOM, 0.0, None


def expm1(x: Floats, rho: float, d: float, top: float) -> Bounded:
    """Return e^x - 1."""
    if not (top <= -LEAST and rho * (1 + top) <= FINE and d == 0):
        return None
    value = in_range(x)
    value -= 1.0
    near = np.abs(x) < SMALL_EXP
    if near.any():
        value = np.where(near, series(EXP_SERIES, x), value)
    return value, PLAIN + rho * (1 + top) * (1 + 2 * FINE), 0.0, None


def log(x: Floats, rho: float, d: float, top: float) -> Bounded:
    """Return log x; that of 1 is exact, and left."""
    low = x.min()
    if not (low >= 1 / REACH and top <= REACH):
        return None
    y = np.log(x)
    if not (y.min() >= -MOST and y.max() <= -LEAST):
        return None
    z = in_range(-y)
    z *= x
    z -= 1.0
    far = max(-z.min(), z.max())
    if not far < NEAR:
        return None
    y += z
    absolute = 2.0**-49 + 2 * far * far
    if rho or d:
        rest = (1 - rho) * low - d
        if not rest > low / 2:
            return None
        absolute += (2 * rho + d / rest) * ROOM
    return y, 2.0**-52, absolute, None


def log1p(x: Floats, rho: float, d: float, top: float) -> Bounded:
    """Return log(1 + x)."""
    low = x.min()
    if not (low >= -1 / 2 and rho <= FINE and d == 0):
        return None
    found = log(1 + x, 0.0, 0.0, 1 + top)
    if found is None:
        return None
    value = found[0]
    near = np.abs(x) < SMALL_LOG
    if near.any():
        value = np.where(near, series(LOG_SERIES, x), value)
    steep = 1.0 if low >= 0 else 2.0
    return value, TABLED + rho * steep * (1 + 8 * FINE), 0.0, None


def series(coefficients: tuple[float, ...], x: Floats) -> Floats:
    """Return x + x^2 P(x)."""
    p = x * coefficients[0]
    for one in coefficients[1:]:
        p += one
        p *= x
    p *= x
    p += x
    return p


def tabled_values(table: Table, x: Floats, rho: float, d: float, top: float) -> Bounded:
    """Return the values of a tabled function."""
    if not (rho <= FINE and (d == 0 if table.odd else d <= FINE)):
        return None
    unknown = None
    if top <= table.reach:
        value = in_table(table, x)
    else:
        value = in_table(table, np.clip(x, -table.reach, table.reach))
        if not table.odd:
            unknown = x > table.reach
            count = np.count_nonzero(unknown)
            if count > x.size >> FEW:
                return None
            unknown = unknown if count else None
    spread = rho * 1.2 if table.odd else (rho * table.reach + d) * STEEP
    return value, TABLED + spread * ROOM, 0.0, unknown


def in_table(table: Table, x: Floats) -> Floats:
    """Return the values within a table, as `plain_tables` has them, by fewer terms."""
    given = np.abs(x) if table.odd else x
    i = given * STEPS
    np.rint(i, out=i)
    r = i * (1 / STEPS)
    np.subtract(given, r, out=r)
    high, _, rows = columns(table)
    place = i.astype(np.intp)
    if not table.odd:
        place += table.reach * STEPS
    p = rows[TERMS - 1].take(place)
    for row in rows[TERMS - 2 :: -1]:
        p *= r
        p += row.take(place)
    p *= r
    p += high.take(place)
    found: Floats = np.copysign(p, x) if table.odd else p
    return found


KERNELS: dict[str, Callable[[Floats, float, float, float], Bounded]] = {
    "exp": exp,
    "exp2": exp2,
    "expm1": expm1,
    "log": log,
    "log1p": log1p,
    **{
        name: lambda *given, table=table: tabled_values(table, *given)
        for name, table in TABLES.items()
    },
}


def block_values(name: str, x: Floats, rho: float, d: float, top: float) -> Bounded:
    """Return the values of a function at finite flat arguments, within one bound for all.

    None where the function has no such kernel, or these arguments are not for it.
    """
    if not top < math.inf:
        top = float(np.abs(x).max(initial=0.0))
    kernel = KERNELS.get(name)
    return None if kernel is None else kernel(x, rho, d, top)


def block_power(x: Floats, y: Floats, top_x: float, top_y: float) -> Bounded:
    """Return x^y of exact flat arguments, of which no x is negative."""
    found = log(x, 0.0, 0.0, top_x)
    if found is None:
        return None
    t, relative, absolute, _ = found
    t *= y
    top = float(np.abs(t).max())
    return exp(t, (relative + 2.0**-53) * ROOM, top_y * absolute * ROOM, top)
