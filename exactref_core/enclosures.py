"""Certified enclosures of exact values, as users get them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

__all__ = ["Enclosure", "ExactNumber"]

# Python writes integers of up to 640 digits whatever sys.set_int_max_str_digits says.
SHORT = 2048


@dataclass(frozen=True)
class ExactNumber:
    """An exact rational number."""

    value: Fraction

    def __repr__(self) -> str:
        return f"ExactNumber(value={written(self.value)})"

    def to_fraction(self) -> Fraction:
        """Return the number as a Fraction."""
        return self.value

    def __float__(self) -> float:
        return float(self.value)


@dataclass(frozen=True)
class Enclosure:
    """A certified enclosure: the exact value lies within ``radius`` of ``midpoint``."""

    midpoint: ExactNumber
    radius: Fraction

    def __repr__(self) -> str:
        return f"Enclosure(midpoint={self.midpoint!r}, radius={written(self.radius)})"


def written(value: Fraction) -> str:
    """Return a rational as Python writes it; by its size where it has too many digits."""
    top, bottom = (abs(part).bit_length() for part in (value.numerator, value.denominator))
    if max(top, bottom) <= SHORT:
        return repr(value)
    sign = "-" if value < 0 else ""
    return f"<a Fraction of about {sign}2**{top - bottom}>"
