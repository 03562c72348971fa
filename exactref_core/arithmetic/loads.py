"""Bounds of inputs as arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from exactref_core.arithmetic import states
from exactref_core.arithmetic.approx import Approx
from exactref_core.arithmetic.bound import ALGEBRA, Bound, magnitude
from exactref_core.arithmetic.brackets import Bracket
from exactref_core.arithmetic.graph import Indices, Leaf, Node, flush_below, rounds
from exactref_core.formats.format import Format

if TYPE_CHECKING:
    from exactref_core.arithmetic.bounds import FloatBounds

__all__ = ["loaded"]


def loaded(reading: FloatBounds, node: Node, flat: Indices | None) -> Bound:
    """Return the bounds of inputs: exact but for numbers that the compute format cannot hold, and
    flushes."""
    leaf: Leaf = node.attrs
    x = reading.value(node, flat)
    low = high = np.asarray(0.0)
    if node.compute is not None and rounds(leaf.format, node.compute):
        low, high = load_error(x, node.compute)
    if reading.flush and leaf.format.is_float:
        tiny = np.abs(x.high) < float(flush_below(leaf.format, node.compute))
        low, high = (np.where(tiny, np.abs(x.high), end) for end in (low, high))
    error = Bracket(low, high)
    return Bound(error, error, None if x.special is None else states.of_values(x.special))


def load_error(x: Approx, form: Format) -> tuple[Any, Any]:
    """Return the bracket ends of u |x| + eta/2 where the compute format cannot hold x."""
    held = x.high == np.float32(x.high) if form.precision < 53 else np.ones(x.high.shape, bool)
    if x.low is not None:
        held = held & (x.low == 0)
    error = magnitude(x) * ALGEBRA.constant(form.unit_roundoff)
    tiny = np.abs(x.high) < float(form.smallest_normal)  # no integer is, but for 0
    more = error + ALGEBRA.constant(form.eta / 2)
    low, high = (np.where(tiny, *ends) for ends in ((more.low, error.low), (more.high, error.high)))
    return np.where(held, 0.0, low), np.where(held, 0.0, high)
