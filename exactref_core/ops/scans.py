"""cumulative_sum, cumulative_prod: sums and products of the elements up to each."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from exactref_core.errors import InputError
from exactref_core.op import Domain, Op, one_axis
from exactref_core.ops.dtypes import NUMBERS

__all__ = ["OPS"]

# Factors of all terms of a gradient that are multiplied in any order, grad_output included.
FOLLOWED = 1 << 20


def place(x: Any, axis: Any, name: str) -> int:
    """Return the axis of a scan, which may be left out of a vector."""
    if axis is None and len(x.shape) != 1:
        raise InputError(f"{name} of x with shape {x.shape} needs axis=, an int")
    return one_axis(0 if axis is None else axis, len(x.shape))


def cumulative_sum(v: Any, x: Any, axis: Any = None, include_initial: bool = False) -> Any:
    """Sums of the elements of ``x`` up to each along ``axis``.

    s_k = sum_(i <= k) x_i; ``axis`` may be left out of a vector. With ``include_initial`` the sum
    of nothing, 0, comes first. Each element has the bound of its own sum: under "any_order" any way
    of scanning is correct. Integers and bool give exact int64 sums unless ``dtype`` says otherwise.
    """
    axis = place(x, axis, "cumulative_sum")
    return v.scan("sum", x, axis, 0 if include_initial else None)


def cumulative_prod(v: Any, x: Any, axis: Any = None, include_initial: bool = False) -> Any:
    """Products of the elements of ``x`` up to each along ``axis``.

    p_k = prod_(i <= k) x_i; ``axis`` may be left out of a vector. With ``include_initial`` the
    product of nothing, 1, comes first. Each element has the bound of its own product, as `prod` has
    it. Integers and bool give exact int64 products unless ``dtype`` says otherwise.
    """
    axis = place(x, axis, "cumulative_prod")
    return v.scan("prod", x, axis, 1 if include_initial else None)


def cumulative_sum_backward(
    v: Any, grad_output: Any, x: Any, axis: Any = None, include_initial: bool = False
) -> Any:
    """Sums of grad_output from each element to the last."""
    axis = place(x, axis, "cumulative_sum")
    whole = slice(None)
    first = 1 if include_initial else 0
    kept = v.part(grad_output, (*(whole,) * axis, slice(first, None), ...))
    flipped = (*(whole,) * axis, slice(None, None, -1), ...)
    return {"x": v.part(v.scan("sum", v.part(kept, flipped), axis, None), flipped)}


def cumulative_prod_backward(
    v: Any, grad_output: Any, x: Any, axis: Any = None, include_initial: bool = False
) -> Any:
    """Sums of grad_output_k prod_(i <= k, i != j) x_i over k >= j, for x_j.

    The sums may be nested from the last element on, and grad_output may meet any of the factors
    first: where products with it leave the range, that is followed in arrays of up to 2^20 terms.
    Also as sums of grad_output times the products, over x_j, where that is not 0 and no product
    leaves the range of normal numbers: after an underflow a quotient is not correct. Complex: of
    conjugates, in these three ways.
    """
    axis = place(x, axis, "cumulative_prod")
    if hasattr(x, "imag"):
        return {"x": complex_backward(v, grad_output, x, axis, include_initial)}
    rows, g = v.move_last(x, axis), v.move_last(grad_output, axis)
    n = rows.shape[-1]
    if n == 0:
        return {"x": v.zeros_like(x)}
    g = v.part(g, (..., slice(1, None))) if include_initial else g
    last = len(rows.shape) - 1
    weights = v.upper(v.scan("prod", v.without_each(rows), last + 1, 1))
    # Each row of weights meets those of grad_output that follow it: 0 times NaN would be NaN.
    lead = rows.shape[:-1]
    after = v.upper(v.spread(v.arrange(g, (*lead, 1, g.shape[-1])), weights.shape))
    columns = v.arrange(after, (*after.shape, 1))
    direct = v.dot(v.arrange(weights, (*lead, n, 1, weights.shape[-1])), columns)
    direct = v.arrange(direct, rows.shape)
    ways = [direct, nested(v, rows, g)]
    if factors_of(rows) <= FOLLOWED:
        terms = v.product(v.terms_without_each(rows, g), (last + 2,))
        ways.append(v.total(v.upper(terms)))
    near = v.admit(direct, *ways)
    whole = v.scan("prod", rows, last, None)
    flipped = (..., slice(None, None, -1))
    sums = v.part(v.scan("sum", v.part(v.multiply(g, whole), flipped), last, None), flipped)
    least = v.smallest(v.absolute(whole), "propagate")
    ratio = v.inside(v.divide(sums, rows), v.keep(least, rows.shape))
    return {"x": v.move_back(v.admit(near, near, ratio, guarded=True), axis)}


def complex_backward(v: Any, grad_output: Any, x: Any, axis: int, include_initial: bool) -> Any:
    """Return the gradient of the products of complex numbers."""
    rows = v.each_part(v.conjugate(x), lambda part: v.move_last(part, axis))
    g = v.each_part(grad_output, lambda part: v.move_last(part, axis))
    n, last, lead = rows.shape[-1], len(rows.shape) - 1, rows.shape[:-1]
    if n == 0:
        return v.each_part(x, v.zeros_like)
    g = v.part(g, (..., slice(1, None))) if include_initial else g
    others = v.scan("prod", v.each_part(rows, v.without_each), last + 1, 1)
    weights = v.each_part(others, v.upper)
    after = v.each_part(v.spread(v.arrange(g, (*lead, 1, n)), weights.shape), v.upper)
    pair = v.arrange(weights, (*lead, n, 1, n)), v.arrange(after, (*lead, n, n, 1))
    direct = v.arrange(v.matmul(*pair), rows.shape)
    whole = v.scan("prod", rows, last, None)
    flipped = (..., slice(None, None, -1))
    sums = v.part(v.scan("sum", v.part(v.multiply(g, whole), flipped), last, None), flipped)
    ratio, other = v.divide(sums, rows), nested(v, rows, g)
    size = v.keep(v.smallest(v.modulus(whole), "propagate"), rows.shape)
    parts = [
        v.admit(near, near, v.inside(quotient, size), guarded=True)
        for near, quotient in (
            (v.admit(direct.real, direct.real, other.real), ratio.real),
            (v.admit(direct.imag, direct.imag, other.imag), ratio.imag),
        )
    ]
    return v.each_part(replace(rows, real=parts[0], imag=parts[1]), lambda z: v.move_back(z, axis))


def factors_of(rows: Any) -> int:
    """Return how many factors the terms of all elements have."""
    count: int = rows.shape[-1] ** 2
    for extent in rows.shape:
        count *= extent
    return count


def nested(v: Any, rows: Any, g: Any) -> Any:
    """Return prod_(i < j) x_i (g_j + x_(j+1) (g_(j+1) + ...)), from the last element on."""
    n = rows.shape[-1]
    tails = [v.part(g, (..., n - 1))]
    for k in range(n - 1, 0, -1):
        rest = v.multiply(v.part(rows, (..., k)), tails[-1])
        tails.append(v.add(v.part(g, (..., k - 1)), rest))
    before = v.part(v.scan("prod", rows, len(rows.shape) - 1, 1), (..., slice(0, n)))
    return v.multiply(before, side_by_side(v, tails[::-1]))


def side_by_side(v: Any, parts: list[Any]) -> Any:
    """Return values, of which there may be many, along a new last axis."""
    if len(parts) == 1:
        return v.arrange(parts[0], (*parts[0].shape, 1))
    half = len(parts) // 2
    sides = [side_by_side(v, some) for some in (parts[:half], parts[half:])]
    return v.join(*sides, len(parts[0].shape))


OPTIONS = {"axis": None, "include_initial": False}

OPS = (
    Op(
        "cumulative_sum",
        cumulative_sum,
        ("x",),
        Domain("(n)->(n)", NUMBERS),
        OPTIONS,
        integers=True,
        backward=cumulative_sum_backward,
    ),
    Op(
        "cumulative_prod",
        cumulative_prod,
        ("x",),
        Domain("(n)->(n)", NUMBERS),
        OPTIONS,
        integers=True,
        backward=cumulative_prod_backward,
    ),
)
