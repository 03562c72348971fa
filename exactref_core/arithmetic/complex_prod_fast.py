"""The fast reading of products of complex numbers: double-double parts, exponents apart."""

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

# What is below SMALL may lose LOST where it is scaled.
SMALL, LOST = 2.0**-900, 2.0**-1070


def exact(reading: FastReading, node: Node, flat: Indices | None) -> Approx:
    """Return one part of products, in index order; nothing is told of rows with infinities, NaN."""
    rows = row_values(reading, node, flat)
    given: Any = np.zeros(rows.high.shape[:-1], bool)
    if rows.special is not None:
        given = np.broadcast_to(rows.special != 0, rows.high.shape).any(axis=-1)
    a, b, exponent = scaled(column(rows, 0), column(rows, 1))
    for i in range(2, rows.high.shape[-1], 2):
        c, d, more = scaled(column(rows, i), column(rows, i + 1))
        first, second = times(a, c), times(b, d)
        imag = fast_steps.add(None, times(a, d), times(b, c))
        a, b, grown = scaled(fast_steps.subtract(None, first, second), imag)
        exponent = exponent + more + grown
    return placed((a, b)[node.attrs.part], exponent, given)


def column(rows: Approx, i: int) -> Approx:
    """Return a column of rows without its infinities and NaN."""
    found = rows.map(lambda part: part[..., i])
    return Approx(found.high, found.low, found.radius)


def times(x: Approx, y: Approx) -> Approx:
    """Return x * y."""
    return fast_steps.multiply(None, x, y)


def scaled(a: Approx, b: Approx) -> tuple[Approx, Approx, Any]:
    """Return both parts of numbers with the larger one in [1/2, 1), and the exponents left."""
    exponent = np.frexp(np.maximum(np.abs(a.high), np.abs(b.high)))[1].astype(np.int64)
    first, second = (shifted(x, -exponent) for x in (a, b))
    return first, second, exponent


def shifted(x: Approx, exponent: Any) -> Approx:
    """Return numbers times powers of two."""
    high = np.ldexp(x.high, exponent)
    low, radius = (None if p is None else np.ldexp(p, exponent) for p in (x.low, x.radius))
    small = (np.abs(high) < SMALL) & ((x.high != 0) | (np.asarray(x.spread) != 0))
    if np.any(small):
        radius = np.where(small, LOST, 0.0) + fast_steps.zero(radius) * fast_steps.WIDE
    return Approx(high, low, radius)


def placed(x: Approx, exponent: Any, given: Any) -> Approx:
    """Return numbers times powers of two; nothing is told of what leaves the exact range."""
    reach = np.frexp(x.high)[1] + exponent
    zero = (x.high == 0) & (np.asarray(x.spread) == 0)
    inside = zero | ((reach > -850) & (reach < 1000))
    shift = np.where(inside & ~zero, exponent, 0)
    low, radius = (None if p is None else np.ldexp(p, shift) for p in (x.low, x.radius))
    return fast_steps.finish(np.ldexp(x.high, shift), low, radius, None, ~inside | given)
