"""Weights in plain float64, against MPFR: what is claimed of them holds on hostile rows."""

from __future__ import annotations

import gmpy2
import numpy as np
import pytest

import exactref as er
from exactref_core.arithmetic.approx import Approx
from exactref_core.arithmetic.softmax_coarse import coarse_means, coarse_weights
from exactref_core.exact.exponentials import exp_high

PRECISION = 200


def rows(kind: str, n: int) -> np.ndarray:
    rng = np.random.default_rng([n, len(kind)])
    x = rng.standard_normal((3, n)).astype(np.float32).astype(np.float64)
    if kind == "spread":
        x *= 200
    if kind == "vanishing":
        x[:, ::2] -= 700 + 40 * rng.random((3, (n + 1) // 2))
    if kind == "huge":
        x *= 2.0**100
    if kind == "apart":  # differences that float64 rounds
        x[:, ::2] += 2.0**-60
        x[:, 1::2] -= 600
    if kind == "equal":
        x[:] = x[:, :1]
    return x


@pytest.mark.parametrize("n", [1, 2, 63, 64, 65, 1000])
@pytest.mark.parametrize("kind", ["plain", "spread", "vanishing", "huge", "apart", "equal"])
def test_weights_are_inside(kind: str, n: int) -> None:
    x = rows(kind, n)
    found = coarse_weights(Approx(x))
    assert found is not None
    assert found.radius is not None
    with gmpy2.context(precision=PRECISION):
        for row, high, radius in zip(x, found.high, found.radius, strict=True):
            top = gmpy2.mpfr(float(max(row)))
            powers = [gmpy2.exp(gmpy2.mpfr(float(s)) - top) for s in row]
            total = sum(powers)
            for power, weight, off in zip(powers, high, radius, strict=True):
                assert abs(power / total - gmpy2.mpfr(float(weight))) <= gmpy2.mpfr(float(off))
    assert (found.radius <= found.high * 2.0**-40 + 2.0**-988).all()


def test_the_exponential_errs_by_less_than_claimed() -> None:
    rng = np.random.default_rng(2)
    x = -np.concatenate([rng.random(4000) * 690, rng.random(2000) * 2.0**-20, [0.0, 690.0]])
    found = exp_high(x)
    worst = 0.0
    with gmpy2.context(precision=PRECISION):
        for argument, value in zip(x.tolist(), found.tolist(), strict=True):
            exact = gmpy2.exp(gmpy2.mpfr(argument))
            worst = max(worst, float(abs(gmpy2.mpfr(value) / exact - 1)))
    assert 2.0**-53 < worst < 2.0**-51
    assert exp_high(np.array([-690.5, -1e300])).tolist() == [0.0, 0.0]


def moved(x: np.ndarray, radius: np.ndarray, seed: int) -> list[list[gmpy2.mpfr]]:
    """Scores anywhere within their radii, at the ends most of all."""
    signs = np.random.default_rng(seed).choice([-1.0, -0.5, 1.0], x.shape)
    return [
        [gmpy2.mpfr(s) + gmpy2.mpfr(r) * sign for s, r, sign in zip(*row, strict=True)]
        for row in zip(x.tolist(), radius.tolist(), signs.tolist(), strict=True)
    ]


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("off", [0.0, 2.0**-44, 2.0**-20])
@pytest.mark.parametrize("kind", ["plain", "spread", "vanishing"])
def test_means_of_uncertain_scores_are_inside(kind: str, off: float, masked: bool) -> None:
    n, d = 70, 3
    rng = np.random.default_rng(9)
    x, values = rows(kind, n), rng.standard_normal((n, d)) * 2.0 ** rng.integers(-40, 40, (n, d))
    radius = np.abs(x) * off
    keep = rng.random(x.shape) < 0.6 if masked else None
    given = Approx(x, None, radius) if off else Approx(x)
    weights = coarse_weights(given, keep)
    found = coarse_means(given, keep, Approx(values), x.shape)
    assert weights is not None
    assert found is not None
    means, sizes = found
    with gmpy2.context(precision=PRECISION):
        for i, row in enumerate(moved(x, radius, 1)):
            kept = [True] * n if keep is None else keep[i].tolist()
            powers = [gmpy2.exp(s) if k else gmpy2.mpfr(0) for s, k in zip(row, kept, strict=True)]
            total = sum(powers)
            for k in range(n):
                apart = abs(powers[k] / total - gmpy2.mpfr(float(weights.high[i, k])))
                assert apart <= gmpy2.mpfr(float(weights.radius[i, k]))
            for j in range(d):
                mean = sum(
                    p * gmpy2.mpfr(v) for p, v in zip(powers, values[:, j].tolist(), strict=True)
                )
                apart = abs(mean / total - gmpy2.mpfr(float(means.high[i, j])))
                assert apart <= gmpy2.mpfr(float(means.radius[i, j]))
                size = sum(
                    p * abs(gmpy2.mpfr(v))
                    for p, v in zip(powers, values[:, j].tolist(), strict=True)
                )
                least = gmpy2.mpfr(float(sizes[i, j]))
                assert (size / total) * 0.5 - gmpy2.exp2(-900) <= least <= size / total


def test_what_has_no_coarse_weights() -> None:
    x = rows("plain", 5)
    assert coarse_weights(Approx(x, None, np.full(x.shape, 0.1))) is None
    assert coarse_weights(Approx(x, None, None, np.full(x.shape, np.inf))) is None
    assert coarse_weights(Approx(x[:, :0])) is None
    keep = np.ones(x.shape, bool)
    keep[1] = False
    assert coarse_weights(Approx(x), keep) is None
    values = np.ones((5, 2))
    assert coarse_means(Approx(x), None, Approx(values, values * 0), x.shape) is None


@pytest.mark.parametrize("causal", [False, True])
def test_rounded_means_are_those_of_the_certified_reading(causal: bool) -> None:
    """At the size where rows left over are multiplied by slices."""
    rng = np.random.default_rng(3)
    q, k, v = (rng.standard_normal((2, 96, 64)).astype(np.float32) for _ in range(3))
    q[0] *= 8
    v[:, :, 0] = np.round(v[:, :, 0])
    result = er.scaled_dot_product_attention(q, k, v, is_causal=causal)
    rounded = result["output"].rounded.values()
    (part,) = result.outputs["output"].parts  # type: ignore[attr-defined]
    for flat in rng.integers(0, rounded.size, 6).tolist():
        assert rounded.reshape(-1)[flat] == part.round_one(flat)


def test_rounded_weights_are_those_of_the_certified_reading() -> None:
    x = np.concatenate([rows(kind, 700) for kind in ("plain", "spread", "vanishing", "equal")])
    given = x.astype(np.float32)
    result = er.softmax(given, axis=-1)
    rounded = result.rounded.values()
    (part,) = result.outputs["output"].parts  # type: ignore[attr-defined]
    for flat in np.random.default_rng(0).integers(0, x.size, 20).tolist():
        assert rounded.reshape(-1)[flat] == part.round_one(flat)


@pytest.mark.parametrize("height", [3, 5])
def test_scores_known_exactly_may_say_so_in_an_array(height: int) -> None:
    zero = np.zeros((height, 5))
    values = Approx(np.arange(5.0)[:, None])
    for radius in (None, zero):
        weights = coarse_weights(Approx(zero, None, radius))
        assert weights is not None
        assert weights.radius is not None
        assert weights.radius.shape == zero.shape
        assert (np.abs(weights.high - 0.2) <= weights.radius).all()
        found = coarse_means(Approx(zero, None, radius), None, values, zero.shape)
        assert found is not None
        means = found[0]
        assert means.radius is not None
        assert means.radius.shape == (height, 1)
        assert (np.abs(means.high - 2) <= means.radius).all()


@np.errstate(over="ignore", invalid="ignore")
def test_means_that_overflow_say_nothing() -> None:
    """inf - inf of float64's own range is no midpoint."""
    values = Approx(1.7e308 * np.array([[1.0], [1.0], [-1.0], [-1.0]]))
    found = coarse_means(Approx(np.zeros((1, 4))), None, values, (1, 4))
    assert found is not None
    assert found[0].high == 0
    assert found[0].radius == np.inf
    assert found[1] == 0
