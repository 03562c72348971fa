"""Quotients and roots next to ties: solutions of y m = x 2^k -+ 1 and m^2 = x 2^k + c.

The first makes x 2^k / y differ from m by 1/y, the least that a quotient of p-bit numbers can be
away from a number of p + 1 bits; the second makes the root of x 2^k differ from m by c / (2m).
"""

from __future__ import annotations

import math

import numpy as np

from exactref_core.formats.format import Format

# Squares modulo every power of two: numbers that are 1 modulo 8.
RESIDUES = (9, 17, 33, -7, -15, -23, 57)


def odd(rng: np.random.Generator, bits: int) -> int:
    """A random odd integer of exactly that many bits (at least two)."""
    return int(rng.integers(1 << (bits - 1), 1 << bits)) | 1


def hard_quotient(rng: np.random.Generator, precision: int) -> tuple[int, int]:
    """x and y of at most ``precision`` bits whose quotient is next to a midpoint."""
    m = odd(rng, precision + 1)
    step = int(rng.choice([-1, 1]))
    y = step * pow(m, -1, 1 << precision) % (1 << precision)
    x = (y * m - step) >> precision
    # x may need a bit more than the format has; half of the draws do not.
    return (x, y) if 0 < x < 1 << precision else hard_quotient(rng, precision)


def hard_root(rng: np.random.Generator, precision: int) -> tuple[int, int]:
    """x of at most ``precision`` bits and k even or odd with sqrt(x 2^k) next to a midpoint."""
    bits = precision + 2
    residue = int(rng.choice(RESIDUES))
    root = 1
    for done in range(3, bits):  # root^2 = residue modulo 2^done, lifted bit by bit
        if (root * root - residue) >> done & 1:
            root += 1 << (done - 1)
    root = root if rng.random() < 0.5 else -root
    m = root % (1 << (bits - 1))
    x = (m * m - residue) >> bits
    if m.bit_length() == precision + 1 and 0 < x < 1 << precision:
        return x, bits
    return hard_root(rng, precision)


def scaled(rng: np.random.Generator, n: int, form: Format, twice: int | None = None) -> float:
    """n times a power of two (of the parity of ``twice``), a normal number of the format."""
    size = n.bit_length() - 1
    e = int(rng.integers(form.emin, form.emax)) - size
    if twice is not None:
        e += (e - twice) % 2
    return math.ldexp(n, e)


def hard_quotients(
    rng: np.random.Generator, form: Format, count: int
) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of a format with quotients next to midpoints."""
    found = [hard_quotient(rng, form.precision) for _ in range(count)]
    x = np.array([scaled(rng, x, form) for x, _ in found])
    return x, np.array([scaled(rng, y, form) for _, y in found])


def hard_roots(rng: np.random.Generator, form: Format, count: int) -> np.ndarray:
    """Numbers of a format with roots next to midpoints."""
    found = [hard_root(rng, form.precision) for _ in range(count)]
    return np.array([scaled(rng, x, form, twice) for x, twice in found])
