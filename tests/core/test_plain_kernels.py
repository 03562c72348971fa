"""Functions in plain float64 stay within the radii they claim, and tell most values."""

from __future__ import annotations

import gmpy2
import mpmath
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
# The same functions by another library.
OTHERS = {
    "lgamma": lambda x: mpmath.re(mpmath.loggamma(x)),
    "digamma": mpmath.digamma,
    "trigamma": lambda x: mpmath.psi(1, x),
    "erfinv": mpmath.erfinv,
}
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


@pytest.mark.parametrize("name", OTHERS)
def test_what_others_are_judged_by_is_judged_by_another_library(name: str) -> None:
    """MPFR has no such functions, or not to the precision that is asked for."""
    rng = np.random.default_rng(9)
    x = arguments(FUNCTIONS[name], rng, 40)
    x = x[(np.abs(x) < 1e5) & (np.abs(x) > 1e-300) & ((x > 0) | (x != np.rint(x)))]
    with mpmath.workprec(430):
        for a in rng.choice(x, 60, replace=False).tolist():
            mantissa, exponent = value(FUNCTIONS[name], gmpy2.mpfr(a)).as_mantissa_exp()
            found, wanted = mpmath.ldexp(int(mantissa), int(exponent)), OTHERS[name](mpmath.mpf(a))
            assert abs(found - wanted) <= max(abs(wanted), mpmath.mpf(2) ** -60) * 2.0**-380, a


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
