"""Float64 kernels of elementary functions and their slopes stay within what they claim."""

from __future__ import annotations

import gmpy2
import numpy as np
import pytest

import exactref as er
from exactref_core.exact.elementary_arrays import changes
from exactref_core.exact.elementary_quick import KERNELS, quick
from exactref_core.exact.elementary_slopes import SLOPES
from exactref_core.exact.elementary_table import FUNCTIONS
from exactref_core.exact.precise_exponentials import precise_exp, precise_log
from exactref_core.exact.taylor_tables import TABLES

NAMES = (*TABLES, *KERNELS)
ORACLE = gmpy2.context(precision=1400)


def arguments(name: str, rng: np.random.Generator, count: int) -> np.ndarray:
    """Numbers of the domain: tiny ones, cell borders, around where kernels change, far ones."""
    scales = 10.0 ** rng.uniform(-12, 3, count)
    x = rng.standard_normal(count) * scales
    borders = (rng.integers(-12 * 256, 12 * 256, count) + 0.5) / 256
    moved = np.nextafter(borders, rng.choice([-99.0, 99.0], count))
    ends = np.asarray([0.0, -0.0, 1.0, -1.0, 6.0, -6.0, 10.0, -10.0, 2.0**-9, -(2.0**-9), 5e-324])
    near = np.concatenate([np.nextafter(ends, 99.0), np.nextafter(ends, -99.0)])
    x = np.concatenate([x, borders, moved, ends, near])
    if name == "log":
        return x[x > 0]
    return x[x > -1] if name == "log1p" else x


def exact(name: str, x: float, low: float) -> gmpy2.mpfr:
    """The function of a pair, to 1400 bits."""
    with gmpy2.context(ORACLE):
        return getattr(gmpy2, name)(gmpy2.mpfr(x) + gmpy2.mpfr(low))


@pytest.mark.parametrize("name", NAMES)
def test_values_are_within_their_radius(name: str) -> None:
    rng = np.random.default_rng(1)
    x = arguments(name, rng, 400)
    low = x * 2.0**-54 * rng.uniform(-1, 1, x.size) * rng.integers(0, 2, x.size)
    if name == "log1p":
        low = np.where(x + low > -1, low, 0.0)
    found = quick(name, x, low, None)
    assert found is not None
    told = 0
    for a, b, h, t, r in zip(x, low, *found, strict=True):
        if not np.isfinite(r):
            continue
        value = exact(name, a, b)
        with gmpy2.context(ORACLE):
            gap = abs(value - gmpy2.mpfr(h) - gmpy2.mpfr(t))
            assert gap <= gmpy2.mpfr(r), (name, a, b)
            told += bool(gmpy2.mpfr(r) <= abs(value) * 2.0**-44)
        assert h == h + t
    assert told > x.size / 2


@pytest.mark.parametrize("name", NAMES)
def test_arguments_known_up_to_a_radius(name: str) -> None:
    rng = np.random.default_rng(2)
    x = arguments(name, rng, 300)
    spread = np.abs(x) * 10.0 ** rng.uniform(-16, -2, x.size)
    h, t, r = quick(name, x, None, spread) or (x, x, x)
    for a, d, *parts in zip(x, spread, h, t, r, strict=True):
        if not np.isfinite(parts[2]):
            continue
        for side in (-1, 1):
            with gmpy2.context(ORACLE):
                moved = gmpy2.mpfr(a) + side * gmpy2.mpfr(d)
                value = getattr(gmpy2, name)(moved)
                middle = gmpy2.mpfr(parts[0]) + gmpy2.mpfr(parts[1])
                assert abs(value - middle) <= gmpy2.mpfr(parts[2]), (name, a, d)


def test_zeros_keep_their_signs() -> None:
    zeros = np.asarray([0.0, -0.0])
    for name in ("erf", "tanh", "expm1", "log1p"):
        h, t, r = quick(name, zeros, None, None) or ()
        assert np.array_equal(np.signbit(h), [False, True])
        assert not t.any()
        assert not r.any()


