"""Bounds of products of complex numbers as arrays; what may leave the range is certified."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from exactref_core.arithmetic.bound import ALGEBRA, Bound, magnitude
from exactref_core.arithmetic.brackets import Bracket
from exactref_core.arithmetic.complex_prod_rules import Factor, Moduli, errors
from exactref_core.arithmetic.graph import Indices, Node
from exactref_core.arithmetic.largest_bounds import row_bounds
from exactref_core.arithmetic.largest_fast import row_values
from exactref_core.arithmetic.prod_bounds import columns, compute_of, heights, settled

if TYPE_CHECKING:
    from exactref_core.arithmetic.bounds import FloatBounds

__all__ = ["bound"]

# `length` errs by 2**-51; certified moduli are rounded up to 64 bits.
UP, DOWN, TINY = 1 + 2.0**-50, 1 - 2.0**-50, 2.0**-1072


def bound(reading: FloatBounds, node: Node, flat: Indices | None) -> Bound:
    """Return the bounds of a part of products, whole or at flat indices."""
    x, given = row_values(reading.fast, node, flat), row_bounds(reading, node, flat)
    shape, form = x.high.shape, compute_of(node)
    sizes, carried = columns(magnitude(x), shape), columns(given.error, shape)
    factors = [
        Factor((sizes[i], sizes[i + 1]), (carried[i], carried[i + 1]), modulus(*sizes[i : i + 2]))
        for i in range(0, shape[-1], 2)
    ]
    loops = reading.standard.prefixes and node.attrs.loops
    error = errors(ALGEBRA, form, reading.flush, factors, loops)[node.attrs.part]
    moduli, wide = [f.modulus for f in factors], [f.carried for f in factors]
    top = heights(moduli, wide, Moduli(form), shape)[-1]
    return settled(error, top, given, shape, form)


def modulus(a: Bracket, b: Bracket) -> Bracket:
    """Return the bracket of moduli."""
    low, high = length(a.low, b.low) * DOWN - TINY, length(a.high, b.high) * UP
    positive: Any = (np.asarray(a.high) > 0) | (np.asarray(b.high) > 0)
    return Bracket(np.maximum(low, 0.0), high + np.where(positive, TINY, 0.0))


def length(a: Any, b: Any) -> Any:
    """Return sqrt(a^2 + b^2) of nonnegative numbers, scaled by the larger one.

    The quotient t rounds by u and its square once more: 3 u of it, at most 3/2 u of 1 + t^2. The
    sum rounds by u; the root halves that and rounds by u, as the product does: 3.25 u together.
    """
    large, small = np.maximum(a, b), np.minimum(a, b)
    with np.errstate(all="ignore"):
        ratio = small / large
        return np.where(ratio > 0, large * np.sqrt(1 + ratio * ratio), large)
