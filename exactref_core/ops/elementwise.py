"""The elementwise arithmetic: one row an operation, each a single verb."""

from __future__ import annotations

from typing import Any

from exactref_core.op import Domain, Op
from exactref_core.ops.dtypes import NUMBERS

__all__ = ["OPS"]


def add(v: Any, x1: Any, x2: Any) -> Any:
    """Sum x1 + x2 of two arrays, broadcast against each other."""
    v.broadcast_shapes(x1.shape, x2.shape, "x1 and x2")
    return v.add(x1, x2)


def subtract(v: Any, x1: Any, x2: Any) -> Any:
    """Difference x1 - x2 of two arrays, broadcast against each other."""
    v.broadcast_shapes(x1.shape, x2.shape, "x1 and x2")
    return v.subtract(x1, x2)


def multiply(v: Any, x1: Any, x2: Any) -> Any:
    """Product x1 * x2 of two arrays, broadcast against each other.

    Complex: (ac - bd) + (ad + bc)i. Infinite and NaN parts follow the IEEE rules of the real
    products and sums; C99 Annex G's answer is allowed beside it.
    """
    v.broadcast_shapes(x1.shape, x2.shape, "x1 and x2")
    return v.multiply(x1, x2)


def divide(v: Any, x1: Any, x2: Any) -> Any:
    """Quotient x1 / x2 of two arrays, broadcast against each other.

    x / 0 is an infinity with the sign of both, 0 / 0 is NaN. Complex: ((ac + bd) + (bc - ad)i) /
    (c^2 + d^2); of infinities and NaN, and by zero, C99 Annex G's answer.
    """
    v.broadcast_shapes(x1.shape, x2.shape, "x1 and x2")
    return v.divide(x1, x2)


def sqrt(v: Any, x: Any) -> Any:
    """Square root of each element; NaN below zero, -0.0 for -0.0.

    Complex: the principal root, with the branch cut along the negative real axis and the sign of a
    zero imaginary part telling its sides apart (C99 Annex G).
    """
    return v.sqrt(x)


def negative(v: Any, x: Any) -> Any:
    """Negation -x of each element; exact."""
    return v.negative(x)


def absolute(v: Any, x: Any) -> Any:
    """Magnitude |x| of each element; exact for real inputs.

    Complex: sqrt(re^2 + im^2), a real output; inf where a part is infinite, NaN in the other or
    not.
    """
    return v.absolute(x)


def add_backward(v: Any, grad_output: Any, x1: Any, x2: Any) -> Any:
    """Both are grad_output."""
    return {"x1": grad_output, "x2": grad_output}


def subtract_backward(v: Any, grad_output: Any, x1: Any, x2: Any) -> Any:
    """grad_output, and its negative."""
    return {"x1": grad_output, "x2": v.negative(grad_output)}


def multiply_backward(v: Any, grad_output: Any, x1: Any, x2: Any) -> Any:
    """grad_output times the (conjugate) other factor."""
    return {
        "x1": v.multiply(grad_output, v.conjugate(x2)),
        "x2": v.multiply(grad_output, v.conjugate(x1)),
    }


def divide_backward(v: Any, grad_output: Any, x1: Any, x2: Any) -> Any:
    """grad_output / x2, and -grad_output (x1 / x2) / x2, of conjugates."""
    below = v.conjugate(x2)
    steps = v.divide(v.multiply(grad_output, v.conjugate(v.divide(x1, x2))), below)
    return {"x1": v.divide(grad_output, below), "x2": v.negative(steps)}


def negative_backward(v: Any, grad_output: Any, x: Any) -> Any:
    """-grad_output."""
    return {"x": v.negative(grad_output)}


def sqrt_backward(v: Any, grad_output: Any, x: Any) -> Any:
    """grad_output / (2 sqrt x), of the root's conjugate."""
    root = v.conjugate(v.sqrt(x))
    return {"x": v.divide(grad_output, v.add(root, root))}


def absolute_backward(v: Any, grad_output: Any, x: Any) -> Any:
    """grad_output times the sign of x; of 0 the subgradient 0, of NaN 0 or NaN. An infinity or NaN
    times a sign of 0 may be NaN.

    Complex: times x / |x|, for a real grad_output.
    """
    return {"x": v.signed(x, grad_output)}


PAIR, SINGLE = ("x1", "x2"), ("x",)
ONE = Domain("()->()", NUMBERS)

OPS = (
    Op("add", add, PAIR, Domain("(),()->()", NUMBERS), backward=add_backward),
    Op("subtract", subtract, PAIR, Domain("(),()->()", NUMBERS), backward=subtract_backward),
    Op("multiply", multiply, PAIR, Domain("(),()->()", NUMBERS), backward=multiply_backward),
    Op("divide", divide, PAIR, Domain("(),()->()", NUMBERS), backward=divide_backward),
    Op("sqrt", sqrt, SINGLE, Domain("()->()", NUMBERS, nonnegative=("x",)), backward=sqrt_backward),
    Op("negative", negative, SINGLE, ONE, backward=negative_backward),
    Op(
        "abs",
        absolute,
        SINGLE,
        Domain("()->()", NUMBERS),
        real_output=True,
        backward=absolute_backward,
    ),
)
