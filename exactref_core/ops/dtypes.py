"""The input formats that the operations' domains name."""

from __future__ import annotations

__all__ = ["FLOATS", "NUMBERS"]

FLOATS = ("float64", "float32", "bfloat16", "float16")
NUMBERS = (*FLOATS, "complex128", "complex64")
