"""The vectorised rounding against lists of every value, and against round_ratio at random."""

from __future__ import annotations

import math
import os
from fractions import Fraction

import numpy as np
import pytest

from exactref_core.errors import DTypeError
from exactref_core.formats.catalogue import get_format
from exactref_core.formats.rounding import Overflow, Rounding, round_ratio
from exactref_core.formats.rounding_arrays import (
    floor_to_grid,
    integer_pair,
    round_pair,
)
from tests.core.rounding_oracle import (
    FLOATS,
    SMALL,
    beyond,
    choose_upper,
    exact,
    mirrored,
    neighbours,
    random_pairs,
    same,
)

# EXACTREF_THOROUGH=1 in the environment takes more.
PAIRS = 100_000 if os.environ.get("EXACTREF_THOROUGH") == "1" else 30_000
MODES = [mode.value for mode in Rounding]
SPECIALS = np.array([np.inf, -np.inf, np.nan, 0.0, -0.0])


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("fmt", FLOATS, ids=lambda f: f.name)
def test_random_pairs_agree_with_exact_rounding(fmt, mode):
    """Pairs, others in every mode, and 10,000 single values, each rounded as the rational it is."""
    rounding = Rounding(mode)
    high, low = random_pairs(fmt, PAIRS, seed=3 + MODES.index(mode))
    got = round_pair(high, low, fmt, rounding)
    assert same(got, ratios_rounded(high, low, fmt, rounding, Overflow.IEEE))
    high = high[:10_000]
    got = round_pair(high, None, fmt, rounding, Overflow.SATURATE)
    assert same(got, ratios_rounded(high, 0.0 * high, fmt, rounding, Overflow.SATURATE))


