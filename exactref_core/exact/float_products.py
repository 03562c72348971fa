"""The door to float64 matrix products: NumPy's, or another library's in their place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from exactref_core.errors import DTypeError, InputError
from exactref_core.exact.double_double import Floats

__all__ = ["product", "use_product"]

Product = Callable[[Floats, Floats], Any]

# Integers of which a product of this depth is exact in every order: 2 * 22 bits, 2**8 terms.
PROBE_BITS, PROBE_SIZE = 22, 256

_product: Product = np.matmul


def use_product(function: Product | None = None) -> None:
    """Take float64 matrix products from ``function(a, b)`` from now on; None: from NumPy.

    It gets float64 NumPy arrays whose leading axes broadcast, and returns what
    ``numpy.asarray`` makes the float64 array a @ b of. Every proof admits additions in any order,
    fused or not, on any number of threads; none admits less than float64 (tfloat32), or products
    of sums (Strassen). Answers do not depend on it, only what they cost.

    Raises:
        InputError: a product of integers that float64 holds exactly is not exact.
        DTypeError: it returns another dtype or shape.
    """
    global _product
    chosen: Product = np.matmul if function is None else function
    rng = np.random.default_rng(0)
    shape = (2, PROBE_SIZE, PROBE_SIZE)
    a, b = (rng.integers(-(1 << PROBE_BITS), 1 << PROBE_BITS, shape) for _ in range(2))
    a[0], b[0] = (1 << PROBE_BITS) - 1, (1 << PROBE_BITS) - 1  # the largest sums
    found = checked(chosen, a.astype(np.float64), b.astype(np.float64))
    if not np.array_equal(found, np.matmul(a, b).astype(np.float64)):
        raise InputError(
            "function must multiply matrices in float64: a product of integers below "
            f"2**{PROBE_BITS}, which float64 holds exactly, came out otherwise"
        )
    _product = chosen


def product(a: Floats, b: Floats) -> Floats:
    """Return a @ b in float64: additions in any order, fused or not, as every bound admits."""
    return np.matmul(a, b) if _product is np.matmul else checked(_product, a, b)


def checked(function: Product, a: Floats, b: Floats) -> Floats:
    """Return a product, of which dtype and shape are as they have to be."""
    found = np.asarray(function(a, b))
    batches = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    shape = (*batches, a.shape[-2], b.shape[-1])
    if found.dtype != np.float64 or found.shape != shape:
        raise DTypeError(
            f"function must return a float64 array of shape {shape}, "
            f"not {found.dtype} of shape {found.shape}"
        )
    return found
