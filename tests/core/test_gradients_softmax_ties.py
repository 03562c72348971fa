"""Gradients of softmax whose sign, or whose distance to a tie, no precision of enclosures tells.

Scores of 1e38 apart: the weight of each is beyond any power of the one before. The sign of
sum_j w_j (g_i - g_j) is that of the first group of equal scores, from the top, whose differences do
not cancel: an oracle that needs no exponential.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import exactref as er

F32 = np.float32
ETA = 2.0**-149
LEVELS = F32([3.4028235e38, 1e38, 0.0, -1e38, -3.4028235e38])


def leading(g: list[float], x: list[float], i: int) -> tuple[Fraction, int]:
    """The gradient of one element with all weights but those at the top taken as 0; its sign."""
    top = max(x)
    sign = 0
    for level in sorted(set(x), reverse=True):
        total = sum(Fraction(g[i]) - Fraction(b) for a, b in zip(x, g, strict=True) if a == level)
        if total and not sign:
            sign = 1 if total > 0 else -1
        if level == top:
            first, count = total, x.count(top)
    return (first / count / count if x[i] == top else Fraction(0)), sign


def rows(seed: int) -> tuple[list[float], list[float]]:
    """A gradient and scores, one, two or four of them at the top."""
    rng = np.random.default_rng(seed)
    levels = np.sort(rng.permutation(5)[: int(rng.integers(2, 6))])
    top = [LEVELS[levels[0]]] * int(rng.choice([1, 2, 4]))
    rest = rng.choice(LEVELS[levels[1:]], int(rng.integers(1, 6)))
    x = rng.permutation([*top, *rest])
    g = rng.integers(-3, 4, len(x)) * float(rng.choice([1.0, 2.0**-3, 2.0**100]))
    return g.tolist(), x.tolist()


@pytest.mark.parametrize("seed", range(40))
def test_signs_of_what_underflows(seed: int) -> None:
    g, x = rows(seed)
    nearest = er.backward.softmax(F32(g), F32(x)).rounded.tolist()
    alone = x.count(max(x)) == 1
    modes = ("up", "down") if alone else ()
    directed = [
        er.backward.softmax(F32(g), F32(x), rounding=mode).rounded.tolist() for mode in modes
    ]
    for i in range(len(x)):
        value, sign = leading(g, x, i)
        assert nearest[i] == value, (i, g, x)
        assert value or sign == 0 or np.signbit(nearest[i]) == (sign < 0), (i, g, x)
        if alone:
            # Where all cancels the gradient is exactly 0.
            assert [one[i] for one in directed] == [max(sign, 0) * ETA, min(sign, 0) * ETA]


def test_the_largest_number_as_a_gradient() -> None:
    largest = float(np.finfo(F32).max)
    result = er.backward.softmax(F32([1, largest, largest]), F32([1, 1, largest]))
    assert np.signbit(result.rounded.tolist()).tolist() == [True, False, False]
    assert not any(result.rounded.tolist())
    assert np.asarray(result.covers(np.zeros(3, F32))).all()


def test_a_difference_that_is_rational_beside_an_irrational_weight() -> None:
    """x_0 - mean is exactly -1/2, the weight just below 1/2: above the tie at -1/4, not on it."""
    largest = F32(np.finfo(F32).max)
    g, x = F32([1, 2, 1.5]), F32([largest, largest, 0])
    assert er.backward.softmax(g, x, rounding="down").rounded.tolist() == [
        -0.25,
        float(np.nextafter(F32(0.25), F32(0))),
        0.0,
    ]


def test_masked_scores_of_attention() -> None:
    """Scores of -1e38, as masks give them: exact zeros and signs in the gradient of the query."""
    q, k, v = (np.ones((1, 1, n, 1), F32) for n in (1, 4, 4))
    k[0, 0, :, 0] = [0, 1, 2, 3]
    v[0, 0, :, 0] = [1, 2, 4, 8]
    mask = F32([[0, -1e38, -2e38, -3e38]])
    result = er.backward.scaled_dot_product_attention(np.ones((1, 1, 1, 1), F32), q, k, v, mask)
    found = {key: np.ravel(result[key].rounded.tolist()) for key in ("grad_key", "grad_query")}
    # Of the first key w_0 (1 - mean), of the others w_i (v_i - mean): underflows of known signs.
    assert np.signbit(found["grad_key"]).tolist() == [True, False, False, False]
    assert not found["grad_key"].any()
    assert not np.signbit(found["grad_query"]).any()


def test_long_rows_are_decided_quickly() -> None:
    rng = np.random.default_rng(0)
    x, g = (rng.standard_normal(600).astype(F32) for _ in range(2))
    for scale in (F32(1e4), F32(7e37)):
        found = np.asarray(er.backward.softmax(g, x * scale).rounded.tolist())
        first, second = np.argsort(x)[[-1, -2]]
        wanted = g < g[first]
        wanted[first] = g[first] < g[second]
        assert np.array_equal(np.signbit(found), wanted)


def test_normal_answers_of_gradients_under_softmax_weights() -> None:
    rng = np.random.default_rng(3)
    grad, q, k, v = (rng.standard_normal((3, 3)).astype(np.float32) for _ in range(4))
    found = er.backward.softmax(grad, q)
    assert found.covers(found.normal()).all()
    gradients = er.backward.scaled_dot_product_attention(grad, q, k, v)
    for name in ("grad_query", "grad_key", "grad_value"):
        assert gradients[name].covers(gradients[name].normal()).all()
