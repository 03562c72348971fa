"""Attention masks: which keys each query keeps, and what is added to the scores."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from exactref_core.adapters import asarray
from exactref_core.arithmetic.graph import Leaf, Node
from exactref_core.arithmetic.softmax_verbs import RowRule
from exactref_core.array import Array
from exactref_core.errors import DTypeError, InputError
from exactref_core.formats.format import Format

__all__ = ["masked_rows"]

Bools = npt.NDArray[np.bool_]

ALIGNMENTS = ("top_left", "bottom_right")
EMPTY_ROWS = ("zero", "nan")
SUMS = ("exact", "rounded")


def masked_rows(
    compute: Format | None, shape: tuple[int, ...], rules: Mapping[str, Any]
) -> tuple[RowRule, Node | None]:
    """Return how rows of scores of ``shape`` become weights, and the additive mask (None: none).

    A bool mask keeps keys where it is True; a float mask is added to the scores, and -inf in it
    takes a key out. ``is_causal`` and ``window`` keep what `band` says.
    """
    attn_mask, fully_masked = rules["attn_mask"], rules["fully_masked"]
    check_choice("fully_masked", fully_masked, EMPTY_ROWS)
    check_choice("mask_sum", rules["mask_sum"], SUMS)
    empty_is_nan = fully_masked == "nan"
    inside = band(shape, rules)
    if attn_mask is None:
        return RowRule(inside, None, empty_is_nan), None
    if rules["is_causal"]:
        raise InputError(
            "attn_mask and is_causal=True together are ambiguous; put the causal mask into "
            "attn_mask"
        )
    mask = asarray(attn_mask, name="attn_mask")
    if mask.format.kind == "bool":
        keep = broadcast(np.asarray(mask.data, bool), shape)
        return RowRule(both(keep, inside), None, empty_is_nan), None
    if not mask.format.is_float:
        raise DTypeError(f"attn_mask is {mask.dtype}; it is bool (True keeps) or float (added)")
    rule, bias = additive(mask, compute, shape, empty_is_nan)
    if inside is not None:
        finite = None if rule.finite is None else inside
        rule = RowRule(both(rule.keep, inside), finite, empty_is_nan)
    return rule, bias


def band(shape: tuple[int, ...], rules: Mapping[str, Any]) -> Bools | None:
    """Return which keys ``is_causal`` and ``window`` keep; None without either.

    Query i is at place p = i, or i + keys - queries where the alignment is "bottom_right". A window
    (left, right) keeps key j where p - left <= j <= p + right, a causal mask where j <= p.
    """
    alignment, window = rules["causal_alignment"], rules["window"]
    if alignment is not None:
        check_choice("causal_alignment", alignment, ALIGNMENTS)
    left, right = sides(window)
    queries, keys = shape[-2:]
    if rules["is_causal"]:
        right = 0 if right is None else min(right, 0)
    if left is None and right is None:
        return None
    unsaid = window is not None or rules["cu_seqlens_q"] is not None
    if alignment is None and unsaid and queries != keys:
        raise InputError(
            f"{queries} queries and {keys} keys: say where windows and causal masks lie with "
            'causal_alignment="bottom_right" (as flash-attn, the last query at the last key) or '
            '"top_left"'
        )
    offset = keys - queries if alignment == "bottom_right" else 0
    kept = np.ones((queries, keys), bool)
    if right is not None:
        kept &= np.tri(queries, keys, offset + right, dtype=bool)
    if left is not None:
        kept &= ~np.tri(queries, keys, offset - left - 1, dtype=bool)
    return np.broadcast_to(kept, shape)


def sides(window: Any) -> tuple[int | None, int | None]:
    """Return how far a window reaches to both sides, None meaning without an end."""
    if window is None:
        return None, None
    given = tuple(window) if isinstance(window, (tuple, list)) else ()
    ends = [end for end in given if hasattr(end, "__index__") and not isinstance(end, bool)]
    if len(given) != 2 or len(ends) != 2 or any(end.__index__() < -1 for end in ends):
        raise InputError(
            f"window must be a pair of numbers of keys (left, right), -1 for all, not {window!r}"
        )
    left, right = (None if end.__index__() == -1 else end.__index__() for end in ends)
    return left, right


def both(keep: Any, inside: Any) -> Any:
    """Return which keys two masks keep, either of which may be None."""
    if keep is None or inside is None:
        return inside if keep is None else keep
    return keep & inside


def additive(
    mask: Array,
    compute: Format | None,
    shape: tuple[int, ...],
    empty_is_nan: bool,
) -> tuple[RowRule, Node]:
    """Return the rows of a float mask: -inf takes keys out, what is finite is added."""
    values = mask.values()
    gone = values == -np.inf
    data = np.array(mask.data)
    data[gone] = 0
    bias = Node("load", (), mask.shape, Leaf(data, mask.format), compute)
    broadcast(values, shape)
    keep = broadcast(~gone, shape) if np.any(gone) else None
    finite = np.broadcast_to(np.bool_(True), shape) if np.any(gone) else None
    return RowRule(keep, finite, empty_is_nan), bias


def broadcast(mask: npt.NDArray[Any], shape: tuple[int, ...]) -> Any:
    """Return a mask broadcast to the scores' shape; InputError where it does not."""
    try:
        return np.broadcast_to(mask, shape)
    except ValueError:
        raise InputError(
            f"attn_mask has shape {mask.shape}, which does not broadcast to the scores' shape "
            f"{shape}"
        ) from None


def check_choice(name: str, value: Any, choices: tuple[str, ...]) -> None:
    """Raise InputError for what is none of the choices."""
    if value not in choices:
        raise InputError(f"{name} is one of {choices}, not {value!r}")
