"""Activations: exact values by flint's balls; libraries', simulated and faulty kernels judged."""

from __future__ import annotations

import os
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import exactref as er
from exactref_core.errors import InputError
from exactref_core.formats.catalogue import get_format
from tests.every_op.numbers import Number, Numbers

flint = pytest.importorskip("flint")
from tests.core.function_oracle import ABOVE_ZERO, leading, of_float  # noqa: E402  # needs flint
from tests.core.test_functions import arguments, same  # noqa: E402  # needs flint

THOROUGH = os.environ.get("EXACTREF_THOROUGH") == "1"
COUNT = 50_000 if THOROUGH else 500
F32 = np.float32
FORMATS = ("float64", "float32", "bfloat16", "float16")
Ball = Callable[[Any], Any]


def logistic(x: Any) -> Any:
    return 1 / (1 + (-x).exp())


def tanh_gelu(x: Any) -> Any:
    inner = (2 / flint.arb.pi()).sqrt() * (x + flint.arb(flint.fmpq(44715, 1000000)) * x**3)
    return x * logistic(2 * inner)


def softplus(x: Any) -> Any:
    return x if x > 20 else x.exp().log1p()


def elu(x: Any, alpha: Any) -> Any:
    return alpha * x.expm1() if x < 0 else x


def decimal(text: str) -> Any:
    value = Fraction(text)
    return flint.arb(flint.fmpq(value.numerator, value.denominator))


def selu(x: Any) -> Any:
    alpha = decimal("1.6732632423543772848170429916717")
    return decimal("1.0507009873554804934193349852946") * elu(x, alpha)


BALLS: dict[str, tuple[str, dict[str, Any], Ball]] = {
    "sigmoid": ("sigmoid", {}, logistic),
    "silu": ("silu", {}, lambda x: x * logistic(x)),
    "gelu": ("gelu", {}, lambda x: x / 2 * (-x / flint.arb(2).sqrt()).erfc()),
    "gelu by tanh": ("gelu", {"approximate": "tanh"}, tanh_gelu),
    "softplus": ("softplus", {}, softplus),
    "softplus, beta 2": ("softplus", {"beta": 2.0}, lambda x: softplus(2 * x) / 2),
    "mish": ("mish", {}, lambda x: x * x.exp().log1p().tanh()),
    "elu": ("elu", {}, lambda x: elu(x, flint.arb(1))),
    "elu, alpha 0.3": ("elu", {"alpha": 0.3}, lambda x: elu(x, flint.arb(0.3))),
    "selu": ("selu", {}, selu),
}
# Values at -inf and +inf.
LIMITS = {
    "sigmoid": (0.0, 1.0),
    "softplus": (0.0, np.inf),
    "softplus, beta 2": (0.0, np.inf),
    "elu": (-1.0, np.inf),
    "elu, alpha 0.3": (-0.3, np.inf),
    "selu": (None, np.inf),
}
GATED = ("silu", "gelu", "gelu by tanh", "mish")


def value(case: str, x: float) -> Number:
    """One activation of one number."""
    ball = BALLS[case][2]
    if np.isnan(x) or (x == -np.inf and case in GATED):
        return np.nan
    if np.isinf(x) and LIMITS.get(case, (np.nan, np.inf))[x > 0] is not None:
        return of_float(LIMITS.get(case, (np.nan, np.inf))[x > 0])
    if x == 0 and case not in ("sigmoid", "softplus", "softplus, beta 2"):
        return x
    if x < -1e4 and case in (*GATED, "sigmoid", "softplus", "softplus, beta 2"):
        return (case in GATED, *ABOVE_ZERO[1:])
    if x > 1e4 and case in (*GATED, "sigmoid"):
        return near_limit(case, x)
    x = max(x, -1e4)
    for precision in (200, 500, 3000, 40000):
        flint.ctx.prec = precision
        y = ball(flint.arb(x))
        ends = [leading(end) for end in (y.lower(), y.upper())]
        if ends[0] == ends[1]:
            return ends[0]
        if precision > 3000 and abs(x) > 800:  # x less something below all formats
            break
    return near_limit(case, x)


def near_limit(case: str, x: float) -> Number:
    """What a value is that no precision tells from its limit: just inside of it."""
    if case == "sigmoid":
        return (False, (1 << 64) - 1, -64, True)
    if case in GATED:
        _, top, exponent, _ = of_float(x)
        if top == 1 << 63:
            return (False, (1 << 64) - 1, exponent - 1, True)
        return (False, top - 1, exponent, True)
    flint.ctx.prec = 3000
    limit = {"elu": flint.arb(1), "elu, alpha 0.3": flint.arb(0.3)}.get(case)
    if limit is None:
        limit = -selu(flint.arb(-(10**6)))
        return (True, *leading(limit.mid())[1:])
    _, top, exponent, _ = leading(limit)
    if top == 1 << 63:
        return (True, (1 << 64) - 1, exponent - 1, True)
    return (True, top - 1, exponent, True)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("case", BALLS)
