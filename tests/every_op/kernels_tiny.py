"""Calls that compute in a tiny format, and every outcome of every order in it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np

from exactref_core.arithmetic.full_verbs import FullVerbs
from exactref_core.arithmetic.ranges import Range
from exactref_core.arithmetic.verbs import Complex, Value
from exactref_core.array import Array
from exactref_core.evaluate.call import make_output
from exactref_core.evaluate.inputs import nodes
from exactref_core.formats.format import Format
from exactref_core.formats.rounding import Overflow, Rounding
from exactref_core.registry import get_op
from tests.every_op.kernels_formats import Spec

INF, NAN = float("inf"), "nan"  # NaN by name, so that sets can hold it
Outcome = Any
Split = Callable[[int, int, dict[int, frozenset[Outcome]]], Iterable[Outcome]]
Pair = tuple[np.ndarray, np.ndarray]


def narrow(bits: int, emin: int, emax: int) -> tuple[Format, Spec]:
    """A format of a few bits, for the core and for the simulated kernels."""
    form = Format("narrow", "float", "float64", bits, emin, emax, True, True, True)
    return form, Spec("narrow", bits, emin, (2 - 2.0 ** (1 - bits)) * 2.0**emax)


TINY, TINY_SPEC = narrow(3, -2, 2)


def ranges(
    op: str,
    *arrays: np.ndarray | Pair,
    standard: str,
    form: Format = TINY,
    output: Format | None = None,
    flush: bool = False,
    rounding: str = "nearest_even",
) -> list[Range]:
    """The ranges of an operation whose implementations compute in ``form``, a part each."""
    definition = get_op(op)

    def value(x: np.ndarray | Pair) -> Value:
        if isinstance(x, tuple):
            return Complex(*(nodes(Array.from_values(part, form), form) for part in x))
        return nodes(Array.from_values(x, form), form)

    own = {"axis": -1} if op in ("sum", "mean") else {}
    defined = definition.define(FullVerbs(form), *(value(x) for x in arrays), **own)
    rule = (Rounding(rounding), Overflow.IEEE)
    made = make_output(definition, "out", defined, output or form, form, rule)
    return made.ranges(standard, flush)


def allowed(r: Range, values: np.ndarray, row: Any = slice(None)) -> np.ndarray:
    """Which values are in a range or among what it may be."""
    low, high, states = r.low[row], r.high[row], r.states[row]
    found = (values >= low) & (values <= high)
    for bit, special in ((2, values == np.inf), (4, values == -np.inf), (8, np.isnan(values))):
        found |= special & ((states & bit) != 0)
    return found


@cache
def rounded(x: Fraction) -> float:
    """A rational in the tiny format: nearest, ties to even; overflow from 7.5 on."""
    size = abs(x)
    if size >= Fraction(15, 2):
        return INF if x > 0 else -INF
    step = Fraction(1, 16)
    while size >= 8 * step:
        step *= 2
    return float(round(x / step) * step)  # Python rounds halves of a Fraction to even


NUMBERS = sorted({rounded(Fraction(k, 16)) for k in range(-112, 113)})


@cache
def plus(x: Outcome, y: Outcome) -> Outcome:
    """The sum of two stored values."""
    if NAN in (x, y) or {x, y} == {INF, -INF}:
        return NAN
    if abs(x) == INF or abs(y) == INF:
        return x if abs(x) == INF else y
    return rounded(Fraction(x) + Fraction(y))


@cache
def times(x: Outcome, y: Outcome) -> Outcome:
    """The stored product of two stored values."""
    if NAN in (x, y):
        return NAN
    if abs(x) == INF or abs(y) == INF:
        return NAN if 0 in (x, y) else (INF if (x > 0) == (y > 0) else -INF)
    return rounded(Fraction(x) * Fraction(y))


@cache
def fused(x: Outcome, y: Outcome, z: Outcome) -> Outcome:
    """x * y + z, rounded once."""
    if NAN in (x, y, z) or INF in (abs(x), abs(y)):
        return plus(times(x, y), z)
    return z if abs(z) == INF else rounded(Fraction(x) * Fraction(y) + Fraction(z))


def joined(one: Iterable[Outcome], other: Iterable[Outcome]) -> set[Outcome]:
    return {plus(x, y) for x in one for y in other}


def every_tree(leaves: list[frozenset[Outcome]], split: Split) -> frozenset[Outcome]:
    """Every value that some binary tree over some permutation of the leaves gives.

    ``split`` lists what adding two disjoint sets of leaves (bit masks) may give.
    """
    found = {1 << i: leaf for i, leaf in enumerate(leaves)}
    for size in range(2, len(leaves) + 1):
        for members in combinations(range(len(leaves)), size):
            whole = sum(1 << i for i in members)
            values: set[Outcome] = set()
            part = (whole - 1) & whole
            while part:
                if part > whole ^ part:  # addition commutes
                    values.update(split(part, whole ^ part, found))
                part = (part - 1) & whole
            found[whole] = frozenset(values)
    return found[(1 << len(leaves)) - 1]


def all_sums(terms: list[Outcome]) -> frozenset[Outcome]:
    """What the sums of terms may be, over all trees and permutations."""
    leaves = [frozenset([term]) for term in terms]
    return every_tree(leaves, lambda one, other, found: joined(found[one], found[other]))


def all_dots(pairs: list[tuple[Outcome, Outcome]]) -> frozenset[Outcome]:
    """The same for products, each rounded on its own or fused into an addition."""

    def split(one: int, other: int, found: dict[int, frozenset[Outcome]]) -> set[Outcome]:
        values = joined(found[one], found[other])
        for leaf, rest in ((one, other), (other, one)):
            if leaf & (leaf - 1) == 0:
                pair = pairs[leaf.bit_length() - 1]
                values |= {fused(*pair, z) for z in found[rest]}
        return values

    return every_tree([frozenset([times(*pair)]) for pair in pairs], split)


def loop(terms: list[Any]) -> set[Outcome]:
    """What index-order loops over terms, or over pairs to be multiplied, may give."""
    found = {times(*terms[0]) if isinstance(terms[0], tuple) else terms[0]}
    for term in terms[1:]:
        if isinstance(term, tuple):
            found = joined(found, {times(*term)}) | {fused(*term, z) for z in found}
        else:
            found = joined(found, {term})
    return found


def merged(tree: Any, sets: list[set[Outcome]]) -> set[Outcome]:
    """What a tree over block sums may give."""
    if isinstance(tree, tuple):
        return joined(merged(tree[0], sets), merged(tree[1], sets))
    return sets[tree]


def named(values: list[float]) -> list[Outcome]:
    return [NAN if x != x else x for x in values]


def numbers(outcomes: Iterable[Outcome]) -> np.ndarray:
    return np.array([float(x) for x in outcomes])
