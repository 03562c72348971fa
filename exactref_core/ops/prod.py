"""prod: the elements along some axes, multiplied."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from exactref_core.op import Domain, Op, axes_of, without_axes
from exactref_core.ops.dtypes import NUMBERS

__all__ = ["OPS"]


def define(v: Any, x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Product of the elements of ``x`` over ``axis``.

    prod_k x_k over one axis, several, or all (None). The product of nothing is 1. A computed
    product errs by (1+u)^(n-1) - 1 relative in any order, and by what intermediates lose where they
    underflow; one that overflows on the way gives an infinity, or NaN beside a zero. Integers and
    bool give an exact int64 unless ``dtype`` names a float format.

    Complex: each product as `multiply`. Parts err by ((1+2u)^(n-1) - 1) times their terms, without
    signs, or by ((1+29u/12)^(n-1) - 1) times the modulus, whichever is smaller. Beside an infinity
    or NaN nothing is a number; which of them a part is depends on the order.
    """
    axes = axes_of(axis, len(x.shape))
    return v.arrange(v.product(x, axes), without_axes(x.shape, axes, keepdims))


def backward(v: Any, grad_output: Any, x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """grad_output times the product of the other elements, or of those before and those after.

    Also as a quotient of the product by the element, where that is not 0 and nothing leaves the
    range of normal numbers: after an underflow a quotient is not correct. Complex: of conjugates.
    """
    axes = axes_of(axis, len(x.shape))
    if hasattr(x, "imag"):
        return {"x": complex_backward(v, grad_output, x, axes)}
    rows = v.last(x, axes)
    if rows.shape[-1] == 0:
        return {"x": v.zeros_like(x)}
    g = v.arrange(grad_output, rows.shape[:-1])
    others = v.replaced(rows, g)
    direct = v.product(others, (len(others.shape) - 1,))
    whole = v.keep(v.product(rows, (len(rows.shape) - 1,)), rows.shape)
    top = v.multiply(v.keep(g, rows.shape), whole)
    ratio = v.divide(top, rows)
    for part in (whole, top):
        ratio = v.inside(ratio, part)
    near = v.admit(direct, direct, *both_sides(v, rows, v.keep(g, rows.shape)))
    found = v.admit(near, near, ratio, guarded=True)
    return {"x": v.unlast(found, axes, x.shape)}


def complex_backward(v: Any, grad_output: Any, x: Any, axes: tuple[int, ...]) -> Any:
    """grad_output times the product of the other conjugates in any order, or its quotient."""
    rows = v.each_part(v.conjugate(x), lambda part: v.last(part, axes))
    if rows.shape[-1] == 0:
        return v.each_part(x, v.zeros_like)
    g, last = v.arrange(grad_output, rows.shape[:-1]), len(rows.shape) - 1
    others = replace(rows, real=v.replaced(rows.real, g.real), imag=v.replaced(rows.imag, g.imag))
    direct = v.product(others, (last + 1,), loops=False)
    product = v.product(rows, (last,))
    g, whole = (v.each_part(z, lambda part: v.keep(part, rows.shape)) for z in (g, product))
    ratio, size = v.multiply(g, v.divide(whole, rows)), v.modulus(whole)
    parts = [
        v.admit(one, one, v.inside(other, size), guarded=True)
        for one, other in ((direct.real, ratio.real), (direct.imag, ratio.imag))
    ]
    found = replace(rows, real=parts[0], imag=parts[1])
    return v.each_part(found, lambda part: v.unlast(part, axes, x.shape))


def both_sides(v: Any, rows: Any, g: Any) -> list[Any]:
    """Return g times the products of the elements before and after each, in any order of three."""
    n, last, flipped = rows.shape[-1], len(rows.shape) - 1, (..., slice(None, None, -1))
    left = v.part(v.scan("prod", rows, last, 1), (..., slice(0, n)))
    right = v.part(v.scan("prod", v.part(rows, flipped), last, 1), (..., slice(0, n)))
    right = v.part(right, flipped)
    pairs = ((g, left, right), (g, right, left), (left, right, g))
    return [v.multiply(v.multiply(one, two), three) for one, two, three in pairs]


OPS = (
    Op(
        "prod",
        define,
        ("x",),
        Domain("(n)->()", NUMBERS),
        {"axis": None, "keepdims": False},
        integers=True,
        backward=backward,
    ),
)
