"""cross_entropy, nll_loss: logarithms of probabilities at the target classes."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from exactref_core.errors import InputError
from exactref_core.op import REQUIRED, Domain, Op
from exactref_core.ops.dtypes import FLOATS
from exactref_core.ops.soft_targets import losses_of, pulled, smoothed, weighted

__all__ = ["OPS"]


def rows_of(v: Any, x: Any) -> tuple[Any, tuple[int, ...]]:
    """Return x (n, c, ...) or (c) as rows of classes, and the shape of the target."""
    if not x.shape:
        raise InputError("x has no axes; it takes (n, classes, ...) or (classes)")
    place = 0 if len(x.shape) == 1 else 1
    moved = v.move_last(x, place)
    shape = moved.shape[:-1]
    count = 1
    for extent in shape:
        count *= extent
    return v.arrange(moved, (count, moved.shape[-1])), shape


def smoothing_of(value: Any) -> Fraction:
    """Return the label smoothing as an exact number of [0, 1]."""
    if isinstance(value, bool) or not isinstance(value, (int, float, Fraction)):
        raise InputError(f"label_smoothing must be a number of [0, 1], not {value!r}")
    if not 0 <= value <= 1:
        raise InputError(f"label_smoothing must be a number of [0, 1], not {value!r}")
    return Fraction(value)


def check_weight(weight: Any, classes: int) -> None:
    """Raise InputError for weights of another shape."""
    if weight is not None and weight.shape != (classes,):
        raise InputError(f"weight has shape {weight.shape}; it must have ({classes},)")


def reduced(
    v: Any, losses: Any, kept: Any, weights: Any, shape: tuple[int, ...], reduction: Any
) -> Any:
    """Return the losses of the kept rows: all, with 0 for the others; their sum; or their mean."""
    if reduction == "none":
        return v.arrange(v.placed(losses, kept), shape)
    total = v.total(losses)
    if reduction == "sum":
        return total
    if reduction != "mean":
        raise InputError(f"reduction must be 'none', 'sum' or 'mean', not {reduction!r}")
    return v.scale(total, kept.count) if weights is None else v.divide(total, v.total(weights))


def nll_loss(
    v: Any,
    x: Any,
    target: Any = None,
    weight: Any = None,
    ignore_index: Any = -100,
    reduction: Any = "mean",
) -> Any:
    """Negative log-likelihood -weight[t] x[t] at the target classes t.

    x (n, classes, ...) or (classes) holds logarithms of probabilities, ``target`` integers of shape
    (n, ...); those equal to ``ignore_index`` do not count. ``reduction`` is "mean" (over the
    weights of the targets), "sum" or "none". Names and defaults as torch.nn.functional.nll_loss.
    """
    rows, shape = rows_of(v, x)
    check_weight(weight, rows.shape[-1])
    kept = v.classes(target, "target", shape, rows.shape[-1], ignore_index)
    weights = None if weight is None else v.class_weights(weight, kept)
    losses = v.negative(v.at_classes(rows, kept))
    losses = losses if weights is None else v.multiply(weights, losses)
    return reduced(v, losses, kept, weights, shape, reduction)


def cross_entropy(
    v: Any,
    x: Any,
    target: Any = None,
    weight: Any = None,
    ignore_index: Any = -100,
    reduction: Any = "mean",
    label_smoothing: Any = 0.0,
) -> Any:
    """Cross entropy -weight[t] log softmax(x)[t] of scores at the target classes t.

    x (n, classes, ...) or (classes) holds scores, ``target`` integers of shape (n, ...); those
    equal to ``ignore_index`` do not count. With ``label_smoothing`` s the loss of a row is (1 - s)
    times that, and s / classes times the sum over all classes. ``reduction`` is "mean" (over the
    weights of the targets), "sum" or "none". A target of floats, of the shape of x, holds a
    probability y for each class: -sum_c weight[c] y[c] log softmax(x)[c], with label smoothing of
    (1 - s) y + s / classes, and "mean" over the rows. Names and defaults as
    torch.nn.functional.cross_entropy.
    """
    rows, shape = rows_of(v, x)
    classes, share = rows.shape[-1], smoothing_of(label_smoothing)
    check_weight(weight, classes)
    if (soft := v.shares(target, "target", x.shape, ignore_index)) is not None:
        y = smoothed(v, rows_of(v, soft)[0], share)
        return losses_of(v, v.log_weights(rows, v.keep_all()), y, weight, shape, reduction)
    kept = v.classes(target, "target", shape, classes, ignore_index)
    weights = None if weight is None else v.class_weights(weight, kept)
    logs = v.log_weights(rows, v.keep_all())
    losses = v.negative(v.at_classes(logs, kept))
    losses = losses if weights is None else v.multiply(weights, losses)
    if share:
        terms = v.kept_rows(logs, kept)
        terms = terms if weight is None else v.multiply(terms, v.broadcast(weight, terms.shape))
        smooth = v.negative(v.total(terms))
        rest = v.multiply(v.constant(share / classes), smooth)
        losses = v.add(v.multiply(v.constant(1 - share), losses), rest)
    return reduced(v, losses, kept, weights, shape, reduction)


def cross_entropy_backward(
    v: Any,
    grad_output: Any,
    x: Any,
    target: Any = None,
    weight: Any = None,
    ignore_index: Any = -100,
    reduction: Any = "mean",
    label_smoothing: Any = 0.0,
) -> Any:
    """grad_output (p - q), over the number of rows that count for a mean; p the softmax weights.

    q is 1 at the target class, or 1 - s there and s / classes everywhere; rows of ``ignore_index``
    have the gradient 0. With ``weight`` times that of the target class. With both, or for a target
    of probabilities, p sum(u) - u of u = q weight takes the place of p - q. The target is a
    constant. An infinite grad_output may give NaN where q > 0: libraries compute p grad_output -
    q grad_output, the gradients of nll_loss and log_softmax in turn.
    """
    rows, shape = rows_of(v, x)
    classes, share = rows.shape[-1], smoothing_of(label_smoothing)
    check_weight(weight, classes)
    p = v.weights(rows, v.keep_all())
    if (soft := v.shares(target, "target", x.shape, ignore_index)) is not None:
        u = weighted(v, smoothed(v, rows_of(v, soft)[0], share), weight)
        found = pulled(v, p, u, soft_slopes(v, grad_output, rows, reduction))
        return {"x": in_place(v, found, x, shape)}
    kept = v.classes(target, "target", shape, classes, ignore_index)
    p = v.kept_rows(p, kept)
    if weight is not None and share:
        low = v.broadcast(v.multiply(weight, v.constant(share / classes)), p.shape)
        own = v.keep(v.multiply(v.class_weights(weight, kept), v.constant(1 - share)), p.shape)
        u = v.at_target(low, v.add(low, own), kept)
        found = pulled(v, p, u, smooth_slopes(v, grad_output, kept, weight, reduction))
        return {"x": in_place(v, v.placed_rows(found, kept), x, shape)}
    slopes = v.keep(row_slopes(v, grad_output, kept, weight, reduction), p.shape)
    rest, apart = p, v.multiply(p, slopes)
    if share:
        every = v.constant(share / classes)
        rest, apart = v.subtract(p, every), v.subtract(apart, v.multiply(every, slopes))
    own = v.constant(1 - share)
    gap = v.at_target(rest, v.subtract(rest, own), kept)
    apart = v.at_target(apart, v.subtract(apart, v.multiply(own, slopes)), kept)
    found = v.multiply(gap, slopes)
    return {"x": in_place(v, v.placed_rows(v.admit(found, found, apart), kept), x, shape)}


def soft_slopes(v: Any, grad_output: Any, rows: Any, reduction: Any) -> Any:
    """Return how the loss moves with that of each row, for targets that are probabilities."""
    if reduction == "none":
        return v.arrange(grad_output, rows.shape[:1])
    g = v.broadcast(grad_output, rows.shape[:1])
    return v.scale(g, rows.shape[0]) if reduction == "mean" else g


def smooth_slopes(v: Any, grad_output: Any, kept: Any, weight: Any, reduction: Any) -> Any:
    """Return how the loss moves with that of each row that counts, without its weight."""
    if reduction == "none":
        return v.kept_values(v.arrange(grad_output, (kept.rows,)), kept)
    if reduction == "mean":
        grad_output = v.divide(grad_output, v.total(v.class_weights(weight, kept)))
    return v.broadcast(grad_output, (kept.count,))


def in_place(v: Any, rows: Any, x: Any, shape: tuple[int, ...]) -> Any:
    """Return rows of classes under the axes of x."""
    place = 0 if len(x.shape) == 1 else 1
    return v.move_back(v.arrange(rows, (*shape, rows.shape[-1])), place)


def row_slopes(v: Any, grad_output: Any, kept: Any, weight: Any, reduction: Any) -> Any:
    """Return how the loss moves with that of each row that counts.

    grad_output, times the weight of the target class; over the sum of these, or the number of rows,
    for a mean. Which of the three factors meet first does not matter.
    """
    if reduction == "none":
        g = v.kept_values(v.arrange(grad_output, (kept.rows,)), kept)
    else:
        g = v.broadcast(grad_output, (kept.count,))
    if weight is None:
        return v.scale(g, kept.count) if reduction == "mean" else g
    weights = v.class_weights(weight, kept)
    product = v.multiply(g, weights)
    if reduction != "mean":
        return product
    total = v.broadcast(v.total(weights), (kept.count,))
    last = v.divide(product, total)
    inside = (v.multiply(weights, v.divide(g, total)), v.multiply(g, v.divide(weights, total)))
    return v.admit(last, last, *inside)


def nll_loss_backward(
    v: Any,
    grad_output: Any,
    x: Any,
    target: Any = None,
    weight: Any = None,
    ignore_index: Any = -100,
    reduction: Any = "mean",
) -> Any:
    """-grad_output weight[t] at the target class t, over the sum of the weights for a mean.

    Exactly 0 at all other classes, and in rows of ``ignore_index``, whatever grad_output is.
    """
    rows, shape = rows_of(v, x)
    kept = v.classes(target, "target", shape, rows.shape[-1], ignore_index)
    zeros = v.broadcast(v.exact.constant(0), (kept.count, rows.shape[-1]))
    slopes = v.negative(row_slopes(v, grad_output, kept, weight, reduction))
    found = v.at_target(zeros, v.keep(slopes, zeros.shape), kept)
    return {"x": in_place(v, v.placed_rows(found, kept), x, shape)}


OPTIONS = {"target": REQUIRED, "weight": None, "ignore_index": -100, "reduction": "mean"}
SCORES = Domain("(n,c)->()", FLOATS, nonempty=True, leading=False)

OPS = (
    Op(
        "nll_loss",
        nll_loss,
        ("x",),
        SCORES,
        OPTIONS,
        optional=("weight",),
        arrays=("target",),
        backward=nll_loss_backward,
        gradients=("x",),
    ),
    Op(
        "cross_entropy",
        cross_entropy,
        ("x",),
        SCORES,
        {**OPTIONS, "label_smoothing": 0.0},
        optional=("weight",),
        arrays=("target",),
        backward=cross_entropy_backward,
        gradients=("x",),
    ),
)
