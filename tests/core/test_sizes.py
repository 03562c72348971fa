"""Numbers beyond MPFR's exponents: their sums, products, roots and logarithms, by their sizes."""

from __future__ import annotations

import math
import random

import gmpy2
import numpy as np
import pytest

import exactref as er
from exactref_core.exact.interval import Interval, Unsure
from exactref_core.exact.roots import RootArithmetic
from exactref_core.exact.sizes import is_beyond

mpq = gmpy2.mpq
WIDE = gmpy2.context(precision=3000)


def hidden(a: RootArithmetic, rng: random.Random) -> tuple[Interval, gmpy2.mpfr]:
    """Return a number of which the ends tell nothing but its side, and what it is."""
    size = mpq(rng.randint(-400 << 10, 400 << 10), 1 << 10)
    value = WIDE.exp(gmpy2.mpfr(size, 0, WIDE))
    if size < 0:
        ends = gmpy2.mpfr(0), gmpy2.mpfr(1)
    else:
        ends = gmpy2.mpfr(1), gmpy2.inf()
    found = Interval(*ends, a, open_low=True, open_high=True, size=size)
    return (found, value) if rng.random() < 0.5 else (-found, WIDE.minus(value))


def holds(a: RootArithmetic, found: Interval, value: gmpy2.mpfr) -> bool:
    """Return whether a number and its logarithm lie in an enclosure and in its size."""
    low, high = found.low, found.high
    inside = low <= value <= high and not (found.open_low and low == value)
    size = a.size(found)
    if size is None:
        return inside and not is_beyond(found)
    least, most = a.ends(size)
    return inside and bool(least <= WIDE.log(WIDE.abs(value)) <= most)


def test_what_is_found_holds_the_number() -> None:
    a, rng, asked = RootArithmetic(96), random.Random(1), 0
    for _ in range(200):
        (x, v), (y, w) = hidden(a, rng), hidden(a, rng)
        three = mpq(-3, 7)
        pairs = [
            (a.add(x, y), WIDE.add(v, w)),
            (a.subtract(x, y), WIDE.sub(v, w)),
            (a.multiply(x, y), WIDE.mul(v, w)),
            (a.divide(x, y), WIDE.div(v, w)),
            (a.divide(three, y), WIDE.div(gmpy2.mpfr(three, 0, WIDE), w)),
            (a.multiply(three, y), WIDE.mul(gmpy2.mpfr(three, 0, WIDE), w)),
            (a.divide(a.add(x, y), y), WIDE.div(WIDE.add(v, w), w)),
        ]
        if v > 0:
            pairs.append((a.sqrt(x), WIDE.sqrt(v)))
            log = a.log(x)
            least, most = a.ends(log)
            assert least <= WIDE.log(v) <= most
        for found, value in pairs:
            assert holds(a, found, value)
            asked += 1
        assert a.subtract(x, x) == 0
    assert asked > 1400


def test_what_is_not_known_is_not_told() -> None:
    a = RootArithmetic(96)
    tiny = Interval(gmpy2.mpfr(0), gmpy2.mpfr(1), a, open_low=True)
    known = Interval(gmpy2.mpfr(0), gmpy2.mpfr(1), a, open_low=True, size=mpq(-5))
    near = Interval(gmpy2.mpfr(-6), gmpy2.mpfr(-4), a)
    vague = Interval(gmpy2.mpfr(0), gmpy2.mpfr(1), a, open_low=True, size=near)
    for left, right in ((tiny, known), (known, vague), (vague, tiny)):
        found = a.subtract(left, right)
        assert found.low < 0 < found.high
    assert a.size(tiny) is None
    with pytest.raises(Unsure):
        a.divide(known, a.subtract(known, vague))


def down_and_up(name: str, *values: object) -> list[float]:
    """Return an operation's results rounded both ways."""
    return [
        getattr(er, name)(*values, rounding=mode).rounded.tolist()[0] for mode in ("down", "up")
    ]


def beside(value: gmpy2.mpfr) -> list[float]:
    """Return the float64 numbers below and above a number."""
    return [
        float(gmpy2.mpfr(value, 0, gmpy2.context(precision=53, round=mode)))
        for mode in (gmpy2.RoundDown, gmpy2.RoundUp)
    ]


