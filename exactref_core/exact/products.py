"""Matrix products of float64 matrices with a proven radius."""

from __future__ import annotations

import numpy as np

from exactref_core.exact.double_double import Floats, safe_product, two_prod
from exactref_core.exact.float_products import product
from exactref_core.exact.sums import UNIT, relative_error

__all__ = [
    "exact_products",
    "filtered_matmul",
    "magnitude_matmul",
    "rounding",
    "smallest",
    "underflow",
]

# 2**-1074 for a product that underflows, and as much for each of its roundings further on.
UNDERFLOW = 2.0**-1072
# More than the product of a bound loses to underflow.
TINY = 2.0**-1074
# Products above it round relatively: half a unit in their last place is a normal number.
NO_UNDERFLOW = 2.0**-960
# Sums of squares from it to its reciprocal have lost nothing that counts.
TAME = 2.0**-900


def norms(matrix: Floats, axis: int) -> Floats:
    """Return upper bounds on the Euclidean norms along ``axis``; scaled where squares may leave
    the range."""
    # n squares and additions, a division, a root and a product: n + 8 roundings; a square that
    # underflows loses less than 2**-1074, far under the rounding of a sum above TAME, or of the
    # largest where that is 1.
    growth = 1 + 2 * relative_error(matrix.shape[axis] + 8)
    with np.errstate(over="ignore", under="ignore"):
        square = squared(matrix, axis)
    if square.size and np.min(square) >= TAME and np.max(square) <= 1 / TAME:
        return np.asarray(np.sqrt(square) * growth)
    scale = np.max(np.abs(matrix), axis=axis, keepdims=True, initial=0.0)
    scale[scale == 0] = 1.0
    square = squared(matrix / scale, axis)
    bound: Floats = np.sqrt(square) * np.squeeze(scale, axis=axis) * growth
    return bound + np.where(square > 0, TINY, 0.0)


def squared(matrix: Floats, axis: int) -> Floats:
    """Return the sums of the squares along ``axis``."""
    names = "...ij,...ij->...i" if axis == -1 else "...ij,...ij->...j"
    return np.asarray(np.einsum(names, matrix, matrix))


def smallest(values: Floats) -> float:
    """Return the smallest magnitude that is not zero (1 if there is none)."""
    size = np.abs(values)
    least = float(np.min(size, initial=np.inf))
    if least == 0:
        least = float(np.min(size, initial=np.inf, where=size > 0))
    return least if np.isfinite(least) else 1.0


def underflow(a: Floats, b: Floats) -> float:
    """Return what a product of elements of a and b may lose to underflow: often nothing."""
    return 0.0 if smallest(a) * smallest(b) >= NO_UNDERFLOW else UNDERFLOW


def filtered_matmul(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Return (c, r): c = fl(a @ b) as BLAS computes it and its radius; a, b finite.

    For every order of addition, fused or not, |c - ab| <= ((1+u)**(K+1) - 1) |a||b| plus K
    underflows (Higham, section 3.5), and |a||b| <= ||a_i|| ||b_j|| by Cauchy-Schwarz, which costs
    no second product.
    """
    k = a.shape[-1]
    with np.errstate(over="ignore", invalid="ignore"):
        c = product(a, b)
        growth = relative_error(k + 8)
        left = norms(a, -1)
        left = left * growth + np.where(left > 0, TINY, 0.0)
        radius = left[..., :, None] * norms(b, -2)[..., None, :]
        lost = underflow(a, b)
        if lost:
            radius += k * lost
    if not np.isfinite(np.sum(c)):
        bad = ~np.isfinite(c)
        c, radius = np.where(bad, 0.0, c), np.where(bad, np.inf, radius)
    return c, radius


def magnitude_matmul(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Return (lower, upper) bounds on |a| @ |b|, elementwise."""
    k = a.shape[-1]
    with np.errstate(over="ignore", invalid="ignore"):
        size = product(np.abs(a), np.abs(b))
        growth = relative_error(k + 8)
        slack = k * underflow(a, b)
        if slack == 0 and np.isfinite(np.max(size, initial=0.0)):
            return size * (1 - growth), size * (1 + growth)
        lower = np.maximum(size * (1 - growth) - slack, 0.0)
        upper = size * (1 + growth) + slack
    lower[~np.isfinite(lower)] = 0.0
    upper[np.isnan(upper)] = np.inf
    return lower, upper


def exact_products(
    a: Floats, b: Floats, short: bool
) -> tuple[Floats, Floats | None, Floats | None]:
    """Return (p, e, r) with p + e == a * b up to the radius r; e, r None where nothing is lost.

    ``short`` says that the operands have at most 53 significant bits together and exponents that
    cannot underflow, as every pair of formats of 26 bits or fewer. A product of which TwoProd would
    lose bits is left at float64's rounding; r is inf where it overflows.
    """
    if short:
        return a * b, None, None
    with np.errstate(over="ignore", invalid="ignore"):
        p, e = two_prod(a, b)
        safe = safe_product(a, b, p)
    if np.all(safe):
        return p, e, None
    held = np.isfinite(p)
    radius = np.where(safe, 0.0, np.where(held, rounding(p), np.inf))
    return np.where(held, p, 0.0), np.where(safe, e, 0.0), radius


def rounding(products: Floats) -> Floats:
    """Return a bound on what rounding to these float64 products lost, underflow included."""
    lost: Floats = np.abs(products) * UNIT + TINY
    return lost
