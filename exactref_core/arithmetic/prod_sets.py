"""Which specials a product of many numbers may give, walked one element at a time.

An intermediate overflows where a subset's product reaches the threshold, and becomes 0 where one
underflows; an infinity times a zero is NaN. Signs follow those of the factors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from exactref_core.arithmetic import states
from exactref_core.exact.grid import reaches
from exactref_core.exact.interval import rational
from exactref_core.formats.format import Format

__all__ = ["Factor", "any_order_set", "loop_set"]

ZEROS = states.MINUS_ZERO | states.PLUS_ZERO
INFINITIES = states.PLUS_INF | states.MINUS_INF
UPWARD = states.PLUS_ZERO | states.POSITIVE | states.PLUS_INF
DOWNWARD = states.MINUS_ZERO | states.NEGATIVE | states.MINUS_INF


@dataclass(frozen=True, eq=False)
class Factor:
    """A factor: the largest and smallest finite magnitude stored, and its set of classes."""

    most: Any
    least: Any
    classes: int

    @property
    def finite(self) -> bool:
        """Whether it may be a number."""
        return bool(self.classes & (ZEROS | states.NEGATIVE | states.POSITIVE))

    @property
    def is_zero(self) -> bool:
        """Whether it is certainly zero."""
        return self.classes & ~ZEROS == 0

    def may_be(self, bits: int) -> bool:
        """Whether it may be of some class."""
        return bool(self.classes & bits)


def sign_set(factors: Sequence[Factor]) -> int:
    """Return the infinities that have a sign that the product may have."""
    signs = {1}
    for factor in factors:
        own = {s for s, bits in ((1, UPWARD), (-1, DOWNWARD)) if factor.may_be(bits)}
        signs = {s * t for s in signs for t in own}
    return (states.PLUS if 1 in signs else 0) | (states.MINUS if -1 in signs else 0)


def any_order_set(algebra: Any, form: Format, factors: Sequence[Factor], flush: bool) -> int:
    """Return the set of a product under every tree and permutation."""
    n, one = len(factors), rational(1)
    top, bottom = one, one
    for factor in factors:
        if factor.finite:
            top = top * algebra.maximum(one, factor.most)
            bottom = bottom * -algebra.maximum(-one, -factor.least)
    overflows = n > 1 and reaches(
        algebra, top * algebra.power(form.unit_roundoff, n - 2), rational(form.overflow_threshold)
    )
    given = [i for i, factor in enumerate(factors) if factor.may_be(INFINITIES)]
    zeros = [i for i, factor in enumerate(factors) if factor.may_be(ZEROS)]
    vanishes = n > 2 and not reaches(algebra, bottom, least_kept(form, flush))
    apart = any(i != j for i in given for j in zeros) or (overflows and bool(zeros))
    return settled(
        factors, bool(given) or overflows, apart or (vanishes and (bool(given) or overflows))
    )


def least_kept(form: Format, flush: bool) -> Any:
    """Return a magnitude from which on no result becomes 0."""
    return rational(form.smallest_normal * 2 if flush else form.eta)


def settled(factors: Sequence[Factor], infinite: bool, nan: bool) -> int:
    """Return the set of a product that may become infinite, or NaN."""
    result = states.FINITE if all(factor.finite for factor in factors) else 0
    if nan or any(factor.may_be(states.NOT_A_NUMBER) for factor in factors):
        result |= states.NAN
    certain = any(factor.classes == states.NOT_A_NUMBER for factor in factors)
    if infinite and not certain and not any(factor.is_zero for factor in factors):
        result |= sign_set(factors)
    return result


def loop_set(algebra: Any, form: Format, factors: Sequence[Factor], flush: bool) -> int:
    """Return the set of an index-order loop."""
    threshold, eta = rational(form.overflow_threshold), rational(form.eta)
    unit, kept = rational(form.unit_roundoff), least_kept(form, flush)
    first = factors[0]
    most, least = first.most, first.least
    infinite, nan, zero = first.may_be(INFINITIES), False, first.may_be(ZEROS)
    for factor in factors[1:]:
        nan = nan or (infinite and factor.may_be(ZEROS)) or (zero and factor.may_be(INFINITIES))
        most, least = most * factor.most, least * factor.least * (1 - unit) - eta
        infinite = infinite or factor.may_be(INFINITIES) or reaches(algebra, most, threshold)
        most = most * (1 + unit) + eta
        least = algebra.maximum(least, rational(0))
        zero = zero or factor.may_be(ZEROS) or not reaches(algebra, least, kept)
    return settled(factors, infinite, nan)
