"""The bounds of powers of complex numbers as arrays; those of 0 and of specials are certified."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from exactref_core.arithmetic import states
from exactref_core.arithmetic.bound import Bound
from exactref_core.arithmetic.brackets import Bracket
from exactref_core.arithmetic.complex_power_fast import apart
from exactref_core.arithmetic.graph import Indices, Node

if TYPE_CHECKING:
    from exactref_core.arithmetic.bounds import FloatBounds

__all__ = ["bound"]


def bound(reading: FloatBounds, node: Node, flat: Indices | None) -> Bound:
    """Return the bounds of a part."""
    part = reading.get(node.operands[0], flat)
    values = [reading.value(z, flat) for z in node.operands[1:]]
    given = [reading.get(z, flat) for z in node.operands[1:]]
    shape = values[0].high.shape
    some: Any = np.array(np.broadcast_to(apart(values), shape))
    near: Any = True
    for x, b in zip(values[:2], given[:2], strict=True):
        near = near & (np.abs(x.high) <= (np.asarray(x.spread) + b.error.high) * (1 + 2.0**-50))
    some = some | near
    for b in given:
        if b.states is not None:
            some = some | (b.states != states.FINITE)
        if b.unsure is not None:
            some = some | b.unsure
    if not np.any(some):
        return part
    error = Bracket(np.where(some, 0.0, part.error.low), np.where(some, np.inf, part.error.high))
    sets = states.FINITE if part.states is None else part.states
    vague = some if part.unsure is None else some | part.unsure
    found = np.where(some, np.uint8(states.FINITE), sets).astype(np.uint8)
    return Bound(error, error, found, vague)
