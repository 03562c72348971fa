"""Gradients of the activations: exact by flint's balls near 0, told from their limits far out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import exactref as er
from exactref_core.exact.elementary_table import INTERNAL
from exactref_core.formats.catalogue import get_format
from tests.every_op.numbers import MODES, Number, Numbers

flint = pytest.importorskip("flint")
from tests.core.function_oracle import leading  # noqa: E402  # needs flint
from tests.core.test_functions import same  # noqa: E402  # needs flint

TINY = (False, 1 << 63, -(1 << 20), True)
ABOVE_ONE = (False, 1 << 63, -63, True)


def logistic(x: Any) -> Any:
    return 1 / (1 + (-x).exp())


def silu(x: Any) -> Any:
    s = logistic(x)
    return s * (1 + x * (1 - s))


def gelu(x: Any) -> Any:
    density = (-x * x / 2).exp() / (2 * flint.arb.pi()).sqrt()
    return (-x / flint.arb(2).sqrt()).erfc() / 2 + x * density


def tanh_gelu(x: Any) -> Any:
    root, c = (2 / flint.arb.pi()).sqrt(), flint.arb(flint.fmpq(44715, 1000000))
    s = logistic(2 * root * (x + c * x**3))
    return s + x * s * (1 - s) * 2 * root * (1 + 3 * c * x**2)


def mish(x: Any) -> Any:
    t = x.exp().log1p().tanh()
    return t + x * logistic(x) * (1 - t * t)


SLOPES: dict[str, tuple[str, dict[str, Any], Callable[[Any], Any]]] = {
    "silu": ("silu", {}, silu),
    "gelu": ("gelu", {}, gelu),
    "gelu by tanh": ("gelu", {"approximate": "tanh"}, tanh_gelu),
    "mish": ("mish", {}, mish),
}
NEAR = (0.5, -0.5, 1.0, -1.0, 0.75, -0.7517, -1.2784645, -1.1924, 3.0, -3.0, 12.5, -12.5, 30.0, -30)
FAR = (2e4, 1e5, 1e7, 1e10, 1e15, 1e30, 1e100, 1e300)


def slope(case: str, x: float) -> Number:
    """The slope at one argument: 1 and something, or something below 0, far out."""
    if abs(x) >= FAR[0]:
        return ABOVE_ONE if x > 0 else (True, *TINY[1:])
    for precision in (200, 4000, 40000):
        flint.ctx.prec = precision
        y = SLOPES[case][2](flint.arb(x))
        ends = [leading(end) for end in (y.lower(), y.upper())]
        if ends[0] == ends[1]:
            return ends[0]
    raise AssertionError((case, x))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("case", SLOPES)
def test_slopes_are_exact_and_decided_far_out(case: str, mode: str) -> None:
    x = np.asarray([*NEAR, *FAR, *(-v for v in FAR), *np.linspace(-9, 9, 40)])
    name, params, _ = SLOPES[case]
    wanted = Numbers.of([slope(case, v) for v in x.tolist()])
    result = getattr(er.backward, name)(np.ones_like(x), x, rounding=mode, **params)
    found = np.asarray(result.rounded.values(), np.float64)
    wrong = ~same(found, wanted.round(get_format("float64"), mode, "ieee"))
    assert not wrong.any(), list(zip(x[wrong], found[wrong], strict=True))[:3]
    for flush in (False, True):
        assert np.asarray(result.covers(result.rounded, flush_to_zero=flush)).all()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("case", "value"), [("silu", 1), ("gelu", 1), ("gelu by tanh", 1)])
def test_slopes_at_0_are_exact(case: str, value: int, mode: str) -> None:
    name, params, _ = SLOPES[case]
    for zero in (0.0, -0.0):
        result = getattr(er.backward, name)(np.ones(1), np.asarray([zero]), rounding=mode, **params)
        assert result.rounded.tolist() == [value / 2]
        assert result.exact.value(0).radius == 0


@pytest.mark.parametrize("x", [1e15, 1e300])
def test_products_beyond_all_exponents_have_a_range(x: float) -> None:
    result = er.backward.exp2(np.ones(1), np.asarray([x]))
    assert result.may_be("+inf").tolist() == [True]
    assert np.isnan(np.asarray(result.finite_range()[0])).all()  # nothing else is stored


@pytest.mark.parametrize("precision", [53, 110, 400])
def test_the_scaled_erfc_is_enclosed(precision: int) -> None:
    gmpy2 = pytest.importorskip("gmpy2")
    rng = np.random.default_rng(precision)
    some = np.concatenate([rng.uniform(0, 40, 200), np.ldexp(1.0, rng.integers(-900, 900, 50))])
    limits = {"precision": precision, "emin": -(2**40), "emax": 2**40}
    flint.ctx.prec = 2 * precision + 400
    for x in some.tolist():
        ends = [
            INTERNAL["erfcx"].evaluate(gmpy2.context(round=mode, **limits), gmpy2.mpfr(x))
            for mode in (gmpy2.RoundDown, gmpy2.RoundUp)
        ]
        low, high = (flint.arb(flint.fmpq(*map(int, end.as_integer_ratio()))) for end in ends)
        ball = flint.arb(x)
        # U(1/2, 1/2, x^2) / sqrt(pi), which neither underflows nor cancels.
        exact = (ball * ball).hypgeom_u(flint.arb(0.5), flint.arb(0.5)) / flint.arb.pi().sqrt()
        assert low <= exact, x
        assert exact <= high, x
        assert high - low <= exact * flint.arb(2) ** (3 - precision), x
