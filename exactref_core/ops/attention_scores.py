"""The scores of attention: scaled, capped, masked; what its definition and gradient share."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from exactref_core.errors import InputError

__all__ = ["RULES", "Scored", "check", "packed", "scored"]

# The parameters of attention that are no arrays, with their defaults.
RULES: Mapping[str, Any] = {
    "attn_mask": None,
    "dropout_p": 0.0,
    "is_causal": False,
    "scale": None,
    "enable_gqa": False,
    "causal_alignment": None,
    "fully_masked": "zero",
    "mask_sum": "exact",
    "window": None,
    "softcap": 0.0,
    "cu_seqlens_q": None,
    "cu_seqlens_k": None,
    "algorithm": None,
}


class Scored:
    """Scores of all queries and keys, and what they are made of.

    ``query``, ``key`` and ``value`` have the heads of the query; ``rule`` says how rows of
    ``scores`` become weights; ``tanh`` and ``capped`` are None without a softcap.
    """

    def __init__(self, v: Any, query: Any, key: Any, value: Any, rules: Mapping[str, Any]) -> None:
        algorithm, cap = rules["algorithm"], rules["softcap"]
        if rules["enable_gqa"]:
            key, value = (
                v.repeat_heads(x, query, name) for x, name in ((key, "key"), (value, "value"))
            )
        else:
            check_heads(query, key)
        self.query, self.key, self.value = aligned(v, query, key, value), key, value
        product = v.scores(self.query, key, algorithm)
        self.rule, bias = v.mask(product.shape, rules)
        scale = rules["scale"]
        self.factor = v.default_scale(query.shape[-1]) if scale is None else v.given_scale(scale)
        self.ratio = self.tanh = self.capped = None
        if cap:
            # A product with a rounded scale / cap errs by no more than both steps.
            self.cap = v.constant(cap_of(cap))
            ratio = v.divide(v.scaled(product, self.factor, None), self.cap)
            self.ratio, self.tanh = ratio, v.apply("tanh", ratio)
            self.capped = v.multiply(self.tanh, self.cap)
            scores = self.capped if bias is None else v.add(self.capped, bias)
        else:
            scores = v.scaled(product, self.factor, bias)
        if bias is not None and rules["mask_sum"] == "rounded":
            scores = v.rounded_sum(scores, bias, (self.query, key), rules)
        self.scores = v.rounded_scores(scores, algorithm)

    def uncapped(self, v: Any, slopes: Any) -> Any:
        """Return a gradient of the scores as one of the scaled products: times 1 - tanh^2.

        Kernels take tanh as it was stored, or the capped score divided by the cap.
        """
        if self.tanh is None:
            return slopes
        one, exact = v.constant(1), falling(v.exact, self.ratio)
        again = v.divide(self.capped, self.cap)
        forms = [v.subtract(one, v.multiply(t, t)) for t in (self.tanh, again)]
        return v.multiply(slopes, v.admit(exact, *forms))


def falling(e: Any, x: Any) -> Any:
    """Return 1 - tanh(x)^2 = 4 p / (1 + p)^2, p = e^(-2 |x|): however small, its size is told."""
    p = e.function("exp", e.step("multiply", e.constant(-2), e.step("absolute", x)))
    root = e.step("add", e.constant(1), p)
    product = e.step("multiply", e.constant(4), p)
    return e.step("divide", product, e.step("multiply", root, root))


def scored(v: Any, query: Any, key: Any, value: Any, rules: Mapping[str, Any]) -> Scored:
    """Return the scores of a call; InputError for what does not fit."""
    dropout = rules["dropout_p"]
    if dropout != 0.0:
        raise InputError(f"dropout_p={dropout!r}: a reference exists without dropout only (0.0)")
    algorithm = rules["algorithm"]
    if algorithm is not None and not hasattr(algorithm, "accumulator"):
        raise InputError(
            "algorithm must be an exactref.nn.attention.AttentionAlgorithm, as "
            f'AttentionAlgorithm(weights="bfloat16"), or None, not {algorithm!r}'
        )
    check(query, key, value, rules["cu_seqlens_q"] is not None)
    return Scored(v, query, key, value, rules)


def cap_of(softcap: Any) -> Fraction:
    """Return a softcap; InputError where it is no positive finite number."""
    try:
        value = Fraction(softcap)
    except (TypeError, ValueError, OverflowError):
        value = Fraction(-1)
    if value <= 0 or isinstance(softcap, (bool, str)):
        raise InputError(f"softcap must be a positive number, or 0.0 for none, not {softcap!r}")
    return value


def check_heads(query: Any, key: Any) -> None:
    """Raise InputError for heads that are shared in groups without saying so."""
    if len(query.shape) > 2 and len(key.shape) > 2:
        heads, groups = query.shape[-3], key.shape[-3]
        if groups not in (1, heads) and heads % groups == 0 and heads > groups > 0:
            raise InputError(
                f"query has {heads} heads and key has {groups}: enable_gqa=True repeats each of "
                "the key and value for a group of the query's"
            )


def aligned(v: Any, query: Any, key: Any, value: Any) -> Any:
    """Return the query with the leading axes that all three broadcast to."""
    pair = v.broadcast_shapes(query.shape[:-2], key.shape[:-2], "leading axes of query and key")
    batch = v.broadcast_shapes(pair, value.shape[:-2], "leading axes of the scores and value")
    return v.broadcast(query, (*batch, *query.shape[-2:]))


def packed(v: Any, tensors: tuple[Any, Any, Any], rules: Mapping[str, Any]) -> Any:
    """Return the queries, keys and values of each packed sequence, with their places; else None."""
    query, key, value = tensors
    check(query, key, value, rules["cu_seqlens_q"] is not None)
    places = v.sequences(rules, query.shape[-2], key.shape[-2])
    if places is None:
        return None
    return [
        (q, tuple(v.index(x, (..., part, slice(None))) for x, part in parts))
        for q, k in places
        for parts in [((query, q), (key, k), (value, k))]
    ]


def check(query: Any, key: Any, value: Any, empty: bool) -> None:
    """Raise InputError for shapes that do not fit each other; ``empty``: there may be no keys."""
    for name, x in (("query", query), ("key", key), ("value", value)):
        if len(x.shape) < 2:
            raise InputError(f"{name} has shape {x.shape}; it takes (..., length, features)")
    if query.shape[-1] != key.shape[-1]:
        raise InputError(
            f"query has {query.shape[-1]} features and key has {key.shape[-1]} (shapes "
            f"{query.shape} and {key.shape}); they must be equal"
        )
    if query.shape[-1] == 0:
        raise InputError("query and key have no features, so that 1/sqrt(e) is not defined")
    if key.shape[-2] != value.shape[-2]:
        raise InputError(
            f"key has {key.shape[-2]} positions and value has {value.shape[-2]} (shapes "
            f"{key.shape} and {value.shape}); they must be equal"
        )
    if key.shape[-2] == 0 and not empty:
        raise InputError(f"key has shape {key.shape}: attention over no keys is not defined")
