"""Functions of their inverses, and of sums of these: algebraic numbers, which ties may be among.

A function after its inverse gives its argument back. An exponential of a sum of logarithms, and a
wave of a sum of angles, is a number of rationals and square roots where the arguments are: with
E = e^x the logarithm log u has E = u, and asinh, acosh and atanh are logarithms too (NIST Handbook,
4.37(iv)); with the point (cos x, sin x) of an angle asin, acos, atan and atan2 are points of the
unit circle. Sums are products, whole multiples powers, halves square roots. Enclosures never tell
such a number from a tie that it is; square roots have a separation bound, which does.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from exactref_core.arithmetic.graph import Node
from exactref_core.arithmetic.scalars import finite, number, sign
from exactref_core.arithmetic.traversal import FIRST
from exactref_core.exact.interval import Interval, Number, Unsure, rational
from exactref_core.exact.nonnegative import ScalarAlgebra
from exactref_core.exact.roots import told

if TYPE_CHECKING:
    from exactref_core.arithmetic.certified import CertifiedReading

__all__ = ["composed", "power_of_logarithm"]

# f(g(u)) = u wherever g(u) is a number.
INVERSES = {
    "exp": "log",
    "log": "exp",
    "exp2": "log2",
    "log2": "exp2",
    "expm1": "log1p",
    "log1p": "expm1",
    "sin": "asin",
    "cos": "acos",
    "tan": "atan",
    "sinh": "asinh",
    "asinh": "sinh",
    "cosh": "acosh",
    "tanh": "atanh",
    "atanh": "tanh",
    "erf": "erfinv",
    "erfinv": "erf",
}
# f(g(u)) = u only where |u| is at most this many times pi / 2; of |u| where g is even.
BRANCHES = {"asin": ("sin", 1), "acos": ("cos", 2), "atan": ("tan", 1)}
BASES = {"log2": 2, "log10": 10}
# Sums of more terms, and higher powers, are numbers of too many bits.
MOST = 16

# Of a logarithm x the number e^x, or 2^x; of an angle the point (cos x, sin x).
Group: TypeAlias = Any
Rule: TypeAlias = Callable[[ScalarAlgebra, Number], Group]


def one_plus_square(a: ScalarAlgebra, u: Number, one: int = 1) -> Number:
    """Return sqrt(u^2 + one)."""
    return a.sqrt(a.add(a.multiply(u, u), rational(one)))


def across(a: ScalarAlgebra, u: Number) -> Number:
    """Return sqrt(1 - u^2)."""
    return a.sqrt(a.subtract(rational(1), a.multiply(u, u)))


def of_atanh(a: ScalarAlgebra, u: Number) -> Number:
    """Return e^atanh(u)."""
    one = rational(1)
    return a.sqrt(a.divide(a.add(one, u), a.subtract(one, u)))


def of_atan(a: ScalarAlgebra, u: Number) -> Group:
    """Return the point of an angle of this tangent."""
    size = one_plus_square(a, u)
    return a.divide(rational(1), size), a.divide(u, size)


LOGARITHMS: dict[str, Rule] = {
    "log": lambda a, u: u,
    "log1p": lambda a, u: a.add(rational(1), u),
    "asinh": lambda a, u: a.add(u, one_plus_square(a, u)),
    "acosh": lambda a, u: a.add(u, one_plus_square(a, u, -1)),
    "atanh": of_atanh,
}
BINARY: dict[str, Rule] = {"log2": lambda a, u: u}
ANGLES: dict[str, Rule] = {
    "asin": lambda a, u: (across(a, u), u),
    "acos": lambda a, u: (u, across(a, u)),
    "atan": of_atan,
}


def half_sum(a: ScalarAlgebra, e: Number, side: int) -> Number:
    """Return (e + side / e) / 2."""
    return a.multiply(a.add(e, a.divide(rational(side), e)), rational(1) / 2)


# What a function is of E or the point, and the functions that have one.
OUTER: dict[str, tuple[dict[str, Rule], Rule]] = {
    "exp": (LOGARITHMS, lambda a, e: e),
    "exp2": (BINARY, lambda a, e: e),
    "expm1": (LOGARITHMS, lambda a, e: a.subtract(e, rational(1))),
    "sinh": (LOGARITHMS, lambda a, e: half_sum(a, e, -1)),
    "cosh": (LOGARITHMS, lambda a, e: half_sum(a, e, 1)),
    "tanh": (LOGARITHMS, lambda a, e: a.divide(half_sum(a, e, -1), half_sum(a, e, 1))),
    "sin": (ANGLES, lambda a, point: point[1]),
    "cos": (ANGLES, lambda a, point: point[0]),
    "tan": (ANGLES, lambda a, point: a.divide(point[1], point[0])),
}


def composed(reading: CertifiedReading, node: Node, flat: int) -> Number | None:
    """Return a function of its inverse, or of a sum of such; None where it is neither."""
    name = node.attrs.name
    inner, place = behind(node.operands[0], flat)
    if inner.verb == "function":
        found = undone(reading, name, inner, place)
        if found is not None:
            return found
    if name in BASES and inner.verb == "pair" and inner.attrs.name == "pow":
        base, power = (reading.value(x, place) for x in inner.operands[:2])
        if is_rational(base, BASES[name]) and finite(power):
            return number(power)
    if name not in OUTER:
        return None
    kinds, outer = OUTER[name]
    budget = [MOST]
    group = element(reading, kinds, inner, place, budget)
    if group is None or (name == "tan" and is_zero(group[0])):
        return None
    return told(reading.arithmetic, outer(reading.arithmetic, group))


def power_of_logarithm(reading: CertifiedReading, node: Node, flat: int) -> Number | None:
    """Return a power b^(log_b u) of 2 or 10, which is u, or of a sum of such logarithms.

    None where a power is no such.
    """
    if node.attrs.name != "pow":
        return None
    base = reading.value(node.operands[0], flat)
    for name, value in BASES.items():
        if not is_rational(base, value) or not finite(reading.value(node.operands[1], flat)):
            continue
        inner, place = behind(node.operands[1], flat)
        if inner.verb == "function" and inner.attrs.name == name:
            u: Number = number(reading.value(inner.operands[0], place))
            return u
        return element(reading, {name: lambda a, u: u}, inner, place, [MOST])
    return None


def behind(node: Node, flat: int) -> tuple[Node, int]:
    """Return the node and element that an element is another name of."""
    while True:
        if node.verb == "view":
            flat = int(node.attrs.gather(np.asarray([flat]))[0])
            node = node.operands[0]
        elif node.verb == "stack":
            flat, which = divmod(flat, len(node.operands))
            node = node.operands[which]
        elif node.verb in FIRST:
            node = node.operands[node.verb == "restated"]
        else:
            return node, flat


def undone(reading: CertifiedReading, name: str, inner: Node, flat: int) -> Number | None:
    """Return the argument of a function's inverse."""
    given, algebra = reading.value(inner.operands[0], flat), reading.arithmetic
    if not finite(given):
        return None
    u: Number = number(given)
    if INVERSES.get(name) == inner.attrs.name:
        return u
    if name == "acosh" and inner.attrs.name == "cosh":
        return algebra.absolute(u)
    if name not in BRANCHES or BRANCHES[name][0] != inner.attrs.name:
        return None
    turn = algebra.multiply(rational(BRANCHES[name][1]), algebra.quarter_turn())
    size = algebra.absolute(u)
    try:
        beyond = sign(algebra.subtract(turn, size)) < 0
    except Unsure:  # perhaps the very end, where the function itself knows
        return None
    if beyond:
        return None
    return size if name == "acos" else u


