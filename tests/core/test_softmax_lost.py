"""Weights whose sum may be off by half of itself or more: numbers from 0 to 1, and nothing else."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import exactref as er
from exactref_core.arithmetic.bounds import FloatBounds
from exactref_core.arithmetic.certified import CertifiedReading
from exactref_core.arithmetic.certified_bounds import CertifiedBounds
from exactref_core.arithmetic.fast import FastReading
from exactref_core.registry import get_standard

F32 = np.float32


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("standard", ["normal", "any_order"])
@pytest.mark.parametrize("far", [1e7, 2e7, 1e9])
def test_weights_of_scores_that_lost_their_bits(far: float, standard: str, dtype: str) -> None:
    rng = np.random.default_rng(int(far))
    x = (rng.uniform(-0.5, 0.5, (30, 4)) - rng.integers(0, 30, (30, 4))).astype(F32)
    big = np.full_like(x, far)
    result = er.softmax(er.subtract(er.add(x, big), big), axis=1, dtype=dtype)
    with np.errstate(all="ignore"):
        scores = (x + big) - big
        powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    kernel = powers / powers.sum(axis=1, keepdims=True)
    stored = kernel.astype(F32 if dtype == "float32" else ml_dtypes.bfloat16)
    assert np.asarray(result.covers(stored, standard)).all()
    for flag in ("nan", "+inf", "-inf"):
        assert not np.asarray(result.may_be(flag, standard)).any(), flag
    low, high = (end.values() for end in result.finite_range(standard))
    assert (low > -1e-3).all()
    assert (high < 1.01).all()
    if far > 1e8:  # every key may be the largest
        assert (low <= 0).all()
        assert (high >= 1).all()


def test_keys_left_out_stay_at_zero() -> None:
    x = np.array([[20.3, -21.2, 0.7], [-30.1, 25.2, 0.4]], F32)
    big = np.full_like(x, 1e9)
    keep = np.array([[True, True, False]] * 2)
    scores = er.where(keep, er.subtract(er.add(x, big), big), np.full_like(x, -np.inf))
    result = er.softmax(scores, axis=1, dtype="bfloat16")
    low, high = (end.values() for end in result.finite_range())
    assert (low[:, 2] == 0).all()
    assert (high[:, 2] == 0).all()
    assert (high[:, :2] >= 1).all()


@pytest.mark.parametrize("seed", range(6))
def test_scores_of_more_than_53_bits(seed: int) -> None:
    """Their largest is not the float64 number that rows are shifted by: the arrays' bounds hold the
    certified one, or leave the row to it."""
    rng = np.random.default_rng(seed)
    far = (rng.standard_normal((2, 6)) * 2.0 ** rng.integers(52, 66)).astype(F32)
    near = rng.standard_normal((2, 6)).astype(F32)
    result = er.softmax(er.add(far, near), axis=1)
    node = result.outputs["output"].parts[0].source  # type: ignore[attr-defined]
    standard = get_standard("normal")
    certified = CertifiedBounds(CertifiedReading(192), standard, True)
    with np.errstate(all="ignore"):
        found = FloatBounds(FastReading(True), standard, True, precise=True).whole(node)
    for i in range(node.size):
        if found.unsure is not None and found.unsure.reshape(-1)[i]:
            continue
        low, high = certified.algebra.bounds(certified.bound(node, i).error)
        assert found.error.low.reshape(-1)[i] <= high * (1 + 2.0**-38), i
        assert found.error.high.reshape(-1)[i] >= low * (1 - 2.0**-38), i