def ratios_rounded(high, low, fmt, rounding, overflow):
    expected = []
    for h, t in zip(high.tolist(), low.tolist(), strict=True):
        n, d = h.as_integer_ratio()
        if t:
            m, e = t.as_integer_ratio()  # denominators are powers of two: one divides the other
            common = max(d, e)
            n, d = n * (common // d) + m * (common // e), common
        negative_zero = math.copysign(1.0, h) < 0
        expected.append(round_ratio(n, d, fmt, rounding, overflow, negative_zero))
    return np.array(expected)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("fmt", SMALL, ids=lambda f: f.name)
def test_every_gap_of_a_small_format(fmt, mode):
    """Every value and midpoint, alone and with the smallest float64 to either side."""
    lower, upper, even = neighbours(fmt)
    middle = (lower + upper) / 2
    tiny = np.full(lower.shape, 5e-324)
    nothing = np.zeros(lower.shape)
    for sign in (1.0, -1.0):
        rule = mode if sign > 0 else mirrored(mode)
        for high, low, side in (
            (lower, None, None),
            (middle, None, 0),
            (middle, nothing, 0),
            (middle, tiny, 1),
            (middle, -tiny, -1),
            (np.nextafter(middle, np.inf), None, 1),
            (np.nextafter(middle, 0.0), tiny, -1),
            (np.where(lower > 0, lower, 5e-324), np.where(lower > 0, tiny, 0.0), -1),
            (upper, -tiny, 1),
        ):
            inside = np.zeros(lower.shape, bool) if side is None else choose_upper(rule, side, even)
            expected = np.where(inside, upper, lower)
            expected = np.where(expected > float(fmt.max), beyond(fmt, rule), expected) * sign
            expected = expected if fmt.signed_zero else expected + 0.0
            tails = None if low is None else sign * low
            assert same(round_pair(sign * high, tails, fmt, Rounding(mode)), expected)


def test_the_casts_that_round_twice_are_not_used():
    value = 1 + 2.0**-8 + 2.0**-40  # through float32 this becomes a tie, and then 1.0
    assert round_pair(value, None, get_format("bfloat16")) == 1 + 2.0**-7
    assert round_pair(1 + 2.0**-8, 2.0**-90, get_format("bfloat16")) == 1 + 2.0**-7
    assert round_pair(1 + 2.0**-24, 2.0**-90, get_format("float32")) == 1 + 2.0**-23
    assert round_pair(1 + 2.0**-24, -(2.0**-90), get_format("float32")) == 1.0


def test_float64_moves_to_a_neighbour_only_where_the_mode_says_so():
    float64 = get_format("float64")
    one, after, before = 1.0, 1 + 2.0**-52, 1 - 2.0**-53
    cases = [
        (Rounding.UP, one, 2.0**-80, after),
        (Rounding.UP, one, -(2.0**-80), one),
        (Rounding.DOWN, one, -(2.0**-80), before),
        (Rounding.TOWARD_ZERO, -one, 2.0**-80, -before),
        (Rounding.NEAREST_AWAY, one, 2.0**-53, after),
        (Rounding.NEAREST_AWAY, one, -(2.0**-54), one),
        (Rounding.NEAREST_EVEN, one, 2.0**-53, one),
        (Rounding.UP, np.finfo(float).max, 1.0, math.inf),
    ]
    for rounding, high, low, expected in cases:
        assert round_pair(high, low, float64, rounding) == expected
    top = np.finfo(float).max
    assert round_pair(top, 1.0, float64, Rounding.UP, Overflow.SATURATE) == top


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("fmt", FLOATS, ids=lambda f: f.name)
def test_infinities_nan_and_zeros_pass_through(fmt, mode):
    negative_zero = -0.0 if fmt.signed_zero else 0.0
    top = float(fmt.max)
    for overflow in Overflow:
        if fmt.infinity:
            infinity = np.inf
        else:
            infinity = np.nan if fmt.nan and overflow is Overflow.IEEE else top
        expected = np.array([infinity, -infinity, np.nan, 0.0, negative_zero])
        for low in (None, np.array([np.nan, np.nan, np.nan, 0.0, 0.0])):
            assert same(round_pair(SPECIALS, low, fmt, Rounding(mode), overflow), expected)


def test_nan_payloads_stay_nan():
    patterns = np.array([0x7FF0000000000001, 0x7FFFFFFFFFFFFFFF, -1], np.int64)
    for fmt in FLOATS:
        for rounding in Rounding:
            assert np.isnan(round_pair(patterns.view(np.float64), None, fmt, rounding)).all()


def test_shapes_layouts_and_ownership():
    bfloat16 = get_format("bfloat16")
    values = np.arange(12.0).reshape(3, 4)
    assert round_pair(values[::2, ::-1], None, bfloat16).tolist() == values[::2, ::-1].tolist()
    assert round_pair(values, 0.0, bfloat16).shape == (3, 4)
    assert round_pair(np.zeros((0, 2)), None, bfloat16).shape == (0, 2)
    assert round_pair(2.0, None, bfloat16).shape == ()
    kept = values.copy()
    rounded = round_pair(values, None, get_format("float64"))
    rounded[:] = -1.0
    assert np.array_equal(values, kept)
    long = np.linspace(-1.0, 1.0, 100_003)
    assert np.array_equal(
        round_pair(long, None, get_format("float32")), long.astype(np.float32).astype(float)
    )


def test_complex_formats_round_a_part_and_integers_refuse():
    assert round_pair(0.1, None, get_format("complex64")) == float(np.float32(0.1))
    with pytest.raises(DTypeError, match="int16 is not a floating-point format"):
        round_pair(0.1, None, get_format("int16"))


@pytest.mark.parametrize(
    ("precision", "eta_exponent"),
    [(24, -149), (53, -1074), (8, -133), (11, -24), (24, -1074), (1, -30), (53, -500), (3, 0)],
)
def test_grids_enclose_as_tightly_as_they_can(precision, eta_exponent):
    high, _ = random_pairs(get_format("float64"), 4000, seed=5)
    around, _ = random_pairs(get_format("float32"), 4000, seed=6)
    small = np.ldexp(np.random.default_rng(8).uniform(-40, 40, 2000), eta_exponent)
    values = np.concatenate([high, around, small, [0.0, -0.0]])
    below = floor_to_grid(values, precision, eta_exponent)
    above = -floor_to_grid(-values, precision, eta_exponent)
    for value, floor, ceiling in zip(values.tolist(), below.tolist(), above.tolist(), strict=True):
        magnitude = math.frexp(value)[1] - precision
        unit = Fraction(2) ** (max(magnitude, eta_exponent) if value else 0)
        down = math.floor(Fraction(value) / unit) * unit
        up = math.ceil(Fraction(value) / unit) * unit
        assert floor == (down if down >= -(2**1024) + 2**970 else -math.inf)
        assert ceiling == (up if up < 2**1024 else math.inf)


def test_grids_leave_infinities_and_nan():
    assert same(floor_to_grid(SPECIALS, 24, -149), SPECIALS)
    assert same(floor_to_grid(SPECIALS.reshape(5, 1), 53, -1074), SPECIALS.reshape(5, 1))
    assert floor_to_grid(-1.7976931348623157e308, 24, -149) == -math.inf
    assert floor_to_grid(1e300, 24, -149) <= 1e300


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int32", "uint32", "int64", "uint64", "bool"])
def test_integer_pairs_are_exact(dtype):
    rng = np.random.default_rng(2)
    if dtype == "bool":
        values = np.array([True, False])
    else:
        info = np.iinfo(dtype)
        edges = [info.min, info.max, info.max - 1, info.min + 1, 0, 1, info.max // 2]
        draws = rng.integers(info.min, info.max, 5000, dtype=dtype, endpoint=True)
        shifted = draws >> rng.integers(0, info.bits, 5000).astype(dtype)
        values = np.concatenate([np.array(edges, dtype), draws, shifted])
    high, low = integer_pair(values)
    for value, h, t in zip(values.tolist(), high.tolist(), low.tolist(), strict=True):
        assert exact(h, t) == value
        assert h == float(value)