def is_zero(x: Number) -> bool:
    """Return whether a number is certainly 0."""
    return is_rational(x, 0)


def is_rational(x: Any, value: int) -> bool:
    """Return whether a value is certainly an integer."""
    return not isinstance(x, Interval) and bool(x == value)


def is_algebraic(x: Any) -> bool:
    """Return whether a value is known to be a number of rationals and square roots."""
    return finite(x) and (not isinstance(x, Interval) or x.separation is not None)


def element(
    reading: CertifiedReading, kinds: dict[str, Rule], node: Node, flat: int, budget: list[int]
) -> Group | None:
    """Return E or the point of a sum of logarithms or angles; None where it is none."""
    node, flat = behind(node, flat)
    budget[0] -= 1
    if budget[0] < 0:
        return None
    algebra = reading.arithmetic
    if node.verb == "function" and node.attrs.name in kinds:
        u = reading.value(node.operands[0], flat)
        if node.attrs.name == "atan" and not finite(u):
            return of_pair(algebra, u, rational(1))
        return kinds[node.attrs.name](algebra, number(u)) if is_algebraic(u) else None
    if node.verb == "pair" and node.attrs.name == "atan2" and kinds is ANGLES:
        return of_pair(algebra, *(reading.value(x, flat) for x in node.operands[:2]))
    if node.verb in ("negative", "add", "subtract"):
        parts = [element(reading, kinds, x, flat, budget) for x in node.operands]
        if any(part is None for part in parts):
            return None
        if node.verb != "add":
            parts[-1] = inverse(algebra, parts[-1])
        return parts[0] if len(parts) == 1 else product(algebra, *parts)
    if node.verb in ("multiply", "divide"):
        return multiple(reading, kinds, node, flat, budget)
    return None


