"""round_ratio against lists of every value, against MPFR, and at its edges."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import gmpy2
import numpy as np
import pytest

from exactref_core.errors import DTypeError, InputError
from exactref_core.formats.catalogue import FORMATS, get_format
from exactref_core.formats.rounding import (
    Overflow,
    Rounding,
    parse_overflow,
    parse_rounding,
    round_ratio,
)
from tests.core.rounding_oracle import SMALL, beyond, choose_upper, mirrored, neighbours, same

MODES = [mode.value for mode in Rounding]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("fmt", SMALL, ids=lambda f: f.name)
def test_every_gap_of_a_small_format(fmt, mode):
    """Every value, every midpoint, and both a tiny step away, over all values of the format."""
    lower, upper, even = neighbours(fmt)
    scale = 4096  # units of eta/4096: a step of 1 is far below half a gap
    unit = scale << -fmt.eta_exponent
    starts = [int(Fraction(v) * unit) for v in lower.tolist()]
    ends = [int(Fraction(v) * unit) for v in upper.tolist()]
    top = float(fmt.max)
    for sign in (1, -1):
        rule = mode if sign > 0 else mirrored(mode)
        points = [(starts, np.zeros(lower.shape, bool))]
        for side, shift in ((-1, None), (-1, -1), (0, 0), (1, 1), (1, None)):
            if shift is None:
                inside = [a + 1 if side < 0 else b - 1 for a, b in zip(starts, ends, strict=True)]
            else:
                inside = [(a + b) // 2 + shift for a, b in zip(starts, ends, strict=True)]
            points.append((inside, choose_upper(rule, side, even)))
        for numerators, goes_up in points:
            expected = np.where(goes_up, upper, lower)
            expected = np.where(expected > top, beyond(fmt, rule), expected) * sign
            if not fmt.signed_zero:
                expected = expected + 0.0
            negative_zero = sign < 0
            got = [
                round_ratio(sign * n, unit, fmt, Rounding(mode), negative_zero=negative_zero)
                for n in numerators
            ]
            assert same(np.array(got), expected)


MPFR_MODES = {
    Rounding.NEAREST_EVEN: gmpy2.RoundToNearest,
    Rounding.TOWARD_ZERO: gmpy2.RoundToZero,
    Rounding.UP: gmpy2.RoundUp,
    Rounding.DOWN: gmpy2.RoundDown,
}


@pytest.mark.parametrize("rounding", MPFR_MODES, ids=lambda r: r.value)
@pytest.mark.parametrize("name", ["float64", "float32", "tfloat32", "bfloat16", "float16"])
def test_random_ratios_agree_with_mpfr(name, rounding):
    fmt = FORMATS[name]
    rng = random.Random(7)
    context = gmpy2.context(
        precision=fmt.precision,
        emin=fmt.eta_exponent + 1,  # MPFR's significands lie in [1/2, 1)
        emax=fmt.emax + 1,
        subnormalize=True,
        round=MPFR_MODES[rounding],
    )
    with gmpy2.context(context):
        for _ in range(4000):
            ratio = gmpy2.mpq(
                rng.choice((-1, 1)) * rng.getrandbits(rng.choice((3, 30, 90))) or 1,
                rng.getrandbits(rng.choice((1, 20, 80))) or 1,
            )
            shift = rng.randint(fmt.emin - fmt.precision - 60, fmt.emax + 60)
            ratio = ratio * 2**shift if shift > 0 else ratio / 2**-shift
            got = round_ratio(ratio.numerator, ratio.denominator, fmt, rounding)
            assert same(got, float(gmpy2.mpfr(ratio)))


def test_python_division_agrees_for_float64():
    rng = random.Random(11)
    for _ in range(2000):
        n, d = rng.getrandbits(rng.randint(1, 200)), rng.getrandbits(rng.randint(1, 200)) | 1
        assert round_ratio(-n, d, get_format("float64")) == -(n / d)


@pytest.mark.parametrize(
    ("name", "rounding", "overflow", "sign", "expected"),
    [
        ("float16", "nearest_even", "ieee", 1, math.inf),
        ("float16", "nearest_even", "ieee", -1, -math.inf),
        ("float16", "nearest_away", "ieee", -1, -math.inf),
        ("float16", "nearest_even", "saturate", 1, 65504.0),
        ("float16", "toward_zero", "ieee", -1, -65504.0),
        ("float16", "up", "ieee", 1, math.inf),
        ("float16", "up", "ieee", -1, -65504.0),
        ("float16", "down", "ieee", 1, 65504.0),
        ("float16", "down", "ieee", -1, -math.inf),
        ("float16", "down", "saturate", -1, -65504.0),
        ("float8_e4m3fn", "nearest_even", "ieee", 1, math.nan),
        ("float8_e4m3fn", "toward_zero", "ieee", 1, 448.0),
        ("float8_e4m3fn", "nearest_even", "saturate", -1, -448.0),
        ("float6_e3m2fn", "nearest_even", "ieee", -1, -28.0),
        ("float32", "toward_zero", "ieee", 1, float(2**128 - 2**104)),
        ("complex64", "nearest_even", "ieee", 1, math.inf),
    ],
)
def test_overflow(name, rounding, overflow, sign, expected):
    fmt = get_format(name)
    for huge in (10**5000, int(fmt.max) * 2):
        got = round_ratio(sign * huge, 1, fmt, Rounding(rounding), Overflow(overflow))
        assert same(got, expected)


@pytest.mark.parametrize(
    ("name", "numerator", "away", "even"),
    [
        ("float16", 65520, math.inf, math.inf),
        ("float16", 65519, 65504.0, 65504.0),
        ("float8_e4m3fn", 464, math.nan, 448.0),
        ("float8_e4m3fn", 465, math.nan, math.nan),
        ("float8_e4m3fn", 463, 448.0, 448.0),
        ("float8_e5m2", 61440, math.inf, math.inf),
    ],
)
def test_nearest_overflow_starts_at_the_threshold(name, numerator, away, even):
    fmt = get_format(name)
    assert same(round_ratio(numerator, 1, fmt, Rounding.NEAREST_EVEN), even)
    assert same(round_ratio(numerator, 1, fmt, Rounding.NEAREST_AWAY), away)


def test_zeros_keep_their_sign_where_there_are_two():
    float32, fnuz = get_format("float32"), get_format("float8_e4m3fnuz")
    assert same(round_ratio(-1, 10**5000, float32), -0.0)
    assert same(round_ratio(1, -(10**5000), float32), -0.0)
    assert same(round_ratio(1, 10**5000, float32), 0.0)
    assert same(round_ratio(0, -3, float32), 0.0)
    assert same(round_ratio(0, 3, float32, negative_zero=True), -0.0)
    assert same(round_ratio(-1, 10**5000, fnuz), 0.0)
    assert same(round_ratio(0, 1, fnuz, negative_zero=True), 0.0)
    assert round_ratio(1, 10**5000, float32, Rounding.UP) == 2.0**-149


def test_any_integer_type_will_do():
    third = round_ratio(gmpy2.mpz(1), gmpy2.mpz(3), get_format("float64"))
    assert type(third) is float
    assert third == 1 / 3
    assert round_ratio(gmpy2.mpz(-7), gmpy2.mpz(-2), get_format("float16")) == 3.5


def test_errors():
    with pytest.raises(DTypeError, match="int8 is not a floating-point format"):
        round_ratio(1, 1, get_format("int8"))
    with pytest.raises(InputError, match="denominator is 0"):
        round_ratio(1, 0, get_format("float32"))
    with pytest.raises(InputError, match="rounding='even' is not one of 'nearest_even'"):
        parse_rounding("even")
    with pytest.raises(InputError, match="overflow=None is not one of 'ieee', 'saturate'"):
        parse_overflow(None)


def test_parsing_takes_members_and_strings():
    assert [parse_rounding(mode) for mode in MODES] == list(Rounding)
    assert parse_rounding(Rounding.UP) is Rounding.UP
    assert parse_overflow("saturate") is parse_overflow(Overflow.SATURATE) is Overflow.SATURATE
