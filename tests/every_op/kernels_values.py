"""Values where sums break: cancellation, steep climbs, edges of the range, ties, specials."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tests.every_op.kernels_formats import Spec, store

Rng = np.random.Generator
Shape = tuple[int, ...]


def scaled(rng: Rng, shape: Shape, spec: Spec) -> np.ndarray:
    return rng.standard_normal(shape)


def one_sign(rng: Rng, shape: Shape, spec: Spec) -> np.ndarray:
    return np.abs(rng.standard_normal(shape)) * rng.choice([-1.0, 1.0])


def cancel(rng: Rng, shape: Shape, spec: Spec) -> np.ndarray:
    """Large numbers that meet their opposites, and a small rest."""
    x = rng.standard_normal(shape)
    half = shape[-1] // 2
    size = np.ldexp(1.0, int(rng.integers(0, min(60, top_exponent(spec) - 4))))
    large = size * rng.standard_normal((*shape[:-1], half))
    x[..., :half], x[..., half : 2 * half] = large, -large
    return rng.permuted(x, axis=-1) if rng.random() < 0.7 else x


def steep(rng: Rng, shape: Shape, spec: Spec) -> np.ndarray:
    """A climb somewhere, the way down somewhere later, and small numbers between."""
    x = rng.standard_normal(shape) * (rng.random(shape) < 0.7)
    if shape[-1] < 2:
        return x
    size = np.ldexp(1.0, int(rng.integers(4, min(70, top_exponent(spec) - 2))))
    places = np.sort(rng.integers(0, shape[-1], (2, *shape[:-1])), axis=0)
    np.put_along_axis(x, places[0][..., None], size, -1)
    np.put_along_axis(x, places[1][..., None], -size, -1)
    return x


def wide(rng: Rng, shape: Shape, spec: Spec) -> np.ndarray:
    reach = min(60, top_exponent(spec) - 3)
    return np.ldexp(rng.standard_normal(shape), rng.integers(-reach, reach, shape))


def alternating(rng: Rng, shape: Shape, spec: Spec) -> np.ndarray:
    reach = min(30, top_exponent(spec) - 3)
    signs = np.where(np.arange(shape[-1]) % 2, -1.0, 1.0)
    return signs * np.ldexp(rng.random(shape) + 1, rng.integers(0, reach, shape[:-1])[..., None])


def lost(rng: Rng, shape: Shape, spec: Spec) -> np.ndarray:
    """Terms just below half a spacing of the running sum: a loop loses each of them."""
    x = np.full(shape, half_gap(spec, -1))
    x[..., :1] = 1.0
    return x * rng.choice([-1.0, 1.0], (*shape[:-1], 1))


def gained(rng: Rng, shape: Shape, spec: Spec) -> np.ndarray:
    """Terms just above half a spacing of the running sum: a loop rounds each of them up."""
    x = np.full(shape, half_gap(spec, 1))
    x[..., :1] = 1.0
    flips = rng.random(shape) < rng.choice([0.0, 0.1])
    return np.where(flips, -x, x)


def half_gap(spec: Spec, side: int) -> float:
    bits = 53 if spec.compute == "float64" else 24
    return float(np.nextafter(np.float32(2.0**-bits), np.float32(side)))


def ties(rng: Rng, shape: Shape, spec: Spec) -> np.ndarray:
    """Integers whose sums need one bit more than the format has."""
    bits = min(spec.bits, 40)
    x = rng.integers(-(2**bits), 2**bits + 1, shape).astype(np.float64)
    return np.ldexp(x, int(rng.integers(spec.emin - spec.bits + 1, 5 - bits)))


def integers(rng: Rng, shape: Shape, spec: Spec) -> np.ndarray:
    return rng.integers(-8, 9, shape).astype(np.float64)


def constant(rng: Rng, shape: Shape, spec: Spec) -> np.ndarray:
    return np.broadcast_to(rng.standard_normal((*shape[:-1], 1)), shape).copy()


def zeros(rng: Rng, shape: Shape, spec: Spec) -> np.ndarray:
    x = rng.choice([-0.0, 0.0], shape)
    return np.where(rng.random(shape) < 0.1, rng.standard_normal(shape), x)


def subnormal(rng: Rng, shape: Shape, spec: Spec) -> np.ndarray:
    reach = int(rng.choice([3, 2**spec.bits]))
    x = rng.integers(-reach, reach + 1, shape).astype(np.float64)
    return np.ldexp(x, spec.emin - spec.bits + 1)


def overflow(rng: Rng, shape: Shape, spec: Spec) -> np.ndarray:
    """Parts of the largest number: some partial sums overflow."""
    part = rng.uniform(0.0, 1.0, shape) ** rng.choice([0.2, 1, 4])
    sign = rng.choice([-1.0, 1.0], shape, p=rng.choice([[0.5, 0.5], [0.1, 0.9]]))
    return sign * part * spec.largest


def edge(rng: Rng, shape: Shape, spec: Spec) -> np.ndarray:
    """The largest number and terms about half a spacing of it."""
    top = top_exponent(spec)
    bits = 53 if spec.compute == "float64" else 24
    small = np.ldexp(rng.standard_normal(shape), top - bits + rng.integers(-2, 3, shape))
    large = rng.random(shape) < min(1.0, 2.0 / max(shape[-1], 1))
    return np.where(large, rng.choice([-1.0, 1.0], shape, p=[0.3, 0.7]) * spec.largest, small)


def special(rng: Rng, shape: Shape, spec: Spec) -> np.ndarray:
    x = rng.standard_normal(shape)
    rare = rng.random(shape) < min(0.5, 1.5 / max(shape[-1], 1))
    values = [np.inf, -np.inf, np.nan] if spec.infinity else [np.nan]
    return np.where(rare, rng.choice(values, shape), x)


def top_exponent(spec: Spec) -> int:
    return int(np.frexp(spec.largest)[1]) - 1


COMMON: tuple[Callable[[Rng, Shape, Spec], np.ndarray], ...] = (
    scaled,
    one_sign,
    cancel,
    steep,
    wide,
    alternating,
    lost,
    gained,
    ties,
    integers,
    constant,
    zeros,
    subnormal,
    special,
)
# Each element of these is certified one by one, which is slow.
SLOW = (overflow, edge)
MAKERS = {kind.__name__: kind for kind in (*COMMON, *SLOW)}
KINDS = tuple(MAKERS)


def is_slow(kind: str) -> bool:
    return any(kind == one.__name__ for one in SLOW)


def hostile(rng: Rng, kind: str, shape: Shape, spec: Spec) -> np.ndarray:
    """Values of one class as numbers of the format, in float64."""
    with np.errstate(all="ignore"):
        made = MAKERS[kind](rng, shape, spec)
    return store(made, spec, overflow="ieee" if kind == "special" else "saturate")
