"""hypot and logaddexp: exact values by flint, special values, libraries, faults."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import exactref as er

flint = pytest.importorskip("flint")

F32 = np.float32
INF, NAN = np.inf, np.nan
BALLS: dict[str, Callable[[Any, Any], Any]] = {
    "hypot": lambda x, y: (x * x + y * y).sqrt(),
    "logaddexp": lambda x, y: (x.exp() + y.exp()).log(),
}


def pairs(seed: int, form: str) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    scale = 10.0 ** rng.integers(-6, 7, (2, 200))
    x, y = rng.standard_normal((2, 200)) * scale
    y = np.where(rng.random(200) < 0.2, x, y)
    return np.asarray(er.asarray(x.tolist(), form).values(), float), np.asarray(
        er.asarray(y.tolist(), form).values(), float
    )


@pytest.mark.parametrize("form", ["float64", "float32", "bfloat16"])
@pytest.mark.parametrize("name", BALLS)
def test_exact_values(name: str, form: str) -> None:
    x, y = pairs(1, form)
    if name == "logaddexp":
        x, y = x / 1e4, y / 1e4
        x, y = (np.asarray(er.asarray(v.tolist(), form).values(), float) for v in (x, y))
    result = getattr(er, name)(er.asarray(x.tolist(), form), er.asarray(y.tolist(), form))
    flint.ctx.prec = 600
    for i in range(0, 200, 3):
        ball = BALLS[name](flint.arb(float(x[i])), flint.arb(float(y[i])))
        man, exp = (int(part) for part in ball.mid().man_exp())
        near = Fraction(man) * Fraction(2) ** exp
        found = result.exact.value(i)
        assert abs(found.midpoint.to_fraction() - near) <= found.radius + abs(near) / 2**300


def test_special_values() -> None:
    x = F32([INF, -INF, INF, 0.0, NAN, 3.0])
    y = F32([NAN, 1.0, INF, -0.0, 1.0, 4.0])
    assert np.array_equal(er.hypot(x, y).rounded, [INF, INF, INF, 0.0, NAN, 5.0], equal_nan=True)
    both = er.logaddexp(F32([-INF, -INF, 1.0]), F32([-INF, 1.0, 1.0]))
    assert both.rounded.tolist() == [-INF, 1.0, F32(1 + np.log(2))]
    assert not both.may_be("nan").any()
    large = er.hypot(F32([3e38]), F32([4e37]))
    assert not large.may_be("+inf").any()


@pytest.mark.parametrize("form", ["float64", "float32"])
@pytest.mark.parametrize("name", BALLS)
def test_libraries_are_inside(name: str, form: str) -> None:
    for seed in range(5):
        x, y = (v.astype(form) for v in pairs(seed, form))
        result = getattr(er, name)(x, y)
        with np.errstate(all="ignore"):
            assert np.asarray(result.covers(getattr(np, name)(x, y), "any_order")).all()
        assert np.asarray(result.covers(result.normal())).all()


def test_planted_faults_are_outside() -> None:
    x, y = (np.random.default_rng(i).standard_normal(300).astype(F32) for i in range(2))
    short = np.asarray(er.asarray((x * x + y * y).tolist(), "bfloat16").values(), F32)
    assert (~np.asarray(er.hypot(x, y).covers(np.sqrt(short)))).mean() > 0.8
    assert (~np.asarray(er.hypot(x, y).covers(np.abs(x) + np.abs(y)))).mean() > 0.9
    largest = np.maximum(x, y)
    assert (~np.asarray(er.logaddexp(x, y).covers(largest))).all()
    base = largest + np.log2(1 + np.exp(-np.abs(x - y)))
    assert (~np.asarray(er.logaddexp(x, y).covers(base.astype(F32)))).all()


def test_gradients_of_hypot_in_any_order_of_its_steps() -> None:
    rng = np.random.default_rng(3)
    x, y, g = (rng.standard_normal(2000) * 10.0 ** rng.integers(-9, 9, 2000) for _ in range(3))
    x, y, g = (value.astype(F32) for value in (x, y, g))
    result = er.backward.hypot(g, x, y)
    length = np.hypot(x, y)
    for key, part in (("grad_x1", x), ("grad_x2", y)):
        for output in (g * (part / length), g * part / length, part * (g / length)):
            assert np.asarray(result[key].covers(output)).all()
        short = (g * (part / length)).view(np.uint32) & np.uint32(0xFFFF0000)
        assert (~np.asarray(result[key].covers(short.view(F32)))).mean() > 0.9
    # torch's products may underflow, and overflow.
    small, large = F32([2.0**-126]), F32([2.0**100])
    assert np.asarray(er.backward.hypot(small, F32([0.0]), small)["grad_x2"].covers(F32([0]))).all()
    over = er.backward.hypot(F32([2.0**60]), F32([0.0]), large)["grad_x2"]
    assert over.rounded.tolist() == [2.0**60]
    assert np.asarray(over.may_be("+inf")).all()
    assert not np.asarray(er.backward.hypot(large / large, x[:1], y[:1])["grad_x1"].may_be("+inf"))


def test_gradients_of_logaddexp_by_every_formula() -> None:
    rng = np.random.default_rng(4)
    x, y = (rng.standard_normal((2, 3000)) * 10.0 ** rng.integers(-3, 3, 3000)).astype(F32)
    g = rng.standard_normal(3000).astype(F32)
    result = er.backward.logaddexp(g, x, y)
    top = np.maximum(x, y)
    output = top + np.log1p(np.exp(np.minimum(x, y) - top))
    total = np.exp(x - top) + np.exp(y - top)
    one = F32(1)
    for key, own, other in (("grad_x1", x, y), ("grad_x2", y, x)):
        with np.errstate(over="ignore"):
            power = np.exp(other - own)
        weight = np.exp(own - top) / total
        formulas = (
            g * weight,
            g / (one + power),
            g * (one / (one + power)),
            g * np.exp(own - output),
        )
        for formula in formulas:
            assert np.asarray(result[key].covers(formula)).all()
        moved = (g.astype(float) * weight * 1.001).astype(F32)
        near = (np.abs(own - other) < 8) & (np.abs(output) < 100)
        assert not np.asarray(result[key].covers(moved, "any_order"))[near].any()
        swapped = g * np.exp(other - top) / total
        assert (~np.asarray(result[key].covers(swapped))).mean() > 0.9


def test_the_gradient_of_logaddexp_may_vanish_where_the_power_overflows() -> None:
    """torch divides by 1 + e^93, which float32 does not hold; 0 is not covered where it does."""
    g, x = F32([0.3, 0.3]), F32([0.0, 0.0])
    result = er.backward.logaddexp(g, x, F32([93.0, 80.0]))["grad_x1"]
    assert np.asarray(result.covers(F32([0.0, 0.0]))).tolist() == [True, False]
    assert np.asarray(result.covers(result.rounded)).all()


def test_the_gradient_of_logaddexp_of_infinities_is_that_of_torch() -> None:
    torch = pytest.importorskip("torch")
    points = torch.tensor([INF, -INF, 1.0, 3e38, -3e38])
    leaves = [
        x.reshape(-1).clone().requires_grad_()
        for x in torch.meshgrid(points, points, indexing="ij")
    ]
    grad = torch.full((25,), 3.0)
    torch.logaddexp(*leaves).backward(grad)
    result = er.backward.logaddexp(grad, *(leaf.detach() for leaf in leaves))
    for key, leaf in zip(("grad_x1", "grad_x2"), leaves, strict=True):
        assert np.asarray(result[key].covers(leaf.grad)).all()
        assert np.array_equal(result[key].rounded.tolist(), leaf.grad.tolist(), equal_nan=True)
