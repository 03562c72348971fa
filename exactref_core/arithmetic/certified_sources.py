"""Input values as certified numbers."""

from __future__ import annotations

import math
from typing import Any

from exactref_core.arithmetic.graph import Node
from exactref_core.exact.interval import rational

__all__ = ["loaded"]


def loaded(node: Node, flat: int) -> Any:
    """Return one input value."""
    highs, lows = node.attrs.pair
    high = float(highs.reshape(-1)[flat])
    if not math.isfinite(high) or (high == 0 and math.copysign(1.0, high) < 0):
        return high
    if lows is None:
        return rational(high)
    return rational(high) + rational(float(lows.reshape(-1)[flat]))
