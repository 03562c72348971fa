"""Gradients by the other formulas that kernels use, and at the ends of domains."""

from __future__ import annotations

import numpy as np
import pytest

import exactref as er

F32 = np.float32


@pytest.mark.parametrize("shift", [0.0, 10.0, 1e3, 1e5])
def test_logsumexp_by_its_stored_output(shift: float) -> None:
    rng = np.random.default_rng(1)
    x = (rng.standard_normal((20, 50)) + shift).astype(F32)
    top = x.max(-1, keepdims=True)
    output = top + np.log(np.exp(x - top).sum(-1, keepdims=True, dtype=F32))
    gradient = np.exp(x - output)
    result = er.backward.logsumexp(np.ones(20, F32), x, axis=-1)
    assert np.asarray(result.covers(gradient)).all()
    assert not np.asarray(result.covers(gradient * F32(1.02 + shift * 1e-6))).any()


def test_logsumexp_of_torch() -> None:
    torch = pytest.importorskip("torch")
    x = (torch.randn(20, 50) + 1000).requires_grad_()
    torch.logsumexp(x, 1).sum().backward()
    result = er.backward.logsumexp(torch.ones(20), x.detach(), axis=1)
    assert np.asarray(result.covers(x.grad, "any_order")).all()


def test_log_softmax_by_its_output() -> None:
    """Four equal scores, every library function as far off as it may be, the same way."""
    u = 2.0**-24
    output = F32(-F32(np.log(4) * (1 + 8 * u)))
    weight = F32(np.exp(float(output)) * (1 - 4 * u))
    grad = np.zeros((1, 4), F32)
    grad[0, 3] = 1
    result = er.backward.log_softmax(grad, np.zeros((1, 4), F32), axis=-1)
    assert np.asarray(result.covers(grad - weight)).all()


def test_silu_as_the_output_times_the_rest() -> None:
    x = np.random.default_rng(2).standard_normal(4000).astype(F32) * F32(3)
    for sign in (-1, 1):
        power = (np.exp(-x.astype(float)) * (1 + sign * 3 * 2.0**-24)).astype(F32)
        near = F32(1) / (F32(1) + power)
        y = x * near
        for gradient in (y * (F32(1) - near) + near, near * (F32(1) + x * (F32(1) - near))):
            assert np.asarray(er.backward.silu(np.ones_like(x), x).covers(gradient)).all()


@pytest.mark.parametrize("name", ["asin", "acos", "asinh", "acosh"])
def test_reciprocal_roots(name: str) -> None:
    rng = np.random.default_rng(3)
    x = rng.uniform(-1, 1, 2000) if name in ("asin", "acos") else 1 + rng.exponential(2, 2000)
    x = x.astype(F32)
    below = {"asin": 1 - x * x, "acos": 1 - x * x, "asinh": x * x + 1, "acosh": x * x - 1}[name]
    exact = 1 / np.sqrt(below.astype(float)) * (-1 if name == "acos" else 1)
    result = getattr(er.backward, name)(np.ones_like(x), x)
    for sign in (1, -1):
        assert np.asarray(result.covers((exact * (1 + sign * 3.5 * 2.0**-24)).astype(F32))).all()


@pytest.mark.parametrize("name", ["asin", "acos", "acosh", "atanh"])
def test_at_the_ends_of_the_domain_nothing_but_an_infinity(name: str) -> None:
    result = getattr(er.backward, name)(np.ones(1, F32), np.ones(1, F32))
    infinity = F32([-np.inf if name == "acos" else np.inf])
    assert np.asarray(result.covers(infinity)).all()
    for output in (5.0, np.nan, -infinity[0]):
        assert not np.asarray(result.covers(F32([output]))).any()


@pytest.mark.parametrize("name", ["elu", "selu"])
def test_a_choice_does_not_depend_on_the_sign_bit_of_nan(name: str) -> None:
    grad = F32([2.0, 2.0])
    nans = np.copysign(F32([np.nan, np.nan]), F32([1, -1]))
    result = getattr(er.backward, name)(grad, nans)
    first, second = result.rounded.tolist()
    assert first == second
    for i in range(2):
        alone = getattr(er.backward, name)(grad[i : i + 1], nans[i : i + 1])
        assert alone.rounded.tolist() == [first]
    # Kernels compare x > 0, or x <= 0.
    assert np.asarray(result.covers(F32([first, first]))).all()
    assert np.asarray(result.covers(nans)).all()


@pytest.mark.parametrize("name", ["silu", "swiglu"])
def test_a_gradient_that_meets_the_sigmoid_first(name: str) -> None:
    """g s may be subnormal, and what it loses is multiplied by 1 + x (1 - s)."""
    rng = np.random.default_rng(4)
    x = rng.uniform(-80, -5, 500).astype(F32)
    near = (1 / (1 + np.exp(-x.astype(float)))).astype(F32)
    grad = (rng.uniform(1, 9, 500) * 1e-45 / near.astype(float)).clip(0, 1e30).astype(F32)
    rest = F32(1) + x * (F32(1) - near)
    if name == "silu":
        result = er.backward.silu(grad, x)
    else:
        result = er.backward.swiglu(grad, x, np.ones_like(x))["grad_gate"]
    assert np.asarray(result.covers(grad * near * rest)).all()
    assert not np.asarray(result.covers(grad * rest)).any()
