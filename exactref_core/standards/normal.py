"""The standard ``normal``: the index-order loop, and index-order blocks of 32 merged in a tree."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from exactref_core.arithmetic.overflow_rows import Rows, Verdicts
from exactref_core.arithmetic.prefixes import BLOCK, PrefixSums
from exactref_core.arithmetic.states import MINUS, NAN, PLUS
from exactref_core.standards.any_order import AnyOrder
from exactref_core.standards.walks import Loop, Reaches, WalkTerm, any_order_set, index_order_set

__all__ = ["Normal", "merge_levels"]


def merge_levels(n: int) -> int:
    """Return ceil(log2(ceil(n / 32))): the levels of a balanced tree over the blocks."""
    blocks = -(-n // BLOCK)
    return (blocks - 1).bit_length() if blocks > 1 else 0


class Normal:
    """No worse than adding in index order.

    The loop rounds each prefix sum once, u |s_k|; blocks of 32 round their own prefix sums, and
    each of the ceil(log2(blocks)) levels of the tree rounds at most sum |t_k| once more. A rounding
    is carried through at most n - 1 later ones, hence the factor (1 + u)**(n-1). Never more than
    ``any_order``, of which both are cases.
    """

    name = "normal"
    prefixes = True
    norms = False
    scaled_inputs = False

    def error(self, algebra: Any, unit: Fraction, n: int, sums: PrefixSums) -> Any:
        """Return the bound on a sum of n terms that carry no errors of their own."""
        return self.combine(algebra, unit, n, sums, algebra.maximum(sums.running, sums.blocks))

    def combine(self, algebra: Any, unit: Fraction, n: int, sums: PrefixSums, loop: Any) -> Any:
        """Return min(any order, u (1+u)**(n-1) (loop + levels * magnitudes))."""
        anyhow = AnyOrder().error(algebra, unit, n, sums)
        if n <= 1:
            return anyhow
        total = loop + sums.magnitudes * merge_levels(n)
        factor = algebra.constant(unit) * algebra.power(unit, n - 1)
        return algebra.minimum(anyhow, total * factor)

    def bracket(self, algebra: Any, unit: Fraction, n: int, sums: PrefixSums) -> Any:
        """Return a wide bracket from the magnitudes alone.

        |t_k| <= |s_k| + |s_(k-1)| gives sum |t_k| <= 2 sum |s_k|: the loop's part is at least half
        of the magnitudes.
        """
        anyhow = AnyOrder().error(algebra, unit, n, sums)
        half = sums.magnitudes * algebra.constant(Fraction(1, 2))
        return algebra.between(self.combine(algebra, unit, n, sums, half), anyhow)

    def rescales(self, n: int) -> int:
        """Return how often a later maximum may rescale a row of n keys: blocks of 32 or more."""
        return max(-(-n // BLOCK) - 1, 0)

    def overflow(self, rows: Rows) -> Verdicts:
        """Return what `specials` says of rows of finite terms, where float64 decides it."""
        return rows.index_order()

    def specials(
        self, terms: Sequence[WalkTerm], algebra: Any, unit: Fraction, reaches: Reaches
    ) -> int:
        """Return the set of what the sum may be: the loop's, and blocks' merged in any order.

        A block's computed sum may exceed its exact one by its bound; it may be what its own loop
        may be. Nothing that ``any_order`` excludes is possible.
        """
        result = index_order_set(terms, Loop(terms, algebra, unit, self), reaches)
        if len(terms) > BLOCK:
            blocks = []
            for start in range(0, len(terms), BLOCK):
                part = terms[start : start + BLOCK]
                loop = Loop(part, algebra, unit, self)
                states = index_order_set(part, loop, reaches)
                blocks.append(WalkTerm(loop.running[-1], loop.error(len(part)), states))
            result |= any_order_set(blocks, algebra, unit, reaches)
            if result & PLUS and result & MINUS:
                result |= NAN
        return result & any_order_set(terms, algebra, unit, reaches)


STANDARDS = (Normal(),)
