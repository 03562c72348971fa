"""softmax, log_softmax, logsumexp: exponentials of scores against their sum."""

from __future__ import annotations

from typing import Any

from exactref_core.errors import InputError
from exactref_core.op import Domain, Op, axes_of, without_axes
from exactref_core.ops.dtypes import FLOATS

__all__ = ["OPS"]


def along(v: Any, verb: Any, x: Any, axis: Any) -> Any:
    """Apply a verb of the last axis along another one."""
    if not hasattr(axis, "__index__") or isinstance(axis, bool):
        raise InputError(f"axis must be an int, not {axis!r}")
    (place,) = axes_of(axis, len(x.shape))
    return v.move_back(verb(v.move_last(x, place), v.keep_all()), place)


def softmax(v: Any, x: Any, axis: Any = -1) -> Any:
    """Weights exp(x_i) / sum_j exp(x_j) along ``axis``.

    A NaN or +inf makes its row NaN; -inf gives 0, and a row of nothing else gives 0 or NaN.
    """
    return along(v, v.weights, x, axis)


def log_softmax(v: Any, x: Any, axis: Any = -1) -> Any:
    """Logarithms of the softmax weights, x_i - log sum_j exp(x_j), along ``axis``.

    A NaN or +inf makes its row NaN; -inf gives -inf, and a row of nothing else NaN.
    """
    return along(v, v.log_weights, x, axis)


def logsumexp(v: Any, x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Logarithm of a sum of exponentials, log sum_j exp(x_j), over ``axis``.

    Over one axis, several, or all (None). A NaN or +inf makes it NaN, where kernels that look out
    for infinities may store +inf for the latter; the log of an empty sum, or of one of -inf alone,
    is -inf.
    """
    axes = axes_of(axis, len(x.shape))
    value = v.logsumexp(v.last(x, axes), v.keep_all())
    return v.arrange(value, without_axes(x.shape, axes, keepdims))


def softmax_backward(v: Any, grad_output: Any, x: Any, axis: Any = -1) -> Any:
    """w (grad_output - sum_j grad_output_j w_j) of the weights w, as a difference of products too.

    The Jacobian is not formed. Where grad_output is constant along a row the gradient is exactly 0.
    """
    (place,) = axes_of(axis, len(x.shape))
    g, scores = v.move_last(grad_output, place), v.move_last(x, place)
    w = v.weights(scores, v.keep_all())
    total = v.keep(v.total(v.multiply(g, w)), g.shape)
    factored = v.multiply(w, v.subtract(g, total))
    apart = v.subtract(v.multiply(g, w), v.multiply(w, total))
    definition = v.exact.step("multiply", w, v.less_mean(g, w))
    return {"x": v.move_back(v.admit(definition, factored, apart), place)}


def log_softmax_backward(v: Any, grad_output: Any, x: Any, axis: Any = -1) -> Any:
    """grad_output - w sum_j grad_output_j, w the softmax weights or e^output."""
    (place,) = axes_of(axis, len(x.shape))
    g, scores = v.move_last(grad_output, place), v.move_last(x, place)
    plain = v.weights(scores, v.keep_all())
    w = v.admit(plain, plain, v.apply("exp", v.log_weights(scores, v.keep_all())))
    return {"x": v.move_back(v.subtract(g, v.multiply(w, v.keep(v.total(g), g.shape))), place)}


def logsumexp_backward(
    v: Any, grad_output: Any, x: Any, axis: Any = None, keepdims: bool = False
) -> Any:
    """grad_output w, w the softmax weights over ``axis``, or e^(x - output) from its stored output.

    The latter errs by about u |output| where the outputs are large.
    """
    axes = axes_of(axis, len(x.shape))
    g = v.spread(v.arrange(grad_output, without_axes(x.shape, axes, True)), x.shape)
    scores = v.last(x, axes)
    plain, output = v.weights(scores, v.keep_all()), v.logsumexp(scores, v.keep_all())
    stored = v.apply("exp", v.subtract(scores, v.keep(output, scores.shape)))
    w = v.admit(plain, plain, stored)
    return {"x": v.multiply(g, v.unlast(w, axes, x.shape))}


ROWS = Domain("(n)->(n)", FLOATS, nonempty=True)
LAST = {"axis": -1}

OPS = (
    Op("softmax", softmax, ("x",), ROWS, LAST, backward=softmax_backward),
    Op("log_softmax", log_softmax, ("x",), ROWS, LAST, backward=log_softmax_backward),
    Op(
        "logsumexp",
        logsumexp,
        ("x",),
        Domain("(n)->()", FLOATS, nonempty=True),
        {"axis": None, "keepdims": False},
        backward=logsumexp_backward,
    ),
)
