"""Entries of matrix exponentials beside others that are beyond all formats."""

from __future__ import annotations

import math

import numpy as np
import pytest

import exactref as er

E = math.e  # correctly rounded, and so are its multiples by powers of two


@pytest.mark.parametrize("v", [1e3, 1e5, 2.0**40])
def test_entries_of_parts_that_do_not_reach_each_other(v: float) -> None:
    w = 1024.0
    apart = np.array([[v, 0.0, 0.0], [0.0, 1.0, w], [0.0, 0.0, 1.0]])
    found = er.matrix_exp(apart).rounded.tolist()
    assert found == [[math.inf, 0.0, 0.0], [0.0, E, w * E], [0.0, 0.0, E]]
    # 1 reaches 3 alone, and 2 is reached by all of the others but that.
    joined = np.array([[v, 0, v, v], [0, 1, v, w], [0, 0, v, 0], [0, 0, 0, 1]])
    found = er.matrix_exp(joined).rounded.tolist()
    assert found[1] == [0.0, E, math.inf, w * E]
    assert found[3] == [0.0, 0.0, 0.0, E]


@pytest.mark.parametrize("v", [1e3, 1e5, 1e12])
def test_gradients_of_diagonal_matrices(v: float) -> None:
    """The derivative of exp at diag(a, b) has the entries e^a, e^b and (e^a - e^b) / (a - b)."""
    found = er.backward.matrix_exp(np.ones((2, 2)), np.diag([v, 1.0])).rounded.tolist()
    assert found == [[math.inf, math.inf], [math.inf, E]]
    found = er.backward.matrix_exp(np.ones((2, 2)), np.diag([-v, 1.0])).rounded.tolist()
    assert found[0][0] == 0.0
    assert found[1][1] == E


def test_what_is_vague_beside_a_vast_entry_is_no_zero() -> None:
    mixed = np.array([[1e5, 1.0], [1e-300, 1.0]])
    found = er.matrix_exp(mixed, rounding="down").rounded.tolist()
    assert found == [[np.finfo(float).max] * 2, [np.finfo(float).max] * 2]
