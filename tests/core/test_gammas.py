"""lgamma and digamma: the computations that libraries make are inside, poles, chains, faults."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import gmpy2
import numpy as np
import pytest

import exactref as er
from exactref_core.exact.elementary_table import FUNCTIONS, INTERNAL
from exactref_core.exact.gammas import holds_pole
from exactref_core.exact.nonnegative import ScalarAlgebra
from tests.core.test_pow import stored

F32 = np.float32
flint = pytest.importorskip("flint")
scipy_special = pytest.importorskip("scipy.special")


def arguments(seed: int) -> np.ndarray:
    """Numbers between the poles, and near the zeros of both functions."""
    rng = np.random.default_rng([90, seed])
    poles = np.round(rng.uniform(-20, 0, 1500))
    near = poles + rng.choice([-1, 1], 1500) * 10.0 ** rng.uniform(-6, -0.3, 1500)
    zeros = []
    for n in range(2, 12):
        for low, high in ((-n - 1 + 1e-12, -n - 0.5), (-n - 0.5, -n - 1e-12)):
            grid = np.linspace(low, high, 4001)[1:-1]
            values = scipy_special.gammaln(grid)
            zeros += grid[:-1][np.diff(np.sign(values)) != 0].tolist()
    roots = np.repeat([*zeros, 1.4616321449683622, -0.504083, -1.573498], 20)
    roots = roots * (1 + rng.integers(-3, 4, roots.size) * 2.0**-23)
    return np.concatenate([rng.uniform(-22, 12, 3000), near, roots]).astype(F32)


def sine(x: np.ndarray) -> np.ndarray:
    """|sin(pi x)| in float32, the argument reduced to half a turn."""
    rest = np.abs(x - np.rint(x)).astype(F32)
    return np.sin(F32(np.pi) * rest)


def reflected(x: np.ndarray) -> np.ndarray:
    """log(pi / |sin(pi x)|) - lgamma(1 - x) for x < 0, every step stored."""
    z = F32(1) - x
    there = scipy_special.gammaln(z.astype(float)).astype(F32)
    return np.log(F32(np.pi) / sine(x)) - there


def reflected_closer(x: np.ndarray) -> np.ndarray:
    """log(pi / |x sin(pi x)|) - lgamma(-x) for x < 0, every step stored."""
    there = scipy_special.gammaln(-x.astype(float)).astype(F32)
    return np.log(F32(np.pi) / np.abs(x * sine(x))) - there


@pytest.mark.parametrize("kernel", [reflected, reflected_closer])
@pytest.mark.parametrize("seed", range(3))
def test_reflected_lgamma_is_inside(kernel: Callable[[np.ndarray], np.ndarray], seed: int) -> None:
    x = arguments(seed)
    x = x[(x < 0) & (x != np.rint(x))]
    output = kernel(x)
    outside = ~np.asarray(er.lgamma(x).covers(output))
    assert not outside.any(), (x[outside][:4], output[outside][:4])


def raised(x: np.ndarray) -> np.ndarray:
    """digamma of positive numbers: recurrence up to 10, every step stored in float32."""
    total = np.zeros_like(x)
    for _ in range(10):
        low = x < 10
        total = np.where(low, total - F32(1) / x, total)
        x = np.where(low, x + F32(1), x)
    return total + scipy_special.psi(x.astype(float)).astype(F32)


def turned(x: np.ndarray) -> np.ndarray:
    """digamma of negative numbers by reflection."""
    rest = (x - np.rint(x)).astype(F32)
    return raised(F32(1) - x) - F32(np.pi) / np.tan(F32(np.pi) * rest)


@pytest.mark.parametrize("seed", range(3))
def test_digamma_by_recurrence_and_reflection_is_inside(seed: int) -> None:
    x = arguments(seed)
    x = x[x != np.rint(x)]
    x = np.concatenate([x, F32(np.random.default_rng(seed).exponential(0.3, 3000))])
    with np.errstate(all="ignore"):
        output = np.where(x > 0, raised(x), turned(x))
    outside = ~np.asarray(er.digamma(x).covers(output))
    assert not outside.any(), (x[outside][:4], output[outside][:4])


@pytest.mark.parametrize("form", ["float64", "float32"])
def test_scipy_is_inside(form: str) -> None:
    x = arguments(5).astype(form)
    x = x[(x < 0) | (x > 3)]  # near 1 and 2 scipy's gammaln is right absolutely, not relatively
    outside = ~np.asarray(er.lgamma(x).covers(scipy_special.gammaln(x)))
    assert not outside.any(), x[outside][:4]


FAULTS: dict[str, tuple[str, Callable[[np.ndarray], np.ndarray]]] = {
    "Stirling's series cut short": (
        "lgamma",
        lambda x: (x - 0.5) * np.log(x) - x + 0.5 * np.log(2 * np.pi),
    ),
    "gamma of the next integer": ("lgamma", lambda x: scipy_special.gammaln(x + 1)),
    "a logarithm": ("digamma", np.log),
    "one term of the recurrence lost": ("digamma", lambda x: scipy_special.psi(x) + 1 / (x + 3)),
    "no 1 / (12 x^2)": ("digamma", lambda x: np.log(x) - 0.5 / x),
    "the sign of the cotangent": (
        "digamma",
        lambda x: scipy_special.psi(1 - x) + np.pi / np.tan(np.pi * x),
    ),
    "reflection without the sine": (
        "lgamma",
        lambda x: np.log(np.pi) - scipy_special.gammaln(1 - x),
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_planted_faults_are_outside(fault: str) -> None:
    name, kernel = FAULTS[fault]
    for low, high in ((0.6, 0.95), (1.2, 1.4), (3.0, 9.0), (20.0, 30.0), (-3.9, -3.1)):
        x = np.random.default_rng(5).uniform(low, high, 300).astype(F32)
        with np.errstate(all="ignore"):
            output = kernel(x.astype(float)).astype(F32)
        assert (~np.asarray(getattr(er, name)(x).covers(output, "any_order"))).mean() > 0.9, low


@pytest.mark.parametrize("name", ["lgamma", "digamma"])
def test_functions_of_stored_sums(name: str) -> None:
    rng = np.random.default_rng(7)
    a = (rng.standard_normal((100, 6)) * 2).astype(F32)
    a[:20, 1] = -a[:20, 0] * F32(1 + 2.0**-20)
    a[:20, 2:] *= F32(1e-7)
    a[20:30] = np.round(a[20:30])
    function = {"lgamma": scipy_special.gammaln, "digamma": scipy_special.psi}[name]
    result = getattr(er, name)(er.sum(a, axis=1))
    for seed in range(4):
        output = function(stored(a, seed).astype(float)).astype(F32)
        outside = np.flatnonzero(~np.asarray(result.covers(output, "any_order")))
        assert outside.size == 0, (a[outside[0]], output[outside[0]])


def test_poles() -> None:
    x = F32([0.0, -0.0, -1.0, -2.0, -1e30, np.inf, -np.inf, np.nan])
    log, psi = er.lgamma(x), er.digamma(x)
    assert log.may_be("+inf").tolist() == [True] * 7 + [False]
    assert not np.asarray(log.may_be("-inf")).any()
    assert psi.may_be("-inf").tolist() == [True] + [False] * 7
    assert psi.may_be("+inf").tolist() == [False, True, False, False, False, True, False, False]
    assert psi.may_be("nan").tolist() == [False, False, True, True, True, False, True, True]
    # A sum that is 0 may be stored with either sign; one that may be a pole has no bound.
    zero = er.digamma(er.sum(F32([1.0, -1.0])))
    assert zero.may_be("+inf").tolist()
    assert zero.may_be("-inf").tolist()
    near = er.lgamma(er.sum(F32([1.0, 2.0**-30, -1.0])))
    assert np.isinf(near.tolerance("any_order").tolist())


def test_flushed_inputs_are_poles() -> None:
    x = F32([1e-40, -1e-40, 1.5])
    log, psi = er.lgamma(x), er.digamma(x)
    assert np.asarray(
        log.covers(F32([np.inf, np.inf, log.rounded.tolist()[2]]), flush_to_zero=True)
    ).all()
    assert not np.asarray(log.covers(F32([np.inf, np.inf, 0]))).any()
    assert np.asarray(
        psi.covers(F32([-np.inf, np.inf, psi.rounded.tolist()[2]]), flush_to_zero=True)
    ).all()
    assert np.isfinite(np.asarray(log.tolerance(flush_to_zero=True))).all()


def trigamma(x: float) -> Fraction:
    """zeta(2, x), by flint."""
    flint.ctx.prec = 4000
    ball = flint.acb(2).zeta(flint.acb(x)).real
    assert ball.rad() < abs(ball.mid()) * flint.arb(2) ** -400, x
    man, exp = (int(part) for part in ball.mid().man_exp())
    return Fraction(man) * Fraction(2) ** exp


def test_the_gradient_of_digamma_is_trigamma() -> None:
    x = arguments(8)[::40].astype(float)
    x = np.concatenate([x[x != np.rint(x)], [1e-300, -1e-300, 1e300, -8.5, -77.25, 1e-9]])
    result = er.backward.digamma(np.ones_like(x), x)
    for i, one in enumerate(x.tolist()):
        found, near = result.exact.value(i), trigamma(one)
        assert abs(found.midpoint.to_fraction() - near) <= found.radius + near / 2**300, one
        if 1e-300 < abs(near) < 1e300:
            assert result.rounded.tolist()[i] == float(near)


def test_trigamma_by_recurrence_and_reflection_is_inside() -> None:
    x = arguments(9)
    x = x[x != np.rint(x)]
    z, total = np.where(x > 0, x, F32(1) - x), np.zeros_like(x)
    for _ in range(10):
        low = z < 10
        total = np.where(low, total + F32(1) / (z * z), total)
        z = np.where(low, z + F32(1), z)
    total = total + scipy_special.polygamma(1, z.astype(float)).astype(F32)
    sine = np.sin(F32(np.pi) * np.abs(x - np.rint(x)).astype(F32))
    output = np.where(x > 0, total, F32(np.pi) * F32(np.pi) / (sine * sine) - total)
    result = er.backward.digamma(np.ones_like(x), x)
    outside = ~np.asarray(result.covers(output))
    assert not outside.any(), (x[outside][:4], output[outside][:4])
    for fault in (output * F32(1 + 2.0**-18), total, 1 / x + 1 / (2 * x * x)):
        assert (~np.asarray(result.covers(fault, "any_order"))).mean() > 0.5


def test_gradients_of_stored_sums() -> None:
    rng = np.random.default_rng(17)
    a = (rng.standard_normal((60, 6)) * 2).astype(F32)
    g = rng.standard_normal(60).astype(F32)
    result = er.backward.digamma(g, er.sum(a, axis=1))
    for seed in range(4):
        total = stored(a, seed)
        output = g * np.asarray([float(trigamma(t)) for t in total.tolist()]).astype(F32)
        outside = np.flatnonzero(~np.asarray(result.covers(output, "any_order")))
        assert outside.size == 0, (a[outside[0]], output[outside[0]])


def test_far_out_integers_are_not_rounded_away() -> None:
    """Beyond 2^53 an integer between two MPFR numbers is none that 53 bits hold."""
    algebra = ScalarAlgebra(128)

    def beside(offset: float) -> object:
        return algebra.down.add(-(2**60), offset)

    assert holds_pole(beside(290.5), beside(300.5))
    assert not holds_pole(beside(290.25), beside(290.75))
    trigamma = INTERNAL["trigamma"]
    least, most = trigamma.hull(algebra, beside(290.25), beside(290.75))
    # pi^2 / sin^2(pi x) is pi^2 halfway between two poles and twice that at a quarter.
    assert least <= math.pi**2 * (1 + 2.0**-50)
    assert most >= 2 * math.pi**2 * (1 - 2.0**-50)


def ends_of(value: flint.arb) -> list[Fraction]:
    """Rationals below and above what an arb holds."""
    parts = (end.man_exp() for end in (value.lower(), value.upper()))
    return [Fraction(int(m)) * Fraction(2) ** int(e) for m, e in parts]


@pytest.mark.parametrize("precision", [53, 96, 192])
def test_trigamma_lies_between_its_roundings(precision: int) -> None:
    """Against flint, at arguments on both sides of where the series starts, and beside poles."""
    algebra, trigamma = ScalarAlgebra(precision), INTERNAL["trigamma"]
    rng = np.random.default_rng([3, precision])
    x = np.concatenate([10.0 ** rng.uniform(-3, 3, 60), rng.uniform(-30, 0, 40)])
    flint.ctx.prec = 4 * precision
    for at in x.tolist():
        low, high = ends_of(flint.acb(at).polygamma(flint.acb(1)).real)
        ends = [trigamma.evaluate(c, gmpy2.mpfr(at)) for c in (algebra.down, algebra.up)]
        below, above = (Fraction(*end.as_integer_ratio()) for end in ends)
        assert below <= low, at
        assert above >= high, at
        assert above - below <= above * Fraction(2) ** (4 - precision), at


@pytest.mark.parametrize("reach", [2.0**-40, 2.0**-20, 0.01, 0.3])
def test_lgamma_is_above_its_lower_end_around_every_minimum(reach: float) -> None:
    algebra, function = ScalarAlgebra(96), FUNCTIONS["lgamma"]
    rng = np.random.default_rng(6)
    flint.ctx.prec = 300
    for minimum in (1.4616321449683622, -0.504083008264455, -1.573498473162390, -2.610720868444144):
        for _ in range(20):
            low, high = minimum - reach * rng.random(), minimum + reach * rng.random()
            low, high = (gmpy2.mpfr(end) for end in (low, high))
            least, most = (
                Fraction(*end.as_integer_ratio()) for end in function.hull(algebra, low, high)
            )
            for share in (0.0, 0.3, 0.5, 0.7, 1.0):
                at = flint.arb(float(low)) * (1 - share) + flint.arb(float(high)) * share
                value = ends_of(abs(at.gamma()).log())
                assert least <= value[1], (minimum, share)
                assert value[0] <= most, (minimum, share)
            inner = ends_of(abs(flint.arb(minimum).gamma()).log())[0]
            assert least <= inner
            assert inner - least <= 200 * Fraction(reach) ** 2
