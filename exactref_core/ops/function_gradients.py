"""Derivatives of the elementary functions, as kernels compute them: one row each.

A row gives the gradient for ``g``, the gradient of the output, at ``x``; ``y`` is the function's
stored value, which kernels use instead where it is at hand.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["GRADIENTS"]


def ln(v: Any, base: int) -> Any:
    """Return a constant log(base), rounded once."""
    return v.within(v.exact.function("log", v.exact.constant(base)), 1, 0)


def root_pi(v: Any) -> Any:
    """Return the square root of pi, rounded once."""
    return v.within(v.root(v.exact.function("acos", v.exact.constant(-1))), 1, 0)


def apart(v: Any, x: Any, plain: Any, factors: tuple[Any, Any]) -> Any:
    """Return a difference of x^2 and 1 as computed, or factored; at x = +-1 both give exactly 0.

    1 * 1 and 1 - 1 are exact, which the rules see of the factors alone.
    """
    e, one = v.exact, v.exact.constant(1)
    factored = v.multiply(*factors)
    square = e.step("multiply", x, x)
    beyond, within = e.step("subtract", square, one), e.step("subtract", one, square)
    both = v.admit(plain, plain, factored)
    return e.step("by_sign", within, e.step("by_sign", beyond, factored, both), both)


def one_less(v: Any, x: Any) -> Any:
    """Return 1 - x^2: from the square, or as (1 - x)(1 + x)."""
    one = v.constant(1)
    plain = v.subtract(one, v.multiply(x, x))
    return apart(v, x, plain, (v.subtract(one, x), v.add(one, x)))


def less_one(v: Any, x: Any) -> Any:
    """Return x^2 - 1: from the square, or as (x - 1)(x + 1)."""
    one = v.constant(1)
    return apart(v, x, squared(v, x, -1), (v.subtract(x, one), v.add(x, one)))


def over_root(v: Any, g: Any, square: Any) -> Any:
    """Return g / sqrt(square), by a library's reciprocal square root (2 ulp) too."""
    e = v.exact
    quotient = v.divide(g, v.sqrt(square))
    root = e.step("divide", e.constant(1), e.step("sqrt", square))
    return v.admit(quotient, quotient, v.multiply(g, v.within(root, 4, 2)))


def squared(v: Any, x: Any, shift: int) -> Any:
    """Return x^2 + shift."""
    return v.add(v.multiply(x, x), v.constant(shift))


def over_square(v: Any, g: Any, x: Any, name: str, stored: Any) -> Any:
    """Return g / f(x)^2, exactly so, as g times ``stored`` computes it."""
    e = v.exact
    f = e.function(name, x)
    definition = e.step("divide", g, e.step("multiply", f, f))
    return v.admit(definition, v.multiply(g, stored))


def above(v: Any, found: Any, end: int, x: Any) -> Any:
    """Return a gradient; where x < end, outside the function's domain, that or NaN.

    There the function is NaN and has no derivative. Most kernels return what the formula gives
    beyond the end, others NaN: neither is wrong.
    """
    none = v.exact.step("sqrt", v.exact.constant(-1))
    beyond = v.exact.step("subtract", v.exact.constant(end), x)
    return v.admit(found, found, v.above_zero(beyond, none, found))


def acosh(v: Any, g: Any, x: Any) -> Any:
    """Return g / sqrt(x^2 - 1), outside the domain that or NaN.

    At -1 it is an infinity with the sign of a zero: of 1 - 1, or of (x - 1)(x + 1).
    """
    found = over_root(v, g, less_one(v, v.absolute(x)))
    return above(v, v.admit(found, found, over_root(v, g, less_one(v, x))), 1, x)


def atanh(v: Any, g: Any, x: Any) -> Any:
    """Return g / (1 - x^2), outside the domain that or NaN."""
    return above(v, v.divide(g, one_less(v, x)), -1, v.negative(v.absolute(x)))


