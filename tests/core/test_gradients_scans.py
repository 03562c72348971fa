"""Gradients of scans: which terms they are made of."""

from __future__ import annotations

import numpy as np

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
