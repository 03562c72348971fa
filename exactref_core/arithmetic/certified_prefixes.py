"""Sums of one element's exact terms and prefix sums, which a standard asks for, certified."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

from exactref_core.arithmetic.prefixes import BLOCK, PrefixSums, asks_norms
from exactref_core.exact.interval import Interval, opened
from exactref_core.exact.rationals import scale

__all__ = ["over_one_denominator", "prefix_sums"]

# A precision at which sums are exact, whatever it costs: enclosures did not tell.
LAST = 1 << 11


def prefix_sums(algebra: Any, values: list[Any], standard: Any) -> PrefixSums:
    """Return the sums over exact terms that a standard asks for."""
    if not standard.prefixes:
        return PrefixSums(algebra.total([algebra.absolute(x) for x in values]))
    unit, terms = over_one_denominator(algebra, values)
    running = list(accumulate(terms))
    starts = [running[k // BLOCK * BLOCK - 1] if k >= BLOCK else 0 for k in range(len(running))]
    steps = zip(running, [0, *running], strict=False)
    inside = [algebra.absolute(s - b) for s, b in zip(running, starts, strict=True)]
    running = [algebra.absolute(s) for s in running]
    found = [
        algebra.total([algebra.absolute(s - before) for s, before in steps]),
        algebra.total(running),
        algebra.total(inside),
    ]
    if asks_norms(standard, len(values)):
        totals = [*inside[BLOCK - 1 : -1 : BLOCK], inside[-1]]
        found += [norm(algebra, sizes) for sizes in (running, inside, totals)]
    return PrefixSums(*(total / unit for total in found))


def over_one_denominator(algebra: Any, numbers: list[Any]) -> tuple[Any, list[Any]]:
    """Return numbers in units of one, which they are multiples of, or in units of 1.

    Rationals are integers then, but for those whose sums are too long to keep one for each: they
    are enclosed.
    """
    if any(isinstance(x, Interval) for x in numbers):
        return 1, numbers
    found = scale(numbers)
    if found is not None:
        return found
    if algebra.precision >= LAST:
        return 1, numbers
    return 1, [enclosed(algebra, x) if x else x for x in numbers]


def enclosed(algebra: Any, number: Any) -> Interval:
    """Return an enclosure of a rational."""
    low, high = algebra.ends(number)
    return opened(low, high, algebra, False, False)


def norm(algebra: Any, sizes: list[Any]) -> Any:
    """Return the root of the sum of the squares."""
    return algebra.sqrt(algebra.total([algebra.multiply(size, size) for size in sizes]))
