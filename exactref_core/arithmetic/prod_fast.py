"""The fast reading of products: a tree of double-double products, exponents apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from exactref_core.arithmetic import fast_steps
from exactref_core.arithmetic.approx import Approx
from exactref_core.arithmetic.graph import Indices, Node
from exactref_core.arithmetic.largest_fast import row_values

if TYPE_CHECKING:
    from exactref_core.arithmetic.fast import FastReading

__all__ = ["exact"]

# Exponents within which a pair and its radius are scaled exactly.
LEAST, MOST = -850, 1000
# Exponents above it leave normal numbers.
NORMAL = -1021


def exact(reading: FastReading, node: Node, flat: Indices | None) -> Approx:
    """Return the values of a node of products, whole or at flat indices."""
    x, exponent = scaled(row_values(reading, node, flat))
    exponents = exponent
    while x.high.shape[-1] > 1:
        half = x.high.shape[-1] // 2
        left, right = (x.map(lambda a, s=s: a[..., s]) for s in parts(half))  # type: ignore[misc]
        product, more = scaled(fast_steps.multiply(None, left, right))
        joined = exponents[..., :half] + exponents[..., half : 2 * half] + more
        rest = x.map(lambda a, half=half: a[..., 2 * half :])  # type: ignore[misc]
        x = product if not rest.high.shape[-1] else beside(product, rest)
        exponents = np.concatenate([joined, exponents[..., 2 * half :]], axis=-1)
    return placed(x.map(lambda a: a[..., 0]), exponents[..., 0])


def parts(half: int) -> tuple[slice, slice]:
    """Return the two halves of a row."""
    return slice(0, half), slice(half, 2 * half)


def scaled(x: Approx) -> tuple[Approx, Any]:
    """Return numbers with high words in [1/2, 1) and the exponents that are left."""
    high, exponent = np.frexp(x.high)
    low, radius = (None if p is None else np.ldexp(p, -exponent) for p in (x.low, x.radius))
    return Approx(high, low, radius, x.special, x.short), exponent.astype(np.int64)


def placed(x: Approx, exponent: Any) -> Approx:
    """Return numbers times powers of two; nothing is known of what leaves the exact range."""
    given = np.zeros(x.high.shape, bool) if x.special is None else x.special != 0
    zero = (x.high == 0) & (np.asarray(x.spread) == 0)
    inside = zero | given | ((exponent > LEAST) & (exponent < MOST))
    shift = np.where(inside & ~zero, exponent, 0).astype(np.int32)
    low, radius = (None if p is None else np.ldexp(p, shift) for p in (x.low, x.radius))
    high = np.ldexp(x.high, shift)
    small = ~inside & (exponent > NORMAL) & (exponent <= LEAST)
    if small.any():
        # A scaled high word is at least 1/2: still a normal number, of which the rest is dropped.
        few = np.where(small, exponent, 0).astype(np.int32)
        dropped = np.ldexp(np.broadcast_to(x.spread, x.high.shape), few) + 2.0**-1074
        high = np.where(small, np.ldexp(x.high, few), high)
        low = None if low is None else np.where(small, 0.0, low)
        radius = np.where(small, dropped, 0.0 if radius is None else radius)
    return fast_steps.finish(high, low, radius, x.special, ~inside & ~small)


def beside(x: Approx, y: Approx) -> Approx:
    """Return two rows one after the other."""

    def join(one: Any, other: Any) -> Any:
        if one is None and other is None:
            return None
        pair = zip((one, other), (x, y), strict=True)
        full = [np.zeros(z.high.shape) if part is None else part for part, z in pair]
        return np.concatenate(full, axis=-1)

    low, radius = join(x.low, y.low), join(x.radius, y.radius)
    return Approx(join(x.high, y.high), low, radius, join(x.special, y.special))
