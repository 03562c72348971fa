"""The gradient of nll_loss: exact by rationals, torch's, orders of three factors, faults."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import exactref as er

F32 = np.float32
REDUCTIONS = ("none", "sum", "mean")


def given(seed: int, reduction: str) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((6, 5, 3)).astype(F32)
    target = rng.integers(0, 5, (6, 3))
    target[1, 1] = target[4, 0] = -100
    grad = rng.standard_normal(target.shape if reduction == "none" else ()).astype(F32)
    return grad, x, target, rng.uniform(0.5, 2, 5).astype(F32)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_gradients_are_exact(reduction: str, weighted: bool) -> None:
    grad, x, target, weight = given(1, reduction)
    w = weight if weighted else None
    result = er.backward.nll_loss(grad, x, target, w, reduction=reduction)
    weights = [Fraction(float(v)) if weighted else Fraction(1) for v in weight]
    total = sum((weights[t] for t in target.reshape(-1).tolist() if t >= 0), Fraction(0))
    for n, c, k in np.ndindex(x.shape):
        wanted = Fraction(0)
        if target[n, k] == c:
            wanted = -weights[c] * Fraction(float(grad[n, k] if reduction == "none" else grad))
            wanted /= total if reduction == "mean" else 1
        found = result.exact.value(n, c, k)
        assert abs(found.midpoint.to_fraction() - wanted) <= found.radius
        assert found.radius <= abs(wanted) / 2**60


@pytest.mark.parametrize("form", ["float64", "float32", "bfloat16"])
@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_torch_is_inside(reduction: str, form: str) -> None:
    torch = pytest.importorskip("torch")
    dtype = getattr(torch, form)
    for weighted in (False, True):
        grad, x, target, weight = (torch.tensor(part) for part in given(2, reduction))
        leaf = x.to(dtype).requires_grad_()
        w, g = weight.to(dtype) if weighted else None, grad.to(dtype)
        torch.nn.functional.nll_loss(leaf, target, w, reduction=reduction).backward(g)
        result = er.backward.nll_loss(g, leaf.detach(), target, w, reduction=reduction)
        inside = np.asarray(result.covers(leaf.grad, "any_order"))
        if form == "bfloat16" and weighted and reduction == "mean" and not inside.all():
            pytest.xfail("the sum of the weights and its quotient are stored in bfloat16")
        assert inside.all()


def test_any_order_of_the_three_factors() -> None:
    for seed in range(20):
        grad, x, target, weight = given(seed, "mean")
        result = er.backward.nll_loss(grad, x, target, weight)
        w = weight[target.reshape(-1)[target.reshape(-1) >= 0]]
        total = np.add.accumulate(w, dtype=F32)[-1]
        for slope in (w * (grad / total), (w * grad) / total, grad * (w / total)):
            output = np.zeros((18, 5), F32)
            rows = np.flatnonzero(target.reshape(-1) >= 0)
            output[rows, target.reshape(-1)[rows]] = -slope
            output = output.reshape(6, 3, 5).transpose(0, 2, 1)
            assert np.asarray(result.covers(output)).all()


def test_what_does_not_count_is_exactly_0() -> None:
    grad, x, target, _ = given(3, "none")
    grad[1, 1] = np.nan  # of an ignored row
    grad[0, 0] = np.inf
    result = er.backward.nll_loss(grad, x, target, reduction="none")
    rounded = np.asarray(result.rounded.values())
    assert (rounded[1, :, 1] == 0).all()
    assert sorted(rounded[0, :, 0].tolist()) == [-np.inf, 0, 0, 0, 0]
    fault = rounded.astype(F32)
    fault[1, 2, 1] = 1e-45
    assert not np.asarray(result.covers(fault))[1, 2, 1]
    empty = er.backward.nll_loss(F32(2.0), x, np.full_like(target, -100))
    assert (np.asarray(empty.rounded.values()) == 0).all()


def faults(target: np.ndarray, weight: np.ndarray, grad: float) -> dict[str, np.ndarray]:
    """Gradients of a mean, right and with a mistake."""
    rows = [(n, k, t) for (n, k), t in np.ndenumerate(target) if t >= 0]
    total = sum(float(weight[t]) for _, _, t in rows)

    def gradient(scale: float, w: np.ndarray, more: int = 0) -> np.ndarray:
        found = np.zeros((6, 5, 3))
        for n, k, t in rows:
            found[n, (t + more) % 5, k] = -grad * float(w[t]) * scale
        return found.astype(F32)

    ones = np.ones(5)
    return {
        "": gradient(1 / total, weight),
        "over the rows": gradient(1 / len(rows), weight),
        "over ignored rows too": gradient(1 / (total + 2 * float(weight[0])), weight),
        "unweighted": gradient(1 / total, ones),
        "a sum": gradient(1.0, weight),
        "ascent": gradient(-1 / total, weight),
        "the next class": gradient(1 / total, weight, 1),
    }


@pytest.mark.parametrize("seed", range(3))
def test_faults_are_outside(seed: int) -> None:
    grad, x, target, weight = given(seed, "mean")
    result = er.backward.nll_loss(grad, x, target, weight)
    for label, output in faults(target, weight, float(grad)).items():
        outside = ~np.asarray(result.covers(output, "any_order"))
        if not label:
            assert not outside.any()
            continue
        assert outside[np.asarray(result.rounded.values()) != 0].mean() > 0.7, label
