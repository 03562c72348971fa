"""The expectations themselves: roundings against lists of values, formulas against Fractions."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from exactref_core.formats.format import Format
from tests.core.rounding_oracle import (
    FLOATS,
    SMALL,
    beyond,
    choose_upper,
    mirrored,
    neighbours,
    same,
)
from tests.every_op import formulas as f
from tests.every_op.numbers import MODES, Number, Numbers, dyadic, of_fraction, ratio


def between(x: float, y: float, share: int) -> Fraction:
    return Fraction(x) + (Fraction(y) - Fraction(x)) * Fraction(share, 1 << 70)


def interesting(fmt: Format) -> tuple[list[float], list[float]]:
    """Neighbouring values of a format (all of a small one's, some of a wide one's)."""
    low, high, _ = neighbours(fmt)
    step = max(1, low.size // 400)
    return low[::step].tolist(), high[::step].tolist()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("fmt", SMALL, ids=lambda fmt: fmt.name)
def test_roundings_choose_the_neighbour_that_the_mode_says(fmt: Format, mode: str) -> None:
    low, high, even = neighbours(fmt)
    step = max(1, low.size // 400)
    low, high, even = low[::step], high[::step], even[::step]
    for negative in (False, True):
        sign = -1 if negative else 1
        for side, share in ((-1, 1), (-1, (1 << 69) - 1), (0, 1 << 69), (1, (1 << 69) + 1)):
            exact = [sign * between(x, y, share) for x, y in zip(low, high, strict=True)]
            got = Numbers.of([of_fraction(x) for x in exact]).round(fmt, mode, "ieee")
            rule = mirrored(mode) if negative else mode
            wanted = np.where(choose_upper(rule, side, even), high, low)
            wanted = np.where(wanted > float(fmt.max), beyond(fmt, rule), wanted)
            wanted = sign * wanted
            assert same(got, wanted if fmt.signed_zero else wanted + 0.0)


@pytest.mark.parametrize("fmt", FLOATS, ids=lambda fmt: fmt.name)
def test_values_of_a_format_stay(fmt: Format) -> None:
    rng = np.random.default_rng(1)
    for _ in range(200):
        e = int(rng.integers(fmt.eta_exponent, fmt.emax + 1))
        bits = min(fmt.precision, e - fmt.eta_exponent + 1)
        n = (1 << (bits - 1)) + int(rng.integers(0, 1 << (bits - 1)))
        value = math.ldexp(n, e - bits + 1)
        if value <= float(fmt.max):
            x = Numbers.of([dyadic(n, e - bits + 1)])
            assert all(x.round(fmt, mode, "ieee")[0] == value for mode in MODES)


def test_float64_and_float32_roundings_are_those_of_python_and_numpy() -> None:
    rng = np.random.default_rng(2)
    fmts = {fmt.name: fmt for fmt in FLOATS}
    for _ in range(2000):
        n, d = int(rng.integers(1, 1 << 60)), int(rng.integers(1, 1 << 60))
        e = int(rng.integers(-1090, 1020))
        exact = Fraction(n, d) * (Fraction(2) ** e)
        numbers = Numbers.of([ratio(n, d, e)])
        try:
            wanted = exact.numerator / exact.denominator  # CPython rounds int / int once
        except OverflowError:
            wanted = math.inf
        assert numbers.round(fmts["float64"], "nearest_even", "ieee")[0] == wanted
        short = Fraction(n >> 40, 1) * (Fraction(2) ** int(rng.integers(-180, 110)))
        with np.errstate(all="ignore"):
            narrow = float(np.float32(float(short)))  # float(short) is exact
        found = Numbers.of([of_fraction(short)]).round(fmts["float32"], "nearest_even", "ieee")
        assert found[0] == narrow


def enclosed(x: Number, predicate: object) -> None:
    """Check that the predicate (x compared with a Fraction) agrees with the number's two ends."""
    assert not isinstance(x, float)
    assert callable(predicate)
    negative, s, e, more = x
    assert not negative
    low, high = Fraction(s) * Fraction(2) ** e, Fraction(s + 1) * Fraction(2) ** e
    assert s.bit_length() == 64
    assert predicate(low) > 0 if more else predicate(low) == 0
    assert predicate(high) < 0


def test_complex_roots_lie_between_their_ends() -> None:
    """x = sqrt((h + s n) / 2) > t exactly where h > 2 t^2 - s n, h = sqrt(n^2 + m^2)."""
    rng = np.random.default_rng(3)
    for _ in range(3000):
        bits = rng.integers(1, 60, 2).tolist()
        n, m = (int(rng.integers(0, 1 << b)) << int(rng.choice([0, 0, 90])) for b in bits)
        unit = int(rng.integers(-40, 40))
        for s in (1, -1):
            if (s < 0 and m == 0) or n == m == 0:
                continue

            def compare(t: Fraction, s: int = s, n: int = n, m: int = m, u: int = unit) -> int:
                rest = 2 * t * t / Fraction(2) ** u - s * n
                square = n * n + m * m
                return 1 if rest < 0 else (square > rest * rest) - (square < rest * rest)

            enclosed(f.half_root(n, m, unit, s), compare)


def test_roots_and_moduli_lie_between_their_ends() -> None:
    rng = np.random.default_rng(4)
    for _ in range(2000):
        n = int(rng.integers(1, 1 << int(rng.integers(1, 62)))) ** int(rng.choice([1, 2]))
        unit = int(rng.integers(-1100, 1000))
        square = n * Fraction(2) ** unit
        enclosed(f.root(n, unit), lambda t, v=square: (v > t * t) - (v < t * t))
    assert f.modulus((3, 4), 0) == (False, 5 << 61, -61, False)
    assert f.complex_sqrt((-4, -0.0), 0)[1] == (True, 1 << 63, -62, False)
