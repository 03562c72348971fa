"""Sums of float64 rows as expansions, by trees of TwoSum, and the error of plain float64 sums.

Rows are arrays of finite numbers, shape (..., n); the last axis is added up. A radius bounds
|returned value - exact sum|; it is inf where overflow took the guarantee away.
"""

from __future__ import annotations

import numpy as np

from exactref_core.exact.double_double import Floats, fast_two_sum, two_sum

__all__ = ["UNIT", "expansion_sum", "relative_error", "renormalise"]

UNIT = 2.0**-53
FOLDS = 3


def relative_error(steps: int) -> float:
    """Return an upper bound on (1 + 2**-53)**steps - 1, for steps < 2**44.

    (1+u)**n - 1 <= n u / (1 - n u) <= n u (1 + 2**-8) while n u <= 2**-9 (Higham, Lemma 3.1).
    """
    if steps >= 2**44:
        raise ValueError("a float64 filter needs fewer than 2**44 terms")
    return steps * UNIT * (1 + 2.0**-8)


def tree(terms: Floats) -> tuple[Floats, Floats]:
    """Return the pairwise sum along the last axis, and the exact errors of its additions."""
    errors = []
    while terms.shape[-1] > 1:
        half = terms.shape[-1] // 2
        odd = terms[..., 2 * half :]
        s, e = two_sum(terms[..., :half], terms[..., half : 2 * half])
        errors.append(e)
        terms = np.concatenate([s, odd], axis=-1) if odd.shape[-1] else s
    rest = np.concatenate(errors, axis=-1) if errors else np.zeros((*terms.shape[:-1], 0))
    return terms[..., 0], rest


def renormalise(parts: list[Floats]) -> tuple[Floats, Floats, Floats]:
    """Return (h, l, m): h = fl(h + l), and m >= the magnitude of what the pair leaves out.

    Two bottom-up sweeps of TwoSum keep the sum of the parts exactly and pack it upwards.
    """
    parts = list(parts)
    for _ in range(2):
        for i in range(len(parts) - 1, 0, -1):
            parts[i - 1], parts[i] = two_sum(parts[i - 1], parts[i])
    high, low = fast_two_sum(parts[0], parts[1])
    left: Floats = np.zeros_like(high)
    for part in parts[2:]:
        left = left + np.abs(part)
    return high, low, left * (1 + 2.0**-50)


def expansion_sum(terms: Floats) -> tuple[Floats, Floats, Floats]:
    """Return (h, l, r): the sum as a double-double with its radius; r == 0 where it is exact.

    Each fold is an exact TwoSum tree over the errors of the fold before; the errors of the last one
    are added in float64, which leaves at most ((1+u)**n - 1) * sum of their magnitudes.
    """
    n = terms.shape[-1]
    if n == 0:
        zero = np.zeros(terms.shape[:-1])
        return zero, zero, zero
    with np.errstate(over="ignore", invalid="ignore"):
        parts = []
        rest = terms
        for _ in range(FOLDS):
            part, rest = tree(rest) if rest.shape[-1] else (np.zeros(terms.shape[:-1]), rest)
            parts.append(part)
        tail = rest.sum(axis=-1)
        size = np.abs(rest).sum(axis=-1)
        parts.append(tail)
        high, low, left = renormalise(parts)
        radius = left + size * (2 * relative_error(n + 4))
        bad = ~np.isfinite(high) | ~np.isfinite(low) | ~np.isfinite(radius)
    if bad.any():
        high, low = np.where(bad, 0.0, high), np.where(bad, 0.0, low)
        radius = np.where(bad, np.inf, radius)
    return high, low, radius
