"""Elementary functions near their limits, poles and ends, by what is left beside these.

Each is an identity of the function with one of a small argument or a small value, evaluated by
interval arithmetic that keeps small parts beside rationals (`lines`): tanh x = 1 - 2 / (e^2x + 1),
which is told from 1, and from tanh y, however large both are. Sources: NIST Handbook, 4.35, 4.37,
5.5 and 7.2; the recurrence of the gamma function gives those around its poles.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from exactref_core.exact.interval import Interval, Number, opened, opens_of, rational
from exactref_core.exact.inverse_tails import inverse_tail
from exactref_core.exact.lines import LineArithmetic, apart
from exactref_core.exact.sizes import is_beyond

__all__ = ["near"]

# From here on the limits at infinity are near; within the second a pole or end is.
FAR, CLOSE = 4, rational(1) / 16
# Poles at 0, -1, ..., as far as the recurrence goes.
POLES = 8
# MPFR's exponents are below 2^30: those of e^x, and of e^(-x^2), from here on may not be.
HUGE, FARTHEST = 1 << 28, 1 << 14
# 2^x is the root of a rational where 2x is whole; larger ones are no ties of any format.
LARGEST = 1 << 12
ONE, TWO = rational(1), rational(2)


def near(name: str, arithmetic: Any, x: Number) -> Number | None:
    """Return a function near a limit, pole or end; None where it is not near one."""
    if not isinstance(arithmetic, LineArithmetic):
        return None
    if name in GROWING and huge(arithmetic, name, x):
        return GROWING[name](arithmetic, x)
    if name in LIMITS:
        wanted, limit = LIMITS[name]
        side = far(arithmetic, x)
        if side and wanted in (0, side):
            return limit(arithmetic, x, side)
    if not isinstance(x, Interval):
        halves = name == "exp2" and x.denominator == 2 and abs(x) < LARGEST
        return arithmetic.sqrt(TWO ** int(2 * x)) if halves else None
    if name in LOGARITHMS and is_beyond(x) and x.low >= 0 and arithmetic.size(x) is not None:
        return LOGARITHMS[name](arithmetic, x)
    if name in ENDS or name in GAMMAS:
        found = apart(x)
        center, rest = (rational(0), x) if found is None else found
        if not small(arithmetic, rest):
            return None
        if name in GAMMAS and is_pole(center):
            return around(arithmetic, name, center, rest)
        if name not in ENDS:
            return None
        if center in ENDS[name]:
            return ENDS[name][center](arithmetic, rest)
    return None


def far(a: LineArithmetic, x: Number) -> int:
    """Return the side on which a number is far from 0, 0 where it is not."""
    low, high = a.ends(x)
    return int(low >= FAR) - int(high <= -FAR)


def small(a: LineArithmetic, rest: Number) -> bool:
    """Return whether a number is certainly small, and not 0."""
    low, high = a.ends(rest)
    below, above = opens_of(rest)
    apart_from_zero = low > 0 or high < 0 or (low == 0 and below) or (high == 0 and above)
    return bool(apart_from_zero and low > -CLOSE and high < CLOSE)


def is_pole(center: Any) -> bool:
    """Return whether the gamma function has a pole here, not too far out."""
    return bool(-POLES <= center <= 0 and center == int(center))


def huge(a: LineArithmetic, name: str, x: Number) -> bool:
    """Return whether the exponents of e^x or of e^-x, or of erfc x, may be too large for MPFR."""
    (low, high), least = a.ends(x), FARTHEST if name == "erfc" else HUGE
    return bool(low >= least or high <= -least)


def enclosed(a: LineArithmetic, name: str, x: Number) -> Number:
    """Return the enclosure of a function of the table, where it is monotone."""
    from exactref_core.exact.elementary_table import FUNCTIONS, INTERNAL

    function = (FUNCTIONS | INTERNAL)[name]
    low, high = function.hull(a, *a.ends(x))
    return opened(low, high, a, function.floor is not None and low == function.floor, False)


# -- beyond MPFR's exponents -------------------------------------------------------------------


def half_sum(a: LineArithmetic, x: Number, side: int) -> Number:
    """Return (e^x + side e^-x) / 2."""
    other = a.multiply(rational(side), a.exp(-x))
    return a.divide(a.add(a.exp(x), other), TWO)


GROWING: dict[str, Callable[[LineArithmetic, Number], Number]] = {
    "exp": lambda a, x: a.exp(x),
    "exp2": lambda a, x: a.exp(a.multiply(x, a.log(TWO))),
    "expm1": lambda a, x: a.subtract(a.exp(x), ONE),
    "sinh": lambda a, x: half_sum(a, x, -1),
    "cosh": lambda a, x: half_sum(a, x, 1),
    "erfc": lambda a, x: (
        complement(a, x) if a.ends(x)[0] > 0 else a.subtract(TWO, complement(a, x))
    ),
}


def arc(a: LineArithmetic, x: Number, side: int) -> Number:
    """Return log(x + sqrt(x^2 + side))."""
    return a.log(a.add(x, a.sqrt(a.add(a.multiply(x, x), rational(side)))))


LOGARITHMS: dict[str, Callable[[LineArithmetic, Number], Number]] = {
    "log": lambda a, x: a.log(x),
    "log2": lambda a, x: a.divide(a.log(x), a.log(TWO)),
    "log10": lambda a, x: a.divide(a.log(x), a.log(rational(10))),
    "log1p": lambda a, x: a.log(a.add(ONE, x)),
    "asinh": lambda a, x: arc(a, x, 1),
    "acosh": lambda a, x: arc(a, x, -1),
    "cbrt": lambda a, x: a.of_size(1, a.divide(a.log(x), rational(3))),
}


# -- limits at infinity ------------------------------------------------------------------------


def complement(a: LineArithmetic, x: Number) -> Number:
    """Return erfc(|x|), which falls: e^(-x^2) erfcx |x| where its exponent may be too small."""
    size = a.absolute(x)
    if a.ends(size)[0] >= FARTHEST:
        scaled = a.log(enclosed(a, "erfcx", size))
        return a.of_size(1, a.subtract(scaled, a.multiply(size, size)))
    (low, high), (below, above) = a.ends(size), opens_of(size)
    least, most = a.down.erfc(high), a.up.erfc(low)
    return opened(least, most, a, above or bool(least.rc), below or bool(most.rc))


def tanh(a: LineArithmetic, x: Number, side: int) -> Number:
    """Return side (1 - 2 / (e^2|x| + 1))."""
    grown = a.exp(a.multiply(TWO, a.absolute(x)))
    return a.multiply(rational(side), a.subtract(ONE, a.divide(TWO, a.add(grown, ONE))))


def erf(a: LineArithmetic, x: Number, side: int) -> Number:
    """Return side (1 - erfc |x|)."""
    return a.multiply(rational(side), a.subtract(ONE, complement(a, x)))


def erfc(a: LineArithmetic, x: Number, side: int) -> Number:
    """Return 2 - erfc |x|."""
    return a.subtract(TWO, complement(a, x))


def expm1(a: LineArithmetic, x: Number, side: int) -> Number:
    """Return e^x - 1."""
    return a.subtract(a.exp(x), ONE)


# The functions, and the side on which they have the limit (0: both).
LIMITS: dict[str, tuple[int, Callable[[LineArithmetic, Number, int], Number]]] = {
    "tanh": (0, tanh),
    "erf": (0, erf),
    "erfc": (-1, erfc),
    "expm1": (-1, expm1),
}


# -- ends and other points ---------------------------------------------------------------------


def one_and(a: LineArithmetic, name: str, t: Number, factor: int) -> Number:
    """Return 1 + 2 factor f(t / 2)^2 of a function that rises there."""
    half = a.rising(name, a.divide(t, TWO))
    return a.add(ONE, a.multiply(rational(2 * factor), a.multiply(half, half)))


def base_log(a: LineArithmetic, t: Number, base: int) -> Number:
    """Return log(1 + t) / log(base)."""
    return a.divide(a.rising("log1p", t), a.log(rational(base)))


def from_end(a: LineArithmetic, name: str, t: Number) -> Number:
    """Return 2 f(sqrt(t / 2)), f = asinh or asin: acosh(1 + t) and acos(1 - t)."""
    return a.multiply(TWO, a.rising(name, a.sqrt(a.divide(t, TWO))))


def at_end(a: LineArithmetic, t: Number) -> Number:
    """Return atanh(1 - t) = log((2 - t) / t) / 2."""
    gap = a.subtract(a.log(a.subtract(TWO, t)), a.log(t))
    return a.divide(gap, TWO)


ENDS: dict[str, dict[int, Callable[[LineArithmetic, Number], Number]]] = {
    "log": {1: lambda a, t: a.rising("log1p", t)},
    "log2": {1: lambda a, t: base_log(a, t, 2)},
    "log10": {1: lambda a, t: base_log(a, t, 10)},
    "log1p": {-1: lambda a, t: a.log(t)},
    "acosh": {1: lambda a, t: from_end(a, "asinh", t)},
    "acos": {1: lambda a, t: from_end(a, "asin", -t)},
    "atanh": {1: lambda a, t: at_end(a, -t), -1: lambda a, t: -at_end(a, t)},
    "sin": {0: lambda a, t: a.rising("sin", t)},
    "erfinv": {
        1: lambda a, t: inverse_tail(a, -t),
        -1: lambda a, t: -inverse_tail(a, t),
    },
    "erfc": {0: lambda a, t: a.subtract(ONE, a.rising("erf", t))},
    "lgamma": {
        1: lambda a, t: log_gamma(a, t),
        2: lambda a, t: a.add(a.rising("log1p", t), log_gamma(a, t)),
    },
    "cos": {0: lambda a, t: one_and(a, "sin", t, -1)},
    "cosh": {0: lambda a, t: one_and(a, "sinh", t, 1)},
    "exp": {0: lambda a, t: a.add(ONE, a.rising("expm1", t))},
    "exp2": {0: lambda a, t: a.add(ONE, a.rising("expm1", a.multiply(t, a.log(TWO))))},
}


# -- poles of the gamma function ---------------------------------------------------------------


def around(a: LineArithmetic, name: str, center: Any, t: Number) -> Number:
    """Return a gamma function's logarithm, or a derivative of that, at a pole and a small number.

    Gamma(1 + t) = (t - n) ... (t - 1) t Gamma(t - n), whose logarithmic derivatives are sums.
    """
    gaps = [a.subtract(t, rational(k)) for k in range(int(-center) + 1)]
    at_one, step = GAMMAS[name]
    value = at_one(a, t)
    for gap in gaps:
        value = a.subtract(value, step(a, gap))
    return value


def past(name: str) -> Callable[[LineArithmetic, Number], Number]:
    """Return a function at 1 + t."""
    return lambda a, t: enclosed(a, name, a.add(ONE, t))


def log_gamma(a: LineArithmetic, t: Number) -> Number:
    """Return lgamma(1 + t) = -g t + sum (-t)^k zeta(k) / k over k > 1, g Euler's constant.

    It is convex, hence at or above the tangent -g t, and above that by less than t^2: zeta(2) / 2
    < 0.83, and the others add less than 0.03. As g > 1/2, it is -g t (1 + d) with |d| < 2 |t|.
    MPFR takes very long so near 1.
    """
    least = rational(1) / (1 << a.precision // 2)
    if any(abs(end) > least for end in a.ends(t)):
        return past("lgamma")(a, t)
    euler = Interval(a.down.const_euler(), a.up.const_euler(), a)
    room = a.up.mul(max(abs(end) for end in a.ends(t)), 2)
    around_one = Interval(a.down.sub(1, room), a.up.add(1, room), a)
    return a.multiply(a.multiply(-euler, t), around_one)


GAMMAS: dict[str, tuple[Any, Callable[[LineArithmetic, Number], Number]]] = {
    "lgamma": (log_gamma, lambda a, gap: a.log(a.absolute(gap))),
    "digamma": (past("digamma"), lambda a, gap: a.divide(ONE, gap)),
    "trigamma": (
        past("trigamma"),
        lambda a, gap: -a.divide(ONE, a.multiply(gap, gap)),
    ),
}
