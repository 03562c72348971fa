"""sum: the terms along some axes, added up."""

from __future__ import annotations

from typing import Any

from exactref_core.op import Domain, Op, axes_of, without_axes
from exactref_core.ops.dtypes import NUMBERS

__all__ = ["OPS"]


def define(v: Any, x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Sum of the elements of ``x`` over ``axis``.

    sum_k x_k over one axis, several, or all (None). Index order is row-major order of the axes. The
    sum of no terms is 0. Integers and bool give an exact int64 sum unless ``dtype`` names a float
    format; a sum beyond int64 is an error.
    """
    axes = axes_of(axis, len(x.shape))
    return v.arrange(v.sum(x, axes), without_axes(x.shape, axes, keepdims))


def backward(v: Any, grad_output: Any, x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """grad_output, at every term."""
    kept = without_axes(x.shape, axes_of(axis, len(x.shape)), True)
    return {"x": v.spread(v.arrange(grad_output, kept), x.shape)}


OPS = (
    Op(
        "sum",
        define,
        ("x",),
        Domain("(n)->()", NUMBERS),
        {"axis": None, "keepdims": False},
        integers=True,
        backward=backward,
    ),
)
