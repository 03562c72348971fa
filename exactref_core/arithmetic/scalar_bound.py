"""What the certified bounds reading knows of one stored value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from exactref_core.arithmetic.scalars import Scalar

__all__ = ["ScalarBound", "ScalarTerm"]


@dataclass(frozen=True, eq=False)
class ScalarBound:
    """One element: error bound with the node's own rounding, without it, and what it may be."""

    error: Any
    inherited: Any
    states: int
    clip: Any = None  # numbers that the value before its store never leaves, or None


@dataclass(frozen=True, eq=False)
class ScalarTerm:
    """One term of a sum: its value, the error it carries, and what it may be."""

    value: Scalar
    error: Any
    states: int
