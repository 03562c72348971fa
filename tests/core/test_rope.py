"""Rotary embedding: exact values by fractions, kernels in both layouts, its gradient, errors."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import exactref as er
from exactref_core.errors import InputError

F32 = np.float32


def data(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    angles = rng.standard_normal((5, 4)) * 20
    x = rng.standard_normal((2, 3, 5, 8)).astype(F32)
    return x, np.cos(angles).astype(F32), np.sin(angles).astype(F32)


def turned(x: np.ndarray, cos: np.ndarray, sin: np.ndarray, interleaved: bool) -> np.ndarray:
    """A kernel in the dtype of its inputs."""
    a, b = (x[..., ::2], x[..., 1::2]) if interleaved else (x[..., :4], x[..., 4:])
    parts = a * cos - b * sin, b * cos + a * sin
    if interleaved:
        return np.stack(parts, axis=-1).reshape(x.shape)
    return np.concatenate(parts, axis=-1)


@pytest.mark.parametrize("interleaved", [False, True])
def test_exact_values_and_kernels(interleaved: bool) -> None:
    x, cos, sin = data(1)
    result = er.rope(x, cos, sin, interleaved=interleaved)
    numbers = np.vectorize(Fraction, otypes=[object])
    wanted = turned(*(numbers(v.astype(float)) for v in (x, cos, sin)), interleaved)
    for index in np.ndindex(*x.shape):
        found = result.exact.value(*index)
        assert found.radius == 0
        assert found.midpoint.to_fraction() == wanted[index]
    assert np.asarray(result.covers(turned(x, cos, sin, interleaved))).all()
    assert not np.asarray(result.covers(turned(x, cos, sin, not interleaved))).all()
    assert not np.asarray(result.covers(turned(x, cos, -sin, interleaved))).any()
    narrow = er.asarray(cos.tolist(), "bfloat16")
    fault = turned(x, np.asarray(narrow.values(), F32), sin, interleaved)
    assert np.asarray(result.covers(fault, "any_order")).mean() < 0.1


@pytest.mark.parametrize("interleaved", [False, True])
def test_the_gradient_turns_back(interleaved: bool) -> None:
    x, cos, sin = data(2)
    grad = data(3)[0]
    found = er.backward.rope(grad, x, cos, sin, interleaved=interleaved)
    assert list(found.outputs) == ["grad_x"]
    assert np.asarray(found.covers(turned(grad, cos, -sin, interleaved))).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda x, c, s: er.rope(x[..., :7], c, s), "even number of features"),
        (lambda x, c, s: er.rope(x, c[:, :3], s), "cos and pairs of x"),
        (lambda x, c, s: er.rope(x[0, 0], np.stack([c, c]), s), "cos has shape"),
        (
            lambda x, c, s: er.rope(x, np.hstack([c, c]), s),
            r"one angle for each .* cos\[\.\.\., :4\]",
        ),
        (lambda x, c, s: er.rope(x, c, s, interleaved=1), "interleaved must be"),
    ],
)
def test_bad_arguments(change: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        change(*data(4))
