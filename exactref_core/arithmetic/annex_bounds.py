"""The bounds of complex functions at infinities and NaN, as arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from exactref_core.arithmetic import states
from exactref_core.arithmetic.annex_rules import SINGLE, answered
from exactref_core.arithmetic.approx import signs
from exactref_core.arithmetic.bound import Bound
from exactref_core.arithmetic.brackets import Bracket
from exactref_core.arithmetic.graph import Indices, Node

if TYPE_CHECKING:
    from exactref_core.arithmetic.bounds import FloatBounds

__all__ = ["bound"]


def bound(reading: FloatBounds, node: Node, flat: Indices | None) -> Bound:
    """Return the bounds of a part; none where a part of the argument may be what it is not."""
    part = reading.get(node.operands[0], flat)
    given = [reading.get(x, flat) for x in node.operands[1:]]
    if all(b.states is None for b in given):
        return part
    values = [signs(reading.value(x, flat)) for x in node.operands[1:]]
    shape = values[0][0].shape

    def full(array: Any, missing: Any) -> Any:
        return np.array(np.broadcast_to(missing if array is None else array, shape))

    least, most = full(part.error.low, 0.0), full(part.error.high, 0.0)
    sets, vague = full(part.states, np.uint8(states.FINITE)), full(part.unsure, False)
    operands = [full(b.states, np.uint8(states.FINITE)) & ~np.uint8(states.STICKY) for b in given]
    special = (operands[0] != states.FINITE) | (operands[1] != states.FINITE)
    for i in np.flatnonzero(special).tolist():
        at = np.unravel_index(i, shape)
        if not all(int(s[at]) in SINGLE for s in operands):
            least[at] = most[at] = np.inf
            continue
        if any(unsure[at] for _, unsure in values):
            least[at], most[at], vague[at] = 0.0, np.inf, True
            continue
        found = answered(node.attrs, *(float(value[at]) for value, _ in values))
        if found is not None:
            least[at] = most[at] = 0.0
            sets[at], vague[at] = found, False
    error = Bracket(least, most)
    return Bound(error, error, sets, vague)
