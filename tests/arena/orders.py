"""Orders of adding the last axis up, for whole arrays: what loops, blocks, lanes and warps do.

`tests.every_op.kernels_orders` has the same orders as trees, for rows of up to a hundred terms;
these take millions. Short parts are filled up with -0.0, which no sum notices.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tests.arena.frame import Bench, Values
from tests.every_op.kernels import Machine

Order = Callable[[Machine, Values], Values]


def nothing(m: Machine, t: Values) -> Values:
    return np.zeros(t.shape[:-1], m.dtype)


def loop(m: Machine, t: Values) -> Values:
    """In index order. NumPy's accumulate stores each sum."""
    return np.add.accumulate(t, axis=-1)[..., -1] if t.shape[-1] else nothing(m, t)


def steps(m: Machine, t: Values) -> Values:
    """In index order, by the machine's additions."""
    total = nothing(m, t)
    for k in range(t.shape[-1]):
        total = m.add(total, t[..., k]) if k else t[..., 0]
    return total


def backwards(m: Machine, t: Values) -> Values:
    return loop(m, t[..., ::-1])


def neighbours(m: Machine, t: Values) -> Values:
    """Neighbours, level by level."""
    while t.shape[-1] > 1:
        even = t.shape[-1] // 2 * 2
        t = np.concatenate([m.add(t[..., 0:even:2], t[..., 1:even:2]), t[..., even:]], axis=-1)
    return t[..., 0] if t.shape[-1] else nothing(m, t)


def strides(m: Machine, t: Values) -> Values:
    """Term i and term i + half, as thread blocks reduce."""
    while t.shape[-1] > 1:
        half = (t.shape[-1] + 1) // 2
        rest = t.shape[-1] - half
        t = np.concatenate([m.add(t[..., :rest], t[..., half:]), t[..., rest:half]], axis=-1)
    return t[..., 0] if t.shape[-1] else nothing(m, t)


def folded(t: Values, width: int) -> Values:
    """The last axis as (parts, width)."""
    short = -t.shape[-1] % width
    if short:
        ends = [(0, 0)] * (t.ndim - 1) + [(0, short)]
        t = np.pad(t, ends, constant_values=-0.0)
    return t.reshape(*t.shape[:-1], t.shape[-1] // width, width)


def blocks(size: int, merge: Order) -> Order:
    return lambda m, t: merge(m, loop(m, folded(t, size)))


def lanes(width: int, merge: Order) -> Order:
    return lambda m, t: merge(m, loop(m, np.swapaxes(folded(t, width), -1, -2)))


def butterfly(m: Machine, t: Values) -> Values:
    """Exchanges between 32 lanes, as a warp shuffles."""
    for step in (16, 8, 4, 2, 1):
        t = m.add(t, t[..., np.arange(32) ^ step])
    return t[..., 0]


def warp(m: Machine, t: Values) -> Values:
    return lanes(32, butterfly)(m, t) if t.shape[-1] else nothing(m, t)


def split(parts: int) -> Order:
    """Split-K: contiguous parts, each in index order, added in order."""
    return lambda m, t: blocks(max(1, -(-t.shape[-1] // parts)), loop)(m, t)


def atomic(m: Machine, t: Values) -> Values:
    """Terms in an order that nobody chose."""
    order = np.random.default_rng(t.shape[-1]).permutation(t.shape[-1])
    return loop(m, t[..., order])


def wide(order: Order) -> Order:
    """In float64, whatever the machine."""
    return lambda m, t: order(Machine("float64"), t.astype(np.float64))


def odd(value: Values) -> Values:
    """float64 values rounded to odd in float32, so that the store after it rounds them once."""
    near = value.astype(np.float32)
    return odd32(near, np.where(np.isfinite(near), value - near, 0.0))


def odd32(near: Values, rest: Values) -> Values:
    """float32 values moved to the odd neighbour where something is left."""
    even = (near.view(np.int32) & 1) == 0
    moved = np.nextafter(near, np.where(rest > 0, np.inf, -np.inf).astype(np.float32))
    return np.where(even & (rest != 0), moved, near)


NORMAL: dict[str, Order] = {
    "index order": loop,
    "blocks of 32, neighbours": blocks(32, neighbours),
    "blocks of 32, strides": blocks(32, strides),
}
FREE: dict[str, Order] = {
    "reversed": backwards,
    "pairwise": neighbours,
    "strided tree": strides,
    "blocks of 8": blocks(8, loop),
    "blocks of 32, in order": blocks(32, loop),
    "blocks of 128": blocks(128, neighbours),
    "4 lanes": lanes(4, loop),
    "16 lanes, tree": lanes(16, neighbours),
    "warp shuffle": warp,
    "split-K of 3": split(3),
    "split-K of 8": split(8),
    "atomics": atomic,
}
# The error of a float64 accumulator is far below the tolerance of one in float32, in any order.
DOUBLE: dict[str, Order] = {
    "float64 accumulator": wide(loop),
    "float64 accumulator, pairwise": wide(neighbours),
    "float64 accumulator, warp": wide(warp),
}


def single(bench: Bench) -> bool:
    return bench.m.name == "float32"


def narrow_single(bench: Bench) -> bool:
    return single(bench) and bench.narrow
