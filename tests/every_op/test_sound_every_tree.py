"""Ranges and flags against a brute force: every order there is, in a format of 47 numbers."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from tests.every_op.kernels_judging import COUNTS, budget
from tests.every_op.kernels_orders import halves, neighbours, strides
from tests.every_op.kernels_tiny import (
    INF,
    NAN,
    NUMBERS,
    all_dots,
    all_sums,
    allowed,
    loop,
    merged,
    named,
    numbers,
    ranges,
)

FLAGS = {2: INF, 4: -INF, 8: NAN}
POOLS = {
    "all": NUMBERS,
    "large": NUMBERS[:8] + NUMBERS[-8:],
    "small": NUMBERS[15:-15],
    "special": [*NUMBERS, np.inf, -np.inf, np.nan, 0.0, 0.0, -0.0],
}


def drawn(rng: np.random.Generator, pool: str, shape: tuple[int, int]) -> list[np.ndarray]:
    """Two factors; of long rows most terms are 0, so that some sums stay in the range."""
    x, y = (rng.choice(POOLS[pool], shape) for _ in range(2))
    if shape[1] > 8:
        x[rng.random(shape) < rng.choice([0.5, 0.8, 0.95], (shape[0], 1))] = 0.0
    return [x, y]


def judged(op: str, x: np.ndarray, y: np.ndarray, standard: str, find: Any) -> Counter[str]:
    """Check every outcome of every row; count flags, and those that no outcome reaches."""
    if op == "sum":
        (found,) = ranges("sum", x, standard=standard)
    else:
        (found,) = ranges("matmul", x[:, None, :], y[:, :, None], standard=standard)
    counts: Counter[str] = Counter()
    for i, (p, q) in enumerate(zip(x.tolist(), y.tolist(), strict=True)):
        terms = named(p) if op == "sum" else list(zip(named(p), named(q), strict=True))
        outcomes = find(terms)
        values = numbers(outcomes)
        ok = allowed(found, values, i)
        assert ok.all(), (op, standard, p, q, values[~ok], found.low[i], found.high[i])
        COUNTS["outputs"] += values.size
        for bit, special in FLAGS.items():
            counts["flags"] += bool(found.states[i] & bit)
            counts["never reached"] += bool(found.states[i] & bit) and special not in outcomes
    COUNTS["cases"] += len(x)
    return counts


@pytest.mark.parametrize("pool", POOLS)
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("op", ["sum", "dot"])
def test_any_order(op: str, n: int, pool: str, record_property: Any) -> None:
    """All trees over all permutations, each product fused or not."""
    rng = np.random.default_rng([13, n, list(POOLS).index(pool)])
    x, y = drawn(rng, pool, (budget(100, 2000 if n < 5 else 600), n))
    counts = judged(op, x, y, "any_order", all_sums if op == "sum" else all_dots)
    for name, count in counts.items():
        record_property(name, count)
    if op == "sum" and n <= 2:
        assert counts["never reached"] == 0
    assert counts["never reached"] <= 0.25 * counts["flags"] + 10


def ordinary(terms: list[Any]) -> set[Any]:
    """Index-order loops, and index-order blocks of 32 merged in balanced trees."""
    found = set(loop(terms))
    if len(terms) > 32:
        blocks = [loop(terms[i : i + 32]) for i in range(0, len(terms), 32)]
        for merge in (halves, neighbours, strides):
            found |= merged(merge(list(range(len(blocks)))), blocks)
    return found


@pytest.mark.parametrize("pool", POOLS)
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 8, 33, 34, 65, 100])
@pytest.mark.parametrize("op", ["sum", "dot"])
def test_normal(op: str, n: int, pool: str, record_property: Any) -> None:
    rng = np.random.default_rng([14, n, list(POOLS).index(pool)])
    x, y = drawn(rng, pool, (budget(40 if n < 9 else 12, 1000 if n < 9 else 100), n))
    for name, count in judged(op, x, y, "normal", ordinary).items():
        record_property(name, count)


def test_blocks_reach_what_the_loop_does_not() -> None:
    """7 and -7 meet in the loop, but 7 and 1 end different blocks: 8 overflows there."""
    x = np.zeros((1, 65))
    x[0, [0, 32, 64]] = -7.0, 7.0, 1.0
    (found,) = ranges("sum", x, standard="normal")
    assert loop(x[0].tolist()) == {1.0}
    assert INF in joined_last(x[0].tolist())
    assert found.states[0] & 2


def joined_last(terms: list[float]) -> set[Any]:
    """Blocks merged as (first) + (second + third)."""
    blocks = [loop(terms[i : i + 32]) for i in range(0, len(terms), 32)]
    return merged((0, (1, 2)), blocks)
