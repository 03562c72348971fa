"""Many elements that vanishing weights decide: how long they take, and sums over many rows."""

from __future__ import annotations

import time

import numpy as np

import exactref as er

F32 = np.float32
LARGEST = F32(np.finfo(np.float32).min)


def test_many_of_them_take_seconds() -> None:
    rng = np.random.default_rng(0)
    x = np.where(rng.random((64, 64)) < 0.06, F32(0), LARGEST)
    x[:, 0] = 0
    g = rng.integers(-3, 4, (64, 64)).astype(F32)
    start = time.process_time()
    found = er.backward.softmax(g, x, rounding="up").rounded
    assert time.process_time() - start < 20
    top = x == 0
    count = top.sum(axis=-1, keepdims=True)
    mean = np.where(top, g, 0).sum(axis=-1, keepdims=True) / count
    near = np.where(top, (g - mean) / count, 0.0)
    assert np.allclose(np.asarray(found.values()), near, rtol=1e-6, atol=1e-40)


def test_sums_over_many_rows_of_different_scores() -> None:
    """Gradients of keys that vanish: rows of their own scores add terms over denominators of their
    own, whose product is never formed."""
    rng = np.random.default_rng(0)
    q, k, v, g = (rng.integers(-2, 3, (12, 8)).astype(F32) for _ in range(4))
    q[10:] = 0  # so that the last keys are seen by the others alone, behind their masks
    mask = np.where(np.tri(12) > 0, F32(0), LARGEST)
    found = {
        mode: np.asarray(
            er.backward.scaled_dot_product_attention(g, q, k, v, mask, rounding=mode)[
                "grad_key"
            ].rounded.values()
        )[10:]
        for mode in ("up", "down")
    }
    # The same with e**-FLT_MAX as the unit; the rows that see these keys have queries of 0.
    scores, pull = (q @ k.T / np.sqrt(8))[:10], (g @ v.T)[:10]
    powers = np.exp(scores - np.where(np.tri(10, 12) > 0, scores, -np.inf).max(1, keepdims=True))
    seen = np.where(np.tri(10, 12) > 0, powers, 0)
    slopes = powers * (pull - (seen * pull).sum(1, keepdims=True) / seen.sum(1, keepdims=True))
    wanted = (slopes / seen.sum(1, keepdims=True))[:, 10:].T @ q[:10]
    assert np.abs(wanted).min() > 1e-9
    eta = float(np.finfo(F32).smallest_subnormal)
    assert np.array_equal(found["up"], np.where(wanted > 0, eta, 0))
    assert np.array_equal(found["down"], np.where(wanted < 0, -eta, 0))
