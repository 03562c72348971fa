"""Separation bounds: how near to 0 a number of rationals and square roots is, unless it is 0.

A number x = U / L of algebraic integers in a field of degree at most D, the conjugates of U below
2**top and those of L below 2**bottom, is 0 or |x| >= 2**-((D - 1) top + bottom): the product of U's
conjugates is an integer, not 0, hence at least 1 in magnitude, and |L| < 2**bottom. Sums, products
and quotients of such numbers are such numbers, and sqrt(U / L) = sqrt(U L) / L = U / sqrt(U L),
where adjoining sqrt(U L) at most doubles the degree. (C. Burnikel, S. Funke, K. Mehlhorn,
S. Schirra, S. Schmitt: A separation bound for real algebraic expressions, 2001.)
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import gmpy2

__all__ = ["Separation", "of_rational", "root_key"]

# Each root doubles the precision that a decision takes; more are left undecided.
MOST_ROOTS = 6


@dataclass(frozen=True, slots=True)
class Separation:
    """Bounds on the conjugates of U and L, and the roots that were adjoined."""

    top: int
    bottom: int
    roots: frozenset[Hashable] = frozenset()

    @property
    def least(self) -> int:
        """e with |x| >= 2**-e unless x is 0."""
        return ((1 << len(self.roots)) - 1) * self.top + self.bottom

    def plus(self, other: Separation) -> Separation | None:
        """Return the bounds of a sum or difference."""
        top = max(self.top + other.bottom, self.bottom + other.top) + 1
        return self.joined(other, top, self.bottom + other.bottom)

    def times(self, other: Separation) -> Separation | None:
        """Return the bounds of a product."""
        return self.joined(other, self.top + other.top, self.bottom + other.bottom)

    def over(self, other: Separation) -> Separation | None:
        """Return the bounds of a quotient."""
        return self.joined(other, self.top + other.bottom, self.bottom + other.top)

    def joined(self, other: Separation, top: int, bottom: int) -> Separation | None:
        """Return bounds over the roots of both; None where there are too many."""
        roots = self.roots | other.roots
        return Separation(top, bottom, roots) if len(roots) <= MOST_ROOTS else None

    def root(self, key: Hashable) -> Separation | None:
        """Return the bounds of the square root; ``key`` names what is adjoined."""
        half = (self.top + self.bottom + 1) // 2
        top, bottom = (half, self.bottom) if self.top >= self.bottom else (self.top, half)
        return self.joined(Separation(0, 0, frozenset([key])), top, bottom)


def of_rational(number: Any) -> Separation:
    """Return the bounds of a rational."""
    return Separation(abs(number.numerator).bit_length(), (number.denominator - 1).bit_length())


def root_key(number: Any) -> Any:
    """Return a name for the root of a rational: the same for n d and 4 n d, as sqrt(n / d) is a
    rational multiple of sqrt(n d)."""
    product = number.numerator * number.denominator
    return product >> (gmpy2.bit_scan1(product) & ~1)