@pytest.mark.parametrize("x", [1e10, 3e15, 1e30, 1e300])
def test_logarithms_of_numbers_beyond_all_exponents(x: float) -> None:
    given, wide = np.array([x]), gmpy2.mpfr(x, 0, WIDE)
    two, ten = (WIDE.log(gmpy2.mpfr(n)) for n in (2, 10))
    grown = {"exp": wide, "exp2": WIDE.mul(wide, two), "cosh": WIDE.sub(wide, two)}
    for name, log in grown.items():
        middle = getattr(er, name)(given)
        other = {"exp": "log", "exp2": "log2"}.get(name)
        for outer, base in (("log", None), ("log2", two), ("log10", ten)):
            if outer != other:
                value = log if base is None else WIDE.div(log, base)
                # log cosh x is above x - log 2, by e^-2x: no float64 number is in between.
                assert down_and_up(outer, middle) == beside(value), (outer, name)
        small = er.reciprocal(middle)
        assert down_and_up("log10", small) == beside(WIDE.minus(WIDE.div(log, ten))), name
        if name != "cosh":
            shrunk = getattr(er, name)(-given)
            assert down_and_up("log10", shrunk) == beside(WIDE.minus(WIDE.div(log, ten))), name


@pytest.mark.parametrize("x", [2e4, 3e5, 1e9])
def test_logarithms_of_tails(x: float) -> None:
    """erfc x = e^(-x^2) / (x sqrt(pi)) (1 - 1/(2 x^2) + 3/(4 x^4) -+ ...), which alternates."""
    wide = gmpy2.mpfr(x, 0, WIDE)
    square = WIDE.mul(wide, wide)
    half = WIDE.div(gmpy2.mpfr(1), WIDE.mul(square, 2))
    pi_root = WIDE.sqrt(WIDE.const_pi())
    series = WIDE.add(WIDE.sub(gmpy2.mpfr(1), half), WIDE.mul(3, WIDE.mul(half, half)))
    log = WIDE.sub(WIDE.log(WIDE.div(series, WIDE.mul(wide, pi_root))), square)
    assert down_and_up("log", er.erfc(np.array([x]))) == beside(log)


def test_saturated_tails_are_told_apart() -> None:
    least = 5e-324
    for a, b in ((3e5, 2e5), (1e300, 1e299), (30000.0, math.nextafter(30000.0, 0))):
        x, y = np.array([a]), np.array([b])
        for name in ("erf", "tanh", "sigmoid"):
            f = getattr(er, name)
            assert down_and_up("subtract", f(x), f(y)) == [0.0, least], (name, a)
            assert down_and_up("subtract", f(y), f(x)) == [-least, 0.0], (name, a)
            assert down_and_up("subtract", f(x), f(x)) == [0.0, 0.0]
        low, high = down_and_up("divide", er.erfc(y), er.erfc(x))
        if a - b > 1:
            assert (low, high) == (np.finfo(float).max, np.inf)
        else:  # the quotient's logarithm is a^2 - b^2, and less than 1e-4 beside it
            assert math.nextafter(low, 2) == high
            assert abs(math.log1p(low - 1) / float(mpq(a) ** 2 - mpq(b) ** 2) - 1) < 1e-4
        assert down_and_up("subtract", er.gelu(-x), er.gelu(-y)) == [0.0, least]


def test_quotients_of_exponentials() -> None:
    for x in (1e10, 1e15):
        top, bottom = er.exp(np.array([x])), er.exp(np.array([x + 1]))
        assert down_and_up("divide", top, bottom) == beside(WIDE.exp(gmpy2.mpfr(-1)))
        cosh, sinh = er.cosh(np.array([x])), er.sinh(np.array([x]))
        assert down_and_up("divide", cosh, sinh) == [1.0, math.nextafter(1.0, 2)]


def test_powers_beyond_all_exponents() -> None:
    x = np.array([1e30])
    log = WIDE.mul(gmpy2.mpfr(x[0]), WIDE.log(gmpy2.mpfr(1e30)))
    for sign in (1, -1):
        power = er.pow(x, sign * x)
        assert down_and_up("log", power) == beside(WIDE.mul(sign, log))
    assert down_and_up("erf", er.cosh(x)) == [math.nextafter(1.0, 0), 1.0]
