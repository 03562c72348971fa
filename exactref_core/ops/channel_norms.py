"""group_norm, batch_norm: channels scaled by their mean and spread, or by given ones."""

from __future__ import annotations

from typing import Any

from exactref_core.errors import InputError
from exactref_core.op import Domain, Op
from exactref_core.ops.dtypes import FLOATS
from exactref_core.ops.norm_parts import check, epsilon, normalized, own_statistics, roots
from exactref_core.ops.norm_slopes import (
    Statistics,
    pulled_back,
    scale_slope,
    shift_slope,
    statistics,
)

__all__ = ["OPS"]


def group_norm(
    v: Any,
    x: Any,
    num_groups: Any = 1,
    weight: Any = None,
    bias: Any = None,
    eps: Any = 1e-5,
    eps_outside: bool = False,
) -> Any:
    """Group normalization of x (n, c, ...): each of ``num_groups`` groups of channels by its own.

    (x - m) / sqrt(s + eps) * weight + bias with the mean and the (biased) variance over a group's
    channels and all further axes; weight and bias (c). With ``eps_outside`` the divisor is
    sqrt(s) + eps. As torch.nn.functional.group_norm.
    """
    channels = channels_of(x, num_groups)
    check("weight", weight, (channels,))
    check("bias", bias, (channels,))
    groups = v.arrange(x, grouped(x, num_groups))
    axes = tuple(range(2, len(groups.shape)))
    scales = (by_channel(v, one, x) for one in (weight, bias))
    scales = (one if one is None else v.arrange(one, groups.shape) for one in scales)
    return v.arrange(own_statistics(v, groups, axes, epsilon(eps, eps_outside), *scales), x.shape)


def channels_of(x: Any, num_groups: Any) -> int:
    """Return the number of channels; InputError where groups do not divide it."""
    if len(x.shape) < 2:
        raise InputError(f"x has shape {x.shape}; group_norm takes (n, channels, ...)")
    channels: int = x.shape[1]
    if not hasattr(num_groups, "__index__") or num_groups < 1 or channels % num_groups:
        raise InputError(
            f"num_groups is {num_groups!r}; it must be an integer that divides the {channels} "
            "channels of x"
        )
    return channels


