"""Enclosures hold what they enclose, and none of the ends that they call open."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import gmpy2
import pytest

from exactref_core.exact.interval import Arithmetic, Interval, Unsure, opened
from exactref_core.exact.nonnegative import is_infinite

# Of three bits, so that most results are rounded.
COARSE = Arithmetic(3)
ENDS = (-5, -2, 0, 1, 6)
ORACLE = gmpy2.context(precision=300)


def enclosures() -> Iterator[tuple[Any, list[Any]]]:
    """Numbers, and rationals that they may be: those in them next to the ends, and the ends."""
    for value in (*ENDS, gmpy2.mpq(7, 3)):
        yield gmpy2.mpq(value), [gmpy2.mpq(value)]
    least = gmpy2.mpq(1, 1 << 100)
    for low, high, below, above in product(ENDS, ENDS, (False, True), (False, True)):
        if low >= high:
            continue
        found = [gmpy2.mpq(low) + least, gmpy2.mpq(high) - least, gmpy2.mpq(low + high, 2)]
        found += [] if below else [gmpy2.mpq(low)]
        found += [] if above else [gmpy2.mpq(high)]
        yield opened(gmpy2.mpfr(low), gmpy2.mpfr(high), COARSE, below, above), found


def holds(result: Any, value: Any) -> bool:
    """Whether a result may be a value."""
    if not isinstance(result, Interval):
        return bool(result == value)
    below = result.low < value if result.open_low else result.low <= value
    return bool(below and (value < result.high if result.open_high else value <= result.high))


NUMBERS = list(enclosures())
PAIRS = {
    "add": lambda x, y: x + y,
    "subtract": lambda x, y: x - y,
    "multiply": lambda x, y: x * y,
    "divide": lambda x, y: x / y,
    "maximum": max,
    "minimum": min,
}


@pytest.mark.parametrize("name", PAIRS)
def test_steps_of_two_numbers(name: str) -> None:
    told = 0
    for (x, some), (y, others) in product(NUMBERS, enclosures()):  # never one object twice
        if name == "divide" and 0 in others:
            continue
        try:
            found = getattr(COARSE, name)(x, y)
        except Unsure:
            continue
        told += isinstance(found, Interval) and (found.open_low or found.open_high)
        for a, b in product(some, others):
            assert holds(found, PAIRS[name](a, b)), (x, y, a, b, found)
    assert told > 100


@pytest.mark.parametrize("name", ["sqrt", "exp", "log", "expm1", "absolute", "__neg__", "square"])
def test_steps_of_one_number(name: str) -> None:
    least = {"sqrt": 0, "log": gmpy2.mpq(1, 1 << 200)}.get(name, -10)
    told = 0
    for x, given in NUMBERS:
        some = [a for a in given if a >= least]
        try:
            if name in ("__neg__", "square"):
                found = -x if name == "__neg__" else COARSE.multiply(x, x)
            else:
                found = getattr(COARSE, name)(x) if some else x
        except Unsure:
            continue
        for a in some:
            exact: Any = {"absolute": abs(a), "__neg__": -a, "square": a * a}.get(name)
            if exact is None:
                exact = getattr(ORACLE, name)(gmpy2.mpfr(a, 0, ORACLE))
            assert holds(found, exact), (x, a, found)
            told += 1
    assert told > 10


def test_whether_a_number_is_infinite_in_every_format_is_told_or_asked_more_precisely() -> None:
    """From 2^1024 - 2^970 on float64 rounds to an infinity; an enclosure may straddle that."""
    limit = gmpy2.mpq((1 << 1024) - (1 << 970))
    fine = Arithmetic(96)
    with gmpy2.context(precision=96):
        at = gmpy2.mpfr(limit)
        below = gmpy2.next_below(at)
        beyond, inf = 2 * at, gmpy2.mpfr("inf")
    assert [is_infinite(x) for x in (limit - 1, limit)] == [False, True]
    assert is_infinite(Interval(at, beyond, fine))
    assert not is_infinite(Interval(below / 2, below, fine))
    for low in (below, below / 2):
        with pytest.raises(Unsure):
            is_infinite(Interval(low, beyond, fine))
    # What lies beyond all exponents is no clearer at any precision.
    assert not is_infinite(Interval(below, inf, fine))
