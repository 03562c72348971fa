"""What normalizations share: (x - mean) / sqrt(variance + eps) * weight + bias.

Correct are a quotient by the root and a product with its reciprocal. Products that are distributed
over the difference, x r - mean r, or x (r weight) + (bias - mean r weight), are worse where the
mean is far above the spread: they count under "any_order".

A mean is a sum over n, or, under "any_order", updated with the variance: n m = n_A m_A + n_B m_B as

    m = m_A + (m_B - m_A) n_B / n.

Of the stored means difference, quotient, product and sum round. So m_B counts (1+u)^4 times at
most, and m_A (1 + r t)(1+u) times with r = n_B / n_A, t = (1+u)^3 - 1: (1+u)^(1 + 3 max(r, 1)) or
less. With 4 (n_A - 1) + 1 + 3 max(r, 1) <= 4 (n - 1), each term of any tree of merges counts
(1+u)^(4(n-1)) times at most, which is (1+u)^(3(n-1)) more than a sum counts it; where both means
are multiplied with their weights as well. A merge to n_k terms that underflows loses eta / 2 there,
and n_k / n of it in the end: sum n_k < n (n+1) / 2 over any tree.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from exactref_core.errors import InputError
from exactref_core.ops.var import variance

__all__ = [
    "Epsilon",
    "affine",
    "check",
    "epsilon",
    "mean_of",
    "mean_square",
    "normalized",
    "own_statistics",
    "roots",
    "size_over",
    "spread_over",
    "trailing",
]


@dataclass(frozen=True)
class Epsilon:
    """What is added to a mean square, or to its root if ``outside``."""

    value: Fraction
    outside: bool


def epsilon(value: Any, outside: bool) -> Epsilon:
    """Return eps as an exact number; InputError where it is none."""
    if isinstance(value, bool) or not isinstance(value, (int, float, Fraction)):
        raise InputError(f"eps must be a number, not {value!r}")
    try:
        found = Fraction(value)
    except (ValueError, OverflowError):
        raise InputError(f"eps must be a finite number, not {value!r}") from None
    if found < 0:
        raise InputError(f"eps must not be negative: {value!r}")
    return Epsilon(found, outside)


def trailing(x: Any, normalized_shape: Any) -> tuple[int, ...]:
    """Return the axes of x that ``normalized_shape`` names; None: the last one."""
    if normalized_shape is None:
        shape: tuple[Any, ...] = x.shape[-1:]
    elif hasattr(normalized_shape, "__index__"):
        shape = (normalized_shape.__index__(),)
    else:
        shape = tuple(normalized_shape)
    if not shape or x.shape[-len(shape) :] != shape:
        raise InputError(
            f"normalized_shape is {normalized_shape!r}; it must be the last extents of x, whose "
            f"shape is {x.shape}"
        )
    return tuple(range(len(x.shape) - len(shape), len(x.shape)))


def spread_over(v: Any, x: Any, shape: tuple[int, ...], axes: tuple[int, ...]) -> Any:
    """Return a reduction over ``axes``, spread over them again."""
    kept = tuple(1 if i in axes else n for i, n in enumerate(shape))
    return v.spread(v.arrange(x, kept), shape)


def affine(v: Any, x: Any, weight: Any, bias: Any) -> Any:
    """Return x * weight + bias, of what is given."""
    scaled = x if weight is None else v.multiply(x, weight)
    return scaled if bias is None else v.add(scaled, bias)


def roots(v: Any, squares: Any, eps: Epsilon) -> tuple[Any, Any]:
    """Return sqrt(squares + eps), or sqrt(squares) + eps, and its reciprocal."""
    if eps.outside and eps.value:
        root = v.add(v.root_of(squares), v.constant(eps.value))
        return root, v.divide(v.constant(1), root)
    inside = v.add(squares, v.constant(eps.value)) if eps.value else squares
    return v.root_of(inside), v.reciprocal_root(inside)


def normalized(
    v: Any, x: Any, mean: Any, squares: Any, eps: Epsilon, weight: Any = None, bias: Any = None
) -> Any:
    """Return (x - mean) over the root of what is beside it, times the weight plus the bias."""
    weight, bias = (one if one is None else v.spread(one, x.shape) for one in (weight, bias))
    root, inverse = roots(v, squares, eps)
    centred = v.subtract(x, mean)
    quotient = v.divide(centred, root)
    near = affine(v, v.admit(quotient, quotient, v.multiply(centred, inverse)), weight, bias)
    apart = [affine(v, v.distributed(x, mean, inverse), weight, bias)]
    if weight is not None or bias is not None:
        apart.append(v.distributed(x, mean, inverse, weight, bias))
    return v.admit(near, near, *apart, extra="any_order")


def own_statistics(
    v: Any, x: Any, axes: tuple[int, ...], eps: Epsilon, weight: Any = None, bias: Any = None
) -> Any:
    """Return x normalized by its mean and variance over some axes, as `normalized` does."""
    mean = spread_over(v, mean_of(v, x, axes), x.shape, axes)
    squares = spread_over(v, variance(v, x, axes, 0), x.shape, axes)
    return normalized(v, x, mean, squares, eps, weight, bias)


def mean_of(v: Any, x: Any, axes: tuple[int, ...]) -> Any:
    """Return the mean over some axes: a sum over their size, or what updates leave."""
    n, u = size_over(x, axes), v.compute.unit_roundoff
    plain = v.scale(v.sum(x, axes), n)
    if n < 2:
        return plain
    # (1+u)^k - 1 <= k u e^(k u), e^y <= 1 / (1 - y) and e^y < 3^y.
    k = 3 * (n - 1)
    units = math.ceil(k / (1 - k * u) if 2 * k * u <= 1 else k * 3 ** math.ceil(k * u))
    merged = v.within(v.sum(v.within(x, units, 0), axes), 0, Fraction(n * (n + 1), 4))
    return v.admit(plain, plain, v.scale(merged, n), extra="any_order")


def size_over(x: Any, axes: tuple[int, ...]) -> int:
    """Return how many elements x has over some axes; InputError for none."""
    count = 1
    for i in axes:
        count *= x.shape[i]
    if count == 0:
        raise InputError(f"x with shape {x.shape} has no elements to normalize over axes {axes}")
    return count


def mean_square(v: Any, x: Any, axes: tuple[int, ...]) -> Any:
    """Return mean(x^2) over some axes."""
    return v.scale(v.sum(v.multiply(x, x), axes), size_over(x, axes))


def check(name: str, x: Any, shape: tuple[int, ...]) -> None:
    """Raise InputError for a weight or bias of another shape."""
    if x is not None and x.shape != shape:
        raise InputError(f"{name} has shape {x.shape}; it must have {shape}")