def test_rounded_is_exact(case: str, form: str) -> None:
    x = arguments("exp", form, COUNT)
    name, params, _ = BALLS[case]
    exact = Numbers.of([value(case, v) for v in x.tolist()])
    wanted = exact.round(get_format(form), "nearest_even", "ieee")
    result = getattr(er, name)(er.asarray(x.tolist(), dtype=form), **params)
    wrong = np.flatnonzero(~same(np.asarray(result.rounded.values(), np.float64), wanted))
    got = np.asarray(result.rounded.values())
    assert wrong.size == 0, [(float(x[i]).hex(), got[i], wanted[i]) for i in wrong[:5]]


# Of torch 2.13 on CPUs; docs/findings.md has the smallest inputs.
FINDINGS = {
    ("gelu", "float32"): "its vectorised erf errs by up to 6u near -1",
    ("gelu", "bfloat16"): "subnormal numbers are flushed",
    ("gelu", "float16"): "NaN at inf, in arrays of a vector or more",
    ("silu", "bfloat16"): "subnormal numbers are flushed",
    ("mish", "bfloat16"): "subnormal numbers are flushed",
}


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("case", [c for c in BALLS if c != "elu, alpha 0.3"])
def test_torch_is_inside(case: str, form: str) -> None:
    torch = pytest.importorskip("torch")
    name, params, _ = BALLS[case]
    x = torch.tensor(arguments("exp", form, COUNT).tolist(), dtype=getattr(torch, form))
    function = torch.sigmoid if name == "sigmoid" else getattr(torch.nn.functional, name)
    output = function(x, **params)
    result = getattr(er, name)(x, **params)
    outside = ~np.asarray(result.covers(output))
    if (name, form) in FINDINGS and outside.any():
        pytest.xfail(FINDINGS[name, form])
    assert not outside.any(), [(x[i], output[i]) for i in np.flatnonzero(outside)[:3]]


def off(rng: np.random.Generator, y: np.ndarray, units: float) -> np.ndarray:
    """Results of a library function, up to ``units`` u off in float32."""
    with np.errstate(all="ignore"):
        moved = y * (1 + rng.choice([-1.0, 1.0, 0.3], y.shape) * (units - 1) * 2.0**-24)
        return moved.astype(F32)


def kernels(rng: np.random.Generator, x: np.ndarray) -> dict[str, list[Any]]:
    """Float32 kernels of every form that is used, on functions that err as far as they may."""
    wide = x.astype(np.float64)

    def exp(v: np.ndarray) -> np.ndarray:
        return off(rng, np.exp(v.astype(np.float64)), 4)

    one, half = F32(1), F32(0.5)
    from math import erf

    argument = x * F32(np.sqrt(0.5))
    inner = F32(np.sqrt(2 / np.pi)) * (x + F32(0.044715) * (x * x * x))
    nested = x * F32(0.7978845608) * (one + F32(0.044715) * x * x)
    errors = np.vectorize(erf)(argument.astype(np.float64))
    grown = np.log1p(np.exp(-np.abs(wide)))
    return {
        "sigmoid": [
            one / (one + exp(-x)),
            np.where(x < 0, exp(x) / (one + exp(x)), one / (one + exp(-x))),
        ],
        "silu": [x / (one + exp(-x)), x * (one / (one + exp(-x)))],
        "gelu": [half * x * (one + off(rng, errors, 5)), x * half * (one + off(rng, errors, 5))],
        "gelu by tanh": [
            half * x * (one + off(rng, np.tanh(t.astype(np.float64)), 5)) for t in (inner, nested)
        ],
        "softplus": [
            np.where(x > 20, x, off(rng, np.log1p(exp(x).astype(np.float64)), 4)),
            np.where(x > 20, x, np.maximum(x, 0) + off(rng, grown, 4)),
        ],
        "elu": [np.where(x < 0, exp(x) - one, x), np.where(x < 0, off(rng, np.expm1(wide), 4), x)],
        "mish": [x * off(rng, np.tanh(np.log1p(exp(x).astype(np.float64)).astype(F32)), 4)],
    }


