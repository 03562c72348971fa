"""How far products of n complex numbers may be, written once for arrays and for certified numbers.

Each product of a tree is (ac - bd) + (ad + bc)i, each part two products and their sum, fused or
not. Two bounds hold for the roundings of every tree over every permutation, and the smaller counts:

- by parts. Every term is rounded twice, by less than 2u. The terms of the parts of a product are
  those of the product of |a_i| + j |b_i|, j^2 = 1, where nothing is subtracted: with its parts A,

      |computed - exact| <= C + ((1+2u)^(n-1) - 1) (A + C)  part by part;

- by moduli. The two parts round by u (|ac| + |bd| + |ac - bd|) and u (|ad| + |bc| + |ad + bc|): a
  vector of a length below (sqrt(2) + 1) u |wz|, for (|ac| + |bd|)^2 + (|ad| + |bc|)^2 <= 2 |wz|^2.
  So moduli are as those of real products (`prod_rules`) that round by 29/12 u.

Where products underflow, a part loses eta (1+u), a modulus below 3/2 eta: both products by eta/2.
Flushed, both products and their sum lose the smallest normal number more: below 9/2 of it. A part
of which every term has a factor that is exactly 0 (A = 0) is stored as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from exactref_core.arithmetic.prod_rules import apart
from exactref_core.formats.format import Format

__all__ = ["Factor", "Moduli", "errors"]


@dataclass(frozen=True)
class Moduli:
    """How moduli round whose parts are stored in a format."""

    form: Format

    @property
    def unit_roundoff(self) -> Fraction:
        """How much a product rounds by, relative to it: 29/12 > sqrt(2) + 1."""
        return Fraction(29, 12) * self.form.unit_roundoff

    @property
    def eta(self) -> Fraction:
        """Twice what it loses where it underflows."""
        return 3 * self.form.eta

    @property
    def smallest_normal(self) -> Fraction:
        """What it loses where it is flushed to 0."""
        return Fraction(9, 2) * self.form.smallest_normal


@dataclass(frozen=True, eq=False)
class Factor:
    """A complex factor: |a| and |b|, the errors that they carry, and a bound on its modulus."""

    sizes: tuple[Any, Any]
    errors: tuple[Any, Any]
    modulus: Any

    @property
    def carried(self) -> Any:
        """What the modulus carries."""
        return self.errors[0] + self.errors[1]


def errors(
    algebra: Any, form: Format, flush: bool, factors: Sequence[Factor], loops: bool
) -> tuple[Any, Any]:
    """Return the bounds on both parts of a product; ``loops``: of loops and blocks of 32."""
    moduli, carried = [f.modulus for f in factors], [f.carried for f in factors]
    whole, lost = apart(algebra, Moduli(form), flush, moduli, carried, loops)
    grown = algebra.power_minus_one(2 * form.unit_roundoff, len(factors) - 1)
    sizes, errors = by_parts(factors)
    found = []
    for size, error in zip(sizes, errors, strict=True):
        terms = size + error
        part = error + terms * grown
        found.append(algebra.minimum(part, whole) + algebra.gate(terms, lost))
    return found[0], found[1]


def by_parts(factors: Sequence[Factor]) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """Return A and C, part by part."""
    sizes, errors = factors[0].sizes, factors[0].errors
    for factor in factors[1:]:
        wide = tuple(x + r for x, r in zip(factor.sizes, factor.errors, strict=True))
        added = zip(split(sizes, factor.errors), split(errors, wide), strict=True)
        first, second = (one + other for one, other in added)
        sizes, errors = split(sizes, factor.sizes), (first, second)
    return sizes, errors


def split(x: Any, y: Any) -> tuple[Any, Any]:
    """Return the parts of (a + jb)(c + jd), j^2 = 1."""
    (a, b), (c, d) = x, y
    return a * c + b * d, a * d + b * c
