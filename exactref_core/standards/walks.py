"""Which specials a sum may give, one element at a time: the loops that a standard admits, walked.

Terms come as exact numbers with the sets they may be; every comparison with the overflow threshold
is certified (`Unsure` raises the precision).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any, TypeAlias

from exactref_core.arithmetic.prefixes import BLOCK, PrefixSums
from exactref_core.arithmetic.states import FINITE, MINUS, NAN, PLUS
from exactref_core.arithmetic.walk_term import WalkTerm
from exactref_core.exact.interval import Unsure

__all__ = ["Loop", "WalkTerm", "any_order_set", "index_order_set"]

# Whether a number reaches the overflow threshold.
Reaches: TypeAlias = Callable[[Any], bool]


# Terms of an index-order loop that share a rough bound.
GROUP = 256


def special_part(terms: Sequence[WalkTerm]) -> int:
    """Return the set of a sum in which no partial sum overflows, by IEEE rules on the terms."""
    result = 0
    if all(t.states & FINITE for t in terms):
        result |= FINITE
    if any(t.states & PLUS for t in terms) and all(t.states & (FINITE | PLUS) for t in terms):
        result |= PLUS
    if any(t.states & MINUS for t in terms) and all(t.states & (FINITE | MINUS) for t in terms):
        result |= MINUS
    if any(t.states & NAN for t in terms) or opposed(terms):
        result |= NAN
    return result


def opposed(terms: Sequence[WalkTerm]) -> bool:
    """Return whether two different terms may be opposite infinities."""
    plus = any(t.states & PLUS for t in terms)
    minus = any(t.states & MINUS for t in terms)
    return plus and minus and sum(1 for t in terms if t.states & (PLUS | MINUS)) > 1


def after(state: int, term: int) -> int:
    """Return what a running sum may be after a term, both given as sets; overflow left out."""
    result = 0
    if state & FINITE and term & FINITE:
        result |= FINITE
    for bit in (PLUS, MINUS):
        keeps = state & bit and term & (FINITE | bit)
        if keeps or (term & bit and state & FINITE):
            result |= bit
    mixed = (state & PLUS and term & MINUS) or (state & MINUS and term & PLUS)
    if (state | term) & NAN or mixed:
        result |= NAN
    return result


def any_order_set(terms: Sequence[WalkTerm], algebra: Any, unit: Any, reaches: Reaches) -> int:
    """Return the set of a sum under every tree and permutation.

    m terms of one sign, P their sum, reach at most P (1+u)**(m-2) before the last addition rounds;
    with m = 2 nothing has been rounded before. ``reaches`` compares with the overflow threshold.
    NaN follows where both infinities may appear, whether given or reached.
    """
    result = special_part(terms)
    found = {bit: any(t.states & bit for t in terms) for bit in (PLUS, MINUS)}
    overflown = False
    finite = [t for t in terms if t.states & FINITE]
    for bit, sign in ((PLUS, 1), (MINUS, -1)):
        side = [algebra.monus(sign * t.value + t.error, algebra.constant(0)) for t in finite]
        side = [p for p in side if not is_certain_zero(p)]
        overflows = len(side) > 1 and reaches(
            algebra.total(side) * algebra.power(unit, len(side) - 2)
        )
        found[bit], overflown = found[bit] or overflows, overflown or overflows
    for bit, reached in found.items():
        if reached and all(t.states & (FINITE | bit) for t in terms):
            result |= bit
    if overflown and all(found.values()):
        result |= NAN
    return result


def is_certain_zero(number: Any) -> bool:
    """Return whether a nonnegative number is exactly zero."""
    low = getattr(number, "high", number)
    return bool(low == 0)


def index_order_set(terms: Sequence[WalkTerm], loop: Loop, reaches: Reaches) -> int:
    """Return the set of the index-order loop.

    The running sum before its k-th rounding lies within ``loop.before(k)`` of the prefix sum s_k:
    +inf may come where s_k plus that reaches the threshold, and is certain where s_k less that
    does.
    """
    state = terms[0].states
    for k in range(2, len(terms) + 1):
        finite = state & FINITE and terms[k - 1].states & FINITE
        state = after(state, terms[k - 1].states)
        if not finite:
            continue
        s, most = loop.running[k - 1], loop.most(k)
        for value, bit in ((s, PLUS), (-s, MINUS)):
            if surely_not(reaches, value + most) or (state & bit and surely_not(reaches, value)):
                continue
            e = loop.before(k)
            if reaches(value + e):
                state |= bit
                if reaches(value - e):
                    state &= ~FINITE
    return state


def surely_not(reaches: Reaches, value: Any) -> bool:
    """Return whether a number certainly stays below the threshold."""
    try:
        return not reaches(value)
    except Unsure:
        return False


class Loop:
    """Prefix sums of exact terms and the index-order bounds on the computed ones."""

    def __init__(self, terms: Sequence[WalkTerm], algebra: Any, unit: Any, standard: Any) -> None:
        self.terms, self.algebra, self.unit, self.standard = terms, algebra, unit, standard
        self.running: list[Any] = list(accumulate(t.value for t in terms))
        self.magnitudes = list(accumulate(algebra.absolute(t.value) for t in terms))
        self.walked = list(accumulate(algebra.absolute(s) for s in self.running))
        starts = [
            self.running[k // BLOCK * BLOCK - 1] if k >= BLOCK else 0 for k in range(len(terms))
        ]
        local = (algebra.absolute(s - b) for s, b in zip(self.running, starts, strict=True))
        self.local = list(accumulate(local))
        self.carried = list(accumulate(t.error for t in terms))
        self.limits: dict[int, Any] = {}

    def error(self, n: int) -> Any:
        """Return the standard's bound on the computed sum of the first n terms."""
        sums = PrefixSums(self.magnitudes[n - 1], self.walked[n - 1], self.local[n - 1])
        own = self.standard.error(self.algebra, self.unit, n, sums)
        return own + self.carried[n - 1] * self.algebra.power(self.unit, n)

    def most(self, k: int) -> Any:
        """Return a rational at or above `before` of the k-th running sum, and of many after it.

        Bounds grow with every term: that of the whole group of GROUP terms is one for each.
        """
        last = min(-(-k // GROUP) * GROUP, len(self.terms))
        if last not in self.limits:
            self.limits[last] = self.algebra.bounds(self.error(last))[1]
        return self.limits[last]

    def before(self, k: int) -> Any:
        """Return the bound on the k-th running sum before it is rounded."""
        return self.error(k - 1) + self.terms[k - 1].error
