"""Gradients of scans: which terms they are made of."""

from __future__ import annotations

import numpy as np
import pytest

import exactref as er

F32 = np.float32


def test_a_gradient_of_a_scan_does_not_depend_on_what_comes_before() -> None:
    """Terms before an element are no terms of its gradient, NaN and infinities among them."""
    g, x = F32([np.nan, np.inf, 1, 2]), F32([3, 2, 0, 5])
    result = er.backward.cumulative_prod(g, x)
    # x_2: 1 * 3 * 2 + 2 * 3 * 2 * 5; x_3: 2 * 3 * 2 * 0; the first two see NaN and the infinity.
    wanted = F32([np.nan, np.inf, 66, 0])
    assert np.array_equal(np.asarray(result.rounded), wanted, equal_nan=True)
    assert result.may_be("nan").tolist() == [True, False, False, False]
    assert not np.asarray(result.covers(F32([0, 0, np.nan, np.nan]), "any_order")).any()
    later = er.backward.cumulative_prod(F32([7, *g]), x, include_initial=True)
    assert np.array_equal(np.asarray(later.rounded), wanted, equal_nan=True)


@pytest.mark.parametrize("initial", [False, True])
def test_gradients_of_complex_products_are_those_of_torch(initial: bool) -> None:
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(2)
    x, g = (rng.standard_normal((2, 4)) + 1j * rng.standard_normal((2, 4)) for _ in range(2))
    leaf = torch.tensor(x, requires_grad=True)
    torch.cumprod(leaf, 1).backward(torch.tensor(g))
    given = np.concatenate([g[:, :1], g], 1) if initial else g
    found = er.backward.cumulative_prod(given, x, axis=1, include_initial=initial)
    assert bool(found.covers(leaf.grad.numpy()).all())
    assert not np.asarray(found.covers(leaf.grad.numpy().conj()))[..., 1].any()
    zeros = er.backward.cumulative_prod(np.complex64([1, 1j, 1]), np.complex64([0, 2j, 0]))
    # 1 + g_2 conj(2i), nothing for the others.
    assert zeros.rounded.tolist() == [3, 0, 0]
