"""Cross entropy of targets that are probabilities: exact values, torch's kernels, faults."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest

import exactref as er
from exactref_core.errors import InputError

F32 = np.float32
WAYS = [
    (reduction, weighted, smoothing)
    for reduction in ("mean", "sum", "none")
    for weighted in (False, True)
    for smoothing in (0.0, 0.125)
]


def data(shape: tuple[int, ...], seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = (rng.standard_normal(shape) * 3).astype(F32)
    y = rng.random(shape).astype(F32)
    classes = shape[0] if len(shape) == 1 else shape[1]
    return x, y / y.sum(min(1, len(shape) - 1), keepdims=True), rng.random(classes).astype(F32)


@pytest.mark.parametrize(("reduction", "weighted", "smoothing"), WAYS)
def test_exact_values(reduction: str, weighted: bool, smoothing: float) -> None:
    x, y, w = data((5, 4))
    how: dict[str, Any] = {"reduction": reduction, "label_smoothing": smoothing}
    found = er.cross_entropy(x, y, w if weighted else None, **how)
    with mpmath.workprec(300):
        losses = []
        for scores, shares in zip(x.tolist(), y.tolist(), strict=True):
            lse = mpmath.log(sum(mpmath.exp(s) for s in scores))
            terms = zip(scores, shares, w.tolist() if weighted else [1] * 4, strict=True)
            mixed = [(s, mpmath.mpf(q) * (1 - smoothing) + smoothing / 4, c) for s, q, c in terms]
            losses.append(sum(c * q * (lse - s) for s, q, c in mixed))
        whole = sum(losses) / (5 if reduction == "mean" else 1)
        for i, wanted in enumerate(losses if reduction == "none" else [whole]):
            place = (i,) if reduction == "none" else ()
            near = float(found.exact.value(*place).midpoint.to_fraction() - to_fraction(wanted))
            assert abs(near) < 1e-30


def to_fraction(x: Any) -> Any:
    from fractions import Fraction

    sign, man, exp, _ = x._mpf_
    return (-1) ** sign * Fraction(int(man)) * Fraction(2) ** int(exp)


@pytest.mark.parametrize("shape", [(5, 4), (3,), (2, 3, 2, 2)], ids=str)
@pytest.mark.parametrize(("reduction", "weighted", "smoothing"), WAYS)
def test_torch_is_inside(
    shape: tuple[int, ...], reduction: str, weighted: bool, smoothing: float
) -> None:
    torch = pytest.importorskip("torch")
    x, y, w = (torch.tensor(a) for a in data(shape, 1))
    how = {"weight": w if weighted else None, "reduction": reduction, "label_smoothing": smoothing}
    leaf = x.clone().requires_grad_()
    loss = torch.nn.functional.cross_entropy(leaf, y, **how)
    assert np.asarray(er.cross_entropy(x, y, **how).covers(loss, "any_order")).all()
    grad = torch.linspace(-1, 1, max(loss.numel(), 1)).reshape(loss.shape)
    loss.backward(grad)
    found = er.backward.cross_entropy(grad, x, y, **how)
    assert np.asarray(found.covers(leaf.grad, "any_order")).all()


def test_faults_are_outside() -> None:
    x, y, w = data((6, 5), 2)
    logs = x - np.log(np.exp(x.astype(float)).sum(-1, keepdims=True))
    found = er.cross_entropy(x, y, w)
    right = -(logs * y * w).sum() / 6
    assert np.asarray(found.covers(np.asarray(right, F32), "any_order")).all()
    for fault in (
        -(logs * y * w).sum() / (y * w).sum(),  # over the weights, as for class indices
        -(logs * y).sum() / 6,
        -(logs * y * w)[:, :-1].sum() / 6,
        -(logs[np.arange(6), y.argmax(-1)] * w[y.argmax(-1)]).sum() / 6,
    ):
        assert not np.asarray(found.covers(np.asarray(fault, F32), "any_order")).any()
    # p - y is the gradient where the shares of a row add up to 1, and these do not.
    slopes = np.exp(logs) * (y * w).sum(-1, keepdims=True) - y * w
    gradient = er.backward.cross_entropy(F32(1), x, y, w, reduction="sum")
    assert np.asarray(gradient.covers(slopes.astype(F32), "any_order")).all()
    wrong = np.exp(logs) - y * w
    assert np.asarray(gradient.covers(wrong.astype(F32), "any_order")).mean() < 0.1


def test_what_does_not_fit_is_named() -> None:
    x, y, _ = data((5, 4))
    with pytest.raises(InputError, match=r"float32 with shape \(5, 3\): class indices are"):
        er.cross_entropy(x, y[:, :3])
    with pytest.raises(InputError, match="ignore_index=2 is for targets"):
        er.cross_entropy(x, y, ignore_index=2)
    with pytest.raises(InputError, match="reduction must be"):
        er.cross_entropy(x, y, reduction="max")
