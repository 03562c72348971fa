"""Functions in plain float64 stay within the radii they claim, and tell most values."""

from __future__ import annotations

import gmpy2
import numpy as np
import pytest

import exactref as er
from exactref_core.exact.elementary import Function
from exactref_core.exact.elementary_table import FUNCTIONS as OPERATIONS
from exactref_core.exact.elementary_table import INTERNAL
from exactref_core.exact.plain import KERNELS, plain
from exactref_core.exact.plain_pairs import plain_pair

FUNCTIONS = {**OPERATIONS, **INTERNAL}
ORACLE = gmpy2.context(precision=1400, emin=gmpy2.get_emin_min(), emax=gmpy2.get_emax_max())
# Enough where nothing cancels as sin does, and 1400 bits are slow.
SPECIAL = gmpy2.context(ORACLE, precision=400)
PRECISE = dict.fromkeys(("lgamma", "digamma", "trigamma", "erfinv"), SPECIAL)
# Where kernels change, and numbers whose functions are exact.
EDGES = [
    0.0,
    1.0,
    0.5,
    0.25,
    2.0**-30,
    2.0**20,
    2.0**30,
    1.5,
    2.0,
    2.5,
    6.0,
    6.5,
    8.0,
    8.5,
    10.0,
    690.0,
    709.0,
    1000.0,
    5e-324,
]
# The others overflow, lie beyond 2**20, or vanish.
TOLD = 0.7


