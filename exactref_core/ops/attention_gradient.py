"""The gradient of attention; the softmax Jacobian is not formed, so that fused kernels fit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from exactref_core.ops.attention_scores import packed, scored

__all__ = ["backward", "slopes_of"]


def backward(
    v: Any,
    grad_output: Any,
    query: Any,
    key: Any,
    value: Any,
    grad_logsumexp: Any = None,
    **rules: Any,
) -> dict[str, Any]:
    """With P the weights, g = grad_output and S = P (g v^T - D): scale S k for the query, scale
    S^T q for the key, P^T g for the value.

    D is the sum of P (g v^T) over the keys, or of g times the output over the features, less
    ``grad_logsumexp`` where that is given (in the dtype of the log-sum-exp, or of the inputs). With
    a softcap c, S is multiplied by 1 - tanh(score / c)^2. Gradients of keys and values that several
    query heads share are summed over these.
    """
    parts = packed(v, (query, key, value), rules)
    if parts is None:
        return gradients_of(v, (grad_output, grad_logsumexp), (query, key, value), rules)
    found = []
    for place, tensors in parts:
        grad = v.index(grad_output, (..., place, slice(None)))
        more = None if grad_logsumexp is None else v.index(grad_logsumexp, (..., place))
        found.append(gradients_of(v, (grad, more), tensors, rules))
    return {name: v.joined(tuple(x[name] for x in found), -2) for name in found[0]}


def gradients_of(
    v: Any, grads: tuple[Any, Any], tensors: tuple[Any, Any, Any], rules: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the gradients of one sequence."""
    (grad_output, grad_logsumexp), (_, key, value) = grads, tensors
    found = scored(v, *tensors, rules)
    weights = v.weights(found.scores, found.rule)
    pull = v.dot(grad_output, v.swap_last(found.value))
    means = v.attend(found.scores, found.value, found.rule)
    products = v.total(v.multiply(grad_output, means))
    slopes = slopes_of(v, weights, pull, products, grad_logsumexp)
    slopes = found.uncapped(v, slopes)
    gradients = {
        "query": v.scaled(v.dot(slopes, found.key), found.factor, None),
        "key": v.scaled(v.dot(v.swap_last(slopes), found.query), found.factor, None),
        "value": v.dot(v.swap_last(weights), grad_output),
    }
    if rules["enable_gqa"]:
        for name, x in (("key", key), ("value", value)):
            gradients[name] = over_groups(v, gradients[name], x.shape[-3])
    return gradients


def slopes_of(v: Any, weights: Any, pull: Any, products: Any, grad_logsumexp: Any) -> Any:
    """Return the gradient of scores, weights (pull - D): D is the sum of weights times pull, or
    ``products``, that of the output's gradient times the output.

    Where the log-sum-exp has a gradient as well, kernels add it to the difference, take it from D,
    or add its product with the weights.
    """
    sums = v.total(v.multiply(weights, pull))
    shared = v.keep(v.admit(sums, sums, products), weights.shape)
    exact = v.exact.step("multiply", weights, v.less_mean(pull, weights))
    slopes = v.admit(exact, v.multiply(weights, v.subtract(pull, shared)))
    if grad_logsumexp is None:
        return slopes
    more = v.keep(grad_logsumexp, weights.shape)
    whole = v.exact.step("add", exact, v.exact.step("multiply", weights, more))
    forms = (
        v.multiply(weights, v.subtract(pull, v.subtract(shared, more))),
        v.multiply(weights, v.add(v.subtract(pull, shared), more)),
        v.add(slopes, v.multiply(weights, more)),
    )
    return v.admit(whole, *forms)


def over_groups(v: Any, x: Any, groups: int) -> Any:
    """Return gradients of repeated heads, summed over the heads that share one."""
    heads = x.shape[-3]
    parts = v.arrange(x, (*x.shape[:-3], groups, heads // groups, *x.shape[-2:]))
    return v.sum(parts, (len(parts.shape) - 3,))
