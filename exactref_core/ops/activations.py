"""Activations: short compositions of elementary functions, with the computations that are admitted.

Each has one definition, written so that nothing cancels, and the formulas that kernels use.
"""

from __future__ import annotations

from fractions import Fraction
from numbers import Real
from typing import Any

from exactref_core.errors import InputError
from exactref_core.exact.rationals import exactly

__all__ = [
    "CUBIC",
    "SELU_ALPHA",
    "SELU_SCALE",
    "elu",
    "geglu",
    "gelu",
    "logistic",
    "mish",
    "number",
    "selu",
    "sigmoid",
    "silu",
    "softplus",
    "swiglu",
]

CUBIC = Fraction("0.044715")
SELU_ALPHA = Fraction("1.6732632423543772848170429916717")
SELU_SCALE = Fraction("1.0507009873554804934193349852946")


def number(value: Any, name: str) -> Fraction:
    """Return a parameter as an exact number."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise InputError(f"{name} must be a number, not {value!r}")
    try:
        return exactly(value)
    except (ValueError, OverflowError):
        raise InputError(f"{name} must be a finite number, not {value!r}") from None


def logistic(e: Any, x: Any) -> Any:
    """Return the exact 1 / (1 + e^-x)."""
    one = e.constant(1)
    return e.step("divide", one, e.step("add", one, e.function("exp", e.step("negative", x))))


def sigmoid(v: Any, x: Any) -> Any:
    """Logistic function 1 / (1 + e^-x) of each element.

    As e^x / (1 + e^x) too, below 0.
    """
    one, grown, small = v.constant(1), v.apply("exp", v.negative(x)), v.apply("exp", x)
    plain = v.divide(one, v.add(one, grown))
    stable = v.divide(small, v.add(one, small))
    return v.admit(logistic(v.exact, x), plain, v.exact.step("by_sign", x, plain, stable))


def silu(v: Any, x: Any) -> Any:
    """Sigmoid-weighted x / (1 + e^-x) of each element; NaN at -inf.

    As x times the sigmoid too.
    """
    quotient = v.divide(x, v.add(v.constant(1), v.apply("exp", v.negative(x))))
    definition = v.exact.step("multiply", x, logistic(v.exact, x))
    return v.admit(definition, quotient, v.multiply(x, sigmoid(v, x)))


def gelu(v: Any, x: Any, approximate: Any = "none") -> Any:
    """Gaussian-error x / 2 (1 + erf(x / sqrt 2)) of each element; NaN at -inf.

    ``approximate="tanh"``: x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))), a function of its
    own. Kernels may add 1 to erf or tanh, which below 0 leaves an absolute error of about u |x|.
    """
    if approximate not in ("none", "tanh"):
        raise InputError(f"approximate must be 'none' or 'tanh', not {approximate!r}")
    return by_erf(v, x) if approximate == "none" else by_tanh(v, x)


def halved(v: Any, x: Any, factor: Any) -> Any:
    """Return x / 2 * factor."""
    return v.multiply(v.multiply(x, v.constant(Fraction(1, 2))), factor)


def by_erf(v: Any, x: Any) -> Any:
    """Return x / 2 erfc(-x / sqrt 2)."""
    e = v.exact
    root = v.root(e.constant(2))
    argument = e.step("divide", x, root)
    half = e.step("divide", x, e.constant(2))
    definition = e.step("multiply", half, e.function("erfc", e.step("negative", argument)))
    # The root's own rounding and a quotient's two cover a product with a rounded 1 / sqrt 2.
    stored = v.divide(x, v.within(root, 1, 0))
    textbook = halved(v, x, v.add(v.constant(1), v.apply("erf", stored)))
    tail = halved(v, x, v.apply("erfc", v.negative(stored)))
    return v.admit(definition, textbook, tail)


def by_tanh(v: Any, x: Any) -> Any:
    """Return x / (1 + e^-2t) with t = sqrt(2 / pi) (x + 0.044715 x^3)."""
    e = v.exact
    pi = e.function("acos", e.constant(-1))
    root = v.root(e.step("divide", e.constant(2), pi))
    square = e.step("multiply", x, x)
    inner = e.step("add", x, e.step("multiply", e.constant(CUBIC), e.step("multiply", square, x)))
    twice = e.step("multiply", e.constant(2), e.step("multiply", root, inner))
    definition = e.step("multiply", x, logistic(e, twice))
    one, cubic, factor = v.constant(1), v.constant(CUBIC), v.within(root, 1, 0)
    squared = v.multiply(x, x)
    summed = v.add(x, v.multiply(cubic, v.multiply(squared, x)))
    nested = v.multiply(x, v.add(one, v.multiply(cubic, squared)))
    found = [
        halved(v, x, v.add(one, v.apply("tanh", v.multiply(factor, form))))
        for form in (summed, nested)
    ]
    steep = v.multiply(x, sigmoid(v, v.multiply(v.constant(2), v.multiply(factor, summed))))
    return v.admit(definition, *found, steep)


def softplus(v: Any, x: Any, beta: Any = 1.0, threshold: Any = 20.0) -> Any:
    """Smooth maximum log(1 + e^(beta x)) / beta; x itself where beta x > threshold.

    As max(beta x, 0) + log(1 + e^-|beta x|), over beta, too.
    """
    scale, limit = number(beta, "beta"), number(threshold, "threshold")
    if scale == 0:
        raise InputError("beta must not be 0")
    e = v.exact
    y = e.step("multiply", e.constant(scale), x)
    definition = over(e, e.function("log1p", e.function("exp", y)), scale)
    scaled = x if scale == 1 else v.multiply(v.constant(scale), x)
    plain = v.apply("log1p", v.apply("exp", scaled))
    rest = v.apply("log1p", v.apply("exp", v.negative(v.absolute(scaled))))
    zero = e.step("multiply", scaled, e.constant(0))
    stable = v.add(e.step("by_sign", scaled, scaled, zero), rest)
    smooth = v.admit(definition, *(over(v, form, scale) for form in (plain, stable)))
    # The product that is compared is a stored one, of stored constants.
    return e.step("by_sign", e.step("subtract", v.constant(limit), scaled), smooth, x)


def over(v: Any, x: Any, divisor: Fraction) -> Any:
    """Return x / divisor."""
    return x if divisor == 1 else v.step("divide", x, v.constant(divisor))


def mish(v: Any, x: Any) -> Any:
    """Self-gated x tanh(log(1 + e^x)) of each element; NaN at -inf."""
    e = v.exact
    gate = e.function("tanh", e.function("log1p", e.function("exp", x)))
    plain = v.apply("tanh", v.apply("log1p", v.apply("exp", x)))
    return v.admit(e.step("multiply", x, gate), v.multiply(x, plain))


def exponential_unit(v: Any, x: Any, alpha: Fraction) -> Any:
    """Return x, or alpha (e^x - 1) below 0."""
    e = v.exact
    factor = v.constant(alpha)
    below = v.admit(
        e.step("multiply", e.constant(alpha), e.function("expm1", x)),
        v.multiply(factor, v.apply("expm1", x)),
        v.multiply(factor, v.subtract(v.apply("exp", x), v.constant(1))),
    )
    return e.step("by_sign", x, x, below)


def elu(v: Any, x: Any, alpha: Any = 1.0) -> Any:
    """Exponential linear unit: x, or alpha (e^x - 1) below 0.

    Kernels may subtract 1 from e^x, which near 0 leaves an absolute error of about alpha u.
    """
    return exponential_unit(v, x, number(alpha, "alpha"))


def selu(v: Any, x: Any) -> Any:
    """Scaled exponential linear unit 1.0507009873554805 elu(x, alpha=1.6732632423543772)."""
    e = v.exact
    unit = exponential_unit(v, x, SELU_ALPHA)
    definition = e.step("multiply", e.constant(SELU_SCALE), unit)
    return v.admit(definition, v.multiply(v.constant(SELU_SCALE), unit))


def swiglu(v: Any, gate: Any, x: Any) -> Any:
    """Gated product silu(gate) x."""
    v.broadcast_shapes(gate.shape, x.shape, "gate and x")
    return v.multiply(silu(v, gate), x)


def geglu(v: Any, gate: Any, x: Any, approximate: Any = "none") -> Any:
    """Gated product gelu(gate) x; ``approximate`` as that of gelu."""
    v.broadcast_shapes(gate.shape, x.shape, "gate and x")
    return v.multiply(gelu(v, gate, approximate), x)
