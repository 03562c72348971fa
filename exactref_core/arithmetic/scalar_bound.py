"""What the certified bounds reading knows of one stored value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from exactref_core.arithmetic.scalars import Scalar
from exactref_core.exact.interval import Interval

__all__ = ["ScalarBound", "ScalarTerm", "is_exactly"]


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


def is_exactly(term: ScalarTerm, value: int) -> bool:
    """Return whether a term is certainly an integer."""
    exact = not any(isinstance(x, Interval) for x in (term.value, term.error))
    return exact and bool(term.value == value and term.error == 0)
