"""Enclosures rounded to float64: what is decided is what every number in them rounds to."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from exactref_core.arithmetic.approx import Approx
from exactref_core.arithmetic.graph import Store
from exactref_core.arithmetic.rounded_blocks import round_in_blocks
from exactref_core.exact.products import norms
from exactref_core.exact.split_products import in_blocks, sliced
from exactref_core.formats.catalogue import get_format
from exactref_core.formats.rounding import Overflow, Rounding

FLOAT64 = get_format("float64")


def store(rounding: Rounding) -> Store:
    return Store(FLOAT64, rounding, Overflow.IEEE, lone=False)


def expected(value: Fraction, rounding: Rounding) -> float:
    """A number rounded to float64, from its two neighbours there."""
    near = float(value)  # Python: to nearest, ties to even
    if near == value:
        return near
    other = float(np.nextafter(near, np.inf if near < value else -np.inf))
    below, above = sorted((near, other))
    if rounding is Rounding.NEAREST_EVEN:
        return near
    if rounding is Rounding.NEAREST_AWAY:
        tie = value - Fraction(below) == Fraction(above) - value
        return max(below, above, key=abs) if tie else near
    if rounding is Rounding.TOWARD_ZERO:
        return min(below, above, key=abs)
    return above if rounding is Rounding.UP else below


def enclosures() -> Approx:
    """Numbers beside the points at which rounding switches, of every size."""
    rng = np.random.default_rng(2)
    high = np.ldexp(
        rng.choice([1.0, 1 + 2.0**-52, 1.5, 2 - 2.0**-52], 4000), rng.integers(-900, 900, 4000)
    )
    high *= rng.choice([-1.0, 1.0], 4000)
    half = np.spacing(np.abs(high)) / 2
    inward = np.where(np.frexp(np.abs(high))[0] == 0.5, half / 2, half)  # below a power of two
    share = rng.choice([0.0, 2.0**-60, 0.5, 1 - 2.0**-20, 1.0], 4000)
    low = np.where(rng.random(4000) < 0.5, half, -inward) * np.sign(high) * share
    radius = half * rng.choice([0.0, 2.0**-40, 2.0**-20, 0.25, 2.0], 4000)
    keep = high + low == high
    high, low, radius = (np.concatenate([x[keep], [0.0]]) for x in (high, low, radius))
    return Approx(high, low, radius)


@pytest.mark.parametrize("rounding", Rounding)
def test_what_is_decided_is_right(rounding: Rounding) -> None:
    x = enclosures()
    found, undecided = round_in_blocks(x, store(rounding))
    assert x.low is not None
    assert x.radius is not None
    for i in range(x.high.size):
        middle = Fraction(x.high[i]) + Fraction(x.low[i])
        ends = {expected(middle + side * Fraction(x.radius[i]), rounding) for side in (-1, 1)}
        if not undecided[i]:
            assert ends == {found[i]}
    assert 0.2 < np.mean(undecided) < 0.8


def nearest(value: Fraction, dtype: type) -> float:
    """A number rounded to nearest in a narrower format, from its neighbours there."""
    near = dtype(float(value))
    below, above = np.nextafter(near, dtype(-np.inf)), np.nextafter(near, dtype(np.inf))
    bits = f"i{near.itemsize}"
    return float(
        min(
            (x for x in (below, near, above) if np.isfinite(x)),
            key=lambda x: (abs(Fraction(float(x)) - value), int(x.view(bits)) & 1),
        )
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_narrow_formats(dtype: type) -> None:
    """Numbers about the midpoints of a narrow format, down to its subnormals."""
    rng = np.random.default_rng(4)
    value = np.ldexp(rng.standard_normal(2000), rng.integers(-26, 14, 2000)).astype(dtype)
    value[:40] = np.finfo(dtype).smallest_subnormal * np.arange(-20, 20)
    high = (value.astype(np.float64) + np.nextafter(value, dtype(1)).astype(np.float64)) / 2
    high += np.abs(high) * 2.0**-50 * rng.integers(-3, 4, 2000)
    radius = np.abs(high) * rng.choice([0.0, 2.0**-52, 2.0**-45, 2.0**-30, 2.0**-13], 2000)
    given = Store(get_format(np.dtype(dtype).name), Rounding.NEAREST_EVEN, Overflow.IEEE, False)
    found, undecided = round_in_blocks(Approx(high, None, radius), given)
    for i in np.flatnonzero(~undecided):
        for side in (-1, 1):
            assert found[i] == nearest(Fraction(high[i]) + side * Fraction(radius[i]), dtype)
    assert 0.2 < np.mean(undecided) < 0.95


def test_zeros_keep_their_signs() -> None:
    high, none = np.array([0.0, -0.0]), np.zeros(2)
    found, undecided = round_in_blocks(Approx(high, none, none), store(Rounding.NEAREST_EVEN))
    assert np.signbit(found).tolist() == [False, True]
    assert not undecided.any()


@pytest.mark.parametrize(
    "shape", [(1, 1, 1), (1, 700, 90), (5, 3, 4), (9000, 2, 3), (3, 2, 20_000)]
)
def test_blocks_hold_every_element_once(shape: tuple[int, int, int]) -> None:
    seen = np.zeros(shape, int)
    for here in in_blocks(*shape):
        seen[here] += 1
    assert (seen == 1).all()


@pytest.mark.parametrize("bits", [1, 22, 26, 45, 53])
def test_slices_are_the_nearest_multiples(bits: int) -> None:
    rng = np.random.default_rng(bits)
    most = 1.0 if bits < 52 else 0.25
    x = np.concatenate(
        [rng.uniform(-most, most, 500), [most, -most, 0.0, 2.0**-1074, 2.0 ** (-bits - 1)]]
    )
    for value, found in zip(x, sliced(x, bits), strict=True):
        scaled = Fraction(value) * 2**bits
        assert Fraction(found) * 2**bits == round(scaled)  # Python: half to even, as float64


@pytest.mark.parametrize("exponent", [0, -400, -530, -1060, 300, 490, 1000])
def test_norms_are_upper_bounds(exponent: int) -> None:
    rng = np.random.default_rng(exponent + 2000)
    x = np.ldexp(rng.standard_normal((4, 30)), exponent)
    x[1, 3:] = 0
    x[2] *= 2.0**-30
    x[3] = 0
    for axis, rows in ((-1, x), (-2, x.T)):
        for row, found in zip(rows, norms(x, axis), strict=True):
            square = sum(Fraction(value) ** 2 for value in row)
            assert square <= Fraction(found) ** 2
            if exponent > -1000:
                assert Fraction(found) ** 2 <= square * Fraction(1 + 2.0**-40)
