"""Flags of sums near overflow, against the rule itself worked out in rationals."""

from __future__ import annotations

from fractions import Fraction
from itertools import accumulate

import numpy as np
import pytest

import exactref as er
from tests.every_op.kernels_formats import SPECS
from tests.every_op.kernels_judging import budget
from tests.every_op.kernels_values import hostile

UNITS = {"float32": Fraction(1, 2**24), "float64": Fraction(1, 2**53)}
UP, DOWN, BOTH = 1, 2, 4


def limit(name: str) -> Fraction:
    """The largest number and half a spacing."""
    return Fraction(SPECS[name].largest) * (1 + UNITS[name] / (2 - 2 * UNITS[name]))


def any_order_rule(sums: list[tuple[Fraction, Fraction]], flags: int, name: str) -> int:
    """What adding (value, widening) in any order may reach; ``flags`` are reached already."""
    u = UNITS[name]
    for bit, sign in ((UP, 1), (DOWN, -1)):
        side = [s for s in (sign * value + more for value, more in sums) if s > 0]
        if len(side) > 1 and sum(side) * (1 + u) ** (len(side) - 2) >= limit(name):
            flags |= bit
    return flags | (BOTH if flags & UP and flags & DOWN else 0)


def bound(terms: list[Fraction], name: str) -> Fraction:
    """The normal bound on a sum of these terms."""
    n, u = len(terms), UNITS[name]
    if n < 2:
        return Fraction(0)
    size = sum(abs(t) for t in terms)
    sums = list(accumulate(terms))
    before = [Fraction(0), *sums]
    local = sum(abs(s - before[k // 32 * 32]) for k, s in enumerate(sums))
    blocks = -(-n // 32)
    levels = (blocks - 1).bit_length()
    loops = max(sum(abs(s) for s in sums), local) + levels * size
    return min(((1 + u) ** (n - 1) - 1) * size, u * (1 + u) ** (n - 1) * loops)


def loop_rule(terms: list[Fraction], name: str) -> tuple[int, bool]:
    """What the index-order loop may reach, and whether it may stay finite."""
    flags, finite = 0, True
    for k in range(2, len(terms) + 1):
        if not finite:
            break
        s, e = sum(terms[:k]), bound(terms[: k - 1], name)
        for bit, side in ((UP, s), (DOWN, -s)):
            if side + e >= limit(name):
                flags |= bit
            finite = finite and side - e < limit(name)
    return flags, finite


def normal_rule(terms: list[Fraction], name: str) -> tuple[int, bool]:
    """What loops and blocks may reach, and whether every block may stay finite."""
    flags, _ = loop_rule(terms, name)
    tame = True
    if len(terms) > 32:
        blocks = [terms[i : i + 32] for i in range(0, len(terms), 32)]
        reached = 0
        for block in blocks:
            found, finite = loop_rule(block, name)
            reached, tame = reached | found, tame and finite
        flags |= any_order_rule([(sum(b), bound(b, name)) for b in blocks], reached, name)
    flags |= BOTH if flags & UP and flags & DOWN else 0
    return flags & any_order_rule([(t, Fraction(0)) for t in terms], 0, name), tame


@pytest.mark.parametrize("n", [2, 3, 5, 33, 70])
@pytest.mark.parametrize("kind", ["overflow", "edge"])
@pytest.mark.parametrize("name", UNITS)
def test_flags_are_those_of_the_rule(name: str, kind: str, n: int) -> None:
    rng = np.random.default_rng([17, list(UNITS).index(name), len(kind), n])
    x = hostile(rng, kind, (budget(12, 40) if n > 5 else budget(60, 400), n), SPECS[name])
    result = er.sum(er.asarray(x, name), axis=-1)
    rounded = result.rounded.values()
    for standard in ("normal", "any_order"):
        found = [result.may_be(flag, standard).values() for flag in ("+inf", "-inf", "nan")]
        for i, row in enumerate(x.tolist()):
            terms = [Fraction(t) for t in row]
            if standard == "normal":
                flags, tame = normal_rule(terms, name)
            else:
                flags, tame = any_order_rule([(t, Fraction(0)) for t in terms], 0, name), True
            flags |= {np.inf: UP, -np.inf: DOWN}.get(rounded[i], 0)
            mine = sum(bit for bit, flag in zip((UP, DOWN, BOTH), found, strict=True) if flag[i])
            # A block that certainly overflows is an infinity, which excludes the opposite one.
            assert mine == flags if tame else mine | flags == flags, row
