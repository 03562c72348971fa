"""Certified enclosures of single exact values, as Fractions."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from exactref_core.arithmetic.certified import finite, number
from exactref_core.arithmetic.parts import Part
from exactref_core.enclosures import Enclosure, ExactNumber
from exactref_core.errors import InputError
from exactref_core.exact.exponential_entries import LIMIT
from exactref_core.exact.interval import Arithmetic

__all__ = ["enclose"]


def enclose(part: Part, flat: int) -> Enclosure:
    """Return the enclosure of one element; InputError (a ValueError) where it is not finite."""
    value = part.scalar(flat)
    if not finite(value):
        raise InputError(f"{part.label}: the exact value is {value}, which no enclosure contains")
    low, high = (fraction(end) for end in Arithmetic(64).bounds(number(value)))
    if low != high and max(-high, low) >= 1 << (LIMIT - 2):
        raise InputError(f"{part.label}: the exact value is beyond 2**{LIMIT - 2}")
    return Enclosure(ExactNumber((low + high) / 2), (high - low) / 2)


def fraction(value: Any) -> Fraction:
    """Return a rational as a Fraction."""
    return Fraction(int(value.numerator), int(value.denominator))
