"""Outputs of matrix products that some of their terms decide, against whole ranges."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import exactref as er
from exactref_core.arithmetic.staged_products import partial_sums, staged
from exactref_core.registry import get_standard

N = 128  # the least size that is looked at in stages
KINDS = ("plain", "wide", "late", "cancelling", "sparse", "tiny")


def factors(kind: str) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(KINDS.index(kind))
    a, b = (rng.standard_normal((N, N)).astype(np.float32) for _ in range(2))
    if kind == "wide":
        a, b = (np.ldexp(x, rng.integers(-40, 40, x.shape)) for x in (a, b))
    elif kind == "late":  # nothing in the first half of the depth
        a[:, : N // 2] = 0
    elif kind == "cancelling":
        a[:, 1::2], b[1::2] = -a[:, ::2], b[::2] * np.float32(1 + 2.0**-20)
    elif kind == "sparse":
        a *= rng.random(a.shape) < 0.03
    elif kind == "tiny":
        a, b = np.ldexp(a, -75), np.ldexp(b, -70)
    return a.astype(np.float32), b.astype(np.float32)


@pytest.mark.parametrize("standard", ["any_order", "normal"])
@pytest.mark.parametrize("kind", KINDS)
def test_covered_is_what_lies_in_the_range(kind: str, standard: str) -> None:
    dtype = np.float64 if kind == "plain" else np.float32
    a, b = (x.astype(dtype) for x in factors(kind))
    low, high = (x.values().astype(dtype) for x in er.matmul(a, b).finite_range(standard))
    infinity = dtype(np.inf)
    outside = np.nextafter(low, -infinity), np.nextafter(high, infinity)
    middle = a @ b
    kept = np.choose(np.arange(N) % 8, [middle, low, high, middle, middle, middle, *outside])
    for out in (middle, kept, np.where(kept == outside[0], outside[0], middle)):
        found = er.matmul(a, b).covers(out, standard).values()
        assert np.array_equal(found, (out >= low) & (out <= high))
    assert not found.all()


def test_stages_decide_products_of_libraries() -> None:
    a, b = factors("plain")
    (part,) = er.matmul(a, b).outputs["output"].parts  # type: ignore[attr-defined]
    for name in ("any_order", "normal"):
        found = staged(part, (a @ b).astype(np.float64).reshape(-1), get_standard(name))
        assert found is not None
        assert np.count_nonzero(found) >= 0.99 * N * N
    assert staged(part, np.full(N * N, 1e9), get_standard("normal")) is None
    a, b = factors("late")
    (part,) = er.matmul(a, b).outputs["output"].parts  # type: ignore[attr-defined]
    assert staged(part, (a @ b).astype(np.float64).reshape(-1), get_standard("any_order")) is None


def test_sums_of_some_terms_are_no_more_than_all() -> None:
    rng = np.random.default_rng(5)
    a, b = (np.ldexp(rng.standard_normal(s), rng.integers(-9, 9, s)) for s in ((3, 70), (70, 4)))
    exact = [
        [
            sum(abs(Fraction(x) * Fraction(y)) for x, y in zip(row, column, strict=True))
            for column in b.T
        ]
        for row in a
    ]
    for sums in partial_sums(a, b):
        for found, whole in zip(sums, np.ravel(np.asarray(exact, object)), strict=True):
            assert Fraction(found) <= whole
