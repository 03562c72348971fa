"""Packed sequences: which queries and keys belong together, from cumulative lengths."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from exactref_core.adapters import asarray
from exactref_core.errors import DTypeError, InputError

__all__ = ["sequences"]


def sequences(
    rules: Mapping[str, Any], queries: int, keys: int
) -> list[tuple[slice, slice]] | None:
    """Return the places of each sequence's queries and keys; None where nothing is packed."""
    given_q, given_k = rules["cu_seqlens_q"], rules["cu_seqlens_k"]
    if given_q is None:
        if given_k is not None:
            raise InputError("cu_seqlens_k is given without cu_seqlens_q; give both, or that one")
        return None
    if rules["attn_mask"] is not None:
        raise InputError(
            "attn_mask and cu_seqlens_q together are not defined; sequences take is_causal and "
            "window, or a mask of the whole takes no cu_seqlens_q"
        )
    ends_q = cumulative(given_q, "cu_seqlens_q", queries, "query")
    name = "cu_seqlens_q" if given_k is None else "cu_seqlens_k"
    ends_k = cumulative(given_q if given_k is None else given_k, name, keys, "key")
    if len(ends_q) != len(ends_k):
        raise InputError(
            f"cu_seqlens_q says of {len(ends_q) - 1} sequences and cu_seqlens_k of "
            f"{len(ends_k) - 1}; they must be as many"
        )
    pairs = zip(pairwise(ends_q), pairwise(ends_k), strict=True)
    return [(slice(*q), slice(*k)) for q, k in pairs]


def cumulative(given: Any, name: str, total: int, tensor: str) -> list[int]:
    """Return cumulative lengths; InputError where they are not those of ``total`` places."""
    array = asarray(given, name=name)
    if not array.format.is_integer:
        raise DTypeError(f"{name} is {array.dtype}; it holds integers")
    values = np.asarray(array.data)
    found: list[int] = values.reshape(-1).tolist()
    rises = all(a <= b for a, b in pairwise(found))
    if values.ndim != 1 or len(found) < 2 or found[0] != 0 or found[-1] != total or not rises:
        raise InputError(
            f"{name} must rise from 0 to {total}, the length of {tensor}, with the end of each "
            f"sequence in between; it is {found}"
        )
    return found
