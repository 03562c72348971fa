"""Elementary functions by flint's ball arithmetic, as 64 leading bits and "something follows".

Nothing here is shared with the package. Precision rises until a ball's ends have the same leading
bits; a value that stays on a number of 64 bits is that number.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import flint
import numpy as np

from tests.every_op.numbers import Number, Numbers, dyadic

PRECISIONS = (160, 400, 2600)
FAR = 1 << 20  # exponents that no format reaches
ABOVE_ZERO = (False, 1 << 63, -FAR, True)
BEYOND = (False, 1 << 63, FAR, True)
BELOW_ONE = (False, (1 << 64) - 1, -64, True)
BELOW_TWO = (False, (1 << 64) - 1, -63, True)
INF, NAN = math.inf, math.nan


def cube_root(x: flint.arb) -> flint.arb:
    return x.root(3) if x >= 0 else -((-x).root(3))


BALLS: dict[str, Callable[[flint.arb], flint.arb]] = {
    "exp2": lambda x: flint.arb(2) ** x,
    "log2": lambda x: x.log() / flint.arb.const_log2(),
    "log10": lambda x: x.log() / flint.arb.const_log10(),
    "cbrt": cube_root,
    "lgamma": lambda x: flint.acb(x).lgamma().real,
}
ODD = {"expm1", "log1p", "sin", "tan", "asin", "atan", "sinh", "tanh", "asinh", "atanh", "erf"}
ODD |= {"erfinv", "cbrt"}
# Domains, and the values at -inf, +inf and at the ends of the domain (C99 Annex F).
DOMAINS = {
    "log": (0, INF),
    "log2": (0, INF),
    "log10": (0, INF),
    "log1p": (-1, INF),
    "asin": (-1, 1),
    "acos": (-1, 1),
    "acosh": (1, INF),
    "atanh": (-1, 1),
    "erfinv": (-1, 1),
}
LIMITS = {
    "exp": (0.0, INF),
    "exp2": (0.0, INF),
    "expm1": (-1.0, INF),
    "sinh": (-INF, INF),
    "cosh": (INF, INF),
    "tanh": (-1.0, 1.0),
    "asinh": (-INF, INF),
    "erf": (-1.0, 1.0),
    "erfc": (2.0, 0.0),
    "cbrt": (-INF, INF),
    "lgamma": (INF, INF),
    "digamma": (NAN, INF),
    **dict.fromkeys(("log", "log2", "log10", "log1p", "acosh"), (NAN, INF)),
}
POLES = {
    **{name: {0.0: -INF} for name in ("log", "log2", "log10")},
    "log1p": {-1.0: -INF},
    "atanh": {-1.0: -INF, 1.0: INF},
    "erfinv": {-1.0: -INF, 1.0: INF},
}


def negated(x: Number) -> Number:
    return -x if isinstance(x, float) else (not x[0], *x[1:])


def of_float(x: float) -> Number:
    """A number as leading bits; specials as they are."""
    if x == 0 or not math.isfinite(x):
        return x
    top, bottom = x.as_integer_ratio()
    return dyadic(top, 1 - bottom.bit_length())


def far(name: str, x: float) -> Number | None:
    """Values far out, where balls have no exponents or no precision is enough."""
    size = abs(x)
    if name in ("exp", "exp2", "sinh", "cosh", "expm1") and size > 40000:
        if name == "sinh" and x < 0:
            return negated(BEYOND)
        if x > 0 or name == "cosh":
            return BEYOND
        return negated(BELOW_ONE) if name == "expm1" else ABOVE_ZERO
    if name == "expm1" and x < -200:
        return negated(BELOW_ONE)
    if name in ("tanh", "erf") and size > 100:
        return BELOW_ONE if x > 0 else negated(BELOW_ONE)
    if name == "erf" and size > 12:
        return BELOW_ONE if x > 0 else negated(BELOW_ONE)
    if name == "erfc" and x < -12:
        return BELOW_TWO
    if name == "erfc" and x > 200:
        return ABOVE_ZERO
    return None


def value(name: str, x: float) -> Number:
    """One function of one number."""
    low, high = DOMAINS.get(name, (-INF, INF))
    if math.isnan(x) or not low <= x <= high:
        return NAN
    if x in POLES.get(name, {}):
        return POLES[name][x]
    if math.isinf(x):
        if name == "atan":
            half_pi = value("acos", 0.0)
            return half_pi if x > 0 else negated(half_pi)
        return of_float(LIMITS.get(name, (NAN, NAN))[x > 0])
    if x == 0 and name in ODD:
        return x
    if name in ("lgamma", "digamma") and x <= 0 and x == math.floor(x):
        if name == "lgamma":
            return INF
        return math.copysign(INF, -x) if x == 0 else NAN
    known = far(name, x)
    return ball(name, x) if known is None else known


def ball(name: str, x: float) -> Number:
    """One function of one number, by balls."""
    for precision in PRECISIONS:
        flint.ctx.prec = precision
        y = BALLS.get(name, lambda v: getattr(v, name)())(flint.arb(x))
        ends = [leading(end) for end in (y.lower(), y.upper())]
        if ends[0] == ends[1]:
            return ends[0]
    middle = leading(near(y))
    assert isinstance(middle, float) or not middle[3], (name, x, y)
    return middle


def near(y: flint.arb) -> flint.arb:
    """The number of 64 bits that a ball closes in on."""
    man, exp = (int(part) for part in y.mid().man_exp())
    drop = man.bit_length() - 64
    if drop <= 0:
        return y.mid()
    rounded = (man + (1 << (drop - 1))) >> drop
    return flint.arb(rounded) * flint.arb(2) ** (exp + drop)


def leading(y: flint.arb) -> Number:
    """An exact ball as a number."""
    man, exp = (int(part) for part in y.man_exp())
    return dyadic(man, exp) if man else 0.0


def values(name: str, x: np.ndarray) -> Numbers:
    """A function of many numbers."""
    return Numbers.of([value(name, v) for v in x.tolist()])
