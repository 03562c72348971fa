"""The standard ``typical``: the two ways of adding of ``normal``, their roundings independent."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from exactref_core.arithmetic.prefixes import PrefixSums
from exactref_core.standards.normal import Normal, merge_levels

__all__ = ["Typical"]


class Typical(Normal):
    """What independent roundings of the loop, or of blocks of 32, exceed with small probability.

    A tree of additions with roundings d_v, |d_v| <= u, at nodes whose exact sums are s_v errs by

        sum over v of d_v s_v product over the additions a after v of (1 + d_a).

    Assume that the d_v are independent with mean 0. (They are not where terms differ by less than
    the spacing of the numbers around their sum, as in long constant rows.) From the root of the
    tree on, each term then has mean 0 given those before, and a magnitude of at most
    u |s_v| (1+u)**(n-1): the sum is a martingale, and by the inequality of Azuma and Hoeffding

        P(|error| >= factor u (1+u)**(n-1) |s|) <= 2 exp(-factor**2 / 2),   |s|**2 = sum s_v**2,

    which is less than 2**-45 for the factor 8. (N. Higham, T. Mary, A New Approach to Probabilistic
    Rounding Error Analysis, SIAM J. Sci. Comput. 41, 2019; I. Ipsen, H. Zhou, Probabilistic Error
    Analysis for Inner Products, SIAM J. Matrix Anal. Appl. 41, 2020; M. Connolly, N. Higham,
    T. Mary, Stochastic Rounding and Its Probabilistic Backward Error Analysis, SIAM J. Sci. Comput.
    43, 2021; E. Hallman, I. Ipsen, Precision-aware deterministic and probabilistic error bounds for
    floating point summation, Numer. Math. 155, 2023.)

    The loop has its prefix sums for the s_v. Blocks have the prefix sums inside them, and a tree
    over them at its l-th level sums of up to 2**l blocks: by Cauchy and Schwarz the squares of a
    level add up to at most 2**l times those of the blocks' sums, those of all L levels to
    (2**(L+1) - 2) times. Never more than ``normal``, which holds whatever the roundings are, and
    which a row of up to 32 terms has. What terms carry, and all that is no addition of a sum,
    counts at its worst. Where no norms are given the bound is that of ``normal``: for the
    infinities and NaN of a sum, and in variances.
    """

    name = "typical"
    norms = True
    factor: int | Fraction = 8

    @property
    def probability(self) -> float:
        """A bound on the probability that one sum errs by more: 2 exp(-factor**2 / 2)."""
        return 2 * math.exp(-(self.factor**2) / 2)

    def error(self, algebra: Any, unit: Fraction, n: int, sums: PrefixSums) -> Any:
        """Return the bound on a sum of n terms that carry no errors of their own."""
        usual = super().error(algebra, unit, n, sums)
        if sums.running_norm is None:
            return usual
        above = algebra.constant(2 ** (merge_levels(n) + 1) - 2)
        blocks = sums.blocks_norm + sums.totals_norm * algebra.sqrt(above)
        return algebra.minimum(
            usual, self.likely(algebra, unit, n, algebra.maximum(sums.running_norm, blocks))
        )

    def likely(self, algebra: Any, unit: Fraction, n: int, norm: Any) -> Any:
        """Return factor u (1+u)**(n-1) times the norm of the partial sums."""
        return norm * algebra.constant(self.factor * unit) * algebra.power(unit, n - 1)

    def bracket(self, algebra: Any, unit: Fraction, n: int, sums: PrefixSums) -> Any:
        """Return a wide bracket from the magnitudes alone.

        sum |t_k| <= 2 sum |s_k| <= 2 sqrt(n) |s|.
        """
        usual = super().bracket(algebra, unit, n, sums)
        if n <= 1:
            return usual
        norm = sums.magnitudes * algebra.constant(Fraction(1, 2))
        least = algebra.quotient(norm, algebra.sqrt(algebra.constant(n)))
        return algebra.between(algebra.minimum(usual, self.likely(algebra, unit, n, least)), usual)


STANDARDS = (Typical(),)
