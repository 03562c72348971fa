"""Numbers that no stored value of a node lies below, known from the steps alone.

An error bound holds to both sides. That of a sum of squares may reach below zero, where no
computation that is admitted goes: a root or a quotient by it has a bound nevertheless. Roundings
keep the order of numbers: what is at least x is stored as a number that is at least x rounded down,
or flushed to 0 if that is subnormal.

Sums of squared deviations are never negative. Two passes add up squares, rounded or fused with the
sum; merges add c d^2 with c > 0, whichever of its products comes first, to two such sums. For one
element x (Welford), d = x - m, and a mean that moves from m by q, d (x - (m + q)) is not negative
either. Let d > 0. The first element leaves x - m = 0. For the k-th, with two roundings of the
quotient, or of a reciprocal and a product, and u <= 1/32,

    q <= (1+u)^3 (x - m) / k + eta / 2 <= x - m,    k >= 2,

as x - m is a multiple of eta: 2 eta or more, or eta, and q no more. So m + q <= x, rounded or fused
with q, since x is stored. (A mean made from a running sum may be larger: not admitted.) Where x is
flushed in one of its uses, or m + q is, the product may have another sign only if both x and m + q
are subnormal: |m| is below 3 N then, N the smallest normal number, |d| below 5 N, and the product
rounds to 0, as 5 N^2 < eta / 2.
"""

from __future__ import annotations

from fractions import Fraction
from math import isqrt
from weakref import WeakKeyDictionary

from exactref_core.arithmetic.graph import Node, flush_below
from exactref_core.formats.format import Format
from exactref_core.formats.rounding import Rounding, round_ratio

__all__ = ["floor_of"]

ZERO = Fraction(0)
KNOWN: tuple[WeakKeyDictionary[Node, Fraction | None], ...] = (
    WeakKeyDictionary(),
    WeakKeyDictionary(),
)
# Steps whose floor follows from those of all their operands.
FOLLOWS = ("view", "add", "multiply", "divide", "sum", "sqrt", "within", "admit", "store")
# Bits of a root.
BITS = 96


def floor_of(node: Node, flush: bool) -> Fraction | None:
    """Return a number, not negative, that no stored value of a node lies below; None: unknown.

    Of a step without a rounding, it is that of its result on stored operands.
    """
    known = KNOWN[flush]
    stack = [node]
    while stack:
        one = stack[-1]
        operands = one.operands[one.verb == "admit" :] if one.verb in FOLLOWS else ()
        missing = [x for x in operands if x not in known]
        if missing and one not in known:
            stack += missing
            continue
        stack.pop()
        if one not in known:
            known[one] = found(one, [known[x] for x in operands], flush)
    least = known[node]
    return None if least is None or least < 0 else least


def found(node: Node, floors: list[Fraction | None], flush: bool) -> Fraction | None:
    """Return a floor, of either sign, given those of the operands that it follows from."""
    verb = node.verb
    if verb == "constant":
        return stored(node.attrs, node.compute, flush)
    if verb == "load":
        return of_input(node, flush)
    if verb == "function":
        return None if node.attrs.floor is None else Fraction(node.attrs.floor)
    square = verb == "multiply" and node.operands[0] is node.operands[1]
    if square or verb in ("deviations", "absolute"):
        return ZERO
    least = [x for x in floors if x is not None]
    if len(least) < len(floors) or not floors:
        return None
    if verb in ("view", "admit"):
        return min(least)
    if verb == "add":
        return stored(sum(least, ZERO), node.compute, flush)
    if verb == "within":
        return returned(node, least[0], flush)
    if verb == "store":
        return stored(least[0], node.attrs.format, flush)
    if min(least) < 0:
        return None
    return stored(root(least[0]), node.compute, flush) if verb == "sqrt" else ZERO


def of_input(node: Node, flush: bool) -> Fraction | None:
    """Return the floor of an input of one element, such as an eps that an array holds."""
    form: Format = node.attrs.format
    if node.size != 1 or not form.is_float:
        return None
    value = float(node.attrs.pair[0].reshape(-1)[0])
    if not 0 <= value < float("inf"):
        return None
    exact = Fraction(value)
    if flush and exact < flush_below(form, node.compute):
        return ZERO
    return stored(exact, node.compute, flush)


def returned(node: Node, least: Fraction, flush: bool) -> Fraction | None:
    """Return the floor of what a library function of at least ``least`` returns."""
    form, (units, etas, *size) = node.compute, node.attrs
    if form is None:
        return None
    off = units * form.unit_roundoff * max([abs(least), *size]) + etas * form.eta
    return flushed(least - off, form, flush)


def root(x: Fraction) -> Fraction:
    """Return a rational at or below the square root of x, next to it."""
    shift = 2 * BITS + max(x.denominator.bit_length() - x.numerator.bit_length(), 0)
    return Fraction(isqrt((x.numerator << 2 * shift) // x.denominator), 1 << shift)


def stored(x: Fraction, form: Format | None, flush: bool) -> Fraction | None:
    """Return the least number that rounding makes of x or more."""
    if form is None:
        return x
    if form.is_integer:
        return ZERO if x >= 0 else None
    down = round_ratio(x.numerator, x.denominator, form, Rounding.DOWN)
    if abs(down) <= form.max:
        return flushed(Fraction(down), form, flush)
    return ZERO if x >= 0 else None


def flushed(x: Fraction, form: Format, flush: bool) -> Fraction:
    """Return x, or 0 where results of at least x may be flushed."""
    return ZERO if flush and 0 < x < form.smallest_normal else x
