"""Elementary functions: libraries are inside their bounds; values beyond and planted faults out."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import exactref as er
from exactref_core.exact.elementary_table import FUNCTIONS

pytest.importorskip("flint")
from tests.core import function_oracle  # needs flint
from tests.core.test_functions import NAMES, THOROUGH, arguments  # needs flint

COUNT = 60_000 if THOROUGH else 1_500
F32 = np.float32
UNIT = 2.0**-24
# Of torch 2.13 on CPUs; docs/findings.md has the smallest inputs.
FINDINGS = {
    **{
        (name, form): "overflows where e^x does, but not its half, in long arrays"
        for name in ("sinh", "cosh")
        for form in ("float64", "float32", "bfloat16")
    },
    ("erf", "float16"): "right to 1e-7 absolutely, not relatively: 0 for small numbers",
    ("erf", "bfloat16"): "right to 1e-7 absolutely, not relatively: 0 for small numbers",
    ("digamma", "float64"): "reduces pi x to a turn, not to half of one: wrong above -1, -2, ...",
}
LIBRARY = {
    "asin": "arcsin",
    "acos": "arccos",
    "atan": "arctan",
    "asinh": "arcsinh",
    "acosh": "arccosh",
    "atanh": "arctanh",
}


@pytest.mark.parametrize("form", ["float32", "float64"])
@pytest.mark.parametrize("name", [n for n in NAMES if hasattr(np, LIBRARY.get(n, n))])
def test_numpy_is_inside(name: str, form: str) -> None:
    x = arguments(name, form, COUNT).astype(form)
    with np.errstate(all="ignore"):
        output = getattr(np, LIBRARY.get(name, name))(x)
    outside = ~np.asarray(getattr(er, name)(x).covers(output))
    assert not outside.any(), [(x[i], output[i]) for i in np.flatnonzero(outside)[:3]]


@pytest.mark.parametrize("form", ["float32", "float64", "bfloat16", "float16"])
@pytest.mark.parametrize("name", [n for n in NAMES if n != "cbrt"])
def test_torch_is_inside(name: str, form: str) -> None:
    torch = pytest.importorskip("torch")
    x = torch.tensor(arguments(name, form, COUNT).tolist(), dtype=getattr(torch, form))
    function = getattr(torch, name, None) or getattr(torch.special, name)
    result = getattr(er, name)(x)
    outside = ~np.asarray(result.covers(function(x)))
    if (name, form) in FINDINGS and outside.any():
        pytest.xfail(FINDINGS[name, form])
    assert not outside.any(), [(x[i], function(x)[i]) for i in np.flatnonzero(outside)[:3]]


def centre(name: str, x: np.ndarray) -> np.ndarray:
    """Values in float64, of float32 arguments, where they are normal float32 numbers."""
    return function_oracle.values(name, x).round(
        er.asarray([], "float64").format, "nearest_even", "ieee"
    )


@pytest.mark.parametrize("name", NAMES)
def test_the_bound_is_what_it_says(name: str) -> None:
    """Rounded to float32, values ``units`` * u off are inside, those 3u further are not."""
    x = arguments(name, "float32", 900).astype(F32)
    y = centre(name, x.astype(np.float64))
    some = np.isfinite(y) & (np.abs(y) > 1e-36) & (np.abs(y) < 1e38)
    # Where errors are relative alone.
    some &= x > {"lgamma": 0.0, "digamma": 10.0}.get(name, -np.inf)
    x, y, units = x[some], y[some], FUNCTIONS[name].units
    result = getattr(er, name)(x)
    exact = np.asarray(result.tolerance()) == 0
    for sign in (1, -1):
        near = (y * (1 + sign * units * UNIT * (1 - 2.0**-20))).astype(F32)
        assert np.asarray(result.covers(near)).all()
        # Half an ulp of rounding either side, and the ends rounded outward: at most 2u + 2u.
        far = (y * (1 + sign * (units + 5) * UNIT)).astype(F32)
        assert not np.asarray(result.covers(far))[~exact].any()


def late(function: Callable[..., Any]) -> Callable[[np.ndarray], np.ndarray]:
    """A function of arguments that were rounded to bfloat16."""
    return lambda x: function(np.asarray(er.asarray(x.tolist(), "bfloat16").values(), F32))


FAULTS: dict[str, tuple[str, Callable[[np.ndarray], Any], tuple[float, float]]] = {
    "log of 1 + x for small x": ("log1p", lambda x: np.log(F32(1) + x), (1e-6, 1e-3)),
    "exp less 1 for small x": ("expm1", lambda x: np.exp(x) - F32(1), (1e-6, 1e-3)),
    "1 - erf": ("erfc", lambda x: F32(1) - np.vectorize(erf)(x).astype(F32), (2.0, 4.0)),
    "sine reduced by a float32 pi": (
        "sin",
        lambda x: np.sin(x - np.round(x / F32(2 * np.pi)) * F32(2 * np.pi)),
        (1e3, 1e4),
    ),
    "exp of a bfloat16 argument": ("exp", late(np.exp), (1.0, 4.0)),
    "exp in base 2 by a short log2 e": ("exp", lambda x: np.exp2(x * F32(1.4427)), (1.0, 9.0)),
    "tanh of the sigmoid's halves": (
        "tanh",
        lambda x: F32(2) / (F32(1) + np.exp(F32(-2) * x)) - F32(1),
        (1e-4, 1e-3),
    ),
    "natural log for log2": ("log2", np.log, (3.0, 9.0)),
    "degrees": ("cos", lambda x: np.cos(np.radians(x)), (1.0, 9.0)),
    "asinh's formula for small x": (
        "asinh",
        lambda x: np.log(x + np.sqrt(x * x + F32(1))),
        (1e-4, 1e-3),
    ),
    "a Taylor polynomial": ("cosh", lambda x: F32(1) + x * x / F32(2), (0.5, 1.0)),
}


def erf(x: float) -> float:
    import math

    return math.erf(x)


@pytest.mark.parametrize("fault", FAULTS)
def test_planted_faults_are_outside(fault: str) -> None:
    name, kernel, (low, high) = FAULTS[fault]
    x = np.random.default_rng(5).uniform(low, high, 400).astype(F32)
    output = np.asarray(kernel(x), F32)
    outside = ~np.asarray(getattr(er, name)(x).covers(output, "any_order"))
    assert outside.mean() > 0.3, outside.mean()
    right = np.asarray(getattr(er, name)(x).rounded, F32)
    assert np.asarray(getattr(er, name)(x).covers(right)).all()


def test_flushes_to_zero() -> None:
    x = F32([1e-40, -1e-40, 1.0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.asarray(er.log(x[:1]).covers(F32([-np.inf]), flush_to_zero=True)).all()
        assert not np.asarray(er.log(x[:1]).covers(F32([-np.inf]))).any()
        assert np.asarray(er.sin(x).covers(F32([0, 0, np.sin(F32(1))]), flush_to_zero=True)).all()
        assert np.isfinite(np.asarray(er.log(x[:1]).tolerance(flush_to_zero=True))).all()


def test_chains_carry_errors_and_flags() -> None:
    x = F32([[3e38, 3e38], [1.0, 2.0]])
    total = er.exp(er.sum(x, axis=1))
    assert total.may_be("+inf").tolist() == [True, False]
    assert er.log(er.subtract(F32([1.0]), F32([2.0]))).rounded.tolist()[0] != 0  # NaN
    # A sum of 1 and -1 with an error may be below 0: its log NaN, -inf, or a number.
    near = er.log(er.sum(F32([1.0, 2.0**-30, -1.0])))
    assert near.may_be("nan").tolist()
    assert near.may_be("-inf").tolist()
    assert np.isinf(near.tolerance().tolist())
    assert er.tanh(er.sum(x, axis=1)).tolerance().tolist()[1] < 1e-6
