"""Losses of target classes: exact values by flint, torch's kernels and gradients, faults."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import exactref as er
from exactref_core.errors import DTypeError, InputError

flint = pytest.importorskip("flint")

F32 = np.float32
CASES: dict[str, dict[str, Any]] = {
    "mean": {},
    "sum": {"reduction": "sum"},
    "none": {"reduction": "none"},
    "weights": {"weight": True},
    "smoothing": {"label_smoothing": 0.125},
    "weights and smoothing": {"weight": True, "label_smoothing": 0.25, "reduction": "sum"},
    "another index": {"ignore_index": 2},
}


def data(seed: int, form: str = "float32") -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = (rng.standard_normal((7, 9)) * 4).astype(form)
    target = rng.integers(0, 9, 7)
    target[2] = -100
    return x, target, rng.uniform(0.5, 2, 9).astype(form)


def arguments(case: str, target: np.ndarray, weight: np.ndarray) -> dict[str, Any]:
    given = dict(CASES[case])
    if given.get("ignore_index") == 2:
        target[target == -100] = 2
    if given.pop("weight", False):
        given["weight"] = weight
    return given


def expected(x: np.ndarray, target: np.ndarray, weight: Any, how: dict[str, Any]) -> list[Any]:
    """The losses by balls of 300 bits."""
    flint.ctx.prec = 300
    smooth = flint.arb(how.get("label_smoothing", 0.0))
    ignored, reduction = how.get("ignore_index", -100), how.get("reduction", "mean")
    w = [flint.arb(float(v)) for v in weight] if weight is not None else [flint.arb(1)] * x.shape[1]
    losses, total = [], flint.arb(0)
    for row, t in zip(x.tolist(), target.tolist(), strict=True):
        if t == ignored:
            losses.append(flint.arb(0))
            continue
        scores = [flint.arb(v) for v in row]
        lse = sum((s.exp() for s in scores), flint.arb(0)).log()
        own = w[t] * (lse - scores[t])
        every = sum((a * (lse - s) for a, s in zip(w, scores, strict=True)), flint.arb(0))
        losses.append((1 - smooth) * own + smooth / x.shape[1] * every)
        total += w[t]
    if reduction == "none":
        return losses
    whole = sum(losses, flint.arb(0))
    return [whole / total if reduction == "mean" else whole]


def fraction(x: Any) -> Fraction:
    man, exp = (int(part) for part in x.mid().man_exp())
    return Fraction(man) * Fraction(2) ** exp


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("form", ["float64", "float32"])
def test_exact_values(form: str, case: str) -> None:
    for seed in range(5):
        x, target, weight = data(seed, form)
        how = arguments(case, target, weight)
        result = er.cross_entropy(x, target, **how)
        wanted = expected(x, target, how.get("weight"), how)
        assert result.shape == ((7,) if how.get("reduction") == "none" else ())
        for i, value in enumerate(wanted):
            found = result.exact.value(*((i,) if result.shape else ()))
            near = fraction(value)
            assert abs(found.midpoint.to_fraction() - near) <= found.radius + abs(near) / 2**200


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("form", ["float64", "float32"])
def test_torch_and_its_gradients_are_inside(form: str, case: str) -> None:
    torch = pytest.importorskip("torch")
    for seed in range(5):
        arrays = data(seed, form)
        how = arguments(case, arrays[1], arrays[2])
        x, target = (torch.tensor(a) for a in arrays[:2])
        if "weight" in how:
            how["weight"] = torch.tensor(how["weight"])
        leaf = x.clone().requires_grad_()
        loss = torch.nn.functional.cross_entropy(leaf, target, **how)
        assert np.asarray(er.cross_entropy(x, target, **how).covers(loss, "any_order")).all()
        grad = torch.tensor(np.random.default_rng(seed).standard_normal(tuple(loss.shape)))
        loss.backward(grad.to(x.dtype))
        found = er.backward.cross_entropy(grad.to(x.dtype), x, target, **how)
        assert np.asarray(found.covers(leaf.grad, "any_order")).all()


def test_axes_of_images_and_single_rows() -> None:
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    x = torch.tensor(rng.standard_normal((2, 5, 3)).astype(F32))
    target = torch.tensor(rng.integers(0, 5, (2, 3)))
    functional = torch.nn.functional
    for reduction in ("none", "mean"):
        loss = functional.cross_entropy(x, target, reduction=reduction)
        assert np.asarray(er.cross_entropy(x, target, reduction=reduction).covers(loss)).all()
        logs = functional.log_softmax(x, 1)
        loss = functional.nll_loss(logs, target, reduction=reduction)
        assert np.asarray(er.nll_loss(logs, target, reduction=reduction).covers(loss)).all()
    one = er.cross_entropy(x[0, :, 0], target[0, 0])
    assert np.asarray(one.covers(functional.cross_entropy(x[0, :, 0], target[0, 0]))).all()


def test_no_row_that_counts() -> None:
    x, target = np.ones((2, 3), F32), np.full(2, -100)
    assert np.isnan(er.cross_entropy(x, target).rounded.tolist())
    assert er.cross_entropy(x, target, reduction="sum").rounded.tolist() == 0
    assert er.cross_entropy(x, target, reduction="none").rounded.tolist() == [0, 0]


def softmax(x: np.ndarray) -> np.ndarray:
    powers = np.exp(x - x.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


FAULTS: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "base two": lambda p, t: -np.log2(p[np.arange(len(t)), t]),
    "the next class": lambda p, t: -np.log(p[np.arange(len(t)), (t + 1) % p.shape[1]]),
    "probabilities in bfloat16": lambda p, t: (
        -np.log(np.asarray(er.asarray(p.tolist(), "bfloat16").values(), F32)[np.arange(len(t)), t])
    ),
    "a clamp at 1e-2": lambda p, t: -np.log(np.maximum(p, F32(1e-2))[np.arange(len(t)), t]),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_planted_faults_are_outside(fault: str) -> None:
    rng = np.random.default_rng(3)
    x, target = (rng.standard_normal((64, 9)) * 3).astype(F32), rng.integers(0, 9, 64)
    result = er.cross_entropy(x, target, reduction="none")
    right = -np.log(softmax(x)[np.arange(64), target])
    # The logarithm of a stored probability near 1 is worse than that of the scores.
    small = softmax(x)[np.arange(64), target] < 0.5
    assert np.asarray(result.covers(right.astype(F32), "any_order"))[small].all()
    output = FAULTS[fault](softmax(x), target).astype(F32)
    assert (~np.asarray(result.covers(output, "any_order"))).mean() > 0.2


def test_gradient_faults_are_outside() -> None:
    x, target, _ = data(4)
    kept = target != -100
    hot = np.eye(9, dtype=F32)[np.where(kept, target, 0)]
    right = np.where(kept[:, None], (softmax(x) - hot) / F32(kept.sum()), F32(0))
    result = er.backward.cross_entropy(F32(1), x, target)
    assert np.asarray(result.covers(right.astype(F32), "any_order")).all()
    for fault in ((softmax(x) - hot) / F32(kept.sum()), right * F32(kept.sum() / 7), softmax(x)):
        assert (~np.asarray(result.covers(fault.astype(F32), "any_order"))).mean() > 0.1


@np.errstate(invalid="ignore")
@pytest.mark.parametrize("smooth", [0, 0.25])
@pytest.mark.parametrize("g", [np.inf, -np.inf, 1, -3e38])
def test_gradients_of_its_two_steps_are_inside(g: float, smooth: float) -> None:
    """p g - q g, which torch and JAX compute: NaN of an infinite g where q > 0, nowhere else."""
    x, target, _ = data(4)
    hot = np.eye(9, dtype=F32)[np.where(target != -100, target, 0)]
    q = hot * F32(1 - smooth) + F32(smooth / 9)
    result = er.backward.cross_entropy(F32(g), x, target, reduction="sum", label_smoothing=smooth)
    output = np.where(
        (target != -100)[:, None], softmax(x) * F32(g) - np.where(q > 0, q * F32(g), F32(0)), 0
    )
    assert np.asarray(result.covers(output.astype(F32))).all()
    assert np.isnan(output).any() == np.isinf(g)
    none = np.asarray(result.covers(np.full_like(output, np.nan)))
    assert (none == np.isnan(output)).all()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x, t: er.cross_entropy(x), DTypeError, "'target'"),
        (lambda x, t: er.cross_entropy(x, t[:2]), InputError, r"target has shape \(2,\)"),
        (lambda x, t: er.cross_entropy(x, t + 5), InputError, "none of the 9 classes"),
        (lambda x, t: er.cross_entropy(x, t * 1.0), InputError, "target is float64"),
        (lambda x, t: er.cross_entropy(x, t, reduction="max"), InputError, "reduction must be"),
        (lambda x, t: er.cross_entropy(x, t, label_smoothing=2), InputError, "label_smoothing"),
        (lambda x, t: er.cross_entropy(x, t, weight=np.ones(3, F32)), InputError, "weight has"),
    ],
)
def test_bad_arguments(call: Any, error: type[Exception], message: str) -> None:
    x, target, _ = data(1)
    with pytest.raises(error, match=message):
        call(x, target)
