"""Kernels in plain float64 where libraries err, reductions cancel, tables and domains end."""

from __future__ import annotations

import gmpy2
import numpy as np
import pytest

import exactref as er
from exactref_core.exact.plain import KERNELS, plain
from tests.core.test_plain_kernels import EDGES, FUNCTIONS, ORACLE, value

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
    asked = []

    def replaced(x: np.ndarray) -> np.ndarray:
        asked.append(np.size(x))
        found: np.ndarray = WRONG[wrong](true(x))
        return found

    monkeypatch.setattr(np, other, replaced)
    x = np.concatenate(
        [10.0 ** np.arange(-300.0, 0, 20), [0.3, 0.6, 0.8, 1 - 2.0**-53, 1.0, 3.0, 30.0]]
    )
    x = x if name == "log" else np.concatenate([x, -x])
    for spread in (None, np.zeros(x.size)):
        for a, h, r in zip(x.tolist(), *(plain(function, x, spread) or ()), strict=True):
            if r < np.inf:
                gap = ORACLE.sub(value(function, gmpy2.mpfr(a)), gmpy2.mpfr(float(h)))
                assert abs(gap) <= gmpy2.mpfr(float(r)), (a, h, r)
        assert asked, "the function that errs was not asked"
        asked.clear()


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
