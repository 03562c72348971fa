"""Rows are evaluated in blocks: where they are cut changes nothing."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import exactref as er
from exactref_core.arithmetic import attend_whole, gathered, softmax_bounds
from exactref_core.arithmetic.gathered import row_cuts


@pytest.mark.parametrize("most", [1, 2, 5])
def test_cuts_lie_between_rows(most: int) -> None:
    rng = np.random.default_rng(most)
    for rows in (np.sort(rng.integers(0, 9, 40)), rng.integers(0, 9, 40), np.zeros(3, int)):
        cuts = row_cuts(rows, most)
        assert cuts[0] == 0
        assert cuts[-1] == rows.size
        for i, j in pairwise(cuts):
            assert i < j
            assert 1 + np.count_nonzero(np.diff(rows[i:j])) <= most
            assert i == 0 or rows[i - 1] != rows[i]


def small_blocks(monkeypatch) -> None:
    for module in (softmax_bounds, attend_whole):
        monkeypatch.setattr(module, "TERMS", 90)
    monkeypatch.setattr(gathered, "GATHER", 130)


@pytest.mark.parametrize("op", [er.softmax, er.log_softmax])
@pytest.mark.parametrize("standard", ["normal", "any_order", "typical"])
def test_small_blocks_give_the_same(op, standard, monkeypatch) -> None:
    """Steep rows too, whose weights near 1 are held to the cap."""
    rng = np.random.default_rng(1)
    x = (rng.standard_normal((70, 40)) * rng.choice([1, 30, 3000], (70, 1))).astype(np.float32)
    x[3, 5] = -np.inf
    whole = op(x)
    ends = whole.finite_range(standard=standard)
    small_blocks(monkeypatch)
    parts = op(x)
    for one, other in zip(ends, parts.finite_range(standard=standard), strict=True):
        assert np.array_equal(one.values(), other.values(), equal_nan=True)
    assert np.array_equal(whole.rounded.values(), parts.rounded.values())
