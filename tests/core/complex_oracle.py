"""Complex functions by flint's ball arithmetic, as 64 leading bits and "something follows".

Nothing here is shared with the package. Balls know no signed zeros: functions are evaluated where
their parts have known signs, and the signs of parts and zeros are put in afterwards (C99 Annex G).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import flint
import numpy as np

from tests.core.function_oracle import leading, near, negated
from tests.every_op.numbers import Number, Numbers

PRECISIONS = (200, 600, 3000, 12000)
LIBRARY = {
    "asin": "arcsin",
    "acos": "arccos",
    "atan": "arctan",
    "asinh": "arcsinh",
    "acosh": "arccosh",
    "atanh": "arctanh",
}
BALLS: dict[str, Callable[[Any], Any]] = {
    "exp2": lambda z: (z * flint.arb(2).log()).exp(),
    "log2": lambda z: z.log() / flint.arb(2).log(),
    "log10": lambda z: z.log() / flint.arb(10).log(),
}
# Functions with cuts: which part of the argument gives the real, the imaginary part its sign.
SIGNS: dict[str, tuple[str, str]] = {
    **dict.fromkeys(("log", "log1p", "log2", "log10"), ("", "y")),
    **dict.fromkeys(("asin", "atan", "asinh", "atanh"), ("x", "y")),
    "acos": ("", "-y"),
    "acosh": ("+", "y"),
}
ENTIRE = ("exp", "exp2", "expm1", "sin", "cos", "tan", "sinh", "cosh", "tanh")
NAMES = (*ENTIRE, *SIGNS)


def numpy_function(name: str) -> Callable[[Any], Any]:
    return getattr(np, LIBRARY.get(name, name))


def value(name: str, z: complex) -> tuple[Number, Number]:
    """Both parts of a function of a number."""
    x, y = z.real, z.imag
    with np.errstate(all="ignore"):
        zeros = numpy_function(name)(np.complex128(z))
    cut = SIGNS.get(name)
    # In the upper right quarter, or half where the real part depends on the sign of x.
    a, b = (x if cut is None or cut[0] in ("", "+") else abs(x)), (y if cut is None else abs(y))
    found = []
    for index in range(2):
        part = converge(name, a, b, index)
        if cut is not None and cut[index]:
            part = with_sign(part, cut[index], x, y)
        if part == 0.0 and isinstance(part, float):
            part = math.copysign(0.0, (zeros.real, zeros.imag)[index])
        found.append(part)
    return found[0], found[1]


def with_sign(part: Number, rule: str, x: float, y: float) -> Number:
    """A part made positive or negative."""
    side = {"x": x, "y": y, "-y": -y, "+": 1.0}[rule]
    negative = math.copysign(1.0, side) < 0
    if isinstance(part, float):
        return math.copysign(part, side)
    positive = (False, *part[1:])
    return negated(positive) if negative else positive


def converge(name: str, a: float, b: float, index: int) -> Number:
    """One part at a + ib, at the first precision that tells its leading bits."""
    if name in ("log", "log2", "log10") and a == b == 0:
        return (-math.inf, 0.0 if math.copysign(1.0, a) > 0 else quarter(name))[index]
    if name == "log1p" and a == -1 and b == 0:
        return (-math.inf, 0.0)[index]
    if name == "atan" and a == 0 and b == 1:
        return (0.0, math.inf)[index]
    if name == "atanh" and a == 1 and b == 0:
        return (math.inf, 0.0)[index]
    for precision in PRECISIONS:
        flint.ctx.prec = precision
        z = flint.acb(a, b)
        w = BALLS[name](z) if name in BALLS else getattr(z, name)()
        part = w.imag if index else w.real
        if not part.is_finite():
            continue
        ends = [leading(end) for end in (part.lower(), part.upper())]
        if ends[0] == ends[1]:
            return ends[0]
    middle = leading(near(part)) if abs(part.mid()) > flint.arb(2) ** -5000 else 0.0
    assert isinstance(middle, float) or not middle[3], (name, a, b, part)
    return middle


def quarter(name: str) -> Number:
    """The angle pi in the units of a logarithm."""
    flint.ctx.prec = 200
    base = {"log": flint.arb(1), "log2": flint.arb(2).log(), "log10": flint.arb(10).log()}[name]
    return leading((flint.arb.pi() / base).lower())


def values(name: str, z: np.ndarray) -> tuple[Numbers, Numbers]:
    """Both parts of a function of many numbers."""
    found = [value(name, v) for v in z.tolist()]
    return Numbers.of([p[0] for p in found]), Numbers.of([p[1] for p in found])
