"""Sums of one element's exact terms and prefix sums, which a standard asks for, certified."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

from exactref_core.arithmetic.prefixes import BLOCK, PrefixSums, asks_norms
from exactref_core.exact.interval import Interval
from exactref_core.exact.rationals import scale

__all__ = ["prefix_sums"]


def prefix_sums(algebra: Any, values: list[Any], standard: Any) -> PrefixSums:
    """Return the sums over exact terms that a standard asks for."""
    if not standard.prefixes:
        return PrefixSums(algebra.total([algebra.absolute(x) for x in values]))
    if any(isinstance(x, Interval) for x in values):
        running = list(accumulate(values))
        unit = 1
    else:
        unit, scaled = scale(values)
        running = list(accumulate(scaled))
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


def norm(algebra: Any, sizes: list[Any]) -> Any:
    """Return the root of the sum of the squares."""
    return algebra.sqrt(algebra.total([algebra.multiply(size, size) for size in sizes]))
