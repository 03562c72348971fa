"""The activations as operations, with their gradients: derivatives as kernels compute them."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from exactref_core.op import Domain, Op
from exactref_core.ops import activations as a
from exactref_core.ops.activation_slopes import by_logistic, by_normal, of_mish
from exactref_core.ops.dtypes import FLOATS

__all__ = ["OPS"]


def sigmoid_slope(v: Any, x: Any) -> Any:
    """Return s (1 - s)."""
    e, s = v.exact, a.sigmoid(v, x)
    rest = a.logistic(e, e.step("negative", x))
    definition = e.step("multiply", a.logistic(e, x), rest)
    return v.admit(definition, v.multiply(s, v.subtract(v.constant(1), s)))


def sigmoid(v: Any, grad_output: Any, x: Any) -> Any:
    """grad_output s (1 - s), s the sigmoid."""
    s = a.sigmoid(v, x)
    slope = sigmoid_slope(v, x)
    definition = v.exact.step("multiply", grad_output, slope)
    rest = v.subtract(v.constant(1), s)
    found = v.multiply(grad_output, slope), v.multiply(v.multiply(grad_output, s), rest)
    return {"x": v.admit(definition, *found)}


def silu_slope(v: Any, x: Any) -> Any:
    """Return s (1 + x (1 - s)), as s + (x s) (1 - s) too."""
    one, s = v.constant(1), a.sigmoid(v, x)
    rest = v.subtract(one, s)
    factored = v.multiply(s, v.add(one, v.multiply(x, rest)))
    apart = v.add(s, v.multiply(v.multiply(x, s), rest))
    return v.admit(by_logistic(v.exact, x, x), factored, apart)


def silu(v: Any, grad_output: Any, x: Any) -> Any:
    """grad_output s (1 + x (1 - s)), s the sigmoid, as automatic differentiation sums it too."""
    return {"x": through_silu(v, grad_output, x)}


def through_silu(v: Any, grad_output: Any, x: Any) -> Any:
    """Return grad_output times the slope of silu; or times s first, which may underflow."""
    one, s, slope = v.constant(1), a.sigmoid(v, x), silu_slope(v, x)
    definition = v.exact.step("multiply", grad_output, slope)
    first = v.multiply(grad_output, s)
    second = v.multiply(v.multiply(grad_output, x), sigmoid_slope(v, x))
    in_turn = v.multiply(first, v.add(one, v.multiply(x, v.subtract(one, s))))
    found = v.multiply(grad_output, slope), v.add(first, second), in_turn
    return v.admit(definition, *found)


def normal_density(v: Any, x: Any) -> Any:
    """Return e^(-x^2 / 2) / sqrt(2 pi)."""
    e = v.exact
    pi = e.function("acos", e.constant(-1))
    root = v.root(e.step("divide", e.constant(Fraction(1, 2)), pi))
    square = v.multiply(v.multiply(x, x), v.constant(Fraction(-1, 2)))
    return v.multiply(v.apply("exp", square), v.within(root, 1, 0))


def gelu_slope(v: Any, x: Any) -> Any:
    """Return P(x) + x p(x), P the normal distribution (by erf or erfc) and p its density."""
    e, half = v.exact, v.constant(Fraction(1, 2))
    root = v.root(e.constant(2))
    argument = e.step("negative", e.step("divide", x, root))
    exact = e.step("multiply", e.constant(Fraction(1, 2)), e.function("erfc", argument))
    stored = v.divide(x, v.within(root, 1, 0))
    by_erf = v.multiply(half, v.add(v.constant(1), v.apply("erf", stored)))
    by_erfc = v.multiply(half, v.apply("erfc", v.negative(stored)))
    summed = v.add(v.admit(exact, by_erf, by_erfc), v.multiply(x, normal_density(v, x)))
    return v.admit(by_normal(e, x), summed)


def gelu_tanh_slope(v: Any, x: Any) -> Any:
    """Return (1 + t) / 2 + x / 2 (1 - t^2) k (1 + 3 c x^2), t the tanh."""
    e, half, one = v.exact, v.constant(Fraction(1, 2)), v.constant(1)
    pi = e.function("acos", e.constant(-1))
    factor = v.within(v.root(e.step("divide", e.constant(2), pi)), 1, 0)
    cubic, square = v.constant(a.CUBIC), v.multiply(x, x)
    inner = v.multiply(factor, v.add(x, v.multiply(cubic, v.multiply(square, x))))
    t = v.apply("tanh", inner)
    steep = v.multiply(v.constant(3 * a.CUBIC), square)
    slope = v.multiply(factor, v.add(one, steep))
    rest = v.subtract(one, v.multiply(t, t))
    right = v.multiply(v.multiply(v.multiply(half, x), rest), slope)
    summed = v.add(v.multiply(half, v.add(one, t)), right)
    return v.admit(exact_tanh_slope(e, x), summed)


def exact_tanh_slope(e: Any, x: Any) -> Any:
    """Return the exact slope of x s(z) with z = 2 k (x + c x^3): x dz/dx = 2 k (x + 3 c x^3)."""
    pi = e.function("acos", e.constant(-1))
    root = e.step("sqrt", e.step("divide", e.constant(8), pi))
    cube = e.step("multiply", e.step("multiply", x, x), x)
    z, turn = (
        e.step("multiply", root, e.step("add", x, e.step("multiply", e.constant(c), cube)))
        for c in (a.CUBIC, 3 * a.CUBIC)
    )
    return by_logistic(e, z, turn)


def gelu(v: Any, grad_output: Any, x: Any, approximate: Any = "none") -> Any:
    """grad_output (P(x) + x p(x)), P the normal distribution and p its density.

    With ``approximate="tanh"`` grad_output ((1 + t) / 2 + x / 2 (1 - t^2) t'), t the tanh.
    """
    slope = gelu_slope(v, x) if approximate == "none" else gelu_tanh_slope(v, x)
    return {"x": v.multiply(grad_output, slope)}


def softplus(v: Any, grad_output: Any, x: Any, beta: Any = 1.0, threshold: Any = 20.0) -> Any:
    """grad_output times the sigmoid of beta x; grad_output where beta x > threshold."""
    scale, limit = a.number(beta, "beta"), a.number(threshold, "threshold")
    e = v.exact
    y = e.step("multiply", e.constant(scale), x)
    scaled = x if scale == 1 else v.multiply(v.constant(scale), x)
    power = v.apply("exp", scaled)
    one = v.constant(1)
    definition = e.step("multiply", grad_output, a.logistic(e, y))
    quotient = v.divide(v.multiply(grad_output, power), v.add(power, one))
    smooth = v.admit(definition, v.multiply(grad_output, a.sigmoid(v, scaled)), quotient)
    below = e.step("subtract", v.constant(limit), scaled)
    return {"x": e.step("by_sign", below, smooth, grad_output)}


def mish(v: Any, grad_output: Any, x: Any) -> Any:
    """grad_output (t + x s (1 - t^2)), t the tanh of the softplus and s the sigmoid."""
    t = v.apply("tanh", v.apply("log1p", v.apply("exp", x)))
    rest = v.subtract(v.constant(1), v.multiply(t, t))
    slope = v.add(t, v.multiply(v.multiply(x, a.sigmoid(v, x)), rest))
    return {"x": v.multiply(grad_output, v.admit(of_mish(v.exact, x), slope))}


def unit(v: Any, grad_output: Any, x: Any, above: Any, below: Fraction) -> Any:
    """Return ``above`` where x > 0, else grad_output below e^x: at the kink the slope from below.

    Kernels compare x <= 0 or x > 0, so that of NaN either branch is taken.
    """
    low = v.multiply(v.multiply(grad_output, v.constant(below)), v.apply("exp", x))
    either = v.exact.step("by_sign", x, above, low)
    return v.if_number(x, v.above_zero(x, above, low), either)


def elu(v: Any, grad_output: Any, x: Any, alpha: Any = 1.0) -> Any:
    """grad_output where x > 0, else grad_output alpha e^x: at 0 the slope from below, alpha."""
    return {"x": unit(v, grad_output, x, grad_output, a.number(alpha, "alpha"))}


def selu(v: Any, grad_output: Any, x: Any) -> Any:
    """1.0507 grad_output where x > 0, else 1.7581 grad_output e^x: at 0 the slope from below."""
    above = v.multiply(grad_output, v.constant(a.SELU_SCALE))
    return {"x": unit(v, grad_output, x, above, a.SELU_SCALE * a.SELU_ALPHA)}


def swiglu(v: Any, grad_output: Any, gate: Any, x: Any) -> Any:
    """grad_output x silu'(gate), and grad_output silu(gate)."""
    return {
        "gate": through_silu(v, v.multiply(grad_output, x), gate),
        "x": v.multiply(grad_output, a.silu(v, gate)),
    }


def geglu(v: Any, grad_output: Any, gate: Any, x: Any, approximate: Any = "none") -> Any:
    """grad_output x gelu'(gate), and grad_output gelu(gate)."""
    slope = gelu_slope(v, gate) if approximate == "none" else gelu_tanh_slope(v, gate)
    return {
        "gate": v.multiply(v.multiply(grad_output, x), slope),
        "x": v.multiply(grad_output, a.gelu(v, gate, approximate)),
    }


ONE = Domain("()->()", FLOATS)
TWO = Domain("(),()->()", FLOATS)

OPS = (
    Op("sigmoid", a.sigmoid, ("x",), ONE, backward=sigmoid),
    Op("silu", a.silu, ("x",), ONE, backward=silu),
    Op("gelu", a.gelu, ("x",), ONE, {"approximate": "none"}, backward=gelu),
    Op("softplus", a.softplus, ("x",), ONE, {"beta": 1.0, "threshold": 20.0}, backward=softplus),
    Op("mish", a.mish, ("x",), ONE, backward=mish),
    Op("elu", a.elu, ("x",), ONE, {"alpha": 1.0}, backward=elu),
    Op("selu", a.selu, ("x",), ONE, backward=selu),
    Op("swiglu", a.swiglu, ("gate", "x"), TWO, backward=swiglu),
    Op("geglu", a.geglu, ("gate", "x"), TWO, {"approximate": "none"}, backward=geglu),
)
