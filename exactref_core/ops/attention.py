"""scaled_dot_product_attention: means of values under the softmax of scaled scores."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from exactref_core.op import Domain, Op
from exactref_core.ops.attention_gradient import backward
from exactref_core.ops.attention_scores import RULES, packed, scored
from exactref_core.ops.dtypes import FLOATS

__all__ = ["OPS"]


def define(v: Any, query: Any, key: Any, value: Any, **rules: Any) -> Any:
    """Attention softmax(scale q k^T + mask) v, with the log-sum-exp of the scores.

    query (..., l, e), key (..., s, e), value (..., s, d); leading axes broadcast, and with
    ``enable_gqa`` groups of query heads (third axis from the end) share a head of keys and values.
    ``attn_mask`` is bool (True keeps a key) or float (added to the scores, -inf takes a key out);
    ``is_causal`` keeps keys up to the query's place; ``window`` (left, right) keeps those from
    ``left`` before it to ``right`` after it, -1 meaning all. Places are counted from the top left
    or, with ``causal_alignment`` "bottom_right", so that the last query is at the last key; with a
    window and unequal lengths it must be said (flash-attn's is "bottom_right"), else None is
    "top_left". ``scale`` defaults to 1/sqrt(e); a ``softcap`` c other than 0 makes scores
    c tanh(score / c) before they are masked.

    ``mask_sum`` "rounded" says that scores are stored with the mask added, in the compute format: a
    value so large that no score changes it, as -FLT_MAX (or -1e9 beside scores of a few units), is
    the score itself, and a row of nothing else has equal weights. "exact" takes them as real
    numbers, of which the score is left.

    ``cu_seqlens_q`` and ``cu_seqlens_k`` say that sequences are packed one after the other along
    the lengths: 0 and the end of each, as integers; without the latter keys have those of the
    queries. Each sequence attends within its own, with its own causal mask and window (whose place
    must be said for unequal lengths), and is bounded by its own lengths.

    Outputs: ``output`` (..., l, d) and ``logsumexp`` (..., l), at least float32. A query that keeps
    no key has the output 0, or NaN with ``fully_masked`` "nan", and the log-sum-exp -inf. Names and
    defaults are those of torch.nn.functional.scaled_dot_product_attention and, for what that does
    not have, flash-attn's; ``dropout_p`` must be 0.
    """
    parts = packed(v, (query, key, value), rules)
    if parts is None:
        return attention(v, (query, key, value), rules)
    found = [attention(v, tensors, rules) for _, tensors in parts]
    return {
        "output": v.joined(tuple(x["output"] for x in found), -2),
        "logsumexp": v.joined(tuple(x["logsumexp"] for x in found), -1),
    }


def attention(v: Any, tensors: tuple[Any, Any, Any], rules: Mapping[str, Any]) -> dict[str, Any]:
    """Return the output and the log-sum-exp of one sequence."""
    found = scored(v, *tensors, rules)
    return {
        "output": v.attend(found.scores, found.value, found.rule),
        "logsumexp": v.logsumexp(found.scores, found.rule),
    }


OPS = (
    Op(
        "scaled_dot_product_attention",
        define,
        ("query", "key", "value"),
        Domain("(l,e),(s,e),(s,d)->(l,d)", FLOATS, nonempty=True),
        RULES,
        outputs=("output", "logsumexp"),
        wide_outputs=("logsumexp",),
        arrays=("attn_mask", "cu_seqlens_q", "cu_seqlens_k", "algorithm"),
        backward=backward,
        grad_outputs=("logsumexp",),
    ),
)
