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

# hypot errs by an ulp; certified moduli are rounded up to 64 bits.
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
    low, high = np.hypot(a.low, b.low) * DOWN - TINY, np.hypot(a.high, b.high) * UP
    positive: Any = (np.asarray(a.high) > 0) | (np.asarray(b.high) > 0)
    return Bracket(np.maximum(low, 0.0), high + np.where(positive, TINY, 0.0))