def log(v: Any, g: Any, x: Any) -> Any:
    """Return g / x, outside the domain that or NaN."""
    return above(v, v.divide(g, x), 0, x)


def log2(v: Any, g: Any, x: Any) -> Any:
    """Return g / (x log 2), outside the domain that or NaN."""
    return above(v, v.divide(g, v.multiply(x, ln(v, 2))), 0, x)


def log10(v: Any, g: Any, x: Any) -> Any:
    """Return g / (x log 10), outside the domain that or NaN."""
    return above(v, v.divide(g, v.multiply(x, ln(v, 10))), 0, x)


def log1p(v: Any, g: Any, x: Any) -> Any:
    """Return g / (1 + x), outside the domain that or NaN."""
    return above(v, v.divide(g, v.add(x, v.constant(1))), -1, x)


def expm1(v: Any, g: Any, x: Any) -> Any:
    """Return g e^x, as g (y + 1) too."""
    plain = v.multiply(g, v.apply("exp", x))
    return v.admit(plain, plain, v.multiply(g, v.add(v.apply("expm1", x), v.constant(1))))


def tanh(v: Any, g: Any, x: Any) -> Any:
    """Return g (1 - y^2)."""
    y = v.apply("tanh", x)
    return over_square(v, g, x, "cosh", v.subtract(v.constant(1), v.multiply(y, y)))


def tan(v: Any, g: Any, x: Any) -> Any:
    """Return g (1 + y^2)."""
    return over_square(v, g, x, "cos", squared(v, v.apply("tan", x), 1))


def bell(v: Any, g: Any, x: Any) -> Any:
    """Return g 2 / sqrt(pi) e^(-x^2)."""
    factor = v.divide(v.constant(2), root_pi(v))
    return v.multiply(v.multiply(g, factor), v.apply("exp", v.negative(v.multiply(x, x))))


def erfinv(v: Any, g: Any, x: Any) -> Any:
    """Return g sqrt(pi) / 2 e^(y^2)."""
    y = v.apply("erfinv", x)
    factor = v.divide(root_pi(v), v.constant(2))
    return v.multiply(v.multiply(g, factor), v.apply("exp", v.multiply(y, y)))


def cbrt(v: Any, g: Any, x: Any) -> Any:
    """Return g / (3 y^2)."""
    y = v.apply("cbrt", x)
    return v.divide(g, v.multiply(v.constant(3), v.multiply(y, y)))


def exp2(v: Any, g: Any, x: Any) -> Any:
    """Return g y log 2."""
    return v.multiply(v.multiply(g, v.apply("exp2", x)), ln(v, 2))


GRADIENTS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "exp": lambda v, g, x: v.multiply(g, v.apply("exp", x)),
    "exp2": exp2,
    "expm1": expm1,
    "log": log,
    "log2": log2,
    "log10": log10,
    "log1p": log1p,
    "sin": lambda v, g, x: v.multiply(g, v.apply("cos", x)),
    "cos": lambda v, g, x: v.negative(v.multiply(g, v.apply("sin", x))),
    "tan": tan,
    "asin": lambda v, g, x: over_root(v, g, one_less(v, x)),
    "acos": lambda v, g, x: v.negative(over_root(v, g, one_less(v, x))),
    "atan": lambda v, g, x: v.divide(g, squared(v, x, 1)),
    "sinh": lambda v, g, x: v.multiply(g, v.apply("cosh", x)),
    "cosh": lambda v, g, x: v.multiply(g, v.apply("sinh", x)),
    "tanh": tanh,
    "asinh": lambda v, g, x: over_root(v, g, squared(v, x, 1)),
    "acosh": acosh,
    "atanh": atanh,
    "erf": bell,
    "erfc": lambda v, g, x: v.negative(bell(v, g, x)),
    "erfinv": erfinv,
    "cbrt": cbrt,
    "digamma": lambda v, g, x: v.multiply(g, v.apply("trigamma", x)),
    "lgamma": lambda v, g, x: v.multiply(g, v.apply("digamma", x)),
}
