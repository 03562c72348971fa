"""Means whose scores are products of inputs, against MPFR: what is claimed holds everywhere."""

from __future__ import annotations

from typing import Any

import gmpy2
import numpy as np
import pytest

import exactref as er
from exactref_core.arithmetic import attend_coarse, softmax_fast
from exactref_core.arithmetic.attend_coarse import product_means
from exactref_core.arithmetic.fast import FastReading
from exactref_core.exact import row_exponentials

PRECISION = 200
N, E, D = 70, 4, 3


def given(kind: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(len(kind))
    q, k, v = (rng.standard_normal((2, m, e)) for m, e in ((5, E), (N, E), (N, D)))
    if kind == "steep":
        q *= 40
    if kind == "vanishing":
        q *= 1e3
    if kind == "equal":
        k[:] = k[:, :1]
    if kind == "wide":
        v *= 2.0 ** rng.integers(-100, 100, v.shape)
    if kind == "zeros":
        q[0], v[..., 1] = 0, 0
    return tuple(x.astype(np.float32) for x in (q, k, v))  # type: ignore[return-value]


def keep_of(mask: str) -> np.ndarray | None:
    if mask == "random":
        keep = np.random.default_rng(3).random((2, 5, N)) < 0.4
        keep[:, :, 7] = True
        return keep
    return (
        None
        if mask == "none"
        else np.broadcast_to(np.arange(N) <= np.arange(5)[:, None], (2, 5, N))
    )


def node_of(q: Any, k: Any, v: Any, keep: np.ndarray | None, **rules: Any) -> Any:
    result = er.scaled_dot_product_attention(q, k, v, attn_mask=keep, **rules)
    return result.outputs["output"].parts[0].source  # type: ignore[attr-defined]


@pytest.mark.parametrize("mask", ["none", "causal", "random"])
@pytest.mark.parametrize("kind", ["plain", "steep", "vanishing", "equal", "wide", "zeros"])
def test_means_are_inside(kind: str, mask: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_exponentials, "BLOCK", 3 * N)
    monkeypatch.setattr(attend_coarse, "PIECE", 32)
    q, k, v = given(kind)
    keep = keep_of(mask)
    with np.errstate(all="ignore"):
        found = product_means(FastReading(False, narrow=True), node_of(q, k, v, keep))
    assert found is not None
    means, sizes = found
    assert means.radius is not None
    high, radius, least = (x.reshape(2, 5, D) for x in (means.high, means.radius, sizes))
    with gmpy2.context(precision=PRECISION):
        exact = [
            [[[gmpy2.mpfr(c) for c in row] for row in m] for m in x.tolist()] for x in (q, k, v)
        ]
        for b, i in np.ndindex(2, 5):
            scores = [
                sum(x * y for x, y in zip(exact[0][b][i], key, strict=True)) / 2
                for key in exact[1][b]
            ]
            kept = [j for j in range(N) if keep is None or keep[b, i, j]]
            powers = {j: gmpy2.exp(scores[j]) for j in kept}
            total = sum(powers.values())
            for d in range(D):
                mean = sum(powers[j] * exact[2][b][j][d] for j in kept) / total
                size = sum(powers[j] * abs(exact[2][b][j][d]) for j in kept) / total
                assert abs(mean - float(high[b, i, d])) <= float(radius[b, i, d])
                assert float(least[b, i, d]) <= size
                assert float(least[b, i, d]) >= size * 0.99 - gmpy2.exp2(-850)
                assert float(radius[b, i, d]) <= size * gmpy2.exp2(-30) + gmpy2.exp2(-850)


def test_what_is_left_to_the_reading_of_any_scores() -> None:
    q, k, v = given("plain")
    bias = np.zeros((5, N), np.float32)
    none = np.ones((2, 5, N), bool)
    none[1, 2] = False
    special = v.copy()
    special[0, 0, 0] = np.inf
    for node in (
        node_of(q, k, v, bias),
        node_of(q, k, v, none),
        node_of(q, k, special, None),
        node_of(q, k, v, None, scale=0.3),
        node_of(q, k, v, None, scale=0.0),
        node_of(er.add(q, q), er.exp(k), v, None),
    ):
        with np.errstate(all="ignore"):
            assert product_means(FastReading(False, narrow=True), node) is None


@pytest.mark.parametrize("causal", [False, True])
def test_rounded_means_are_those_of_the_pairs(
    causal: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(3)
    q, k, v = (rng.standard_normal((2, 96, 64)).astype(np.float32) for _ in range(3))
    v[:, :, 0] = np.round(v[:, :, 0])

    def rounded() -> bytes:
        result = er.scaled_dot_product_attention(q, k, v, is_causal=causal)["output"]
        return result.rounded.data.tobytes()  # type: ignore[no-any-return]

    taken = []

    def watched(*given: Any) -> Any:
        taken.append(product_means(*given))
        return taken[-1]

    monkeypatch.setattr(softmax_fast, "product_means", watched)
    found = rounded()
    assert taken
    assert all(means is not None for means in taken)
    monkeypatch.setattr(softmax_fast, "coarse", lambda *given: None)
    assert rounded() == found
