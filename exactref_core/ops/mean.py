"""mean: a sum divided by the number of its terms."""

from __future__ import annotations

from typing import Any

from exactref_core.errors import InputError
from exactref_core.op import Domain, Op, axes_of, without_axes
from exactref_core.ops.dtypes import NUMBERS

__all__ = ["OPS"]


def define(v: Any, x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Mean of the elements of ``x`` over ``axis``.

    (sum_k x_k) / n over one axis, several, or all (None). The mean of no terms is an error, since
    it has no value.
    """
    axes = axes_of(axis, len(x.shape))
    count = 1
    for i in axes:
        count *= x.shape[i]
    if count == 0:
        raise InputError(
            f"mean over axis {axis!r} of x with shape {x.shape} has no terms; the mean of nothing "
            "has no value (the sum of nothing is 0)"
        )
    return v.arrange(v.scale(v.sum(x, axes), count), without_axes(x.shape, axes, keepdims))


def backward(v: Any, grad_output: Any, x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """grad_output / n, at every term."""
    axes = axes_of(axis, len(x.shape))
    count = 1
    for i in axes:
        count *= x.shape[i]
    share = v.scale(v.arrange(grad_output, without_axes(x.shape, axes, True)), count)
    return {"x": v.spread(share, x.shape)}


OPS = (
    Op(
        "mean",
        define,
        ("x",),
        Domain("(n)->()", NUMBERS, nonempty=True),
        {"axis": None, "keepdims": False},
        backward=backward,
    ),
)
