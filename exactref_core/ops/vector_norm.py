"""vector_norm: lengths of vectors."""

from __future__ import annotations

import math
from typing import Any

from exactref_core.errors import InputError
from exactref_core.op import Domain, Op, axes_of, without_axes
from exactref_core.ops import power_norms
from exactref_core.ops.dtypes import NUMBERS
from exactref_core.ops.extremes import TIES, shared

__all__ = ["OPS"]


def define(v: Any, x: Any, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Any:
    """Norm of the elements of ``x`` over ``axis``, by default the Euclidean one.

    ``ord`` 2: sqrt(sum_k |x_k|^2); 1: sum_k |x_k|; inf and -inf: the largest and the smallest
    |x_k|; 0: how many x_k are not 0, NaN among them; any other number p: (sum_k |x_k|^p)^(1/p), as
    C99's pow has it at 0 and infinities. Over one axis, several, or all (None). Complex inputs have
    a real norm. A kernel that takes powers of the elements as they are may overflow, and lose small
    ones; one that scales them first does not. The powers are pow's or products, the root is pow's
    with 1/p rounded. The norm of nothing is 0; with ord inf or below 0 it is an error.
    """
    axes, ord = axes_of(axis, len(x.shape)), power_norms.order_of(ord)
    if ord == 2:
        value = v.norm2(x, axes)
    elif ord == 1:
        value = v.sum(v.absolute(x), axes)
    elif ord in (math.inf, -math.inf):
        rows = v.last(v.absolute(x), axes)
        if rows.shape[-1] == 0:
            raise InputError(
                f"vector_norm over axis {axis!r} of x with shape {x.shape} has no elements; of "
                f"nothing there is no norm with ord={ord}"
            )
        value = (v.largest if ord > 0 else v.smallest)(rows, "propagate")
    elif ord == 0:
        value = v.count(v.last(power_norms.modulus(v, x), axes))
    else:
        value = power_norms.norm(v, x, axes, ord)
    return v.arrange(value, without_axes(x.shape, axes, keepdims))


def backward(
    v: Any,
    grad_output: Any,
    x: Any,
    axis: Any = None,
    keepdims: bool = False,
    ord: Any = 2,
    ties: str = "even",
) -> Any:
    """grad_output x / norm for ``ord`` 2, 0 where the norm is 0; for 1 grad_output sign(x); for inf
    and -inf that at the largest (smallest) magnitude, exactly 0 elsewhere; for 0 exactly 0; for any
    other p grad_output sign(x) (|x| / norm)^(p - 1), 0 where x is 0.

    Equal magnitudes share it evenly, or with ``ties="first"`` the first has all of it. At 0 the
    sign is 0; that of NaN is 0 or NaN. Of complex numbers x / |x| is the sign, and grad_output is
    real.
    """
    axes, ord = axes_of(axis, len(x.shape)), power_norms.order_of(ord)
    kept = v.arrange(grad_output, without_axes(x.shape, axes, True))
    g = v.spread(kept, x.shape)
    if ord == 1:
        return {"x": v.signed(x, g)}
    if ord == 0:
        return {"x": v.each_part(x, lambda part: v.broadcast(v.exact.constant(0), part.shape))}
    if ord not in (2, math.inf, -math.inf):
        return {"x": power_norms.backward(v, g, x, axes, ord)}
    if ord != 2:
        size = v.absolute(x)
        rows = v.last(size if ord > 0 else v.negative(size), axes)
        found = shared(v, v.arrange(grad_output, rows.shape[:-1]), rows, "propagate", ties)
        return {"x": v.signed(x, v.unlast(found, axes, x.shape))}
    norm = v.spread(v.arrange(v.norm2(x, axes), kept.shape), x.shape)
    zero = v.exact.constant(0)
    order = v.order(norm, zero, 1)
    return {
        "x": v.each_part(
            x, lambda part: v.by_order(order, v.shared_product(g, part, norm), zero, zero)
        )
    }


OPS = (
    Op(
        "vector_norm",
        define,
        ("x",),
        Domain("(n)->()", NUMBERS),
        {"axis": None, "keepdims": False, "ord": 2},
        real_output=True,
        backward=backward,
        backward_defaults=TIES,
    ),
)