@pytest.mark.parametrize("name", SLOPES)
def test_moves_agree_with_certified_ones(name: str) -> None:
    """Float64 brackets of how far a function moves hold those of MPFR, and are tight."""
    rng = np.random.default_rng(3)
    function = FUNCTIONS[name]
    x = np.concatenate([rng.standard_normal(200) * 10.0 ** rng.uniform(-9, 2, 200), [0.5, 0.0]])
    x = x[(x > (-np.inf if function.low is None else function.low))]
    x = x[(x < (np.inf if function.high is None else function.high))]
    most = np.abs(x) * 2.0**-22 * rng.uniform(0.1, 1, x.size) + 2.0**-60
    least = most * (1 - 2.0**-45)
    zero = np.zeros(x.size)
    fast = changes(function, (x, zero, zero), least, most, False)
    sure = changes(function, (x, zero, zero), least, most, True)
    assert np.all(fast[0] <= sure[1])
    assert np.all(sure[0] <= fast[1])
    for a, e, high in zip(x, most, fast[1], strict=True):
        at = function.evaluate(ORACLE, gmpy2.mpfr(a))
        for way in (-1, 1):
            with gmpy2.context(ORACLE):
                moved = gmpy2.mpfr(a) + way * gmpy2.mpfr(e)
                if function.outside(gmpy2.mpq(moved)) is None:
                    assert abs(function.evaluate(ORACLE, moved) - at) <= high, (name, a)
    close = (fast[0] > 0) & (fast[1] <= fast[0] * (1 + 2.0**-13))
    assert close.mean() > 0.9


@pytest.mark.parametrize("form", ["float32", "float64", "bfloat16"])
def test_ranges_do_not_depend_on_the_kernels(form: str) -> None:
    """Many elements at once take the kernels, one at a time takes MPFR: the same ranges."""
    rng = np.random.default_rng(4)
    given = rng.standard_normal(2400) * 10.0 ** rng.uniform(-6, 1.5, 2400)
    x = er.asarray(given.tolist(), form)
    picked = rng.permutation(2400)[:60]
    for op in (er.gelu, er.tanh, er.erf, er.erfc, er.mish, er.softplus, er.expm1):
        many, some = op(x), op(er.asarray(given[picked].tolist(), form))
        for standard in ("normal", "any_order"):
            ends = zip(
                many.finite_range(standard=standard),
                some.finite_range(standard=standard),
                strict=True,
            )
            for one, other in ends:
                assert np.array_equal(one.values()[picked], other.values(), equal_nan=True)
        assert np.array_equal(many.rounded.values()[picked], some.rounded.values())


@pytest.mark.parametrize("name", ["exp", "log"])
def test_pairs_of_the_second_stage(name: str) -> None:
    """Double-double exponentials and logarithms: within their radius, and 2**-90 of the value."""
    rng = np.random.default_rng(5)
    x = np.concatenate([rng.standard_normal(300) * 10.0**s for s in (-12, -3, 0, 1, 2.4)])
    x = np.concatenate([x, [0.0, 709.0, -690.0, -689.9, -690.1, 709.1]])
    if name == "log":
        x = np.exp(np.clip(x, -600, 600))
    low = x * 2.0**-53 * rng.uniform(-1, 1, x.size) * rng.integers(0, 2, x.size)
    function = precise_exp if name == "exp" else precise_log
    told = 0
    for a, b, h, t, r in zip(x, low, *function(x, low), strict=True):
        if not np.isfinite(r):
            assert name == "exp"
            assert a > 709
            continue
        value = exact(name, a, b)
        with gmpy2.context(ORACLE):
            assert abs(value - gmpy2.mpfr(h) - gmpy2.mpfr(t)) <= gmpy2.mpfr(r), (name, a, b)
            size = max(abs(value), 1) if name == "log" else abs(value)
            told += bool(gmpy2.mpfr(r) <= size * 2.0**-90)
        assert h == h + t
    assert told > 0.7 * x.size


@pytest.mark.parametrize("precise", [False, True])
@pytest.mark.parametrize("name", ["sinh", "cosh", "exp", "expm1"])
def test_a_change_beyond_float64_is_no_missing_bound(name: str, precise: bool) -> None:
    """Both ends inf would say that the function has no bound there."""
    x = np.array([695.0, 800.0])
    known = (x, np.zeros(2), np.zeros(2))
    error = np.full(2, 20.0)
    least, most = changes(FUNCTIONS[name], known, error, error, precise)
    assert np.isfinite(least).all()
    assert np.isinf(most).all()


@pytest.mark.parametrize("count", range(1, 7))
def test_the_least_changes_are_rounded_outward(count: int) -> None:
    """Of tiny arguments, whose changes are no multiples of the smallest subnormal number."""
    x = np.array([9 * 2.0**-1074])
    error = np.array([count * 2.0**-1074])
    for name in ("erf", "cbrt", "sinh"):
        known = (x, np.zeros(1), np.zeros(1))
        (least,), (most,) = changes(FUNCTIONS[name], known, error, error, True)
        steps = (-float(error[0]), 0.0, float(error[0]))
        low, here, high = (exact(name, float(x[0]), step) for step in steps)
        with gmpy2.context(ORACLE):
            assert least <= max(here - low, high - here) <= most
