"""A term of a sum, as a standard's walk over it sees it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["WalkTerm"]


@dataclass(frozen=True, eq=False)
class WalkTerm:
    """One term: its exact value (0 where it is not finite), its error bound, what it may be."""

    value: Any
    error: Any
    states: int
