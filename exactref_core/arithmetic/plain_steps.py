"""Elementwise steps of the plain reading."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from exactref_core.arithmetic.plain_numbers import (
    LARGE,
    LEAST_UNIT,
    ROOM,
    TINY,
    UNDERFLOW,
    Plain,
    U,
    Wild,
    both,
    either,
    finite,
    without,
)
from exactref_core.exact.double_double import two_sum

__all__ = ["STEPS"]

# What a divisor may err by, relatively, without the divisor's own array of errors.
STEADY = 2.0**-10


def negative(x: Plain) -> Plain:
    """-x."""
    return replace(x, value=-x.value, positive=False)


def absolute(x: Plain) -> Plain:
    """|x|: ||X| - |x|| <= |X - x|."""
    return replace(x, value=np.abs(x.value), positive=True)


def add(x: Plain, y: Plain) -> Plain:
    """x + y: TwoSum tells whether a sum of exact numbers is exact.

    Numbers that are not negative pass the larger of their relative errors on.
    """
    unknown, top = both(x, y), (x.top + y.top) * ROOM
    positive = x.positive and y.positive
    if x.exact and y.exact:
        value, tail = two_sum(x.value, y.value)
        if not tail.any():
            unit = min(x.unit, y.unit)
            return finite(Plain(value, 0.0, 0.0, top, 0.0, positive, 53, unit, unknown))
        return finite(Plain(value, 0.0, np.abs(tail), top, 0.0, positive, unknown=unknown))
    value = x.value + y.value
    if positive and x.even and y.even:
        relative, least = (max(x.relative, y.relative) + U) * ROOM, (x.least + y.least) / ROOM
        radius = (x.radius + y.radius) * ROOM
        return finite(Plain(value, relative, radius, top, least, True, unknown=unknown))
    radius = (x.spread() + y.spread()) * ROOM
    return finite(Plain(value, U, radius, top, 0.0, positive, unknown=unknown))


def subtract(x: Plain, y: Plain) -> Plain:
    """x - y."""
    return add(x, negative(y))


def multiply(x: Plain, y: Plain) -> Plain:
    """x * y: |XY - xy| <= |xy| (rx + ry + rx ry) + ax |y| (1 + ry) + ay |x| (1 + rx) + ax ay."""
    value, unknown, top = x.value * y.value, both(x, y), x.top * y.top * ROOM
    positive = x is y or (x.positive and y.positive)
    bits, unit = x.bits + y.bits, x.unit * y.unit
    if x.exact and y.exact and bits <= 53 and unit >= LEAST_UNIT:
        return finite(Plain(value, 0.0, 0.0, top, 0.0, positive, bits, unit, unknown))
    relative = (x.relative + y.relative + x.relative * y.relative + U) * ROOM
    if relative >= 1:
        raise Wild
    radius = carried(x, y) + carried(y, x)
    radius = (radius + x.radius * y.radius) * ROOM
    if x.smallest * y.smallest < LEAST_UNIT:
        radius = radius + UNDERFLOW
    least = x.least * y.least / ROOM
    least = least if least > TINY else 0.0
    return finite(Plain(value, relative, radius, top, least, positive, unknown=unknown))


def carried(x: Plain, y: Plain) -> Any:
    """Return x's absolute error times y."""
    if isinstance(x.radius, float):
        if x.radius == 0.0:
            return 0.0
        if (most := x.radius * y.top * (1 + y.relative)) <= TINY:
            return most
    return x.radius * np.abs(y.value) * (1 + y.relative)


def divide(x: Plain, y: Plain) -> Plain:
    """x / y: |X / Y - x / y| <= (dx + |x / y| dy) / (|y| - dy), dx and dy the operands' errors."""
    if y.least == 0.0:
        zero = y.value == 0
        if zero.any():
            y = without(y, np.broadcast_to(zero, np.broadcast_shapes(zero.shape, x.value.shape)))
    value, unknown = x.value / y.value, both(x, y)
    top = x.top / y.least * ROOM if y.least > 0 else np.inf
    positive = x.positive and y.positive
    steady = y.relative
    if isinstance(y.radius, float) and (y.radius == 0.0 or y.least > 0):
        steady += y.radius / y.least if y.radius else 0.0
        if steady <= STEADY and x.even and (x.radius == 0.0 or y.least > 0):
            relative = ((x.relative + steady) / (1 - steady) + U) * ROOM
            radius = x.radius / y.least * 2 if x.radius else 0.0
            least = x.least / y.top / ROOM if y.top < LARGE else 0.0
            if not x.smallest / y.top >= LEAST_UNIT:
                radius += UNDERFLOW
            return finite(Plain(value, relative, radius, top, least, positive, unknown=unknown))
    off = y.spread()
    rest = np.abs(y.value) - off * ROOM
    radius = (x.spread() + np.abs(value) * off * ROOM) / rest * ROOM + UNDERFLOW
    radius = np.where(rest > 0, radius, np.inf)
    return finite(Plain(value, U, radius, top, 0.0, positive, unknown=unknown))


def sqrt(x: Plain) -> Plain:
    """sqrt(x): |sqrt X - sqrt x| <= |X - x| / sqrt x, where X is surely not negative."""
    if not x.positive:
        below = x.value < 0
        if below.any():
            x = without(x, below)
    value = np.sqrt(x.value)
    if isinstance(x.radius, float) and x.radius == 0.0:
        relative = (x.relative + U) * ROOM
        if relative >= 1:
            raise Wild
        return Plain(value, relative, 0.0, max(x.top, 1.0), 0.0, True, unknown=x.unknown)
    off = x.spread()
    radius = np.where(x.value > off, off / value * ROOM, np.inf)
    return Plain(value, U, radius, max(x.top, 1.0), 0.0, True, unknown=x.unknown)


def hypot(x: Plain, y: Plain) -> Plain:
    """sqrt(x^2 + y^2)."""
    return sqrt(add(multiply(x, x), multiply(y, y)))


def told(x: Plain) -> Any:
    """Return where a number is unknown."""
    return False if x.unknown is None else x.unknown


def by_sign(a: Plain, x: Plain, y: Plain) -> Plain:
    """x where the sign bit of a is clear, else y."""
    first = ~np.signbit(a.value)
    unknown = a.unknown
    if not a.exact:
        unknown = either(unknown, ~(np.abs(a.value) > a.spread()))
    if x.unknown is not None or y.unknown is not None:
        unknown = either(unknown, np.where(first, told(x), told(y)))
    radius = x.radius
    if not (isinstance(x.radius, float) and isinstance(y.radius, float)):
        radius = np.where(first, x.radius, y.radius)
    elif x.radius != y.radius:
        radius = max(x.radius, y.radius)
    return Plain(
        np.where(first, x.value, y.value),
        max(x.relative, y.relative),
        radius,
        max(x.top, y.top),
        min(x.least, y.least),
        x.positive and y.positive,
        max(x.bits, y.bits),
        min(x.unit, y.unit),
        unknown,
    )


STEPS: dict[str, Callable[..., Plain]] = {
    "add": add,
    "subtract": subtract,
    "multiply": multiply,
    "divide": divide,
    "sqrt": sqrt,
    "negative": negative,
    "absolute": absolute,
    "hypot": hypot,
    "by_sign": by_sign,
}
