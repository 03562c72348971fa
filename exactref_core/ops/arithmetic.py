"""reciprocal, rsqrt, square, fma: steps of arithmetic that kernels have instructions for."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from exactref_core.op import Domain, Op
from exactref_core.ops.dtypes import FLOATS, NUMBERS

__all__ = ["OPS"]


def reciprocal(v: Any, x: Any) -> Any:
    """Reciprocal 1 / x of each element.

    One correctly rounded division: an approximate instruction of 1 ulp is not correct. 1 / 0 is an
    infinity with the sign of the zero. Complex: as 1 divided by x.
    """
    return v.divide(v.spread(v.number(1, "1", x), x.shape), x)


def rsqrt(v: Any, x: Any) -> Any:
    """Reciprocal square root 1 / sqrt(x) of each element.

    Correct are a library function that errs by at most 2 ulp (CUDA's rsqrtf), and a division by a
    square root. NaN below zero, an infinity with the sign of the zero at zero, 0 at infinity.
    """
    return v.reciprocal_root(x)


def square(v: Any, x: Any) -> Any:
    """Square x * x of each element; complex: (a^2 - b^2) + 2ab i, as the product."""
    return v.square(x)


def fma(v: Any, x: Any, y: Any, z: Any) -> Any:
    """Fused multiply-add x * y + z of three arrays, broadcast, rounded once.

    Only the fused step is correct; a product that is rounded before the sum is
    ``add(multiply(x, y), z)``.
    """
    v.broadcast_shapes(v.broadcast_shapes(x.shape, y.shape, "x and y"), z.shape, "x, y and z")
    return v.fused(x, y, z)


def reciprocal_backward(v: Any, grad_output: Any, x: Any) -> Any:
    """-grad_output y^2, of the reciprocal's conjugate y."""
    y = v.conjugate(reciprocal(v, x))
    return {"x": v.negative(v.multiply(grad_output, v.multiply(y, y)))}


def rsqrt_backward(v: Any, grad_output: Any, x: Any) -> Any:
    """-grad_output / 2 y^3, y the reciprocal root."""
    y = v.reciprocal_root(x)
    half = v.multiply(grad_output, v.constant(Fraction(-1, 2)))
    return {"x": v.multiply(half, v.multiply(v.multiply(y, y), y))}


def square_backward(v: Any, grad_output: Any, x: Any) -> Any:
    """grad_output 2 x, of the conjugate."""
    return {"x": v.multiply(grad_output, v.conjugate(v.add(x, x)))}


def fma_backward(v: Any, grad_output: Any, x: Any, y: Any, z: Any) -> Any:
    """grad_output y, grad_output x, grad_output."""
    return {"x": v.multiply(grad_output, y), "y": v.multiply(grad_output, x), "z": grad_output}


SINGLE = ("x",)
ONE, ROOT = Domain("()->()", NUMBERS), Domain("()->()", FLOATS, nonnegative=("x",))

OPS = (
    Op("reciprocal", reciprocal, SINGLE, ONE, backward=reciprocal_backward),
    Op("rsqrt", rsqrt, SINGLE, ROOT, backward=rsqrt_backward),
    Op("square", square, SINGLE, ONE, backward=square_backward),
    Op("fma", fma, ("x", "y", "z"), Domain("(),(),()->()", FLOATS), backward=fma_backward),
)
