"""Normalizations whose products are distributed over x - mean: errors of the root do not add up."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import exactref as er
from exactref_core.registry import get_standard
from tests.every_op.kernels import Machine

F32 = np.float32
EPS = F32(1e-5)
M = Machine("float32")
N = 24


def statistics(x: np.ndarray, updates: bool) -> tuple[np.ndarray, np.ndarray]:
    """Mean and reciprocal root of rows, by two passes or updates."""
    n = F32(x.shape[1])
    if updates:
        mean, total = x[:, 0], np.zeros(len(x), F32)
        for k in range(1, x.shape[1]):
            d = x[:, k] - mean
            mean = mean + d / F32(k + 1)
            total = total + d * (x[:, k] - mean)
    else:
        mean = np.add.accumulate(x[:, ::-1], axis=1)[:, -1] / n
        total = np.add.accumulate((x - mean[:, None]) ** 2, axis=1)[:, -1]
    return mean[:, None], (F32(1) / np.sqrt(total / n + EPS))[:, None]


def forms(
    x: np.ndarray, m: np.ndarray, r: np.ndarray, w: np.ndarray, b: np.ndarray
) -> Iterator[tuple[str, np.ndarray]]:
    s = r * w
    yield "centred, scaled", (x - m) * s + b
    yield "shift of the rows", (x * r + (-m * r)) * w + b
    yield "shift of the rows, fused", M.fma(M.fma(x, r, -m * r), w, b)
    yield "scale and shift", x * s + (b - m * s)
    yield "scale and shift, fused", M.fma(x, s, M.fma(-m, s, b))
    yield "scale and shift, by m r", x * s + (b - m * r * w)
    yield "by x r and m r", x * r * w + (b - m * r * w)


def data(seed: int, mean: float, spread: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = (mean + spread * rng.standard_normal((3, N))).astype(F32)
    return x, *rng.standard_normal((2, N)).astype(F32)


@pytest.mark.parametrize(("mean", "spread"), [(0.3, 1.0), (100.0, 1e-3), (100.0, 0.0), (-1e5, 1.0)])
def test_simulated_kernels_are_inside(mean: float, spread: float) -> None:
    x, w, b = data(1, mean, spread)
    layer = er.layer_norm(x, N, w, b)
    # Each group of two channels is a row of twelve elements each.
    w2, b2 = w[:6].repeat(4).reshape(3, 8), b[:6].repeat(4).reshape(3, 8)
    group = er.group_norm(x[:, :8].reshape(1, 6, 4), 3, w[:6], b[:6])
    batch = er.batch_norm(x.T, None, None, w[:3], b[:3], training=True)
    alone = er.layer_norm(x, N, w)
    for updates in (False, True):
        own = statistics(x, updates)
        for label, y in forms(x, *own, w, b):
            assert layer.covers(y.astype(F32), "any_order").data.all(), label
        for label, y in forms(x, *own, w, np.zeros_like(w)):
            assert alone.covers(y.astype(F32), "any_order").data.all(), label
        for label, y in forms(x, *own, w[:3, None], b[:3, None]):
            assert batch.covers(y.T.astype(F32).copy(), "any_order").data.all(), label
        for label, y in forms(x[:, :8], *statistics(x[:, :8], updates), w2, b2):
            found = y.astype(F32).reshape(1, 6, 4)
            assert group.covers(found, "any_order").data.all(), label


@pytest.mark.parametrize("mean", [0.3, 100.0, -1e5, 1e20])
def test_given_statistics_leave_roundings_alone(mean: float) -> None:
    """Batch norm by running statistics, which carry no errors of their own."""
    rng = np.random.default_rng(6)
    x = (mean * (1 + rng.standard_normal((5, 40)) * 2.0**-18)).astype(F32)
    m, w, b = (c.astype(F32)[:, None] for c in (np.full(5, mean), *rng.standard_normal((2, 5))))
    var = F32(rng.uniform(1e-3, 2, (5, 1)))
    result = er.batch_norm(x.T, m[:, 0], var[:, 0], w[:, 0], b[:, 0])
    r = F32(1) / np.sqrt(var + EPS)
    outputs = dict(forms(x, m, r, w, b))
    for label, y in outputs.items():
        assert result.covers(y.T.astype(F32).copy(), "any_order").data.all(), label
    if abs(mean) > 10:
        apart = outputs["by x r and m r"].T.astype(F32).copy()
        assert not result.covers(apart, "normal").data.all()
        off = np.spacing(np.abs(apart)) + (F32(16) * np.spacing(np.abs(x * r * w))).T
        assert not result.covers(apart + off, "any_order").data.any()


def pulled(x: np.ndarray, g: np.ndarray, updates: bool) -> np.ndarray:
    """The gradient as r g + b x - (b m + c r) / n."""
    n = F32(x.shape[1])
    m, r = statistics(x, updates)
    sums, mixed = (np.add.accumulate(t, axis=1)[:, -1:] for t in (g, g * x))
    b = (m * sums - mixed) * r * r * r / n
    return r * g + b * x - (b * m + sums / n * r)


@pytest.mark.parametrize("mean", [100.0, -1e4])
def test_gradients_are_inside(mean: float) -> None:
    for spread in (1.0, 1e-2, 0.0):
        x, g, _ = data(2, mean, spread)
        g = np.broadcast_to(g, x.shape) + F32(0.25)
        result = er.backward.layer_norm(g, x)["grad_x"]
        for updates in (False, True):
            assert result.covers(pulled(x, g, updates).astype(F32), "any_order").data.all()


def test_levels_agree() -> None:
    """Certified ranges, one element at a time, are those of arrays."""
    x, w, b = data(3, 100.0, 1e-2)
    x[1] = 100.1
    rule = get_standard("any_order")
    for call in (er.layer_norm(x, N, w, b), er.backward.layer_norm(x[::-1].copy(), x, N, w)):
        (part,) = next(iter(call.outputs.values())).parts  # type: ignore[attr-defined]
        for flush in (False, True):
            whole = part.range(rule, flush)
            for flat in range(0, part.node.size, 23):
                one = part.range_one(rule, flush, flat)
                assert whole.low[flat] == one.low[0]
                assert whole.high[flat] == one.high[0]


def test_faults_far_from_zero_are_outside() -> None:
    """Under "any_order", where every order of the sums and of the products is admitted."""
    x, w, b = data(4, 100.0, 1.0)
    result = er.layer_norm(x, N, w, b)
    m, r = statistics(x, False)
    right = (x - m) * (r * w) + b
    assert result.covers(right, "any_order").data.all()
    faults = {
        "unbiased variance": (x - m) * (r * w) * F32((1 - 1 / N) ** 0.5) + b,
        "mean of all but one": (x - x[:, 1:].mean(axis=1, keepdims=True)) * (r * w) + b,
        "weight left out": (x - m) * r + b,
        "mean stored in bfloat16": (x - (m.view(np.uint32) & 0xFFFF0000).view(F32)) * r * w + b,
    }
    for label, y in faults.items():
        assert (~result.covers(y.astype(F32), "any_order").data).mean() > 0.5, label
