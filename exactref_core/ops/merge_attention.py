"""merge_attention: partial outputs of attention over parts of the keys, by their log-sum-exps."""

from __future__ import annotations

from typing import Any

from exactref_core.errors import InputError
from exactref_core.op import Domain, Op
from exactref_core.ops.attention_gradient import slopes_of
from exactref_core.ops.dtypes import FLOATS

__all__ = ["OPS"]


def merge(v: Any, outputs: Any, logsumexps: Any) -> Any:
    """Attention's output and log-sum-exp over all keys, from those over p parts of them.

    outputs (..., p, l, d) and logsumexps (..., p, l): with w the softmax of the logsumexps over the
    parts, ``output`` (..., l, d) is sum w_i outputs_i, ``logsumexp`` (..., l) is log sum
    exp(logsumexps_i), at least float32. A kernel may divide by the sum of exponentials, or take
    the weights from the log-sum-exp as it is stored. logsumexps may be float32 where outputs are
    narrower; -inf takes a part out, and if all are -inf the output is 0 or NaN. The parts are
    stacked along the third axis from the end, as flashinfer's merge_states has them.
    """
    values, scores = arranged(v, outputs, logsumexps)
    rule = v.keep_all()
    rows = v.arrange(scores, (*scores.shape[:-1], 1, scores.shape[-1]))
    definition = v.attend(rows, values, rule)
    whole = v.logsumexp(scores, rule)
    stored = v.apply("exp", v.subtract(scores, v.keep(whole, scores.shape)))
    direct = v.dot(v.arrange(stored, rows.shape), values)
    output = v.admit(definition, definition, direct)
    shape = (*scores.shape[:-1], values.shape[-1])
    return {"output": v.arrange(output, shape), "logsumexp": whole}


def arranged(v: Any, outputs: Any, logsumexps: Any) -> tuple[Any, Any]:
    """Return outputs (..., l, p, d) and logsumexps (..., l, p); InputError for other shapes."""
    fits = len(outputs.shape) >= 3 and len(logsumexps.shape) >= 2
    if not fits or outputs.shape[-3:-1] != logsumexps.shape[-2:]:
        raise InputError(
            f"outputs has shape {outputs.shape} and logsumexps {logsumexps.shape}; they are "
            "(..., parts, queries, features) and (..., parts, queries)"
        )
    if outputs.shape[-3] == 0:
        raise InputError(f"outputs has shape {outputs.shape}: a merge of no parts is not defined")
    names = "leading axes of outputs and logsumexps"
    batch = v.broadcast_shapes(outputs.shape[:-3], logsumexps.shape[:-2], names)
    values = v.broadcast(outputs, (*batch, *outputs.shape[-3:]))
    scores = v.broadcast(logsumexps, (*batch, *logsumexps.shape[-2:]))
    count = len(batch)
    lead = tuple(range(count))
    return (
        v.transpose(values, (*lead, count + 1, count, count + 2)),
        v.transpose(scores, (*lead, count + 1, count)),
    )


def merge_backward(
    v: Any, grad_output: Any, outputs: Any, logsumexps: Any, grad_logsumexp: Any = None
) -> Any:
    """w_i grad_output for outputs_i, and w_i (g_i - sum_j w_j g_j) for logsumexps_i with g_i the
    sum of grad_output times outputs_i over the features.

    To g_i - sum_j w_j g_j ``grad_logsumexp`` is added where that is given.
    """
    values, scores = arranged(v, outputs, logsumexps)
    weights = v.weights(scores, v.keep_all())
    whole = v.logsumexp(scores, v.keep_all())
    stored = v.apply("exp", v.subtract(scores, v.keep(whole, scores.shape)))
    weights = v.admit(weights, weights, stored)
    columns = v.arrange(grad_output, (*grad_output.shape, 1))
    pull = v.arrange(v.dot(values, columns), scores.shape)
    merged = merge(v, outputs, logsumexps)["output"]
    products = v.total(v.multiply(grad_output, merged))
    slopes = slopes_of(v, weights, pull, products, grad_logsumexp)
    count = len(scores.shape) - 2
    lead = tuple(range(count))
    spread = v.multiply(
        v.arrange(weights, (*weights.shape, 1)),
        v.arrange(grad_output, (*grad_output.shape[:-1], 1, grad_output.shape[-1])),
    )
    return {
        "outputs": v.transpose(spread, (*lead, count + 1, count, count + 2)),
        "logsumexps": v.transpose(slopes, (*lead, count + 1, count)),
    }


OPS = (
    Op(
        "merge_attention",
        merge,
        ("outputs", "logsumexps"),
        Domain("(p,l,d),(p,l)->(l,d)", FLOATS, nonempty=True),
        outputs=("output", "logsumexp"),
        wide_outputs=("logsumexp",),
        wide=("logsumexps",),
        backward=merge_backward,
        grad_outputs=("logsumexp",),
    ),
)
