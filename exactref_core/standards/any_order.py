"""The standard ``any_order``: every binary tree over every permutation of the terms."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from exactref_core.arithmetic.overflow_rows import Rows, Verdicts
from exactref_core.arithmetic.prefixes import PrefixSums
from exactref_core.standards.walks import Reaches, WalkTerm, any_order_set

__all__ = ["AnyOrder"]


class AnyOrder:
    """Any order of addition: at most n - 1 roundings lie between a term and the sum.

    |computed - exact| <= ((1 + u)**(n-1) - 1) sum |t_k| (Higham, Accuracy and Stability, (4.4)).
    """

    name = "any_order"
    prefixes = False
    norms = False
    scaled_inputs = True  # kernels may scale the factors of a product instead of the product

    def error(self, algebra: Any, unit: Fraction, n: int, sums: PrefixSums) -> Any:
        """Return the bound on a sum of n terms that carry no errors of their own."""
        if n <= 1:
            return algebra.constant(0)
        return sums.magnitudes * algebra.power_minus_one(unit, n - 1)

    def bracket(self, algebra: Any, unit: Fraction, n: int, sums: PrefixSums) -> Any:
        """Return the same: nothing but the magnitudes is needed."""
        return self.error(algebra, unit, n, sums)

    def rescales(self, n: int) -> int:
        """Return how often a later maximum may rescale a row of n keys: one key at a time."""
        return max(n - 1, 0)

    def overflow(self, rows: Rows) -> Verdicts:
        """Return what `specials` says of rows of finite terms, where float64 decides it."""
        return rows.any_order()

    def specials(
        self, terms: Sequence[WalkTerm], algebra: Any, unit: Fraction, reaches: Reaches
    ) -> int:
        """Return the set of what the sum may be."""
        return any_order_set(terms, algebra, unit, reaches)


STANDARDS = (AnyOrder(),)
