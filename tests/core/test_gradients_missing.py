"""Gradients at NaN: no comparison holds, and kernels that compare otherwise are all right."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import exactref as er

F32 = np.float32
NAN = F32(np.nan)
X = F32([-4, -3, -1, 0, NAN, 0.5, 3, 5, 6, 7])
G = F32([1, -2, 3, 0.5, 6, -1, 4, 1, 2, 3])
ZERO = np.zeros_like(G)
Kernel = Callable[[Any, Any], Any]


def line(g: Any, x: Any) -> Any:
    return g * (x / 3 + F32(0.5))


# Two kernels each that differ at NaN, and nowhere else.
KERNELS: dict[str, tuple[dict[str, Any], list[Kernel]]] = {
    "relu": (
        {},
        [lambda g, x: np.where(x > 0, g, ZERO), lambda g, x: np.where(x <= 0, ZERO, g)],
    ),
    "leaky_relu": (
        {"negative_slope": 0.25},
        [lambda g, x: np.where(x > 0, g, g / 4), lambda g, x: np.where(x <= 0, g / 4, g)],
    ),
    "relu6": (
        {},
        [
            lambda g, x: np.where((x > 0) & (x < 6), g, ZERO),
            lambda g, x: np.where((x <= 0) | (x >= 6), ZERO, g),
        ],
    ),
    "hardsigmoid": (
        {},
        [
            lambda g, x: np.where((x > -3) & (x < 3), g / 6, ZERO),
            lambda g, x: np.where((x <= -3) | (x >= 3), ZERO, g / 6),
        ],
    ),
    "hardswish": (
        {},
        [
            lambda g, x: np.where(x <= -3, ZERO, np.where(x < 3, line(g, x), g)),
            lambda g, x: np.where(x <= -3, ZERO, np.where(x >= 3, g, line(g, x))),
            lambda g, x: np.where(x >= 3, g, np.where(x > -3, line(g, x), ZERO)),
        ],
    ),
    "clip": (
        {"min": -3, "max": 6},
        [
            lambda g, x: np.where((x >= -3) & (x <= 6), g, ZERO),
            lambda g, x: np.where((x < -3) | (x > 6), ZERO, g),
        ],
    ),
}


@pytest.mark.parametrize("name", KERNELS)
def test_either_comparison_is_inside(name: str) -> None:
    given, kernels = KERNELS[name]
    result = getattr(er.backward, name)(G, X, **given)
    result = result["grad_x"] if len(result.outputs) > 1 else result
    found = [kernel(G, X) for kernel in kernels]
    assert all(np.asarray(result.covers(output.astype(F32))).all() for output in found)
    at_nan = [output[np.isnan(X)][0] for output in found]
    assert len({str(value) for value in at_nan}) == len(found)
    # Elsewhere a gradient that does not fit is outside, and at NaN a larger one.
    assert not np.asarray(result.covers(G * 8 + 1)).any()
    assert np.asarray(result.covers(np.full_like(G, NAN))).sum() == (name == "hardswish")


def test_a_gated_product_at_nan() -> None:
    result = er.backward.reglu(G, X, G)["grad_gate"]
    for kernel in KERNELS["relu"][1]:
        assert np.asarray(result.covers(kernel(G * G, X))).all()


@np.errstate(invalid="ignore")
@pytest.mark.parametrize("name", [name for name in KERNELS if name != "leaky_relu"])
def test_a_gradient_times_a_mask_is_inside(name: str) -> None:
    """g (x > 0), which Eigen and NumPy code compute: NaN where an infinity is left out."""
    given, kernels = KERNELS[name]
    ones, infinite = np.ones_like(G), np.where(G > 0, F32(np.inf), G)
    numbers = ~np.isnan(X)
    masked = infinite * kernels[0](ones, X)
    assert np.isnan(masked[numbers]).any()
    result = getattr(er.backward, name)(infinite, X, **given)
    result = result["grad_x"] if len(result.outputs) > 1 else result
    assert np.asarray(result.covers(masked))[numbers].all()
    none = np.asarray(result.covers(np.full_like(G, NAN)))
    assert (none == np.isnan(masked))[numbers].all()


@np.errstate(invalid="ignore")
@pytest.mark.parametrize("name", ["max", "min"])
def test_an_extreme_that_is_nan_is_shared_among_none(name: str) -> None:
    """g mask / count, which torch and JAX compute: 0 / 0 where no element equals NaN."""
    x = F32([[1, NAN, 3], [2, 2, 2], [4, 1, 4]])
    g = F32([[2], [3], [5]])
    mask = x == getattr(x, name)(-1, keepdims=True)
    shares = g * mask / mask.sum(-1, keepdims=True, dtype=F32)
    assert np.isnan(shares).sum() == 3
    result = getattr(er.backward, name)(g[:, 0], x, axis=-1)
    assert np.asarray(result.covers(shares)).all()
    # All of it for the NaN is right as well, and for another element is not.
    assert np.asarray(result.covers(np.where(np.isnan(x), g, shares)))[0, 1]
    assert np.asarray(result.covers(np.full_like(x, 2)))[0].tolist() == [False, True, False]
    assert not np.asarray(result.covers(np.full_like(x, NAN)))[1:].any()
    first = getattr(er.backward, name)(g[:, 0], x, axis=-1, ties="first")
    assert not np.asarray(first.covers(np.full_like(x, NAN))).any()
