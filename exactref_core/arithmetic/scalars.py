"""Certified values: numbers, and IEEE specials as Python floats."""

from __future__ import annotations

import math
from typing import Any, TypeAlias

from exactref_core.exact.interval import Interval, Number, Unsure, rational

__all__ = ["Scalar", "finite", "number", "settle", "sign", "unsure_sign"]

Scalar: TypeAlias = Any  # gmpy2.mpq, Interval, or float: an infinity, NaN or -0.0


def number(value: Scalar) -> Number:
    """Return a finite value as a number (-0.0 is 0)."""
    return rational(0) if isinstance(value, float) else value


def finite(value: Scalar) -> bool:
    """Return whether a value is a real number."""
    return not isinstance(value, float) or value == 0


def sign(value: Scalar) -> float:
    """Return a float of the class and sign of a value: itself if special, else -1, 0 or 1."""
    if isinstance(value, float):
        return value
    if isinstance(value, Interval):
        if value.low > 0 or (value.low == 0 and value.open_low):
            return 1.0
        if value.high < 0 or (value.high == 0 and value.open_high):
            return -1.0
        if value.low == value.high == 0:
            return 0.0
        raise Unsure
    return float((value > 0) - (value < 0))


def unsure_sign(value: Scalar) -> bool:
    """Return whether a value's enclosure does not tell its sign."""
    try:
        sign(value)
    except Unsure:
        return True
    return False


def settle(result: float) -> Scalar:
    """Return a float answer of IEEE rules as a value: specials as they are, 0.0 as a number."""
    if math.isfinite(result) and (result != 0 or math.copysign(1.0, result) > 0):
        return rational(result)
    return result
