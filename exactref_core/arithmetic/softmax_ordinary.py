"""The ordinary reading of the softmax family: weights first, then index-order sums."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from exactref_core.arithmetic.graph import Node
from exactref_core.arithmetic.softmax_verbs import RowRule
from exactref_core.formats.rounding_arrays import round_pair

if TYPE_CHECKING:
    from exactref_core.arithmetic.ordinary import OrdinaryReading

__all__ = ["exact", "scaled"]

Values = npt.NDArray[Any]


def scaled(reading: OrdinaryReading, node: Node) -> Values:
    """Return scale * product + bias, the scale rounded to the compute format."""
    product = reading.whole(node.operands[0])
    value = float(abs(node.attrs.value))
    value = float(np.sqrt(value)) if node.attrs.root else value
    factor = product.dtype.type(value if node.attrs.value >= 0 else -value)
    result = product * factor
    if len(node.operands) > 1:
        result = result + reading.whole(node.operands[1])
    return np.asarray(result)


def exact(reading: OrdinaryReading, node: Node) -> Values:
    """Return what a kernel stores that works in the compute format."""
    from exactref_core.arithmetic.ordinary import index_order, index_order_dot

    rule: RowRule = node.attrs
    scores = reading.whole(node.operands[0])
    if rule.keep is not None:
        scores = np.where(rule.keep, scores, scores.dtype.type(-np.inf))
    empty = np.all(scores == -np.inf, axis=-1, keepdims=True)
    top = np.max(scores, axis=-1, keepdims=True, initial=-np.inf)
    gaps = scores - np.where(empty, scores.dtype.type(0), top)
    powers = np.exp(gaps)
    total = index_order(powers)[..., None]
    if node.verb == "logsumexp":
        result = np.where(empty, top, top + np.log(total))
        return np.asarray(result[..., 0])
    if node.verb == "log_weights":
        return np.asarray(gaps - np.log(total))
    weights = powers / total
    weights = np.where(empty, np.nan if rule.empty_is_nan else 0, weights).astype(scores.dtype)
    if rule.weights is not None:
        weights = round_pair(weights.astype(np.float64), None, rule.weights).astype(scores.dtype)
    if node.verb == "weights":
        return weights
    values = reading.whole(node.operands[1])
    if rule.keep is not None and not np.all(np.isfinite(values)):
        values = np.where(np.isfinite(values) | np.any(rule.keep, axis=-2)[..., None], values, 0)
    return index_order_dot(weights, values)
