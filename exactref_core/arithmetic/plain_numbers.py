"""Numbers of the plain reading: float64 values within a relative and an absolute error.

Errors that one number bounds for all elements cost no pass over an array; u = 2**-53. Each step
counts u of its own result (half an ulp), errors of its operands by the triangle inequality, and
what an underflow loses. ROOM makes room for what the bounds' own arithmetic rounds.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from exactref_core.exact.double_double import Floats

__all__ = [
    "LARGE",
    "LEAST_UNIT",
    "ROOM",
    "TINY",
    "UNDERFLOW",
    "Plain",
    "U",
    "Wild",
    "both",
    "constant",
    "either",
    "finite",
    "settled",
    "without",
]

Bools: TypeAlias = npt.NDArray[np.bool_]

U = 2.0**-53
ROOM = 1 + 2.0**-40
# What one step may lose to underflow.
UNDERFLOW = 2.0**-1074
# Absolute errors up to this need no array: `plain_rounding` sets tiny values apart.
TINY = 2.0**-700
# A product of exact numbers that are multiples of these is exact if 53 bits hold it.
LEAST_UNIT = 2.0**-1000
# Below this size no step overflows unnoticed.
LARGE = 2.0**1000


class Wild(Exception):
    """A block for which the plain reading has no answer."""


@dataclass(eq=False, slots=True)
class Plain:
    """Values within ``relative * |value| + radius`` of the exact ones, all finite.

    ``radius`` is one number or an array; an infinity or NaN in it says nothing. ``top``: no value
    is larger in size; ``least``: none is smaller. ``positive``: no exact value is negative. Where
    both errors are 0 values are exact, with the signs of zeros; they are then multiples of ``unit``
    with ``bits`` significant bits. ``unknown`` marks elements that were given another value because
    theirs is not known.
    """

    value: Floats
    relative: float = 0.0
    radius: Any = 0.0
    top: float = np.inf
    least: float = 0.0
    positive: bool = False
    bits: int = 53
    unit: float = 0.0
    unknown: Bools | None = None

    @property
    def exact(self) -> bool:
        """Whether the values are the exact ones."""
        return self.relative == 0.0 and self.even and self.radius == 0.0

    @property
    def even(self) -> bool:
        """Whether one number bounds the absolute errors, a tiny one."""
        return isinstance(self.radius, float) and self.radius <= TINY

    @property
    def smallest(self) -> float:
        """A number that no value but 0 is smaller than in size."""
        return self.unit if self.exact else self.least

    def spread(self) -> Any:
        """An upper bound on how far the exact values are from these."""
        if self.relative == 0.0:
            return self.radius
        return (np.abs(self.value) * self.relative + self.radius) * ROOM


def constant(exact: Fraction) -> Plain:
    """Return a constant; `Wild` where float64 is no room for it."""
    value = float(exact)
    size = abs(value)
    if size and not 1 / LARGE < size < LARGE:
        raise Wild
    array, positive = np.asarray(value), value >= 0
    if exact != Fraction(value):
        return Plain(array, U, top=size, least=size, positive=positive)
    unit = 1.0 if not size else 1 / exact.denominator  # a power of two, then
    bits = max(abs(exact.numerator).bit_length(), 1)
    return Plain(array, 0.0, 0.0, size, size, positive, bits, unit)


def both(x: Plain, y: Plain) -> Bools | None:
    """Return which elements are unknown in either number."""
    return either(x.unknown, y.unknown)


def either(one: Bools | None, other: Bools | None) -> Bools | None:
    """Return where either mask holds."""
    if one is None or other is None:
        return other if one is None else one
    return one | other


def finite(x: Plain) -> Plain:
    """Return a number whose values may have overflowed, those that did set apart."""
    if x.top <= LARGE:
        return x
    good = np.isfinite(x.value)
    return x if good.all() else without(x, ~good)


def without(x: Plain, bad: Bools) -> Plain:
    """Return a number in which the bad elements are 1 and unknown."""
    least, top, unknown = min(x.least, 1.0), max(x.top, 1.0), either(x.unknown, bad)
    return replace(x, value=np.where(bad, 1.0, x.value), unknown=unknown, least=least, top=top)


def settled(x: Plain, shape: tuple[int, ...]) -> Plain:
    """Return a number with arrays of a shape."""
    unknown = None if x.unknown is None else np.broadcast_to(x.unknown, shape)
    if np.shape(x.value) == shape:
        return replace(x, unknown=unknown)
    return replace(x, value=np.broadcast_to(x.value, shape).copy(), unknown=unknown)
