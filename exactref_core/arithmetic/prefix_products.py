"""All prefix products of rows as double-double numbers, exponents apart."""

from __future__ import annotations

import math

import numpy as np

from exactref_core.arithmetic import fast_steps
from exactref_core.arithmetic.approx import Approx
from exactref_core.arithmetic.gathered import concatenate
from exactref_core.arithmetic.prod_fast import placed, scaled

__all__ = ["products"]


def products(x: Approx) -> Approx:
    """Return the products of all elements up to each of rows (m, n).

    Blocks of about the root of the length are multiplied up at once, their products after them.
    """
    m, n = x.high.shape
    width = max(math.isqrt(max(n - 1, 0)), 1)
    count = -(-n // width)
    inside, exponents = running(*scaled(padded(x, width, count)))
    last = inside.map(lambda part: part[-1, :-1])
    ones = Approx(np.ones((1, m)))
    first = ones if count == 1 else beside(ones, last)
    powers = np.concatenate([np.zeros((1, m), np.int64), exponents[-1, :-1]])
    starts, before = running(*rescaled(first, powers))
    both, more = scaled(fast_steps.multiply(None, spread(starts, width), inside))
    found = placed(both, before + exponents + more)
    return found.map(lambda part: part.transpose(2, 1, 0).reshape(m, -1)[:, :n].copy())


def padded(x: Approx, width: int, count: int) -> Approx:
    """Return rows as (width, count, m): the k-th elements of all blocks, ones behind the last."""

    def blocks(fill: float, part: np.ndarray) -> np.ndarray:
        m, n = part.shape
        full = np.full((m, count * width), fill)
        full[:, :n] = part
        return np.ascontiguousarray(full.reshape(m, count, width).transpose(2, 1, 0))

    rest = x.map(lambda part: blocks(0.0, np.broadcast_to(part, x.high.shape)))
    return Approx(blocks(1.0, x.high), rest.low, rest.radius, rest.special)


def rescaled(x: Approx, exponents: np.ndarray) -> tuple[Approx, np.ndarray]:
    """Return `scaled` of numbers that have exponents already."""
    x, more = scaled(x)
    return x, exponents + more


def spread(x: Approx, width: int) -> Approx:
    """Return what each block starts from, for each of its elements."""
    return x.map(lambda part: np.broadcast_to(part, (width, *part.shape)))


def running(x: Approx, exponents: np.ndarray) -> tuple[Approx, np.ndarray]:
    """Return the products along the first axis of scaled numbers, and their exponents."""
    parts, powers = [x.map(lambda part: part[0])], [exponents[0]]
    for k in range(1, len(exponents)):
        factor = x.map(lambda part, k=k: part[k])  # type: ignore[misc]
        product, more = scaled(fast_steps.multiply(None, parts[-1], factor))
        parts.append(product)
        powers.append(powers[-1] + exponents[k] + more)
    flat = concatenate([part.map(np.ravel) for part in parts])
    return flat.map(lambda array: array.reshape(exponents.shape)), np.stack(powers)


def beside(first: Approx, rest: Approx) -> Approx:
    """Return rows one above the other."""
    shape = (first.high.shape[0] + rest.high.shape[0], *first.high.shape[1:])
    joined = concatenate([x.map(np.ravel) for x in (first, rest)])
    return joined.map(lambda array: array.reshape(shape))
