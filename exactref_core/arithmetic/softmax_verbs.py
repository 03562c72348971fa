"""The verbs of the softmax family: scores, weights, log-sum-exp, weighted means of values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from exactref_core.arithmetic.graph import Node
from exactref_core.arithmetic.matexp_verbs import MatrixVerbs
from exactref_core.arithmetic.verbs import Verbs, broadcast_shapes
from exactref_core.errors import InputError
from exactref_core.formats.format import Format

__all__ = ["RowRule", "Scale", "SoftmaxVerbs", "factors_scaled"]


@dataclass(frozen=True)
class Scale:
    """A positive or negative factor: ``value``, or the square root of ``value``."""

    value: Fraction
    root: bool = False


def factors_scaled(scores: Node) -> Node | None:
    """Return the dot product whose factors a kernel may scale instead, if there is one to scale.

    One that is kept in a wide format is stored in the compute format before it is scaled.
    """
    product = scores.operands[0]
    if product.verb == "within":
        product = product.operands[0]
    return product if product.verb == "dot" and scores.attrs.value else None


@dataclass(frozen=True, eq=False)
class RowRule:
    """How rows of scores become weights.

    ``keep`` is a bool array of the scores' shape: the keys that take part (None: all). A row that
    keeps none gives zeros, or NaN if ``empty_is_nan``; ``finite`` is what is left of ``keep`` when
    keys with a score of -inf are counted in: a row that such scores empty may give NaN too.
    ``weights`` is the format that stored weights are rounded to, ``accumulator`` the one that sums
    are kept in, where an algorithm declares them.
    """

    keep: npt.NDArray[np.bool_] | None
    finite: npt.NDArray[np.bool_] | None = None
    empty_is_nan: bool = False
    weights: Format | None = None
    accumulator: Format | None = None


class SoftmaxVerbs(MatrixVerbs):
    """Every verb, with those of the softmax family."""

    def scaled(self, product: Node, scale: Scale, bias: Node | None = None) -> Node:
        """Return scale * product + bias, the scores."""
        operands: tuple[Node, ...] = (product,)
        if bias is not None:
            operands = (product, self.broadcast(bias, product.shape))
        return Node("scaled", operands, product.shape, scale, self.compute)

    def weights(self, scores: Node, rule: RowRule) -> Node:
        """Return exp(s_i) / sum_j exp(s_j) along the last axis."""
        return Node("weights", (scores,), scores.shape, rule, self.compute)

    def logsumexp(self, scores: Node, rule: RowRule) -> Node:
        """Return log sum_j exp(s_j) along the last axis."""
        return Node("logsumexp", (scores,), scores.shape[:-1], rule, self.compute)

    def log_weights(self, scores: Node, rule: RowRule) -> Node:
        """Return s_i - log sum_j exp(s_j) along the last axis."""
        return Node("log_weights", (scores,), scores.shape, rule, self.compute)

    def attend(self, scores: Node, values: Node, rule: RowRule) -> Node:
        """Return the means of values (..., n, d) under the weights of scores (..., m, n)."""
        batch = scores.shape[:-2]
        if (
            broadcast_shapes(batch, values.shape[:-2], "the leading axes of scores and value")
            != batch
        ):
            raise InputError(
                f"value has leading axes {values.shape[:-2]}, which do not broadcast to those of "
                f"the scores, {batch}"
            )
        values = self.broadcast(values, (*batch, *values.shape[-2:]))
        shape = (*scores.shape[:-1], values.shape[-1])
        return Node("attend", (scores, values), shape, rule, self.compute)

    def rounded_scores(self, scores: Node, algorithm: Any) -> Node:
        """Return scores as an algorithm stores them, in a declared format."""
        form = None if algorithm is None else algorithm.format("scores")
        if form is None:
            return scores
        return Node("within", (scores,), scores.shape, (1, Fraction(1, 2)), form)

    def scores(self, query: Node, key: Node, algorithm: Any = None) -> Node:
        """Return query @ key^T, added up in a declared format or the compute format."""
        axes = (*range(len(key.shape) - 2), len(key.shape) - 1, len(key.shape) - 2)
        broadcast_shapes(query.shape[:-2], key.shape[:-2], "the leading axes of query and key")
        product = self.dot(query, self.transpose(key, axes))
        form = None if algorithm is None else algorithm.format("accumulator")
        if form is None:
            return product
        product = Node("dot", product.operands, product.shape, None, form)
        if self.compute is None or form.precision <= self.compute.precision:
            return product
        return Node("within", (product,), product.shape, (1, Fraction(1, 2)), self.compute)

    def mask(self, shape: tuple[int, ...], rules: Mapping[str, Any]) -> tuple[RowRule, Node | None]:
        """Return how rows of scores become weights, and the additive mask, broadcast."""
        from exactref_core.arithmetic.masks import masked_rows

        rule, bias = masked_rows(self.compute, shape, rules)
        algorithm = rules["algorithm"]
        if algorithm is not None:
            stored, sums = algorithm.format("weights"), algorithm.format("accumulator")
            rule = replace(rule, weights=stored, accumulator=sums)
        return rule, None if bias is None else self.broadcast(bias, shape)

    def default_scale(self, features: int) -> Scale:
        """Return 1 / sqrt(features)."""
        return Scale(Fraction(1, features), root=True)

    def given_scale(self, scale: Any) -> Scale:
        """Return a scale that the caller gives; InputError where it is no finite number."""
        try:
            value = Fraction(scale)
        except (TypeError, ValueError, OverflowError):
            raise InputError(f"scale must be a finite number, not {scale!r}") from None
        return Scale(value)

    def repeat_heads(self, x: Node, query: Node, name: str) -> Node:
        """Return keys or values with each head repeated for its group of query heads."""
        if len(x.shape) < 3 or len(query.shape) < 3:
            raise InputError("enable_gqa takes heads as the third axis from the end")
        heads, groups = query.shape[-3], x.shape[-3]
        if groups == 0 or heads % groups:
            raise InputError(
                f"enable_gqa: query has {heads} heads, which is no multiple of the {groups} of "
                f"{name}"
            )
        spread = (*x.shape[:-3], groups, 1, *x.shape[-2:])
        wide = (*x.shape[:-3], groups, heads // groups, *x.shape[-2:])
        repeated = self.broadcast(self.reshape(x, spread), wide)
        return self.reshape(repeated, (*x.shape[:-3], heads, *x.shape[-2:]))

    def less_mean(self, x: Node, weights: Node) -> Node:
        """Return x_i - sum_j w_j x_j along the last axis, exactly, for weights that add up to 1.

        Of the differences from the first element, so that a constant row is seen to give 0.
        """
        exact = Verbs(None)
        first = exact.broadcast(exact.index(x, (..., slice(0, 1))), x.shape)
        shifted = exact.step("subtract", x, first)
        mean = exact.total(exact.step("multiply", shifted, weights))
        steps = exact.step("subtract", shifted, exact.keep(mean, x.shape))
        if weights.verb == "admit":
            weights = weights.operands[0]
        return (
            Node("less_mean", (steps, x, weights), x.shape) if weights.verb == "weights" else steps
        )

    def keep_all(self) -> RowRule:
        """Return the rule without a mask."""
        return RowRule(None)

    def move_last(self, x: Any, axis: int) -> Any:
        """Return ``x`` with one axis moved to the end."""
        order = (*(i for i in range(len(x.shape)) if i != axis), axis)
        return self.transpose(x, order)

    def move_back(self, x: Any, axis: int) -> Any:
        """Return ``x`` with its last axis moved to ``axis``."""
        order = list(range(len(x.shape) - 1))
        order.insert(axis, len(x.shape) - 1)
        return self.transpose(x, tuple(order))
