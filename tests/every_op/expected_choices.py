"""Expected exact values of steps and of choices among numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from tests.every_op import formulas as f
from tests.every_op.arrays import Answer, scalars
from tests.every_op.numbers import Number


def key(x: Any) -> tuple[float, float]:
    """An order of scalars in which -0.0 comes before 0."""
    if isinstance(x, float):
        return x, math.copysign(1.0, x)
    return x, 1.0


def chosen(values: list[Any], sign: int, nan: str) -> Any:
    """The largest (sign 1) or smallest (-1) of some scalars."""
    numbers = [x for x in values if not (isinstance(x, float) and math.isnan(x))]
    if not numbers or (len(numbers) < len(values) and nan == "propagate"):
        return math.nan
    return max(numbers, key=key) if sign > 0 else min(numbers, key=key)


def elementwise(step: Callable[..., Number]) -> Callable[..., Answer]:
    """A formula of broadcast arrays, element by element."""

    def formula(unit: int, *arrays: np.ndarray, **params: Any) -> Answer:
        arrays = tuple(np.broadcast_arrays(*arrays))
        rows = zip(*(scalars(x, unit) for x in arrays), strict=True)
        return arrays[0].shape, [[step(unit, *row, **params) for row in rows]]

    return formula


def maximum(unit: int, *values: Any, nan: str = "propagate") -> Number:
    return f.give(chosen(list(values), 1, nan), unit)


def minimum(unit: int, *values: Any, nan: str = "propagate") -> Number:
    return f.give(chosen(list(values), -1, nan), unit)


def clip(unit: int, x: Any, low: Any, high: Any, nan: str = "propagate") -> Number:
    return f.give(chosen([chosen([x, low], 1, nan), high], -1, nan), unit)


def extreme(sign: int) -> Callable[..., Answer]:
    """A reduction that chooses."""

    def formula(
        unit: int, x: np.ndarray, axis: Any = None, keepdims: bool = False, nan: str = "propagate"
    ) -> Answer:
        from tests.every_op.expected import term_rows

        shape, rows = term_rows(x, axis, keepdims)
        return shape, [[f.give(chosen(scalars(row, unit), sign, nan), unit) for row in rows]]

    return formula


def where(unit: int, x: np.ndarray, y: np.ndarray, condition: np.ndarray) -> Answer:
    picked = np.where(condition, x, y)
    sides = [picked.real, picked.imag] if picked.dtype.kind == "c" else [picked]
    return picked.shape, [[f.give(v, unit) for v in scalars(side, unit)] for side in sides]


def astype(unit: int, x: np.ndarray) -> Answer:
    return where(unit, x, x, np.ones(x.shape, bool))


def fma(unit: int, x: Any, y: Any, z: Any) -> Number:
    extra = z if isinstance(z, float) else z << -unit
    return f.give(f.plus(f.times(x, y), extra), 2 * unit)


def rsqrt(unit: int, x: Any) -> Number:
    """1/sqrt(x): the root of x's reciprocal."""
    value = f.kind(x)
    if value == 0:
        return math.copysign(math.inf, value)
    if value < 0 or value != value:
        return math.nan
    if value == math.inf:
        return 0.0
    return f.root_of_fraction(1 / (Fraction(x) * Fraction(2) ** unit))


def reciprocal(unit: int, x: np.ndarray) -> Answer:
    found = scalars(x, unit)
    if x.dtype.kind == "c":
        one = 1 << -unit  # the quotient of two numbers of one unit
        parts = [f.complex_over((one, 0), z) for z in found]
        return x.shape, [[p[i] for p in parts] for i in (0, 1)]
    return x.shape, [[f.over(1, v, -unit) for v in found]]


def square(unit: int, x: np.ndarray) -> Answer:
    found = scalars(x, unit)
    if x.dtype.kind == "c":
        parts = [f.complex_times(z, z) for z in found]
        return x.shape, [[f.give(p[i], 2 * unit) for p in parts] for i in (0, 1)]
    return x.shape, [[f.give(f.times(v, v), 2 * unit) for v in found]]


def leaky_relu(unit: int, x: Any, negative_slope: float = 0.01) -> Number:
    if math.copysign(1.0, f.kind(x)) > 0 or f.kind(x) != f.kind(x):
        return f.give(x, unit)
    slope = Fraction(negative_slope)
    top, shift = slope.numerator, slope.denominator.bit_length() - 1
    return f.give(f.times(x, top), unit - shift)


FORMULAS: dict[str, Callable[..., Answer]] = {
    "maximum": elementwise(maximum),
    "minimum": elementwise(minimum),
    "clip": elementwise(clip),
    "max": extreme(1),
    "min": extreme(-1),
    "where": where,
    "astype": astype,
    "fma": elementwise(fma),
    "rsqrt": elementwise(rsqrt),
    "reciprocal": reciprocal,
    "square": square,
    "relu": elementwise(lambda unit, x, nan="propagate": maximum(unit, x, 0, nan=nan)),
    "leaky_relu": elementwise(leaky_relu),
}
