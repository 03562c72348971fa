"""Elementary functions: `rounded` and `exact` against flint's ball arithmetic, over all domains."""

from __future__ import annotations

import os
from fractions import Fraction

import numpy as np
import pytest

import exactref as er
from exactref_core.formats.catalogue import get_format
from exactref_core.registry import get_op
from tests.every_op import hostile
from tests.every_op.numbers import MODES

pytest.importorskip("flint")
from tests.core import function_oracle  # needs flint

THOROUGH = os.environ.get("EXACTREF_THOROUGH") == "1"
COUNT = 100_000 if THOROUGH else 900
FORMATS = ("float64", "float32", "bfloat16", "float16")
NAMES = (
    *("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "asin"),
    *("acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "erf", "erfc", "erfinv"),
    *("cbrt", "lgamma", "digamma"),
)
POINTS = (0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 2.0, 3.0, 8.0, 10.0, 27.0, 100.0, 1000.0, -8.0, 1e15)


def arguments(name: str, form: str, count: int) -> np.ndarray:
    """Numbers of every size, near the points where functions turn, saturate, or end."""
    rng = np.random.default_rng([70, len(name), ord(name[0]), ord(name[-1]), len(form)])
    fmt = get_format(form)
    wide = hostile.elements(rng, fmt, count // 3)
    low, high = function_oracle.DOMAINS.get(name, (-np.inf, np.inf))
    scale = rng.choice([1.0, 5.0, 30.0, 120.0, 800.0], count)
    middle = rng.standard_normal(count) * scale
    if low > -2 or high < 2:
        some = rng.random(count) < 0.6
        inner = rng.uniform(max(low, -2), min(high, 4), count)
        middle = np.where(some, inner, middle)
    near = rng.choice(POINTS, count) * (1 + rng.integers(-4, 5, count) * 2.0**-fmt.precision)
    if name in ("lgamma", "digamma"):
        near = rng.integers(-30, 30, count) + rng.standard_normal(count) * 0.1 ** rng.integers(1, 9)
    turns = rng.integers(-40, 40, count) * (np.pi / 2)
    x = np.concatenate([wide, middle[: count // 3], near[: count // 4], turns[: count // 8]])
    return np.asarray(er.asarray(x.tolist(), dtype=form).values(), np.float64)


def same(got: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Where two arrays agree, the signs of zeros included."""
    equal = (got == wanted) & (np.signbit(got) == np.signbit(wanted))
    return equal | (np.isnan(got) & np.isnan(wanted))


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("name", NAMES)
def test_rounded_is_exact(name: str, form: str) -> None:
    x = arguments(name, form, COUNT)
    exact = function_oracle.values(name, x)
    result = getattr(er, name)(er.asarray(x.tolist(), dtype=form))
    wanted = exact.round(get_format(form), "nearest_even", "ieee")
    wrong = np.flatnonzero(~same(np.asarray(result.rounded.values(), np.float64), wanted))
    assert wrong.size == 0, [(float(x[i]).hex(), wanted[i]) for i in wrong[:5]]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", NAMES)
def test_rounded_in_every_mode_and_into_other_formats(name: str, mode: str) -> None:
    x = arguments(name, "float32", 300)
    exact = function_oracle.values(name, x)
    for form in ("float64", "float16", "float8_e5m2"):
        for overflow in ("ieee", "saturate"):
            wanted = exact.round(get_format(form), mode, overflow)
            source = er.asarray(x.tolist(), dtype="float32")
            result = getattr(er, name)(source, dtype=form, rounding=mode, overflow=overflow)
            got = np.asarray(result.rounded.values(), np.float64)
            wrong = np.flatnonzero(~same(got, wanted))
            assert wrong.size == 0, [(float(x[i]).hex(), got[i], wanted[i]) for i in wrong[:5]]


@pytest.mark.parametrize("name", NAMES)
def test_exact_contains_the_value(name: str) -> None:
    x = arguments(name, "float64", 120)
    exact = function_oracle.values(name, x)
    result = getattr(er, name)(x)
    checked = 0
    for i in np.flatnonzero((exact.special == 1.0) & (np.abs(exact.exponent) < 3000)).tolist():
        size = Fraction(int(exact.significand[i])) * Fraction(2) ** int(exact.exponent[i])
        ulp = Fraction(2) ** int(exact.exponent[i])
        low, high = (size, size + (ulp if exact.more[i] else 0))
        if exact.negative[i]:
            low, high = -high, -low
        found = result.exact.value(i)
        middle, radius = found.midpoint.to_fraction(), found.radius
        assert middle - radius <= high, (name, x[i])
        assert middle + radius >= low, (name, x[i])
        assert radius <= abs(low) * Fraction(1, 2**80)
        checked += 1
    assert checked > 30


@pytest.mark.parametrize("name", NAMES)
def test_no_answer_depends_on_the_level(name: str) -> None:
    """One element at a time and many at once, quick kernels and MPFR: the same ranges."""
    x = arguments(name, "float32", 150)
    op = getattr(er, name)
    whole = op(x.astype(np.float32))
    ends = [np.asarray(end.values()) for end in whole.finite_range()]
    for i in range(0, x.size, 7):
        alone = op(x[i : i + 1].astype(np.float32)).finite_range()
        for end, one in zip(ends, alone, strict=True):
            assert same(end[i : i + 1], np.asarray(one.values())).all(), (name, x[i])


def test_every_function_is_an_operation() -> None:
    for name in NAMES:
        assert get_op(name).summary
