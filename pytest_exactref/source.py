"""Where drawn values come from: bytes that hypothesis can shrink, then a seeded stream."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["PATTERN", "Numbers", "Source"]

Numbers = NDArray[Any]  # float64, or int64 for integer formats

PATTERN = 192  # bytes an example may hold: every further element comes from the stream


class Source:
    """Values of one tensor, in the order asked for.

    Each of the first values belongs to a byte: a byte below the length of the palette picks from
    it, a larger one takes the stream's value at that place. So hypothesis shrinks elements one by
    one towards the palette's first entries, and an array costs no draw for each element.
    """

    def __init__(self, pattern: bytes, seed: int, role: int) -> None:
        self._pattern = np.frombuffer(pattern, dtype=np.uint8)
        self._seed = seed
        self.role = role
        self.own = np.random.default_rng([seed, role])

    def common(self, purpose: int = 0) -> np.random.Generator:
        """A stream that every tensor of the example sees alike, fresh at each call."""
        return np.random.default_rng([self._seed, 1000 + purpose])

    def values(self, stream: Numbers, palette: Sequence[float]) -> Numbers:
        """``stream`` (flat) with palette entries at the places where the next bytes say so."""
        taken = self._pattern[: stream.size]
        self._pattern = self._pattern[stream.size :]
        picks = np.flatnonzero(taken < len(palette))
        values: Numbers = stream.copy()
        values[picks] = np.asarray(palette, dtype=stream.dtype)[taken[picks]]
        return values
