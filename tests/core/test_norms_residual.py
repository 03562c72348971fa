"""rms_norm of a sum with a residual, and its gradients: kernels, faults, a sum that is stored."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import exactref as er
from tests.core.test_gradients_norms import EPS, F32, total, turned


def rms_kernels(rng: np.random.Generator, g: Any, x: Any, eps: float) -> Iterator[Any]:
    """Float32 gradients of rms_norm, of rows, by formulas in use."""
    count = F32(x.shape[1])
    r = turned(rng, 1 / np.sqrt((total(x * x, (1,)) / count + F32(eps)).astype(float)), 4)
    h = x * r
    yield "triton", r * (g - h * (total(g * h, (1,)) / count))
    yield "apex", (count * g - h * total(g * h, (1,))) * (r / count)
    yield "composed", r * g - x * (r * r * r * (total(g * x, (1,)) / count))


@pytest.mark.parametrize("seed", range(4))
def test_rms_norm_with_a_residual(seed: int) -> None:
    rng = np.random.default_rng([6, seed])
    for n in (2, 7, 100):
        grad, x, residual = (rng.standard_normal((5, n)).astype(F32) for _ in range(3))
        weight = rng.standard_normal(n).astype(F32)
        x[1] = grad[1] * F32(0.9)  # much of the gradient cancels
        residual[1] = 0
        total_ = x + residual
        forward = er.rms_norm(x, n, weight, EPS, residual)
        plain = er.rms_norm(er.add(x, residual), n, weight, EPS)
        assert np.array_equal(forward["sum"].rounded.tolist(), total_.tolist())
        assert forward["output"].rounded.tolist() == plain.rounded.tolist()
        narrow = er.rms_norm(total_, n, weight, EPS).rounded
        assert np.asarray(forward["output"].covers(narrow)).all()
        assert (
            np.asarray(forward["output"].covers(er.rms_norm(x, n, weight, EPS).rounded)).sum() <= n
        )
        result = er.backward.rms_norm(grad, x, n, weight, EPS, residual)
        g = grad * weight
        for label, output in rms_kernels(rng, g, total_, EPS):
            for key in ("grad_x", "grad_residual"):
                assert np.asarray(result[key].covers(output.astype(F32))).all(), (n, label)
        alone = er.backward.rms_norm(grad, x, n, weight, EPS)
        assert list(alone.outputs) == ["grad_x", "grad_weight"]
        fault = r_times(g, total_)
        assert np.asarray(result["grad_x"].covers(fault, "any_order")).mean() < 0.3


def r_times(g: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The gradient without the pull of the mean square."""
    return (g / np.sqrt((x.astype(float) ** 2).mean(1, keepdims=True) + EPS)).astype(F32)


def test_a_sum_that_is_stored_before_it_is_normalized() -> None:
    torch = pytest.importorskip("torch")
    torch.manual_seed(3)
    x, residual = (torch.randn(20, 64, dtype=torch.bfloat16) for _ in range(2))
    stored = x + residual
    wide = stored.float()
    output = (wide * torch.rsqrt((wide * wide).mean(1, keepdim=True) + EPS)).bfloat16()
    chain = er.rms_norm(er.add(x, residual), 64, eps=EPS)
    assert np.asarray(chain.covers(output)).all()
    fused = er.rms_norm(x, 64, eps=EPS, residual=residual)
    assert np.asarray(fused["sum"].covers(stored)).all()
    assert not np.asarray(fused["output"].covers(output)).all()