def grouped(x: Any, num_groups: int) -> tuple[int, ...]:
    """Return the shape of x with an axis of groups before that of a group's channels."""
    count, channels, *rest = x.shape
    return (count, num_groups, channels // num_groups, *rest)


def group_norm_backward(
    v: Any,
    grad_output: Any,
    x: Any,
    num_groups: Any = 1,
    weight: Any = None,
    bias: Any = None,
    eps: Any = 1e-5,
    eps_outside: bool = False,
) -> Any:
    """With h = (x - m) r, r = 1 / sqrt(s + eps) and g = grad_output weight: r (g - mean(g) -
    h mean(g h)) for x, means over groups; sums of grad_output h for the weight, of grad_output for
    the bias. With ``eps_outside`` as `layer_norm` has it.
    """
    shape = grouped(x, num_groups)
    axes = tuple(range(2, len(shape)))
    w = by_channel(v, weight, x)
    g = grad_output if w is None else v.multiply(grad_output, w)
    groups = v.arrange(x, shape)
    own = statistics(v, groups, axes, epsilon(eps, eps_outside))
    pulled = pulled_back(v, v.arrange(g, shape), groups, axes, own)
    parts = (own.centred, own.mean, own.inverse)
    inner = tuple(range(2, len(x.shape)))
    flat = Statistics(*(v.arrange(part, x.shape) for part in parts))
    return {
        "x": v.arrange(pulled, x.shape),
        "weight": scale_slope(v, grad_output, x, flat, inner, (0,)),
        "bias": shift_slope(v, grad_output, inner, (0,)),
    }


def by_channel(v: Any, x: Any, like: Any) -> Any:
    """Return a vector of channels under the second axis of ``like``."""
    if x is None:
        return None
    return v.spread(v.arrange(x, (1, *x.shape, *(1,) * (len(like.shape) - 2))), like.shape)


def batch_norm(
    v: Any,
    x: Any,
    running_mean: Any = None,
    running_var: Any = None,
    weight: Any = None,
    bias: Any = None,
    training: bool = False,
    momentum: Any = 0.1,
    eps: Any = 1e-5,
    eps_outside: bool = False,
) -> Any:
    """Batch normalization of x (n, c, ...), each channel by given or its own statistics.

    (x - m) / sqrt(s + eps) * weight + bias. With ``training`` m and s are the channel's mean and
    (biased) variance, else ``running_mean`` and ``running_var``; ``momentum`` moves these after the
    call and not the output. Vectors have one element a channel. With ``eps_outside`` the divisor is
    sqrt(s) + eps. As torch.nn.functional.batch_norm.
    """
    if len(x.shape) < 2:
        raise InputError(f"x has shape {x.shape}; batch_norm takes (n, channels, ...)")
    vectors = {"running_mean": running_mean, "running_var": running_var}
    for name, one in {**vectors, "weight": weight, "bias": bias}.items():
        check(name, one, (x.shape[1],))
    scales = (by_channel(v, one, x) for one in (weight, bias))
    if training:
        axes = (0, *range(2, len(x.shape)))
        return own_statistics(v, x, axes, epsilon(eps, eps_outside), *scales)
    for name, one in vectors.items():
        if one is None:
            raise InputError(f"{name} is missing: batch_norm needs it without training=True")
    mean, squares = (by_channel(v, one, x) for one in (running_mean, running_var))
    return normalized(v, x, mean, squares, epsilon(eps, eps_outside), *scales)


def batch_norm_backward(
    v: Any,
    grad_output: Any,
    x: Any,
    running_mean: Any = None,
    running_var: Any = None,
    weight: Any = None,
    bias: Any = None,
    training: bool = False,
    momentum: Any = 0.1,
    eps: Any = 1e-5,
    eps_outside: bool = False,
) -> Any:
    """With h = (x - m) r and r = 1 / sqrt(s + eps): weight r grad_output for x; with ``training``,
    when m and s depend on x, weight r (g - mean(g) - h mean(g h)) with g = grad_output, means over
    channels. Sums of grad_output h for the weight, of grad_output for the bias.

    The running statistics are constants. With ``eps_outside`` as `layer_norm` has it.
    """
    axes = (0, *range(2, len(x.shape)))
    w, g = by_channel(v, weight, x), grad_output
    if training:
        own = statistics(v, x, axes, epsilon(eps, eps_outside))
        found = pulled_back(v, g, x, axes, own, distributed=False)
        if w is not None:
            inside = pulled_back(v, v.multiply(g, w), x, axes, own, distributed=False)
            found = v.one_of(v.multiply(found, w), v.multiply(found, w), inside)
    else:
        mean, squares = (by_channel(v, one, x) for one in (running_mean, running_var))
        own = Statistics(v.subtract(x, mean), mean, roots(v, squares, epsilon(eps, eps_outside))[1])
        r = own.inverse
        found = v.multiply(g, r)
        if w is not None:
            orders = (v.multiply(v.multiply(g, w), r), v.multiply(g, v.multiply(w, r)))
            found = v.one_of(orders[0], *orders, v.multiply(found, w))
    slope = scale_slope(v, g, x, own, axes, ())
    return {"x": found, "weight": slope, "bias": shift_slope(v, g, axes, ())}


IMAGES = Domain("(b,c,n)->(b,c,n)", FLOATS, nonempty=True, leading=False)
AFFINE = {"weight": None, "bias": None}

OPS = (
    Op(
        "group_norm",
        group_norm,
        ("x",),
        IMAGES,
        {"num_groups": 1, **AFFINE, "eps": 1e-5, "eps_outside": False},
        optional=("weight", "bias"),
        backward=group_norm_backward,
    ),
    Op(
        "batch_norm",
        batch_norm,
        ("x",),
        IMAGES,
        {
            "running_mean": None,
            "running_var": None,
            **AFFINE,
            "training": False,
            "momentum": 0.1,
            "eps": 1e-5,
            "eps_outside": False,
        },
        optional=("running_mean", "running_var", "weight", "bias"),
        backward=batch_norm_backward,
        gradients=("x", "weight", "bias"),
    ),
)
