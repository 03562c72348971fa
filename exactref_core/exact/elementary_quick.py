"""Elementary functions that have float64 kernels with proven errors, as pairs with radii."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from exactref_core.exact.double_double import Floats, fast_two_sum, two_sum
from exactref_core.exact.exponentials import exp_pair, log_pair
from exactref_core.exact.taylor_tables import TABLES, tabulated

__all__ = ["is_quick", "quick"]

Found: TypeAlias = tuple[Floats, Floats, Floats]

ROOM = 1 + 2.0**-48
TINY = 2.0**-1074


@np.errstate(all="ignore")
def quick(name: str, high: Floats, low: Floats | None, radius: Floats | None) -> Found | None:
    """Return pairs and radii of a function at flat arguments; None where it has no kernel.

    Arguments are |x - high - low| <= radius; a radius of inf says nothing.
    """
    if name == "exp" and radius is None:
        return exp_pair(high, low)
    if name in TABLES:
        return tabulated(TABLES[name], high, low, radius)
    kernel = KERNELS.get(name)
    if kernel is None:
        return None
    zero = np.zeros(high.shape)
    return kernel(high, zero if low is None else low, zero if radius is None else radius)


def exp(high: Floats, low: Floats, spread: Floats) -> Found:
    """e^x: e^(x + d) - e^x is below e^x (d + d^2) for |d| <= 1."""
    h, t, r = exp_pair(high, low)
    grown = (h + np.abs(t) + r) * (spread + spread * spread) * ROOM
    r = np.where(spread == 0, r, r + grown)
    return h, t, np.where(spread <= 1, r, np.inf)


def expm1(high: Floats, low: Floats, spread: Floats) -> Found:
    """e^x - 1: TwoSum is exact, the low words are added with one rounding."""
    h, t, r = exp(high, low, spread)
    top, rest = two_sum(h, np.full(h.shape, -1.0))
    tail = rest + t
    r = (r + np.abs(tail) * 2.0**-52) * ROOM
    exact = (high == 0) & (spread == 0)
    h, t = two_sum(top, tail)
    return np.where(exact, high, h), np.where(exact, 0.0, t), np.where(exact, 0.0, r)


def log(high: Floats, low: Floats, spread: Floats) -> Found:
    """log x: |log(x + d) - log x| is at most d / (x - d)."""
    h, t, r = log_pair(high, low)
    rest = high - spread - np.abs(low)
    shift = np.where(spread == 0, 0.0, spread / np.where(rest > 0, rest, 1.0))
    r = r + shift * ROOM
    exact = (high == 1) & (spread == 0) & (low == 0)
    h, t = (np.where(exact, 0.0, part) for part in (h, t))
    return h, t, np.where(exact, 0.0, np.where(rest > 0, r, np.inf))


def log1p(high: Floats, low: Floats, spread: Floats) -> Found:
    """log(1 + x): TwoSum is exact, adding the low words rounds by 2**-53 of their sum."""
    top, rest = two_sum(np.ones(high.shape), high)
    tail = rest + low
    both = (rest != 0) & (low != 0)
    lost = np.where(both, np.abs(tail) * 2.0**-52 + TINY, 0.0)
    h, t, r = log(*fast_two_sum(top, tail), spread + lost)
    exact = (high == 0) & (spread == 0)
    h, t = np.where(exact, high, h), np.where(exact, 0.0, t)
    return h, t, np.where(exact, 0.0, r)


KERNELS = {"exp": exp, "expm1": expm1, "log": log, "log1p": log1p}


def is_quick(name: str) -> bool:
    """Return whether a function has a kernel."""
    return name in TABLES or name in KERNELS
