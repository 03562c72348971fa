"""What a choice leaves out: 0, or a gradient times the 0 of a mask."""

from __future__ import annotations

from typing import Any

__all__ = ["nothing_of"]


def nothing_of(v: Any, g: Any) -> Any:
    """Return 0, as a gradient that is multiplied by a mask of what is chosen: NaN of infinities."""
    zero = v.broadcast(v.exact.constant(0), g.shape)
    return v.admit(zero, zero, v.multiply(g, v.constant(0)))
