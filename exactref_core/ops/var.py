"""var, std: mean squared deviations from the mean, and their roots."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from exactref_core.errors import InputError
from exactref_core.op import Domain, Op, axes_of, without_axes
from exactref_core.ops.dtypes import FLOATS

__all__ = ["OPS"]


def var(v: Any, x: Any, axis: Any = None, correction: Any = 0, keepdims: bool = False) -> Any:
    """Variance of the elements of ``x`` over ``axis``.

    sum_k (x_k - m)^2 / (n - correction) with m the mean of the n elements, over one axis, several,
    or all (None). Two passes are correct, and updates of a mean and a sum (Welford's in index
    order, merges of subsets under "any_order"); the mean of squares less the squared mean is not.
    Infinities and NaN give NaN. InputError where n - correction is not positive.
    """
    axes = axes_of(axis, len(x.shape))
    return v.arrange(variance(v, x, axes, correction), without_axes(x.shape, axes, keepdims))


def std(v: Any, x: Any, axis: Any = None, correction: Any = 0, keepdims: bool = False) -> Any:
    """Standard deviation of the elements of ``x`` over ``axis``, the root of `var`.

    sqrt(sum_k (x_k - m)^2 / (n - correction)) with m the mean, over one axis, several, or all
    (None). Correct are the computations of `var` that are, with a square root. Infinities and NaN
    give NaN. InputError where n - correction is not positive.
    """
    axes = axes_of(axis, len(x.shape))
    root = v.root_of(variance(v, x, axes, correction))
    return v.arrange(root, without_axes(x.shape, axes, keepdims))


def variance(v: Any, x: Any, axes: tuple[int, ...], correction: Any) -> Any:
    """Return the variance over some axes."""
    n = 1
    for i in axes:
        n *= x.shape[i]
    try:
        divisor = n - Fraction(correction)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"correction must be a finite number, not {correction!r}") from None
    if divisor <= 0:
        raise InputError(
            f"{n} elements of x with shape {x.shape} and correction={correction}: there is no "
            f"variance over {divisor}; n - correction must be positive"
        )
    return v.quotient_by(v.deviations(x, axes), divisor)


def centred(v: Any, x: Any, axes: tuple[int, ...]) -> Any:
    """Return x less its mean over some axes."""
    count = 1
    for i in axes:
        count *= x.shape[i]
    mean = v.arrange(v.scale(v.sum(x, axes), count), without_axes(x.shape, axes, True))
    return v.subtract(x, v.spread(mean, x.shape))


def divisor_of(x: Any, axes: tuple[int, ...], correction: Any) -> Fraction:
    """Return n - correction."""
    count = 1
    for i in axes:
        count *= x.shape[i]
    return count - Fraction(correction)


def var_backward(
    v: Any, grad_output: Any, x: Any, axis: Any = None, correction: Any = 0, keepdims: bool = False
) -> Any:
    """grad_output 2 (x - m) / (n - correction)."""
    axes = axes_of(axis, len(x.shape))
    g = v.spread(v.arrange(grad_output, without_axes(x.shape, axes, True)), x.shape)
    factor = v.divide(v.constant(2), v.constant(divisor_of(x, axes, correction)))
    return {"x": v.multiply(v.multiply(g, factor), centred(v, x, axes))}


def std_backward(
    v: Any, grad_output: Any, x: Any, axis: Any = None, correction: Any = 0, keepdims: bool = False
) -> Any:
    """grad_output (x - m) / ((n - correction) s), s the standard deviation; 0 where s is 0."""
    axes = axes_of(axis, len(x.shape))
    kept = without_axes(x.shape, axes, True)
    root = v.arrange(v.root_of(variance(v, x, axes, correction)), kept)
    below = v.multiply(v.constant(divisor_of(x, axes, correction)), root)
    zero = v.exact.constant(0)
    g = v.divide(v.arrange(grad_output, kept), below)
    product = v.multiply(v.spread(g, x.shape), centred(v, x, axes))
    order = v.order(v.spread(root, x.shape), zero, 1)
    return {"x": v.by_order(order, product, zero, zero)}


ROWS = Domain("(n)->()", FLOATS, nonempty=True)
OPTIONS = {"axis": None, "correction": 0, "keepdims": False}

OPS = (
    Op("var", var, ("x",), ROWS, OPTIONS, backward=var_backward),
    Op("std", std, ("x",), ROWS, OPTIONS, backward=std_backward),
)
