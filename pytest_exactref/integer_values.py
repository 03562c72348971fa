"""Values of integer formats and bool: small, wide, of one sign, constant, at the format's ends."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from pytest_exactref.source import Numbers, Source

__all__ = ["INTEGER_CLASSES", "integer_values"]

# The value classes that mean something for integers.
INTEGER_CLASSES: Final = (
    "integers",
    "one_sign",
    "wide_exponents",
    "near_overflow",
    "constant_rows",
)


def integer_values(
    name: str, source: Source, shape: tuple[int, ...], low: int, high: int, terms: int
) -> Numbers:
    """int64 values in [low, high], so small that sums of ``terms`` products stay in int64."""
    bound = math.isqrt(2**62 // max(1, terms))
    low, high = max(low, -bound), min(high, bound)
    if name == "one_sign":
        low = max(low, min(1, high))
    if name in ("integers", "one_sign"):
        low, high = max(low, -9), min(high, 9)
    size = math.prod(shape)
    if name == "constant_rows":
        size = 1
    rng = source.own
    stream = rng.integers(low, high + 1, size)
    if name == "wide_exponents":
        stream = stream >> rng.integers(0, max(1, high.bit_length()), size)
    if name == "near_overflow":
        stream = rng.choice(np.array([low, high, max(low, high - 1), min(high, 1)]), size)
    small = [value for value in (0, 1, -1, 2, 3) if low <= value <= high]
    values = source.values(stream, small)
    return np.full(shape, values[0]) if name == "constant_rows" else values.reshape(shape)
