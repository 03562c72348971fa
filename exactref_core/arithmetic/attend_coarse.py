"""Means of values whose scores are products of inputs, block by block in plain float64.

With f a power of two, scores s = f q . k by BLAS are within rho = g |f q| max |k| of the exact
ones, g = (1 + u)**(e + 8) - 1 (Higham, section 3.5; Cauchy-Schwarz). Relative errors are then, for
t = rho + 3 u G with G the largest gap of a row (`softmax_coarse`):

- of each exponential A = t + t^2 + 2**-51; of their sum D, B = A + its additions;
- of sum e v, relative to sum e |v| = S D: A, and C for its additions, PIECE keys at a time.

A mean m = N / D, as N' / D', is off by |N' - N| / D' + |m| |D' - D| / D', at most
((A + C) S + B |m|) / (1 - B); |m| is known to (A + B + C) S itself, and the quotient rounds by u.
Products of errors, none of them above SMALL, are below 2**-8 of what they come with.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from exactref_core.arithmetic.approx import Approx
from exactref_core.arithmetic.fast_steps import finish
from exactref_core.arithmetic.graph import Node
from exactref_core.arithmetic.score_fast import constant, is_power
from exactref_core.arithmetic.softmax_coarse import EXP, moved_by
from exactref_core.exact.double_double import Floats
from exactref_core.exact.exponentials import LEAST, VANISHED
from exactref_core.exact.float_products import product
from exactref_core.exact.products import NO_UNDERFLOW, TINY, UNDERFLOW, norms, smallest, underflow
from exactref_core.exact.row_exponentials import Scratch, exponentiate, row_sums, scratch
from exactref_core.exact.sums import UNIT, relative_error

if TYPE_CHECKING:
    from exactref_core.arithmetic.fast import FastReading

__all__ = ["product_means"]

Found: TypeAlias = tuple[Floats, Floats, Floats]

# Keys of which one product adds the terms up.
PIECE = 128
SMALL = 2.0**-12
ROOM = 1 + 2.0**-8
# Magnitudes between it and its reciprocal are scaled and multiplied without a loss.
TAME = 2.0**-400


def product_means(reading: FastReading, node: Node) -> tuple[Approx, Floats] | None:
    """Return whole means, (r, d), and numbers below those of their magnitudes.

    None where scores are more than products of exact finite numbers times a power of two, where a
    row keeps no key, or where float64 says too little.
    """
    factors = factors_of(reading, node)
    if factors is None:
        return None
    q, k, v = factors
    batches, m, n = len(q), q.shape[1], k.shape[-1]
    if 0 in (q.size, k.size, v.size):
        return None
    reach = norms(q, -1) * (
        np.max(norms(k, -2), axis=-1)[:, None] * relative_error(q.shape[-1] + 8)
    )
    sizes = np.abs(v)
    high, radius, least = np.empty((3, batches, m, v.shape[-1]))
    given = scratch(m, n)
    for batch in range(batches):
        for start in range(0, m, given.height):
            some = slice(start, min(start + given.height, m))
            part = given.cut(some.stop - start)
            part.main[:] = product(q[batch, some], k[batch])
            mask(node, part.main, batch * m + start)
            block = means_of(part, reach[batch, some], v[batch], sizes[batch])
            if block is None:
                return None
            high[batch, some], radius[batch, some], least[batch, some] = block
    flat = (-1, v.shape[-1])
    found = finish(high.reshape(flat) + 0.0, None, radius.reshape(flat), None)
    return found, least.reshape(flat)


def factors_of(reading: FastReading, node: Node) -> Found | None:
    """Return f q (b, m, e), k (b, e, n), v (b, n, d); None where they are not as they must be."""
    scores, values = node.operands
    if scores.verb != "scaled" or len(scores.operands) > 1:
        return None
    dot, factor = scores.operands[0], constant(scores.attrs)
    if dot.verb != "dot" or not is_power(factor):
        return None
    parts = [reading.whole(x) for x in (*dot.operands, values)]
    if any(x.low is not None or x.radius is not None or x.special is not None for x in parts):
        return None
    if any(x.high.size == 0 for x in parts):
        return None
    scale = float(factor.high)
    arrays = []
    for x in parts:
        shape = (*scores.shape[:-2], *x.high.shape[-2:])
        arrays.append(np.broadcast_to(x.high, shape).reshape(-1, *shape[-2:]))
    q, k, v = arrays
    if not all(tame(x) for x in arrays) or not TAME < abs(scale) < 1 / TAME:
        return None
    q = q * scale
    return None if underflow(q, k) else (q, k, v)


def tame(x: Floats) -> bool:
    """Return whether nothing but 0 comes near the ends of the range."""
    return smallest(x) > TAME and float(np.max(np.abs(x), initial=0.0)) < 1 / TAME


def mask(node: Node, scores: Floats, first: int) -> None:
    """Put -inf for the keys that rows, from the ``first`` on, do not keep."""
    from exactref_core.arithmetic.softmax_fast import kept

    if node.attrs.keep is not None:
        keep = kept(node.attrs, node.operands[0], np.arange(first, first + len(scores)))
        np.copyto(scores, -np.inf, where=~keep)


def means_of(part: Scratch, reach: Floats, values: Floats, sizes: Floats) -> Found | None:
    """Return means, radii and numbers below the means of magnitudes, of scores in ``main``."""
    n = values.shape[0]
    top = np.max(part.main, axis=-1, keepdims=True)
    if np.any(np.isinf(top)):
        return None
    part.main -= top
    lows = np.min(part.main, axis=-1)
    least = float(np.min(lows))
    exponentiate(part, least)
    total, additions = row_sums(part.main)
    moved = moved_by(reach, np.minimum(-lows, -LEAST))
    power = moved + moved * moved + EXP
    row = power + relative_error(additions)
    adding = relative_error(PIECE + -(-n // PIECE) + 8)
    magnitudes = product(part.main, sizes)
    whole = relative_error(n + 8)
    if not np.all(row < SMALL) or max(adding, whole) >= SMALL:
        return None
    starts = range(0, n, PIECE)
    tops = [product(part.main[:, i : i + PIECE], values[i : i + PIECE]) for i in starts]
    mean = sum(tops[1:], tops[0]) / total[:, None]
    lost = lost_of(least, values)
    size = (magnitudes + lost) / total[:, None]
    first = power + adding + row * (power + row + adding)
    radius = (size * first[:, None] + np.abs(mean) * (row + 2 * UNIT)[:, None]) * ROOM
    radius += 2 * lost + TINY
    below = size * (1 - 4 * (row + whole))[:, None] - 4 * lost
    return mean, radius, np.maximum(below, 0.0)


def lost_of(least: float, values: Floats) -> float:
    """Return what sums of products lose to underflow and to exponentials taken as 0, often 0."""
    lost, n = 0.0, len(values)
    # e^g >= 2**(1.5 g), more than a rounding above the power of two below that.
    if math.ldexp(smallest(values), math.floor(1.5 * max(least, LEAST))) < NO_UNDERFLOW:
        lost = n * UNDERFLOW
    if least < LEAST:
        lost += 2 * n * VANISHED * float(np.max(np.abs(values), initial=0.0)) + TINY
    return lost
