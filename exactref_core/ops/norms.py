"""layer_norm, rms_norm: rows scaled by their own mean and spread."""

from __future__ import annotations

from typing import Any

from exactref_core.op import Domain, Op
from exactref_core.ops.dtypes import FLOATS
from exactref_core.ops.norm_parts import (
    Epsilon,
    affine,
    check,
    epsilon,
    mean_square,
    own_statistics,
    roots,
    size_over,
    spread_over,
    trailing,
)
from exactref_core.ops.norm_slopes import over, pulled_back, statistics

__all__ = ["OPS"]


def layer_norm(
    v: Any,
    x: Any,
    normalized_shape: Any = None,
    weight: Any = None,
    bias: Any = None,
    eps: Any = 1e-5,
    eps_outside: bool = False,
) -> Any:
    """Layer normalization (x - m) / sqrt(s + eps) * weight + bias over the last axes.

    m and s are the mean and the (biased) variance over the axes of ``normalized_shape`` (None: the
    last one), the shape of weight and bias. With ``eps_outside`` the divisor is sqrt(s) + eps.
    Names and defaults as torch.nn.functional.layer_norm.
    """
    axes = trailing(x, normalized_shape)
    shape = tuple(x.shape[i] for i in axes)
    check("weight", weight, shape)
    check("bias", bias, shape)
    return own_statistics(v, x, axes, epsilon(eps, eps_outside), weight, bias)


def rms_norm(
    v: Any,
    x: Any,
    normalized_shape: Any = None,
    weight: Any = None,
    eps: Any = None,
    residual: Any = None,
    eps_outside: bool = False,
) -> Any:
    """Root-mean-square normalization x / sqrt(mean(x^2) + eps) * weight over the last axes.

    The mean is over the axes of ``normalized_shape`` (None: the last one), the shape of the weight.
    ``eps`` None is the distance from 1 to the next float32 number (float64 for float64 inputs), as
    torch.nn.functional.rms_norm computes it; with ``eps_outside`` the divisor is sqrt(mean(x^2)) +
    eps. With ``residual``, of the shape of x, that of the sum
    x + residual, which is another output, "sum". Where a kernel normalizes the sum as it is stored,
    in a narrower format than it computes in, chain `add` and this.
    """
    axes = trailing(x, normalized_shape)
    check("weight", weight, tuple(x.shape[i] for i in axes))
    check("residual", residual, x.shape)
    total = x if residual is None else v.add(x, residual)
    found = roots(v, mean_square(v, total, axes), small(v, eps, eps_outside))
    root, inverse = (spread_over(v, part, x.shape, axes) for part in found)
    quotient = v.divide(total, root)
    scaled = affine(v, v.admit(quotient, quotient, v.multiply(total, inverse)), weight, None)
    if weight is not None:
        scaled = v.admit(scaled, scaled, v.multiply(total, v.multiply(inverse, weight)))
    return scaled if residual is None else {"output": scaled, "sum": total}


def layer_norm_backward(
    v: Any,
    grad_output: Any,
    x: Any,
    normalized_shape: Any = None,
    weight: Any = None,
    bias: Any = None,
    eps: Any = 1e-5,
    eps_outside: bool = False,
) -> Any:
    """With h = (x - m) r, r = 1 / sqrt(s + eps) and g = grad_output weight: r (g - mean(g) -
    h mean(g h)) for x, sums of grad_output h for the weight, and of grad_output for the bias. With
    ``eps_outside`` r = 1 / (sqrt(s) + eps), and (x - m) / sqrt(s) for that h; 0 where s is 0.
    """
    axes = trailing(x, normalized_shape)
    own = statistics(v, x, axes, epsilon(eps, eps_outside))
    h, g = v.multiply(own.centred, own.inverse), grad_output
    spread = v.admit(h, h, v.distributed(x, own.mean, own.inverse), extra="any_order")
    pulled = pulled_back(v, g if weight is None else v.multiply(g, weight), x, axes, own)
    return {"x": pulled, "weight": v.multiply(g, spread), "bias": g}


def rms_norm_backward(
    v: Any,
    grad_output: Any,
    x: Any,
    normalized_shape: Any = None,
    weight: Any = None,
    eps: Any = None,
    residual: Any = None,
    eps_outside: bool = False,
) -> Any:
    """With h = x r, r = 1 / sqrt(mean(x^2) + eps) and g = grad_output weight: r (g - h mean(g h))
    for x, also as (N g - h sum(g h)) r / N and r g - x r^3 mean(g x); with ``eps_outside`` x over
    its root mean square for that h, and for x r. Sums of grad_output h for the weight. The
    residual's is that of x, of their sum; what comes through the other output is not in it.
    """
    axes = trailing(x, normalized_shape)
    total = x if residual is None else v.add(x, residual)
    squares, added = mean_square(v, total, axes), small(v, eps, eps_outside)
    r = spread_over(v, roots(v, squares, added)[1], x.shape, axes)
    h, count = v.multiply(total, r), size_over(x, axes)
    ratio = h
    if added.outside and added.value:
        ratio = over(v, total, spread_over(v, v.root_of(squares), x.shape, axes))
    g = grad_output if weight is None else v.multiply(grad_output, weight)
    pulls, raw = (
        spread_over(v, v.sum(v.multiply(g, part), axes), x.shape, axes) for part in (h, total)
    )
    near = v.multiply(r, v.subtract(g, v.multiply(ratio, v.scale(pulls, count))))
    whole = v.subtract(v.multiply(g, v.constant(count)), v.multiply(ratio, pulls))
    square = v.multiply(r, r)
    first, rest = (total, v.multiply(square, r)) if ratio is h else (ratio, square)
    apart = v.subtract(v.multiply(r, g), v.multiply(first, v.multiply(rest, v.scale(raw, count))))
    scaled = v.multiply(v.scale(r, count), whole)
    found = v.admit(near, near, scaled, apart, guarded=True)
    return {"x": found, "weight": v.multiply(grad_output, h), "residual": found}


def small(v: Any, eps: Any, outside: bool) -> Epsilon:
    """Return the eps of rms_norm."""
    return epsilon(2 * v.compute.unit_roundoff if eps is None else eps, outside)


ROWS = Domain("(n)->(n)", FLOATS, nonempty=True)
AFFINE = {"weight": None, "bias": None}

OPS = (
    Op(
        "layer_norm",
        layer_norm,
        ("x",),
        ROWS,
        {"normalized_shape": None, **AFFINE, "eps": 1e-5, "eps_outside": False},
        optional=("weight", "bias"),
        backward=layer_norm_backward,
    ),
    Op(
        "rms_norm",
        rms_norm,
        ("x",),
        ROWS,
        {
            "normalized_shape": None,
            "weight": None,
            "eps": None,
            "residual": None,
            "eps_outside": False,
        },
        optional=("weight", "residual"),
        backward=rms_norm_backward,
    ),
)
