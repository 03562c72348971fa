"""Roundings to narrower formats, as kernels do them, by numpy and by bits."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

__all__ = ["added_up", "cut_bfloat16", "tfloat32", "through"]

F32 = np.float32
BF16: Any = ml_dtypes.bfloat16


def through(x: Any, dtype: Any) -> Any:
    """Numbers rounded to a narrower type and back."""
    return x.astype(dtype).astype(x.dtype)


def tfloat32(x: Any, cut: bool) -> Any:
    """float32 numbers with 13 bits cut off, or rounded away (to nearest, ties away from zero)."""
    bits = x.view(np.uint32) + np.uint32(0 if cut else 1 << 12)
    return (bits & np.uint32(0xFFFFE000)).view(F32)


def cut_bfloat16(x: Any) -> Any:
    """float32 numbers stored in bfloat16 by dropping bits."""
    return (x.view(np.uint32) >> 16).astype(np.uint16).view(BF16)


def added_up(x: Any, dtype: Any) -> Any:
    """Sums along the last axis, kept in a narrow type."""
    total = np.zeros(x.shape[:-1], dtype)
    for column in np.moveaxis(x, -1, 0):
        total = (total + column.astype(dtype)).astype(dtype)
    return total.astype(x.dtype)
