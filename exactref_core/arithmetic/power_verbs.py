"""Verbs of powers with an exponent that the caller gives: of magnitudes, and of their sums."""

from __future__ import annotations

from fractions import Fraction
from functools import partial, reduce

from exactref_core.arithmetic.graph import COUNTS, Node
from exactref_core.arithmetic.reduction_verbs import ReductionVerbs
from exactref_core.arithmetic.source_bounds import constant_error

__all__ = ["PowerVerbs"]

# Exponents up to which powers are products, which arrays have at once, and roots of roots.
MOST = 1 << 10


class PowerVerbs(ReductionVerbs):
    """Every verb so far, with those of powers."""

    def exact_power(self, x: Node, exponent: Fraction) -> Node:
        """Return x^exponent of a number that is not negative, for an exponent other than 0."""
        if abs(exponent) > MOST or (4 * exponent).denominator != 1:
            return self.exact.binary("pow", x, self.exact.constant(exponent))
        found = self.product_of_roots(x, int(4 * abs(exponent)))
        one = self.exact.constant(1)
        return found if exponent > 0 else self.exact.step("divide", one, found)

    def product_of_roots(self, x: Node, quarters: int) -> Node:
        """Return x^(quarters / 4), positive: squares of squares, and roots."""
        multiply = partial(self.exact.step, "multiply")
        half, whole = self.root(x), quarters >> 2
        powers = {1: self.root(half), 2: half}
        factors = [powers[bit] for bit in powers if quarters & bit]
        while whole:
            if whole & 1:
                factors.append(x)
            whole >>= 1
            x = multiply(x, x) if whole else x
        return reduce(multiply, factors)

    def count(self, x: Node) -> Node:
        """Return how many magnitudes along the last axis are not 0, NaN among them."""
        ones = self.order(x, self.exact.constant(0), 1)
        few = self.compute is None or x.shape[-1] <= 1 << self.compute.precision
        return Node("sum", (ones,), x.shape[:-1], COUNTS if few else None, self.compute)

    def power_of(self, x: Node, exponent: Fraction) -> Node:
        """Return x^exponent of a magnitude, as a library's pow or products of it return it.

        n - 1 products, in any order, err by less than n u for n <= MOST: (1 + u)^(n - 1) < 1 + n u.
        One that underflows errs by eta / 2, and factors below 1 follow.
        """
        power = self.binary("magnitude pow", x, self.constant(exponent))
        units, etas = power.attrs.units, power.attrs.etas
        if exponent.denominator == 1 and 0 < exponent <= MOST:
            units, etas = max(units, int(exponent)), max(etas, int(exponent) // 2)
        if not self.rounded(exponent):
            power = self.exact_power(x, exponent)
        return self.within(power, units, etas)

    def power_of_sum(self, total: Node, order: Fraction, *definition: Node) -> Node:
        """Return total^(1 / order) of a sum of magnitudes' powers, as a library's pow returns it.

        1 / order may be rounded, or the quotient by a rounded order. Square and cube roots, and
        squares, err by less than pow.
        """
        inverse = self.constant(1 / order)
        if self.rounded(order):
            inverse = self.step("divide", self.exact.constant(1), self.constant(order))
        return self.apply_binary("magnitude pow", total, inverse, *definition)

    def rounded(self, value: Fraction) -> bool:
        """Return whether the compute format has to round an exponent."""
        return constant_error(self.constant(value)) != 0
