"""Normalizations whose means are merged with the variance: small simulations beside references."""

from __future__ import annotations

import numpy as np
import pytest

import exactref as er
from tests.core.test_norms import EPS, F32, welford


def merged(x: np.ndarray, order: str) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of rows by merges of subsets: of the larger one into a single element, of
    halves, or of halves by weights."""

    def of(part: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        n = part.shape[1]
        if n == 1:
            return part, np.zeros_like(part)
        k = 1 if order == "larger ones" else n // 2
        (m1, s1), (m2, s2) = of(part[:, :k]), of(part[:, k:])
        first, second = F32(k) / F32(n), F32(n - k) / F32(n)
        gap = m2 - m1
        mean = first * m1 + second * m2 if order == "weights" else m1 + gap * second
        return mean, s1 + s2 + gap * gap * (F32(k) * second)

    mean, squares = of(x)
    return mean, squares / F32(x.shape[1])


@pytest.mark.parametrize("order", ["larger ones", "halves", "weights"])
def test_means_that_are_merged(order: str) -> None:
    """Elements next to the mean show what it errs by."""
    rng = np.random.default_rng(5)
    for n in (3, 8, 33, 100):
        x = rng.uniform(0.5, 1, (240, n)) * rng.choice([-1, 1], (240, n))
        x[::2, 1:] *= 1e-3
        for _ in range(40):
            x[:, -1] += 0.9 * (x.mean(axis=-1) - x[:, -1])
        x = x.astype(F32)
        mean, spread = merged(x, order)
        y = (x - mean) * (F32(1) / np.sqrt(spread + F32(EPS)))
        result = er.layer_norm(x, eps=EPS)
        assert np.asarray(result.covers(y, "any_order")).all(), n
        wrong = y.copy()
        wrong[:, -1] += 40 * 2.0**-24 * np.abs(x).sum(axis=-1)
        assert not np.asarray(result.covers(wrong, "any_order"))[:, -1].all(), n


def test_a_mean_that_is_updated_among_subnormal_numbers() -> None:
    rng = np.random.default_rng(1)
    x, g = (rng.standard_normal((40, 100)).astype(F32) * F32(s) for s in (1e-40, 1e3))
    mean, spread = welford(x)
    h = (x - mean) * (F32(1) / np.sqrt(spread + F32(1e-6)))
    assert np.asarray(er.layer_norm(x, eps=1e-6).covers(h, "any_order")).all()
    w = np.ones(100, F32)
    for i in range(0, 40, 8):
        slopes = er.backward.layer_norm(g[i], x[i], weight=w, eps=1e-6)["grad_weight"]
        assert np.asarray(slopes.covers(g[i] * h[i], "any_order")).all(), i
