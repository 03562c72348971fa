"""Derivatives of the elementary functions of complex numbers, as kernels compute them.

A row gives g f'(z) for ``g``, the gradient of the output, and a complex ``z``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from exactref_core.ops.function_gradients import ln

__all__ = ["COMPLEX_GRADIENTS"]


def shifted(v: Any, z: Any, by: int) -> Any:
    """Return z + by, the imaginary part as it is."""
    real = v.add(z.real, v.broadcast(v.constant(by), z.shape))
    return replace(z, real=real)


def square(v: Any, z: Any, by: int) -> Any:
    """Return z^2 + by."""
    return shifted(v, v.multiply(z, z), by)


def less(v: Any, z: Any) -> Any:
    """Return 1 - z^2."""
    return shifted(v, v.negative(v.multiply(z, z)), 1)


def inverse(v: Any, z: Any) -> Any:
    """Return 1 / z."""
    one, none = (v.broadcast(v.constant(value), z.shape) for value in (1, 0))
    return v.divide(replace(z, real=one, imag=none), z)


def times(v: Any, z: Any, factor: Any) -> Any:
    """Return z times a real factor."""
    real, imag = (v.multiply(part, v.broadcast(factor, z.shape)) for part in (z.real, z.imag))
    return replace(z, real=real, imag=imag)


def either(v: Any, first: Any, second: Any) -> Any:
    """Return a value that is computed in one of two ways."""
    parts = [
        v.admit(one, one, two)
        for one, two in ((first.real, second.real), (first.imag, second.imag))
    ]
    return replace(first, real=parts[0], imag=parts[1])


def over(v: Any, g: Any, z: Any) -> Any:
    """Return g / z, by the reciprocal too."""
    return either(v, v.divide(g, z), v.multiply(g, inverse(v, z)))


def over_roots(v: Any, g: Any, z: Any) -> Any:
    """Return g / (root(z - 1) root(z + 1)), by reciprocal roots too."""
    one, two = (v.sqrt(shifted(v, z, by)) for by in (-1, 1))
    roots = v.multiply(inverse(v, one), inverse(v, two))
    return either(v, v.divide(g, v.multiply(one, two)), v.multiply(g, roots))


def by_value(name: str, sign: int) -> Callable[[Any, Any, Any], Any]:
    """Return the row g (1 + sign f(z)^2)."""

    def row(v: Any, g: Any, z: Any) -> Any:
        y = v.apply(name, z)
        return v.multiply(g, square(v, y, 1) if sign > 0 else less(v, y))

    return row


def expm1(v: Any, g: Any, z: Any) -> Any:
    """Return g e^z, as g (expm1 z + 1) too."""
    plain = v.multiply(g, v.apply("exp", z))
    return either(v, plain, v.multiply(g, shifted(v, v.apply("expm1", z), 1)))


COMPLEX_GRADIENTS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "exp": lambda v, g, z: v.multiply(g, v.apply("exp", z)),
    "exp2": lambda v, g, z: times(v, v.multiply(g, v.apply("exp2", z)), ln(v, 2)),
    "expm1": expm1,
    "log": over,
    "log1p": lambda v, g, z: over(v, g, shifted(v, z, 1)),
    "log2": lambda v, g, z: over(v, g, times(v, z, ln(v, 2))),
    "log10": lambda v, g, z: over(v, g, times(v, z, ln(v, 10))),
    "sin": lambda v, g, z: v.multiply(g, v.apply("cos", z)),
    "cos": lambda v, g, z: v.negative(v.multiply(g, v.apply("sin", z))),
    "tan": by_value("tan", 1),
    "sinh": lambda v, g, z: v.multiply(g, v.apply("cosh", z)),
    "cosh": lambda v, g, z: v.multiply(g, v.apply("sinh", z)),
    "tanh": by_value("tanh", -1),
    "asin": lambda v, g, z: over(v, g, v.sqrt(less(v, z))),
    "acos": lambda v, g, z: v.negative(over(v, g, v.sqrt(less(v, z)))),
    "atan": lambda v, g, z: over(v, g, square(v, z, 1)),
    "asinh": lambda v, g, z: over(v, g, v.sqrt(square(v, z, 1))),
    "acosh": over_roots,
    "atanh": lambda v, g, z: over(v, g, less(v, z)),
}
