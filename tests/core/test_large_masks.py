"""Additive masks that no score changes: rows of them are uniform where sums are rounded."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import exactref as er
from exactref_core.errors import InputError

F32 = np.float32
LOWEST = np.finfo(F32).min


def tensors(seed: int, n: int = 5) -> tuple[np.ndarray, ...]:
    """Queries, keys and values."""
    rng = np.random.default_rng(seed)
    return tuple(rng.standard_normal((n, 4)).astype(F32) for _ in range(3))


def kernel(q: np.ndarray, k: np.ndarray, v: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Float32 attention that adds the mask to the stored scores."""
    s = (q @ k.T) * F32(0.5) + mask
    e = np.exp(s - s.max(-1, keepdims=True))
    return (e / e.sum(-1, keepdims=True)) @ v


@pytest.mark.parametrize("low", [LOWEST, F32(-1e9), F32(-(2.0**30))])
@pytest.mark.parametrize("cap", [0.0, 3.0])
def test_rows_of_large_values_are_uniform(low: F32, cap: float) -> None:
    q, k, v = tensors(1)
    mask = np.zeros((5, 5), F32)
    mask[1], mask[2, 2:], mask[3] = low, low, low * F32(0.5)
    mask[3, 4] = low * F32(0.75)
    found = er.scaled_dot_product_attention(
        q, k, v, attn_mask=mask, mask_sum="rounded", softcap=cap
    )
    rows = [float(x) for x in np.asarray(found["logsumexp"].rounded.values())]
    mean = np.asarray([[np.float64(x) for x in row] for row in v]).mean(0)
    output = np.asarray(found["output"].rounded.values(), np.float64)
    assert np.abs(output[1] - mean).max() < 1e-7
    assert np.abs(output[3] - v[:4].astype(np.float64).mean(0)).max() < 1e-7
    assert rows[1] == float(low)
    assert float(np.max(found["output"].tolerance().values())) < 1e-5
    if not cap:
        assert bool(found["output"].covers(kernel(q, k, v, mask)).all())
    unmasked = kernel(q, k, v, np.zeros((5, 5), F32))
    assert found["output"].covers(unmasked).tolist()[1] == [False] * 4
    exact = er.scaled_dot_product_attention(q, k, v, attn_mask=mask, softcap=cap)["output"]
    if not cap:
        assert np.abs(np.asarray(exact.rounded.values())[1] - unmasked[1]).max() < 1e-5


def test_gradients_pass_through_the_sum() -> None:
    torch = pytest.importorskip("torch")
    q, k, v = tensors(2)
    mask = np.zeros((5, 5), F32)
    mask[1], mask[2, 2:] = LOWEST, LOWEST
    leaves = [torch.tensor(x, requires_grad=True) for x in (q, k, v)]
    out = torch.nn.functional.scaled_dot_product_attention(*leaves, attn_mask=torch.tensor(mask))
    g = np.random.default_rng(3).standard_normal((5, 4)).astype(F32)
    out.backward(torch.tensor(g))
    rules: dict[str, Any] = {"attn_mask": mask, "mask_sum": "rounded"}
    found = er.backward.scaled_dot_product_attention(g, q, k, v, **rules)
    for name, leaf in zip(("query", "key", "value"), leaves, strict=True):
        assert bool(found["grad_" + name].covers(leaf.grad.numpy()).all())
        assert float(np.max(found["grad_" + name].tolerance().values())) < 1e-4


@pytest.mark.parametrize("low", [1.0, 1.5, 2 - 2.0**-23])
@pytest.mark.parametrize("sign", [-1, 1])
def test_only_what_rounding_leaves_is_replaced(low: float, sign: int) -> None:
    """By Float32 sums of the mask and every score that may be stored, next to the threshold."""
    one = np.ones((1, 1), F32)
    for part in (0.2, 0.12, 0.13, 0.24, 0.26, 0.49, 0.51):
        score = F32(part * 2.0**-23 * 2.0**20)
        mask = np.asarray([[F32(sign * low * 2.0**20), F32(sign * low * 2.0**20)]])
        keys = np.asarray([[score], [-score]], F32)
        found = er.scaled_dot_product_attention(
            one,
            keys,
            np.asarray([[0.0], [1.0]], F32),
            attn_mask=mask,
            scale=1.0,
            mask_sum="rounded",
        )["output"]
        sums = {float(mask[0, 0] + s) for s in (score, -score, np.nextafter(score, F32(9e9)))}
        if part < 0.1249:
            assert sums == {float(mask[0, 0])}
            assert found.rounded.tolist() == [[0.5]]
        else:  # the score counts, if little
            assert found.rounded.tolist() != [[0.5]]


def test_results_of_other_calls_and_other_words_are_refused() -> None:
    q, k, v = tensors(4)
    mask = np.full((5, 5), LOWEST, F32)
    stored = er.multiply(q, F32(3.0) * np.ones((), F32))
    with pytest.raises(InputError, match=r"query is the result of another call.*query.rounded"):
        er.scaled_dot_product_attention(stored, k, v, attn_mask=mask, mask_sum="rounded")
    er.scaled_dot_product_attention(stored.rounded, k, v, attn_mask=mask, mask_sum="rounded")
    with pytest.raises(InputError, match="mask_sum is one of"):
        er.scaled_dot_product_attention(q, k, v, attn_mask=mask, mask_sum="float32")


def test_scores_that_are_large_or_no_numbers_stay() -> None:
    q, k, v = tensors(5)
    mask = np.full((5, 5), F32(-1e9))
    q[1] *= F32(1e9)
    q[2, 0] = np.nan
    one, other = (
        er.scaled_dot_product_attention(q, k, v, attn_mask=mask, mask_sum=s)["output"].rounded
        for s in ("rounded", "exact")
    )
    same = np.asarray(one.values()), np.asarray(other.values())
    assert np.array_equal(same[0][1], same[1][1])
    assert np.isnan(same[0][2]).all()
    assert not np.array_equal(same[0][0], same[1][0])
