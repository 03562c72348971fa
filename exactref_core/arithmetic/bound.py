"""What the bounds reading knows of an array of stored values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from exactref_core.arithmetic.approx import Approx, Bools
from exactref_core.arithmetic.brackets import Bracket, FloatAlgebra
from exactref_core.arithmetic.states import States

__all__ = ["ALGEBRA", "Bound", "Clip", "either", "magnitude", "merge", "size_of"]

ALGEBRA = FloatAlgebra()


@dataclass(frozen=True, eq=False)
class Clip:
    """Numbers that a value before its store never leaves, each as (outer, inner) estimates."""

    low: tuple[Any, Any]
    high: tuple[Any, Any]


@dataclass(frozen=True, eq=False)
class Bound:
    """Elementwise: the error bound of stored values, and the sets of what they may be.

    ``error`` includes the node's own rounding, ``inherited`` does not. ``states`` is None where
    every value is certainly finite; ``unsure`` marks sets that float64 could not tell.
    """

    error: Bracket
    inherited: Bracket
    states: States | None = None
    unsure: Bools | None = None
    clip: Clip | None = None

    def map(self, function: Callable[[Any], Any], shape: tuple[int, ...]) -> Bound:
        """Return the same rearrangement of every array (scalars broadcast to ``shape`` first)."""

        def apply(part: Any) -> Any:
            if part is None:
                return None
            same = isinstance(part, np.ndarray) and part.shape == shape
            return function(part if same else np.broadcast_to(part, shape))

        error = Bracket(apply(self.error.low), apply(self.error.high))
        own = self.inherited is self.error
        inherited = error if own else Bracket(apply(self.inherited.low), apply(self.inherited.high))
        clip = self.clip
        if clip is not None:
            low, high = ((apply(end[0]), apply(end[1])) for end in (clip.low, clip.high))
            clip = Clip(low, high)
        return Bound(error, inherited, apply(self.states), apply(self.unsure), clip)


def magnitude(x: Approx) -> Bracket:
    """Return the bracket of |x|."""
    if x.low is None and x.radius is None:
        size = np.abs(x.high)
        return Bracket(size, size)
    spread = x.spread
    high = np.abs(x.high)
    low = np.maximum((high - spread) * (1 - 2.0**-51), 0.0)
    return Bracket(low, (high + spread) * (1 + 2.0**-51))


def size_of(bracket: Bracket) -> float:
    """Return the largest upper end."""
    return float(np.max(bracket.high, initial=0.0))


def merge(left: Any, right: Any) -> Any:
    """Return the union of two masks or sets, either of which may be None."""
    if left is None or right is None:
        return right if left is None else left
    return left | right


def either(where: Any, one: Bracket, other: Bracket) -> Bracket:
    """Return one bracket in some places, the other elsewhere."""
    return Bracket(np.where(where, one.low, other.low), np.where(where, one.high, other.high))
