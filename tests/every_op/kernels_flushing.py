"""Complex quotients in NumPy that flush: every input part or not, every intermediate or not.

Written apart from the other simulated kernels. Rows are trials: each flushes its own choice of
subnormal intermediates. The computations are the ones admitted for a quotient.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np

from tests.every_op.kernels import fma32, fma64

Quotient = tuple[np.ndarray, np.ndarray]


class Flushing:
    """Steps on arrays of one dtype, each of whose subnormal results is 0 with a probability."""

    def __init__(self, dtype: str, rng: np.random.Generator, probability: float) -> None:
        self.limits = np.finfo(dtype)
        self.tiny = self.limits.tiny
        self.rng, self.probability = rng, probability

    def __call__(self, x: np.ndarray) -> np.ndarray:
        lost = (np.abs(x) < self.tiny) & (self.rng.random(x.shape) < self.probability)
        return np.where(lost, np.copysign(x.dtype.type(0), x), x)

    def add_product(self, x: np.ndarray, y: np.ndarray, z: np.ndarray, fused: bool) -> np.ndarray:
        """x * y + z, with one rounding or two."""
        if not fused:
            return self(self(x * y) + z)
        fma = fma32 if x.dtype == np.float32 else fma64
        return self(fma(*np.broadcast_arrays(x, y, z)))

    def textbook(self, parts: tuple[np.ndarray, ...], fused: bool) -> Quotient:
        a, b, c, d = parts
        bottom = self.add_product(c, c, self(d * d), fused)
        real = self.add_product(a, c, self(b * d), fused)
        imag = self.add_product(b, c, -self(a * d), fused)
        return self(real / bottom), self(imag / bottom)

    def smith(self, parts: tuple[np.ndarray, ...], fused: bool) -> Quotient:
        a, b, c, d = parts
        first = np.abs(c) >= np.abs(d)
        big, small = np.where(first, c, d), np.where(first, d, c)
        x, y = np.where(first, a, b), np.where(first, b, a)
        ratio = self(small / big)
        bottom = self.add_product(small, ratio, big, fused)
        real = self(self.add_product(y, ratio, x, fused) / bottom)
        turned = np.where(
            first, self.add_product(-x, ratio, y, fused), self.add_product(x, ratio, -y, fused)
        )
        return real, self(turned / bottom)

    def by_larger(self, parts: tuple[np.ndarray, ...], fused: bool) -> Quotient:
        size = np.maximum(np.abs(parts[2]), np.abs(parts[3]))
        return self.textbook(tuple(self(x / size) for x in parts), fused)

    def by_power(self, parts: tuple[np.ndarray, ...], fused: bool) -> Quotient:
        a, b, c, d = parts
        shift = np.frexp(np.maximum(np.abs(c), np.abs(d)))[1] - 1
        unit = (self(np.ldexp(x, -shift)) for x in (c, d))
        real, imag = self.textbook((a, b, *unit), fused)
        return self(np.ldexp(real, -shift)), self(np.ldexp(imag, -shift))

    def normal_textbook(self, parts: tuple[np.ndarray, ...]) -> np.ndarray:
        """Where nothing overflows and the larger square, hence the divisor, is a normal number."""
        a, b, c, d = (np.abs(x.astype(np.longdouble)) for x in parts)
        square, most = np.maximum(c, d) ** 2, np.longdouble(self.limits.max) / 8
        least = np.longdouble(self.tiny) * (1 + 4 * np.longdouble(self.limits.eps))
        top = np.maximum(a, b) * np.maximum(c, d)
        return (square > least) & (square < most / 2) & (top < most)


def flushed_inputs(parts: tuple[np.ndarray, ...]) -> Iterator[tuple[np.ndarray, ...]]:
    """The inputs with every choice of parts whose subnormal numbers are 0."""
    tiny = np.finfo(parts[0].dtype).tiny
    for choice in product((False, True), repeat=4):
        yield tuple(
            np.where(zero & (np.abs(x) < tiny), np.copysign(x.dtype.type(0), x), x)
            for zero, x in zip(choice, parts, strict=True)
        )


def quotients(
    parts: tuple[np.ndarray, ...], rng: np.random.Generator, trials: int
) -> Iterator[tuple[str, Quotient]]:
    """What implementations may return for (a + bi) / (c + di), rows of trials for each."""
    for probability in (0.0, 0.5, 1.0):
        flush = Flushing(parts[0].dtype.name, rng, probability)
        rows = trials if probability == 0.5 else 1
        for given in flushed_inputs(parts):
            full = tuple(np.broadcast_to(x, (rows, x.size)) for x in given)
            for fused in (False, True):
                smith = flush.smith(full, fused)
                yield "Smith", smith
                yield "scaled by the larger part", flush.by_larger(full, fused)
                usual = np.maximum(np.abs(full[0]), np.abs(full[1])) < flush.limits.max / 8
                usual &= (full[2] != 0) | (full[3] != 0)
                normal = flush.normal_textbook(full)
                for name, where, found in (
                    ("scaled by a power of two", usual, flush.by_power(full, fused)),
                    ("textbook", normal, flush.textbook(full, fused)),
                ):
                    pairs = zip(found, smith, strict=True)
                    yield name, tuple(np.where(where, x, y) for x, y in pairs)