def arguments(function: Function, rng: np.random.Generator, count: int) -> np.ndarray:
    """Numbers of the domain: of all sizes, near 1, near multiples of a quarter turn, at edges."""
    scaled = rng.standard_normal(count) * 10.0 ** rng.uniform(-14, 3, count)
    turns = rng.integers(-4000, 4000, count // 4) * (np.pi / 4)
    turns *= 1 + rng.integers(-3, 4, turns.size) * 2.0**-52
    near = 2.0 ** rng.uniform(-53, 0, count // 4)
    powers = 2.0 ** rng.uniform(-1074, 1023, count // 4)
    ends = np.concatenate([EDGES, np.nextafter(EDGES, 0.0), np.nextafter(EDGES, 2e3)])
    x = np.concatenate([scaled, turns, 1 - near, 1 + near, powers, ends, rng.uniform(-2, 2, count)])
    x = np.concatenate([x, -x])
    low = -np.inf if function.low is None else function.low
    high = np.inf if function.high is None else function.high
    return x[(x > low) & (x < high)]


def value(function: Function, x: gmpy2.mpfr) -> gmpy2.mpfr:
    """The function to 400 bits or 1400."""
    return function.evaluate(PRECISE.get(function.name, ORACLE), x)


@pytest.mark.parametrize("name", KERNELS)
def test_values_are_within_their_radius(name: str) -> None:
    function = FUNCTIONS[name]
    x = arguments(function, np.random.default_rng(1), 120)
    found = plain(function, x, None)
    assert found is not None
    told = 0
    for a, h, r in zip(x.tolist(), *(part.tolist() for part in found), strict=True):
        if r < np.inf:
            gap = ORACLE.sub(value(function, gmpy2.mpfr(a)), gmpy2.mpfr(h))
            assert abs(gap) <= gmpy2.mpfr(r), (a, h, r)
            told += r <= abs(h) * 2.0**-40
    assert told > TOLD * x.size


@pytest.mark.parametrize("name", KERNELS)
def test_arguments_within_a_spread(name: str) -> None:
    rng = np.random.default_rng(2)
    function = FUNCTIONS[name]
    x = arguments(function, rng, 80)
    spread = np.abs(x) * 2.0 ** rng.uniform(-53, -8, x.size)
    found = plain(function, x, spread)
    assert found is not None
    parts = (part.tolist() for part in (x, spread, *found))
    told = 0
    for a, d, h, r in zip(*parts, strict=True):
        if not r < np.inf:
            continue
        told += 1
        for way in (-1, 1):
            moved = ORACLE.add(gmpy2.mpfr(a), gmpy2.mpfr(way * d))
            gap = ORACLE.sub(value(function, moved), gmpy2.mpfr(h))
            assert abs(gap) <= gmpy2.mpfr(r), (a, d, h, r)
    assert told > x.size / 2


@pytest.mark.parametrize("name", ["lgamma", "digamma", "trigamma"])
def test_at_zeros_and_poles_of_gamma_functions(name: str) -> None:
    """Next to poles and half-integers; digamma's zero 1.46, the minimum; lgamma at 1 and 2."""
    centres = np.concatenate([np.arange(-60, 24) / 2, [1.4616321449683622, -0.5040830082644554]])
    steps = np.concatenate([2.0 ** np.arange(-52, -2, 7), [0.0]])
    x = (centres[:, None] + np.concatenate([steps, -steps])).ravel()
    value_, radius = plain(FUNCTIONS[name], x, None) or ((), ())
    for a, h, r in zip(x.tolist(), value_.tolist(), radius.tolist(), strict=True):
        if r < np.inf:
            gap = SPECIAL.sub(value(FUNCTIONS[name], gmpy2.mpfr(a)), gmpy2.mpfr(h))
            assert abs(gap) <= gmpy2.mpfr(r), a
        else:
            assert a <= 0
            assert a == np.floor(a)
    if name == "lgamma":
        exact = plain(FUNCTIONS[name], np.asarray([1.0, 2.0]), None)
        assert np.asarray(exact).tolist() == [[0.0, 0.0], [0.0, 0.0]]


@pytest.mark.parametrize("name", ["lgamma", "digamma", "erfinv"])
def test_special_functions_are_what_mpfr_rounds(name: str) -> None:
    rng = np.random.default_rng(7)
    x = rng.uniform(-1, 1, 2000) * (1 if name == "erfinv" else 30)
    x[:1000] = (1 - 2.0 ** rng.uniform(-24, -1, 1000)) * (1 if name == "erfinv" else 2)
    x = x.astype(np.float32)[np.abs(x.astype(np.float32)) < (1 if name == "erfinv" else 40)]
    form = gmpy2.context(precision=24, emin=-148, emax=128, subnormalize=True)
    for a, y in zip(x.tolist(), getattr(er, name)(x).rounded.tolist(), strict=True):
        assert y == float(form.plus(value(FUNCTIONS[name], gmpy2.mpfr(a)))), a


@pytest.mark.parametrize("name", [name for name in KERNELS if FUNCTIONS[name].keeps_zero])
def test_zeros_keep_their_signs(name: str) -> None:
    value, radius = plain(FUNCTIONS[name], np.asarray([0.0, -0.0, 0.5]), None) or ((), ())
    assert np.signbit(value).tolist() == [False, True, False]
    assert radius[:2].tolist() == [0.0, 0.0]


@pytest.mark.parametrize("name", ["cbrt", "erf", "erfinv", "lgamma", "log", "log1p"])
def test_a_library_that_errs_changes_nothing(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Numpy's functions are starting points: what they miss is corrected, or nothing is claimed."""
    x = np.random.default_rng(3).uniform(0.05, 0.4, 3000).astype(np.float32)
    want = getattr(er, name)(x).rounded.tolist()
    for other in ("log", "log1p", "cbrt"):
        true = getattr(np, other)
        worse = np.resize([1.0, 1 + 1e-9, 1.5, np.nan], 3000)
        monkeypatch.setattr(np, other, lambda x, f=true, w=worse: f(x) * w[: np.size(x)])
    assert getattr(er, name)(x).rounded.tolist() == want


@pytest.mark.parametrize("name", ["log", "log2", "log10"])
def test_the_logarithm_of_1_is_exact_whatever_the_library_says(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    true = np.log
    monkeypatch.setattr(np, "log", lambda x: true(x) + 1e-17)
    value, radius = plain(FUNCTIONS[name], np.asarray([1.0, 2.0]), None) or ((), ())
    assert (value[0], radius[0]) == (0.0, 0.0)
    assert radius[1] > 0


# What of a library's function: off by far more than the value, by turns, and from the other side.
WRONG = {
    "by 9e-7": lambda y: y + 9e-7,
    "by 2e-7": lambda y: y + 2e-7,
    "by 1e-9": lambda y: y + 1e-9,
    "by 1e-12": lambda y: y - 1e-12,
    "by a turn": lambda y: y + 2 * np.pi,
    "by half a turn": lambda y: y - np.pi,
    "from the other side": lambda y: np.pi - y,
    "without its sign": np.abs,
    "infinite": lambda y: y / 0.0,
}


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("name", ["log", "log1p", "cbrt", "asin", "acos", "atan", "asinh", "atanh"])
def test_no_radius_stands_on_a_library(
    name: str, wrong: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = name.replace("a", "arc", 1) if name.startswith("a") else name
    true, function = getattr(np, other), FUNCTIONS[name]
    monkeypatch.setattr(np, other, lambda x: WRONG[wrong](true(x)))
    x = np.concatenate(
        [10.0 ** np.arange(-300.0, 0, 20), [0.3, 0.6, 0.8, 1 - 2.0**-53, 1.0, 3.0, 30.0]]
    )
    x = x if name == "log" else np.concatenate([x, -x])
    for spread in (None, np.zeros(x.size)):
        for a, h, r in zip(x.tolist(), *(plain(function, x, spread) or ()), strict=True):
            if r < np.inf:
                gap = ORACLE.sub(value(function, gmpy2.mpfr(a)), gmpy2.mpfr(float(h)))
                assert abs(gap) <= gmpy2.mpfr(float(r)), (a, h, r)


def nearest_to_quarter_turns() -> np.ndarray:
    """The numbers up to 2**20 next to a multiple of pi/2 that are 2**-40 and hardly more from it.

    By 119 bits of pi/2; nearer ones are left to others.
    """
    with gmpy2.context(precision=200):
        half = gmpy2.const_pi() / 2
        first = float(gmpy2.mpfr(half, 33))
        second = float(gmpy2.mpfr(half - first, 33))
        third = float(half - first - second)
    k = np.arange(1.0, 667544.0)
    x = k * (np.pi / 2)
    x -= ((x - k * first) - k * second) - k * third
    rest = np.abs(((x - k * first) - k * second) - k * third)
    x, rest = x[rest > 2.0**-40], rest[rest > 2.0**-40]
    return x[np.argsort(rest)[:60]]


@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
def test_where_the_reduction_cancels_most(name: str) -> None:
    x = nearest_to_quarter_turns()
    found = plain(FUNCTIONS[name], x, None) or ((), ())
    for a, h, r in zip(x.tolist(), *found, strict=True):
        if r < np.inf:
            gap = ORACLE.sub(value(FUNCTIONS[name], gmpy2.mpfr(a)), gmpy2.mpfr(float(h)))
            assert abs(gap) <= gmpy2.mpfr(float(r)), (a, h, r)
    assert sum(found[1] < np.inf) > 50


@pytest.mark.parametrize("name", ["erf", "erfc", "erfcx"])
def test_beyond_the_tables(name: str) -> None:
    """Where squares round by most of what is claimed, and up to where the values vanish."""
    rng, function = np.random.default_rng(7), FUNCTIONS[name]
    x = np.concatenate([rng.uniform(6, 6.1, 20), rng.uniform(24, 26.2, 50)])
    x = np.concatenate([x, rng.uniform(26.2, 27.4, 20), rng.uniform(6, 27, 20)])
    x = x if name == "erfcx" else np.concatenate([x, -x[::4]])
    value_, radius = plain(function, x, None) or ((), ())
    for a, h, r in zip(x.tolist(), value_, radius, strict=True):
        if r < np.inf:
            gap = ORACLE.sub(value(function, gmpy2.mpfr(a)), gmpy2.mpfr(float(h)))
            assert abs(gap) <= gmpy2.mpfr(float(r)), (a, h, r)
    assert (radius < np.inf).mean() > 0.95


@pytest.mark.parametrize("name", KERNELS)
def test_no_radius_is_nan(name: str) -> None:
    """NaN would pass for a decision: ends that are NaN both round to the same."""
    x = np.concatenate([EDGES, [2.0, 6.5, 27.0, 1e10, 1e154, 1e200, np.finfo(np.float64).max]])
    x = np.concatenate([x, np.nextafter(x, 0.0), -x])
    x = x[x >= 0] if name == "erfcx" else x
    for size in (None, 0.0, 5e-324, 1e-300, 1e-12, 0.5, 2.0, 1e300, np.inf):
        found = plain(FUNCTIONS[name], x, None if size is None else np.full(x.size, size))
        assert found is not None
        assert np.isfinite(found[0]).all()
        assert (found[1] >= 0).all()


@pytest.mark.parametrize(("name", "at"), [("acosh", 1), ("acos", 1), ("acos", -1), ("asin", 1)])
def test_the_end_of_a_domain_among_inexact_arguments(name: str, at: int) -> None:
    top, bottom = np.float32([at, 1, 5]), np.float32([1, 3, 4.9])
    if name != "acosh":
        top, bottom = np.float32([at, 1, 4.9]), np.float32([1, 3, 5])
    found = getattr(er, name)(er.divide(np.tile(top, 999), np.tile(bottom, 999)))
    form = gmpy2.context(precision=24)
    wanted = float(getattr(form, name)(gmpy2.mpfr(at)))
    assert set(found.rounded.values()[::3].tolist()) == {wanted}


@pytest.mark.parametrize("form", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("name", "end", "step"),
    [
        ("log1p", -1, 2.0**-60),
        ("log1p", -1, -(2.0**-60)),
        ("atanh", 1, -(2.0**-60)),
        ("atanh", 1, 2.0**-60),
        ("erfinv", -1, 2.0**-60),
        ("lgamma", -3, 2.0**-60),
        ("digamma", -2, 2.0**-60),
    ],
)
def test_sums_next_to_the_end_of_a_domain_or_a_pole(
    name: str, end: float, step: float, form: type
) -> None:
    """Their high words are the end or the pole, where they are none."""
    one, other = (np.full(3000, part, form) for part in (end, step))
    found = set(getattr(er, name)(er.add(one, other)).rounded.values().tolist())
    at = ORACLE.add(gmpy2.mpfr(end), gmpy2.mpfr(step))
    if name in ("log1p", "atanh") and not -1 <= at <= 1:
        assert all(np.isnan(y) for y in found)
        return
    wanted = FUNCTIONS[name].evaluate(gmpy2.context(precision=200, round=gmpy2.RoundDown), at)
    assert found == {float(form(float(wanted)))}


def test_erfc_of_numbers_whose_squares_overflow() -> None:
    x = np.full(3000, 1e38, np.float32)
    huge = er.multiply(er.multiply(er.multiply(x, x), x), er.multiply(x, x))
    found = er.erfc(huge).rounded.values()
    assert not found.any()


@pytest.mark.parametrize("rounding", ["nearest_even", "up"])
@pytest.mark.parametrize("name", ["sin", "atan", "expm1", "acosh", "log10"])
def test_rounded_is_what_mpfr_rounds(name: str, rounding: str) -> None:
    rng = np.random.default_rng(4)
    x = (1 + np.abs(rng.standard_normal(4000)) * 10.0 ** rng.uniform(-7, 2, 4000)).astype(
        np.float32
    )
    x = x if name == "acosh" else x - np.float32(1)
    mode = gmpy2.RoundUp if rounding == "up" else gmpy2.RoundToNearest
    form = gmpy2.context(precision=24, emin=-148, emax=128, subnormalize=True, round=mode)
    found = getattr(er, name)(x, rounding=rounding).rounded.tolist()
    for a, y in zip(x.tolist(), found, strict=True):
        assert y == float(getattr(form, name)(gmpy2.mpfr(a))), a


@pytest.mark.parametrize("name", ["pow", "atan2"])
def test_functions_of_two_numbers(name: str) -> None:
    rng = np.random.default_rng(5)
    x = rng.choice([-1, 1], 4000) * 2.0 ** rng.uniform(-60, 60, 4000)
    y = rng.choice([-1, 1], 4000) * 2.0 ** rng.uniform(-20, 6, 4000)
    y[::3], x[::5] = np.rint(y[::3]), 1 + rng.standard_normal(800) * 1e-6
    x[::7] = y[::7] * 2.0 ** rng.uniform(-3, 3, y[::7].size)
    value, radius = plain_pair(name, x, y, None, None) or ((), ())
    told = 0
    for a, b, h, r in zip(x.tolist(), y.tolist(), value, radius, strict=True):
        if r < np.inf:
            want = getattr(ORACLE, name)(gmpy2.mpfr(a), gmpy2.mpfr(b))
            assert abs(ORACLE.sub(want, gmpy2.mpfr(float(h)))) <= gmpy2.mpfr(float(r)), (a, b)
            told += r <= abs(h) * 2.0**-40
    assert told > 0.6 * x.size


def test_powers_within_spreads() -> None:
    rng = np.random.default_rng(6)
    x, y = 2.0 ** rng.uniform(-30, 30, 2000), rng.standard_normal(2000) * 5
    spreads = [np.abs(z) * 2.0 ** rng.uniform(-52, -12, 2000) for z in (x, y)]
    value, radius = plain_pair("pow", x, y, *spreads) or ((), ())
    told = radius < np.inf
    assert told.mean() > 0.9
    for i in np.flatnonzero(told).tolist():
        for one, two in ((-1, -1), (-1, 1), (1, -1), (1, 1)):
            a = ORACLE.add(gmpy2.mpfr(x[i]), gmpy2.mpfr(one * spreads[0][i]))
            b = ORACLE.add(gmpy2.mpfr(y[i]), gmpy2.mpfr(two * spreads[1][i]))
            assert abs(ORACLE.sub(ORACLE.pow(a, b), gmpy2.mpfr(value[i]))) <= gmpy2.mpfr(radius[i])
