"""How far products of n numbers may be, written once for arrays and for certified numbers.

Every product of a tree rounds by u of its result, and by half the smallest subnormal eta where it
underflows; a result that is exactly 0 is stored as it is. With factors x_i stored within r_i:

    |computed - exact| <= C + ((1+u)^(n-1) - 1) (P + C) + Z,
    P = prod |x_i|,  C = prod (|x_i| + r_i) - P,

for every tree over every permutation: no factor passes through more than n - 1 products. Z is what
underflows carry on. An intermediate that underflows is off by eta/2 and is multiplied by the
factors outside of its subtree: by prod max(1, |x_i| + r_i) = H at most. Of a tree of a leaves,

    Z_a <= (a - 1) eta/2 H (1+u)^(2a-2):

joining subtrees of a and b leaves, Z_ab <= (1+u) (M_a Z_b + M_b Z_a + Z_a Z_b) + eta/2 with
M <= H (1+u)^(a-1); the product of two Z is (a-1) eta/8 and more times smaller than u of either, for
any n below 2^100, and the further (1+u) of the induction covers it. A loop multiplies what has
underflowed by the factors that follow, and nothing else: Z_k = Z_(k-1) (|x_k| + r_k) (1+u) + eta/2.
Blocks of 32 are loops whose results a tree joins, of leaves that carry their own Z.

With flush_to_zero every underflow is off by the smallest normal number more.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, Protocol

from exactref_core.arithmetic.prefixes import BLOCK
from exactref_core.arithmetic.rules import HALF

__all__ = ["Rounds", "Walk", "apart", "prefix_errors", "product_error", "tiny"]


class Rounds(Protocol):
    """What is said of a product's rounding: by a format, or of moduli (`complex_prod_rules`)."""

    @property
    def unit_roundoff(self) -> Fraction:
        """How much a product rounds by, relative to it."""

    @property
    def eta(self) -> Fraction:
        """Twice what it loses where it underflows."""

    @property
    def smallest_normal(self) -> Fraction:
        """What it loses where it is flushed to 0."""


def tiny(form: Rounds, flush: bool) -> Any:
    """Return what a result that underflows is off by."""
    return HALF * form.eta + (form.smallest_normal if flush else 0)


@dataclass(frozen=True, eq=False)
class Walk:
    """A product so far: P, C, and Z of the loop; H of its factors."""

    size: Any
    carried: Any
    lost: Any
    height: Any


class Loop:
    """A loop over factors, one after the other."""

    def __init__(self, algebra: Any, form: Rounds, flush: bool, size: Any, error: Any) -> None:
        self.algebra, one = algebra, algebra.constant(1)
        self.growth = algebra.power(form.unit_roundoff, 1)
        self.off = algebra.constant(tiny(form, flush))
        height = algebra.maximum(one, size + error)
        self.walk = Walk(size, error, algebra.constant(0), height)

    def step(self, x: Any, r: Any) -> None:
        """Multiply by a factor of this magnitude and error."""
        algebra, before, wide = self.algebra, self.walk, x + r
        carried = before.carried * wide + before.size * r
        size = before.size * x
        lost = before.lost * wide * self.growth
        lost = lost + algebra.gate(size + carried + lost, self.off)
        height = before.height * algebra.maximum(algebra.constant(1), wide)
        self.walk = Walk(size, carried, lost, height)


def prefix_errors(
    algebra: Any, form: Rounds, flush: bool, sizes: Sequence[Any], errors: Any, loops: bool
) -> Iterator[Callable[[], Any]]:
    """Yield, for each number of factors from 1 on, what gives the bound on their product.

    That is `apart`'s sum. ``loops``: of the index-order loop, and of blocks of 32.
    """
    for parts in prefix_parts(algebra, form, flush, sizes, errors, loops):
        yield partial(assembled, parts)


def prefix_parts(
    algebra: Any, form: Rounds, flush: bool, sizes: Sequence[Any], errors: Any, loops: bool
) -> Iterator[Callable[[], tuple[Any, Any]]]:
    """Yield, for each number of factors from 1 on, what gives `apart` of their product."""
    whole = Loop(algebra, form, flush, sizes[0], errors[0])
    inside: Loop | None = None
    done: Blocks | None = None
    for n, (x, r) in enumerate(zip(sizes, errors, strict=True), start=1):
        if n > 1:
            whole.step(x, r)
        if loops and n % BLOCK == 1:
            if inside is not None:
                done = after(algebra, done, inside.walk)
            inside = Loop(algebra, form, flush, x, r)
        elif inside is not None:
            inside.step(x, r)
        parts = None if inside is None or done is None else after(algebra, done, inside.walk)
        yield partial(joined, algebra, form, flush, n, whole.walk, parts, loops)


@dataclass(frozen=True, eq=False)
class Blocks:
    """Blocks so far: their number, H of their results, and the sum of their Z."""

    count: int
    height: Any
    lost: Any


def after(algebra: Any, done: Blocks | None, part: Walk) -> Blocks:
    """Return blocks with one more."""
    top = algebra.maximum(algebra.constant(1), part.size + part.carried + part.lost)
    if done is None:
        return Blocks(1, top, part.lost)
    return Blocks(done.count + 1, done.height * top, done.lost + part.lost)


def assembled(parts: Callable[[], tuple[Any, Any]]) -> Any:
    """Return the bound on a product."""
    base, lost = parts()
    return base + lost


def joined(
    algebra: Any, form: Rounds, flush: bool, n: int, whole: Walk, parts: Blocks | None, loops: bool
) -> tuple[Any, Any]:
    """Return `apart` of a product of n factors, given its loop and those of its blocks."""
    if n <= 1:
        return whole.carried, algebra.constant(0)
    unit = form.unit_roundoff
    nonzero = whole.size + whole.carried
    base = whole.carried + nonzero * algebra.power_minus_one(unit, n - 1)
    off, spread = algebra.constant(tiny(form, flush)), algebra.power(unit, 2 * n)
    lost = algebra.gate(nonzero, off * (n - 1) * whole.height * spread)
    if not loops:
        return base, lost
    own = whole.lost
    if parts is not None:
        leaves = parts.lost + off * (parts.count - 1)
        own = algebra.maximum(own, algebra.gate(nonzero, leaves * parts.height * spread))
    return base, algebra.minimum(lost, own)


def product_error(
    algebra: Any, form: Rounds, flush: bool, sizes: Sequence[Any], errors: Any, loops: bool
) -> Any:
    """Return the bound on a product of all factors."""
    base, lost = apart(algebra, form, flush, sizes, errors, loops)
    return base + lost


def apart(
    algebra: Any, form: Rounds, flush: bool, sizes: Sequence[Any], errors: Any, loops: bool
) -> tuple[Any, Any]:
    """Return what bounds the roundings in a product of all factors, and Z, what underflows lose."""
    (last,) = deque(prefix_parts(algebra, form, flush, sizes, errors, loops), maxlen=1)
    return last()
