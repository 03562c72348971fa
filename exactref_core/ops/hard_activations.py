"""relu6, hardsigmoid, hardswish, reglu: activations of straight pieces."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from exactref_core.op import Domain, Op
from exactref_core.ops.dtypes import FLOATS
from exactref_core.ops.masks import nothing_of

__all__ = ["OPS"]

SIXTH, THIRD, HALF = Fraction(1, 6), Fraction(1, 3), Fraction(1, 2)


def ramp(v: Any, x: Any) -> Any:
    """Return min(max(x, 0), 6)."""
    return v.at_most(v.at_least(x, v.constant(0), "propagate"), v.constant(6), "propagate")


def relu6(v: Any, x: Any) -> Any:
    """Ramp min(max(x, 0), 6) of each element; NaN stays NaN."""
    return ramp(v, x)


def hardsigmoid(v: Any, x: Any) -> Any:
    """Ramp min(max(x + 3, 0), 6) / 6 of each element.

    As a product with 1/6, and as min(max(x / 6 + 1/2, 0), 1) too.
    """
    e = v.exact
    definition = e.step("divide", ramp(v, e.step("add", x, e.constant(3))), e.constant(6))
    top = ramp(v, v.add(x, v.constant(3)))
    line = v.add(v.multiply(x, v.constant(SIXTH)), v.constant(HALF))
    clipped = v.at_most(v.at_least(line, v.constant(0), "propagate"), v.constant(1), "propagate")
    forms = v.divide(top, v.constant(6)), v.multiply(top, v.constant(SIXTH)), clipped
    return v.admit(definition, *forms)


def hardswish(v: Any, x: Any) -> Any:
    """Gated x min(max(x + 3, 0), 6) / 6 of each element; NaN at -inf.

    The division last, first, or as a product with 1/6.
    """
    e = v.exact
    gate = ramp(v, e.step("add", x, e.constant(3)))
    definition = e.step("divide", e.step("multiply", x, gate), e.constant(6))
    top = ramp(v, v.add(x, v.constant(3)))
    six, sixth = v.constant(6), v.constant(SIXTH)
    forms = (
        v.divide(v.multiply(x, top), six),
        v.multiply(x, v.divide(top, six)),
        v.multiply(v.multiply(x, top), sixth),
        v.multiply(x, v.multiply(top, sixth)),
    )
    return v.admit(definition, *forms)


def reglu(v: Any, gate: Any, x: Any) -> Any:
    """Gated product relu(gate) x."""
    v.broadcast_shapes(gate.shape, x.shape, "gate and x")
    return v.multiply(v.at_least(gate, v.constant(0), "propagate"), x)


def between(v: Any, x: Any, low: int, high: int, parts: tuple[Any, Any, Any], missing: Any) -> Any:
    """Return the first part up to ``low``, the second below ``high``, the third from there on.

    ``missing`` is for NaN, or any of the parts: comparisons with both ends do not hold, and kernels
    differ in what they compare.
    """
    below, inside, above = parts
    upper = v.above_zero(v.order(v.constant(high), x, 1), inside, above)
    found = v.above_zero(v.order(x, v.constant(low), 1), upper, below)
    for part in parts:
        missing = missing if part is missing else v.either(missing, part)
    return v.if_number(x, found, missing)


def relu6_backward(v: Any, grad_output: Any, x: Any) -> Any:
    """grad_output where 0 < x < 6, else 0, or grad_output times 0; at NaN either.

    At both ends the subgradient 0.
    """
    zero = nothing_of(v, grad_output)
    return {"x": between(v, x, 0, 6, (zero, grad_output, zero), grad_output)}


def hardsigmoid_backward(v: Any, grad_output: Any, x: Any) -> Any:
    """grad_output / 6 where -3 < x < 3, else 0, or grad_output times 0; at NaN either.

    At both ends the subgradient 0.
    """
    zero = nothing_of(v, grad_output)
    quotient = v.divide(grad_output, v.constant(6))
    slope = v.admit(quotient, quotient, v.multiply(grad_output, v.constant(SIXTH)))
    return {"x": between(v, x, -3, 3, (zero, slope, zero), zero)}


def hardswish_backward(v: Any, grad_output: Any, x: Any) -> Any:
    """grad_output (x / 3 + 1/2) where -3 < x < 3, else 0 below and grad_output above.

    The 0 may be grad_output times 0. At NaN grad_output, or NaN or 0.
    """
    e, half = v.exact, v.constant(HALF)
    line = e.step("add", e.step("divide", x, e.constant(3)), e.constant(HALF))
    by_quotient = v.add(v.divide(x, v.constant(3)), half)
    by_product = v.add(v.multiply(x, v.constant(THIRD)), half)
    slope = v.admit(line, by_quotient, by_product)
    definition = e.step("multiply", grad_output, line)
    inside = v.admit(definition, v.multiply(grad_output, slope))
    return {
        "x": between(v, x, -3, 3, (nothing_of(v, grad_output), inside, grad_output), grad_output)
    }


def reglu_backward(v: Any, grad_output: Any, gate: Any, x: Any) -> Any:
    """grad_output x where gate > 0, else 0, at NaN either; and grad_output relu(gate).

    The 0 may be grad_output times 0, or grad_output x times 0.
    """
    held = v.at_least(gate, v.constant(0), "propagate")
    above = v.multiply(grad_output, x)
    zero = nothing_of(v, above)
    found = v.above_zero(v.order(gate, v.constant(0), 1), above, zero)
    return {
        "gate": v.if_number(gate, found, v.either(above, zero)),
        "x": v.multiply(grad_output, held),
    }


ONE, TWO = Domain("()->()", FLOATS), Domain("(),()->()", FLOATS)

OPS = (
    Op("relu6", relu6, ("x",), ONE, backward=relu6_backward),
    Op("hardsigmoid", hardsigmoid, ("x",), ONE, backward=hardsigmoid_backward),
    Op("hardswish", hardswish, ("x",), ONE, backward=hardswish_backward),
    Op("reglu", reglu, ("gate", "x"), TWO, backward=reglu_backward),
)
