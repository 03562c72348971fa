"""The door to float64 matrix products: NumPy's, or another library's in their place.

NumPy's run on threads that its BLAS makes as it is loaded, or at the first product after a fork. A
thread begins with the floating-point environment of the one that made it and keeps it: where a
library linked with -ffast-math was loaded before NumPy, they flush subnormal numbers ever after.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np

from exactref_core.errors import DTypeError, InputError
from exactref_core.exact.double_double import Floats

__all__ = ["product", "use_product"]

Product = Callable[[Floats, Floats], Any]

# Integers of which a product of this depth is exact in every order: 2 * 22 bits, 2**8 terms.
PROBE_BITS, PROBE_SIZE = 22, 256

# Enough work for a BLAS to wake its threads; OpenBLAS takes one for 100**3 steps and fewer.
WAKING_SIZE = 128

_product: Product = np.matmul
_known: tuple[int, bool] = (-1, True)  # a process, and what `threads_are_default` found in it


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
    if _product is not np.matmul:
        return checked(_product, a, b)
    return np.matmul(a, b) if threads_are_default() else alone(a, b)


def alone(a: Floats, b: Floats) -> Floats:
    """Return a @ b, computed by this thread: no BLAS has a part in it."""
    found: Floats = np.einsum("...ij,...jk->...ik", a, b, optimize=False)
    return found


def threads_are_default() -> bool:
    """Return whether the threads of NumPy's products round to nearest and keep subnormal numbers.

    Asked once in a process, by a product of which every thread gets rows of three kinds:
    1 + 2**-60, 1 - 2**-60 and 2**-1074 are 1, 1 and 2**-1074 in the default environment; any other
    direction changes one of the first two, a flush of operands or results the last.
    """
    global _known
    process = os.getpid()
    if _known[0] != process:
        a = np.zeros((WAKING_SIZE, WAKING_SIZE))
        a[:, 0], a[2::3, 0] = 1.0, 2.0**-1074
        a[0::3, 1], a[1::3, 1] = 2.0**-60, -(2.0**-60)
        expected = a[:, :1].copy()
        _known = process, bool(np.all(np.matmul(a, np.ones_like(a)) == expected))
    return _known[1]


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
    return found if found.flags.writeable else found.copy()
