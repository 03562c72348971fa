"""What independent roundings do under the standard "typical", and how it is asked and read."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import exactref as er
from exactref_core.registry import get_standard, standards

F32 = np.float32

# Lengths and how many sums of each: more than 100,000 together.
SUMS = {10: 40_000, 33: 25_000, 100: 20_000, 300: 11_000, 1000: 4_000, 3000: 1_000, 10_000: 300}


def drawn(rng: np.random.Generator, rows: int, n: int, form: str) -> list[np.ndarray]:
    """Random rows, of both signs and of one, of one size and of many."""
    count = max(1, rows // 4)
    sizes = np.exp2(rng.integers(-12, 12, (count, n)))
    kinds = [
        rng.standard_normal((count, n)),
        rng.random((count, n)),
        rng.standard_normal((count, n)) * sizes,
        rng.standard_normal((count, n)) + 0.1,
    ]
    return [er.asarray(x, form).values().astype(F32) for x in kinds]


def blocked(x: np.ndarray) -> np.ndarray:
    """Blocks of 32 in index order, neighbours merged level by level."""
    width = -(-x.shape[1] // 32) * 32
    t = np.zeros((x.shape[0], width), F32)
    t[:, : x.shape[1]] = x
    t = np.cumsum(t.reshape(x.shape[0], -1, 32), axis=-1, dtype=F32)[:, :, -1]
    while t.shape[1] > 1:
        odd = t[:, t.shape[1] // 2 * 2 :]
        t = np.concatenate([t[:, 0 : t.shape[1] - odd.shape[1] : 2] + t[:, 1::2], odd], axis=1)
    return t[:, 0]


@pytest.mark.parametrize("form", ["float32", "bfloat16"])
@pytest.mark.parametrize("n", SUMS)
def test_random_sums_in_index_order_and_in_blocks_stay_inside(form: str, n: int) -> None:
    rng = np.random.default_rng([8, n])
    for x in drawn(rng, SUMS[n], n, form):
        result = er.sum(er.asarray(x, form), axis=1)
        for out in (np.cumsum(x, axis=1, dtype=F32)[:, -1], blocked(x)):
            assert result.covers(er.asarray(out, form), "typical").all()


def bfloat16(x: np.ndarray) -> np.ndarray:
    """Rounded to nearest even; exact float32 sums of two bfloat16 numbers round once with it."""
    bits = x.view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) & np.uint32(0xFFFF0000)).view(F32)


@pytest.mark.parametrize("n", [10, 33, 100, 300])
def test_loops_that_add_in_bfloat16_obey_the_lemma(n: int) -> None:
    """Errors of loops with u = 2^-8 against the formula without its cap, in float64."""
    rng = np.random.default_rng([9, n])
    worst = 0.0
    for _ in range(4):
        x = bfloat16(rng.standard_normal((SUMS[n] // 4, n)).astype(F32))
        total = x[:, 0]
        for k in range(1, n):
            total = bfloat16(total + x[:, k])
        prefixes = np.cumsum(x.astype(np.float64), axis=1)
        norm = np.sqrt((prefixes**2).sum(axis=1))
        ratio = np.abs(total - prefixes[:, -1]) / (2.0**-8 * norm)
        worst = max(worst, float(ratio.max()))
    assert worst < 8  # of which the growth (1 + u)**(n - 1) is no part
    assert worst > 0.8  # and the errors are of that size


@pytest.mark.parametrize("form", ["float32", "bfloat16"])
def test_products_in_index_order_stay_inside(form: str) -> None:
    rng = np.random.default_rng(10)
    for n in (40, 300, 2000):
        a, b = (er.asarray(rng.standard_normal((12, n)), form).values().astype(F32) for _ in "ab")
        result = er.matmul(er.asarray(a, form), er.asarray(b.T.copy(), form), dtype="float32")
        terms = a[:, None, :] * b[None]
        assert result.covers(np.cumsum(terms, axis=-1, dtype=F32)[..., -1], "typical").all()


@pytest.mark.parametrize("kind", ["constant", "two values", "offset", "lost"])
def test_terms_that_hardly_differ_break_the_assumption(kind: str) -> None:
    """What their sum rounds off repeats: a loop's error is beyond typical, inside normal."""
    rng = np.random.default_rng(15)
    n = 100_000
    x = {
        "constant": np.full(n, 0.1),
        "two values": rng.choice([0.1, 0.3], n),
        "offset": 1000 + rng.random(n),
        "lost": np.concatenate([[2.0**24], np.full(n - 1, 0.4)]),
    }[kind].astype(F32)
    out = np.cumsum(x, dtype=F32)[-1:]
    result = er.sum(x[None], axis=1)
    assert result.covers(out).all()
    assert not result.covers(out, "typical").any()


# -- how it is asked, and what is said -------------------------------------------------------------


def test_it_is_a_standard_beside_the_others() -> None:
    assert standards() == ("normal", "any_order", "typical")
    assert isinstance(get_standard("typical"), er.extend.Typical)


def test_planted_faults_are_outside_and_what_they_are_called() -> None:
    """A term dropped from 10,000 is seen by typical alone: normal and any order admit as much."""
    rng = np.random.default_rng(11)
    x = rng.random((20, 10_000)).astype(F32)
    good = np.cumsum(x, axis=1, dtype=F32)[:, -1]
    dropped = (good - F32(0.75)).astype(F32)
    result = er.sum(x, axis=1)
    assert result.covers(good, "typical").all()
    assert result.covers(dropped).all()
    assert not result.covers(dropped, "typical").any()
    with pytest.raises(AssertionError) as caught:
        er.assert_covers(dropped, result, standard="typical", rows=2)
    told = str(caught.value)
    assert "0 wrong, 20 correct but worse, 0 typical" in told
    assert "standard: typical" in told
    assert "error/typical" in told
    assert "any order" in told


def test_wrong_stays_what_no_order_gives() -> None:
    x = np.random.default_rng(12).random((4, 10_000)).astype(F32)
    out = np.cumsum(x, axis=1, dtype=F32)[:, -1]
    out[1] += F32(0.75)
    out[2] *= F32(2)
    with pytest.raises(AssertionError, match="1 wrong, 1 correct but worse, 2 typical"):
        er.assert_covers(out, er.sum(x, axis=1), standard="typical")


def test_another_probability_is_a_subclass() -> None:
    class Rare(er.extend.Typical):
        """Exceeded with a probability of at most 2 exp(-72)."""

        name = "rare"
        factor = 12

    class Provider:
        @staticmethod
        def exactref_standards() -> list[Any]:
            return [Rare()]

    x = np.random.default_rng(13).random(50_000).astype(F32)
    er.extend.register(Provider)
    try:
        result = er.sum(x)
        ratio = result.tolerance("rare").tolist() / result.tolerance("typical").tolist()
    finally:
        er.extend.unregister(Provider)
    assert 1.4 < ratio < 1.6