def of_pair(algebra: ScalarAlgebra, y: Any, x: Any) -> Group | None:
    """Return the point of the direction of (x, y), of infinities and zeros too (C99 F.10.1.4)."""
    if x != x or y != y:
        return None
    if not (finite(x) and finite(y)):
        x, y = (rational(0 if finite(z) else int(math.copysign(1, z))) for z in (x, y))
    elif is_rational(x, 0) and is_rational(y, 0):
        x = rational(-1 if isinstance(x, float) and math.copysign(1, x) < 0 else 1)
    if not (is_algebraic(x) and is_algebraic(y)):
        return None
    x, y = number(x), number(y)
    square = algebra.add(algebra.multiply(x, x), algebra.multiply(y, y))
    if is_zero(square):
        return None
    size = algebra.sqrt(square)
    return algebra.divide(x, size), algebra.divide(y, size)


def multiple(
    reading: CertifiedReading, kinds: dict[str, Rule], node: Node, flat: int, budget: list[int]
) -> Group | None:
    """Return E or the point of a rational multiple: whole, of a logarithm halved too."""
    for index in (1, 0) if node.verb == "multiply" else (1,):
        factor = reading.value(node.operands[index], flat)
        if isinstance(factor, Interval) or not finite(factor) or number(factor) == 0:
            continue
        k = 1 / number(factor) if node.verb == "divide" else number(factor)
        if k.denominator not in (1, 2) or abs(k.numerator) > MOST:
            continue
        if k.denominator == 2 and kinds is ANGLES:
            continue
        group = element(reading, kinds, node.operands[1 - index], flat, budget)
        if group is None:
            return None
        found = group
        for _ in range(abs(int(k.numerator)) - 1):
            found = product(reading.arithmetic, found, group)
        if k < 0:
            found = inverse(reading.arithmetic, found)
        return reading.arithmetic.sqrt(found) if k.denominator == 2 else found
    return None


def product(a: ScalarAlgebra, x: Group, y: Group) -> Group:
    """Return the product of two numbers, or of two points as complex numbers."""
    if not isinstance(x, tuple):
        return a.multiply(x, y)
    real = a.subtract(a.multiply(x[0], y[0]), a.multiply(x[1], y[1]))
    return real, a.add(a.multiply(x[0], y[1]), a.multiply(x[1], y[0]))


def inverse(a: ScalarAlgebra, x: Group) -> Group:
    """Return the reciprocal of a positive number, or of a point of the unit circle."""
    return (x[0], -x[1]) if isinstance(x, tuple) else a.divide(rational(1), x)
