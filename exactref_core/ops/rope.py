"""rope: rotary position embedding, pairs of features turned by an angle for each position."""

from __future__ import annotations

from typing import Any

from exactref_core.errors import InputError
from exactref_core.op import Domain, Op
from exactref_core.ops.dtypes import FLOATS

__all__ = ["OPS"]


def pairs(v: Any, x: Any, interleaved: bool) -> tuple[Any, Any]:
    """Return the first and the second feature of each pair."""
    half = x.shape[-1] // 2
    if interleaved:
        split = v.arrange(x, (*x.shape[:-1], half, 2))
        return v.index(split, (..., 0)), v.index(split, (..., 1))
    split = v.arrange(x, (*x.shape[:-1], 2, half))
    return v.index(split, (..., 0, slice(None))), v.index(split, (..., 1, slice(None)))


def rope(v: Any, x: Any, cos: Any, sin: Any, interleaved: Any = False) -> Any:
    """Rotary embedding of x (..., s, d) by cos and sin (..., s, d / 2), leading axes broadcast.

    Pairs (a, b) become (a cos - b sin, b cos + a sin): the halves of the features, a of the first
    and b of the second, or with ``interleaved`` neighbours.
    """
    if not x.shape or x.shape[-1] % 2:
        raise InputError(f"x has shape {x.shape}; rope takes an even number of features")
    if not isinstance(interleaved, bool):
        raise InputError(f"interleaved must be True or False, not {interleaved!r}")
    half = (*x.shape[:-1], x.shape[-1] // 2)
    for name, table in (("cos", cos), ("sin", sin)):
        if table.shape[-1:] == x.shape[-1:] and half[-1] > 0:
            raise InputError(
                f"{name} has shape {table.shape}; rope takes one angle for each of the {half[-1]} "
                f"pairs of features: of a table for all {x.shape[-1]} one of each pair, such as "
                f"{name}[..., :{half[-1]}] where the halves are the same"
            )
        if v.broadcast_shapes(table.shape, half, f"{name} and pairs of x") != half:
            raise InputError(
                f"{name} has shape {table.shape}, which does not broadcast to {half}, one angle "
                "for each pair of features"
            )
    a, b = pairs(v, x, interleaved)
    first = v.subtract(v.multiply(a, cos), v.multiply(b, sin))
    second = v.add(v.multiply(b, cos), v.multiply(a, sin))
    turned = v.stack((first, second))
    if not interleaved:
        count = len(turned.shape)
        turned = v.transpose(turned, (*range(count - 2), count - 1, count - 2))
    return v.arrange(turned, x.shape)


def backward(v: Any, grad_output: Any, x: Any, cos: Any, sin: Any, interleaved: Any = False) -> Any:
    """grad_output turned back: by -sin."""
    return {"x": rope(v, grad_output, cos, v.negative(sin), interleaved)}


OPS = (
    Op(
        "rope",
        rope,
        ("x", "cos", "sin"),
        Domain("(s,h),(s,h),(s,h)->(s,h)", FLOATS, doubled=("x",)),
        {"interleaved": False},
        backward=backward,
        gradients=("x",),
    ),
)
