"""The fast reading of powers of complex numbers: the definition's, nothing of specials and of 0."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from exactref_core.arithmetic.approx import Approx

if TYPE_CHECKING:
    from exactref_core.arithmetic.fast import FastReading
    from exactref_core.arithmetic.graph import Indices, Node

__all__ = ["apart", "exact"]


def exact(reading: FastReading, node: Node, flat: Indices | None) -> Approx:
    """Return the definition's values."""
    part, *given = (
        reading.whole(z) if flat is None else reading.at(z, flat) for z in node.operands
    )
    some = apart(given)
    if not np.any(some) and part.special is None:
        return part
    shape = part.high.shape
    # What the definition gives that is no number, as 0 times an infinity, has no say.
    if part.special is not None:
        some = some | (part.special != 0)
    high, low, radius = (
        np.where(some, 0.0, np.broadcast_to(0.0 if array is None else array, shape))
        for array in (part.high, part.low, part.radius)
    )
    return Approx(high, low, np.where(some, np.inf, radius))


def apart(given: list[Approx]) -> Any:
    """Return where an operand is no number, or the base may be 0."""
    x, y = given[:2]
    zero: Any = True
    for one in (x, y):
        zero = zero & (np.abs(one.high) <= np.asarray(one.spread))
    for one in given:
        if one.special is not None:
            zero = zero | (one.special != 0)
        zero = zero | ~one.known()
    return zero
