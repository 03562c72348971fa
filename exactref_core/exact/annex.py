"""C99 Annex G: complex functions where a part of the argument is an infinity or NaN.

Tables G.6.1 and G.6.2 for exp, log, acos, the hyperbolic functions and their inverses; the others
follow by f(z) = -i g(iz). Where C99 leaves a sign open, both are told. Of a zero real part C17
makes a number of parts that C99 leaves NaN (tanh, acosh): both are told. C99 has no expm1 and log1p
of complex numbers; the array API standard gives them the tables of exp and log.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["Answer", "answer"]

INF, NAN = math.inf, math.nan


@dataclass(frozen=True)
class Answer:
    """One part: a float, or so many quarters of pi; what else it may be."""

    value: float
    quarters: int = 0
    others: tuple[float, ...] = ()


Part = Answer | None  # None: what the definition itself gives
Parts = tuple[Part, Part]
NONE, UNSIGNED = Answer(NAN), Answer(INF, others=(-INF,))


def sign(x: float) -> float:
    """Return 1 with the sign of x."""
    return math.copysign(1.0, x)


def zero(*signs: float) -> Answer:
    """Return a zero with the sign of a product."""
    return Answer(math.prod([0.0, *map(sign, signs)]))


def turn(quarters: int, side: float) -> Answer:
    """Return quarters of pi, of the sign of ``side``."""
    return Answer(math.copysign(0.0, side), quarters * int(sign(side)))


def exp(x: float, y: float) -> Parts:
    """cexp."""
    if math.isfinite(y):
        if y == 0 and not math.isfinite(x):
            return None if x == x else NONE, zero(y)
        return (None, None) if x == x else (NONE, NONE)
    if x == -INF:
        return Answer(0.0), Answer(0.0)
    return (UNSIGNED if x == INF else NONE), NONE


def expm1(x: float, y: float) -> Parts:
    """The table of exp, 1 taken away."""
    real, imag = exp(x, y)
    return Answer(-1.0) if x == -INF else real, imag


def sinh(x: float, y: float) -> Parts:
    """csinh."""
    if math.isfinite(y):
        if y == 0 and not math.isfinite(x):
            return None if x == x else NONE, zero(y)
        return (None, None) if x == x else (NONE, NONE)
    if x == 0:
        return Answer(0.0), NONE
    return (UNSIGNED if math.isinf(x) else NONE), NONE


def cosh(x: float, y: float) -> Parts:
    """ccosh."""
    if math.isfinite(y):
        if y == 0 and not math.isfinite(x):
            return None if x == x else NONE, zero(x, y)
        return (None, None) if x == x else (NONE, NONE)
    if x == 0:
        return NONE, Answer(0.0)
    if math.isinf(x):
        return (Answer(INF) if y != y else UNSIGNED), NONE
    return NONE, NONE


def tanh(x: float, y: float) -> Parts:
    """ctanh."""
    if math.isinf(x):
        return (None, None) if math.isfinite(y) else (Answer(sign(x)), zero(0.0))
    if x != x:
        return NONE, (zero(y) if y == 0 else NONE)
    return (Answer(0.0, others=(NAN,)) if x == 0 else NONE), NONE


def log(x: float, y: float) -> Parts:
    """clog."""
    if math.isinf(x) or math.isinf(y):
        return Answer(INF), (NONE if x != x or y != y else angle(y, x))
    return NONE, NONE


def angle(y: float, x: float) -> Answer:
    """Return the angle of a point that is infinitely far."""
    if math.isinf(y):
        return turn((1 if x > 0 else 3) if math.isinf(x) else 2, y)
    return turn(0 if x > 0 else 4, y)


def asinh(x: float, y: float) -> Parts:
    """casinh."""
    if math.isinf(x):
        return Answer(x), (NONE if y != y else angle(y, abs(x)))
    if math.isinf(y):
        if x != x:
            return UNSIGNED, NONE
        return Answer(math.copysign(INF, x)), turn(2, y)
    return NONE, (zero(y) if x != x and y == 0 else NONE)


def acos(x: float, y: float) -> Parts:
    """cacos."""
    if x != x or y != y:
        if math.isinf(x):
            return NONE, UNSIGNED
        if math.isinf(y):
            return NONE, Answer(-y)
        return (turn(2, 1.0) if x == 0 else NONE), NONE
    return angle(abs(y), x), Answer(math.copysign(INF, -sign(y)))


def acosh(x: float, y: float) -> Parts:
    """cacosh."""
    if x != x or y != y:
        if math.isinf(x) or math.isinf(y):
            return Answer(INF), NONE
        return NONE, (Answer(0.0, 2, (NAN, -0.0)) if x == 0 else NONE)
    return Answer(INF), turn(angle(abs(y), x).quarters, y)


def atanh(x: float, y: float) -> Parts:
    """catanh."""
    if math.isinf(y):
        return Answer(math.copysign(0.0, x)), turn(2, y)
    if math.isinf(x):
        return zero(x), (NONE if y != y else turn(2, y))
    return (zero(x) if x == 0 else NONE), NONE


def turned(function: Callable[[float, float], Parts]) -> Callable[[float, float], Parts]:
    """Return -i g(iz) for a function g that is odd: g(x + iy) with its parts exchanged, at y + ix.

    -i g(-y + ix) = Im g + (-Re g) i, and g(-y + ix) is -conj(g(y + ix)).
    """

    def parts(x: float, y: float) -> Parts:
        real, imag = function(y, x)
        return imag, real

    return parts


def cos(x: float, y: float) -> Parts:
    """ccos(z) = ccosh(iz) = conj(ccosh(y + ix))."""
    real, imag = cosh(y, x)
    return real, None if imag is None else Answer(-imag.value, -imag.quarters, imag.others)


TABLES: dict[str, Callable[[float, float], Parts]] = {
    "exp": exp,
    "exp2": exp,
    "expm1": expm1,
    "log": log,
    "log1p": log,
    "log2": log,
    "log10": log,
    "sinh": sinh,
    "cosh": cosh,
    "tanh": tanh,
    "sin": turned(sinh),
    "cos": cos,
    "tan": turned(tanh),
    "asinh": asinh,
    "acosh": acosh,
    "atanh": atanh,
    "asin": turned(asinh),
    "acos": acos,
    "atan": turned(atanh),
}


def answer(rule: tuple[str, int], x: float, y: float) -> Part:
    """Return a part of a function at x + iy, of which one is no number; finite ones by sign.

    ``rule`` is the function's name and 0 for the real, 1 for the imaginary part.
    """
    name, part = rule
    if name in ("log2", "log10"):
        found = log(x, y)[part]
        # The angle over log 2 or log 10 is what the definition gives, infinities included.
        return None if found is not None and found.quarters else found
    return TABLES[name](x, y)[part]