@pytest.mark.parametrize("seed", range(20 if THOROUGH else 4))
def test_simulated_kernels_are_inside(seed: int) -> None:
    rng = np.random.default_rng([9, seed])
    x = np.concatenate([rng.standard_normal(400) * s for s in (0.01, 1, 4, 30)]).astype(F32)
    with np.errstate(all="ignore"):
        found = kernels(rng, x)
    for case, outputs in found.items():
        name, params, _ = BALLS[case]
        result = getattr(er, name)(x, **params)
        for output in outputs:
            outside = ~np.asarray(result.covers(np.asarray(output, F32)))
            assert not outside.any(), (case, x[outside][:3], np.asarray(output)[outside][:3])


def sigmoid32(x: np.ndarray) -> np.ndarray:
    return F32(1) / (F32(1) + np.exp(-x))


FAULTS: dict[str, tuple[str, dict[str, Any], Callable[[np.ndarray], Any]]] = {
    "tanh form for the erf form": (
        "gelu",
        {},
        lambda x: F32(0.5) * x * (F32(1) + np.tanh(F32(0.79788456) * (x + F32(0.044715) * x**3))),
    ),
    "gelu by a sigmoid of 1.702 x": ("gelu", {}, lambda x: x * sigmoid32(F32(1.702) * x)),
    "a short constant": (
        "gelu",
        {"approximate": "tanh"},
        lambda x: F32(0.5) * x * (F32(1) + np.tanh(F32(0.79788) * (x + F32(0.044715) * x**3))),
    ),
    "sigmoid in bfloat16": (
        "silu",
        {},
        lambda x: x * np.asarray(er.asarray(sigmoid32(x).tolist(), "bfloat16").values(), F32),
    ),
    "sigmoid of -x": ("silu", {}, lambda x: x * sigmoid32(-x)),
    "alpha left out": ("elu", {"alpha": 0.5}, lambda x: np.where(x < 0, np.expm1(x), x)),
    "scale left out": ("selu", {}, lambda x: np.where(x < 0, F32(1.6732632) * np.expm1(x), x)),
    "threshold of 2": ("softplus", {}, lambda x: np.where(x > 2, x, np.log1p(np.exp(x)))),
    "tanh of the exponential": ("mish", {}, lambda x: x * np.tanh(np.exp(x))),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_planted_faults_are_outside(fault: str) -> None:
    name, params, kernel = FAULTS[fault]
    x = (np.random.default_rng(2).standard_normal(400) * 2).astype(F32)
    result = getattr(er, name)(x, **params)
    outside = ~np.asarray(result.covers(np.asarray(kernel(x), F32), "any_order"))
    assert outside.mean() > 0.1, outside.mean()


def test_gated_products() -> None:
    rng = np.random.default_rng(0)
    gate, x = (rng.standard_normal(300).astype(F32) for _ in range(2))
    fused = gate / (F32(1) + np.exp(-gate)) * x
    assert np.asarray(er.swiglu(gate, x).covers(fused)).all()
    assert not np.asarray(er.swiglu(gate, x).covers(er.swiglu(x, gate).rounded)).any()
    both = er.multiply(er.gelu(gate), x).rounded  # stored between: another number in places
    assert np.asarray(er.geglu(gate, x).covers(both)).mean() > 0.9
    exact = er.geglu(gate, x, approximate="tanh").exact.value(0).midpoint.to_fraction()
    flint.ctx.prec = 300
    wanted = tanh_gelu(flint.arb(float(gate[0]))) * flint.arb(float(x[0]))
    assert abs(float(exact) - float(wanted)) <= 1e-15 * abs(float(wanted))


def test_chains_keep_bounds_finite() -> None:
    x = F32([[0.5, -2.0, 3.0], [1.0, 2.0, -4.0]])
    hidden = er.gelu(er.matmul(x, er.asarray(np.ones((3, 4)), "float32")))
    assert np.isfinite(hidden.tolerance().tolist()).all()
    near_zero = er.elu(er.sum(F32([[1.0, 2.0**-25, -1.0]]), axis=1))
    assert near_zero.tolerance().tolist()[0] < 1e-6


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: er.gelu([1.0], approximate="erf"), "approximate must be 'none' or 'tanh'"),
        (lambda: er.elu([1.0], alpha="1"), "alpha must be a number"),
        (lambda: er.elu([1.0], alpha=float("inf")), "alpha must be a finite number"),
        (lambda: er.softplus([1.0], beta=0), "beta must not be 0"),
        (lambda: er.swiglu([1.0, 2.0], [1.0, 2.0, 3.0]), "gate and x have shapes"),
    ],
)
def test_bad_arguments(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        call()
