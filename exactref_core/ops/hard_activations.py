"""relu6, hardsigmoid, hardswish, reglu: activations of straight pieces."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from exactref_core.op import Domain, Op
from exactref_core.ops.dtypes import FLOATS

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


def between(
    v: Any, x: Any, low: int, high: int, parts: tuple[Any, Any, Any], nan: tuple[int, int] = (1, 1)
) -> Any:
    """Return the first part up to ``low``, the second below ``high``, the third from there on.

    ``nan`` says whether NaN counts as above ``low`` and as below ``high`` (1), or not (-1).
    """
    below, inside, above = parts
    upper = v.above_zero(v.order(v.constant(high), x, nan[1]), inside, above)
    return v.above_zero(v.order(x, v.constant(low), nan[0]), upper, below)


def relu6_backward(v: Any, grad_output: Any, x: Any) -> Any:
    """grad_output where 0 < x < 6 or x is NaN, else 0: at both ends the subgradient 0."""
    zero = v.exact.constant(0)
    return {"x": between(v, x, 0, 6, (zero, grad_output, zero))}


def hardsigmoid_backward(v: Any, grad_output: Any, x: Any) -> Any:
    """grad_output / 6 where -3 < x < 3, else 0, at both ends and at NaN too."""
    zero = v.exact.constant(0)
    quotient = v.divide(grad_output, v.constant(6))
    slope = v.admit(quotient, quotient, v.multiply(grad_output, v.constant(SIXTH)))
    return {"x": between(v, x, -3, 3, (zero, slope, zero), (-1, -1))}


def hardswish_backward(v: Any, grad_output: Any, x: Any) -> Any:
    """grad_output (x / 3 + 1/2) where -3 < x < 3, else 0 below and grad_output above or at NaN."""
    e, half = v.exact, v.constant(HALF)
    line = e.step("add", e.step("divide", x, e.constant(3)), e.constant(HALF))
    by_quotient = v.add(v.divide(x, v.constant(3)), half)
    by_product = v.add(v.multiply(x, v.constant(THIRD)), half)
    slope = v.admit(line, by_quotient, by_product)
    definition = e.step("multiply", grad_output, line)
    inside = v.admit(definition, v.multiply(grad_output, slope))
    return {"x": between(v, x, -3, 3, (e.constant(0), inside, grad_output), (1, -1))}


def reglu_backward(v: Any, grad_output: Any, gate: Any, x: Any) -> Any:
    """grad_output x where gate > 0 or is NaN, else 0, and grad_output relu(gate)."""
    held = v.at_least(gate, v.constant(0), "propagate")
    above = v.multiply(grad_output, x)
    return {
        "gate": v.above_zero(v.order(gate, v.constant(0), 1), above, v.exact.constant(0)),
        "x": v.multiply(grad_output, held),
    }


ONE, TWO = Domain("()->()", FLOATS), Domain("(),()->()", FLOATS)

OPS = (
    Op("relu6", relu6, ("x",), ONE, backward=relu6_backward),
    Op("hardsigmoid", hardsigmoid, ("x",), ONE, backward=hardsigmoid_backward),
    Op("hardswish", hardswish, ("x",), ONE, backward=hardswish_backward),
    Op("reglu", reglu, ("gate", "x"), TWO, backward=reglu_backward),
)
