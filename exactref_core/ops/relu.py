"""relu, leaky_relu: activations that choose by sign."""

from __future__ import annotations

from typing import Any

from exactref_core.op import Domain, Op
from exactref_core.ops.dtypes import FLOATS
from exactref_core.ops.masks import nothing_of

__all__ = ["OPS"]


def relu(v: Any, x: Any, nan: str = "propagate") -> Any:
    """Positive part max(x, 0) of each element.

    NaN stays NaN; with ``nan="ignore"`` it becomes 0.
    """
    return v.at_least(x, v.constant(0), nan)


def leaky_relu(v: Any, x: Any, negative_slope: Any = 0.01) -> Any:
    """Elements of ``x``, those below zero multiplied by ``negative_slope``.

    The slope is the number that is given; it is rounded to the format that implementations work in.
    """
    slope = v.number(negative_slope, "negative_slope", x)
    return v.by_sign_of(x, x, v.multiply(x, v.spread(slope, x.shape)))


def relu_backward(v: Any, grad_output: Any, x: Any, nan: str = "propagate") -> Any:
    """grad_output where x > 0, else 0 or grad_output times 0: at 0 the subgradient 0.

    Of a NaN that propagates grad_output or 0, as kernels compare x <= 0 or x > 0; of one that is
    ignored 0.
    """
    zero = nothing_of(v, grad_output)
    found = v.above_zero(v.order(x, v.constant(0), -1), grad_output, zero)
    if nan == "propagate":
        found = v.if_number(x, found, v.either(grad_output, zero))
    return {"x": found}


def leaky_relu_backward(v: Any, grad_output: Any, x: Any, negative_slope: Any = 0.01) -> Any:
    """grad_output where x > 0, else grad_output times ``negative_slope``: at 0 that from below.

    At NaN either, as kernels compare x < 0 or x > 0.
    """
    slope = v.number(negative_slope, "negative_slope", x)
    below = v.multiply(grad_output, v.spread(slope, x.shape))
    found = v.above_zero(x, grad_output, below)
    return {"x": v.if_number(x, found, v.either(below, grad_output))}


ONE = Domain("()->()", FLOATS)

OPS = (
    Op("relu", relu, ("x",), ONE, {"nan": "propagate"}, backward=relu_backward),
    Op(
        "leaky_relu",
        leaky_relu,
        ("x",),
        ONE,
        {"negative_slope": 0.01},
        backward=leaky_relu_backward,
    ),
)
