"""Readings of bounds in the order of their cost, as far as each knows more."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from exactref_core.arithmetic.bounds import FloatBounds
from exactref_core.arithmetic.fast import FastReading

__all__ = ["bound_readings"]


def bound_readings(
    readings: Iterable[FastReading], standard: Any, flush: bool, whole: bool
) -> Iterator[FloatBounds]:
    """Yield the bounds over each reading of values; where all elements are asked for (``whole``),
    coarse sums first."""
    for reading in readings:
        bounds = FloatBounds(reading, standard, flush, precise=True)
        bounds.coarse = whole
        yield bounds
        if bounds.took_coarse:
            yield FloatBounds(reading, standard, flush, precise=True)
        whole = False
