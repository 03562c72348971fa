"""Sharpness: planted bugs of products, reductions, scans and choices fall outside."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import exactref as er
from tests.every_op.kernels_formats import SPECS, store

FORMATS = ("float32", "float64", "bfloat16", "float16")
N = 48
Bug = Callable[..., np.ndarray]


def outside(result: Any, right: np.ndarray, wrong: np.ndarray, name: str) -> float:
    """The share of elements outside, among those that the bug changed; the right ones are in."""
    spec = SPECS[name]
    good, bad = store(right, spec), store(wrong, spec)
    assert result.covers(er.asarray(good, name)).all()
    covers = np.asarray(result.covers(er.asarray(bad, name)).data)
    changed = ~((good == bad) | (np.isnan(good) & np.isnan(bad)))
    assert changed.any()
    return float(np.mean(~covers[changed]))


def drawn(rng: np.random.Generator, name: str, *shape: int, centre: float = 0.0) -> np.ndarray:
    return store(rng.standard_normal(shape) + centre, SPECS[name])


def float32_of(name: str) -> Any:
    return np.float64 if name == "float64" else np.float32


REDUCTIONS: dict[str, tuple[Callable[..., Any], Bug, dict[str, Bug]]] = {
    "prod": (
        lambda x: er.prod(x, axis=1),
        lambda x: np.multiply.accumulate(x, axis=1)[:, -1],
        {
            "factor dropped": lambda x: np.prod(x[:, 1:], axis=1),
            "factor doubled": lambda x: np.prod(x, axis=1) * x[:, 7],
            "sign": lambda x: -np.prod(x, axis=1),
            "bfloat16 inputs": lambda x: np.prod(store(x, SPECS["float8_e5m2"]), axis=1),
        },
    ),
    "var": (
        lambda x: er.var(x, axis=1),
        lambda x: np.var(x, axis=1),
        {
            "n - 1": lambda x: np.var(x, axis=1, ddof=1),
            "term dropped": lambda x: np.var(x[:, 1:], axis=1),
            "mean not subtracted": lambda x: np.mean(x * x, axis=1),
            "root": lambda x: np.std(x, axis=1),
            "mean of half of the terms": lambda x: np.mean(
                (x - x[:, : N // 2].mean(axis=1, keepdims=True)) ** 2, axis=1
            ),
        },
    ),
    "std": (
        lambda x: er.std(x, axis=1, correction=1),
        lambda x: np.std(x, axis=1, ddof=1),
        {
            "n": lambda x: np.std(x, axis=1),
            "no root": lambda x: np.var(x, axis=1, ddof=1),
            "eps": lambda x: np.sqrt(np.var(x, axis=1, ddof=1) + x.dtype.type(0.05)),
        },
    ),
    "norm": (
        lambda x: er.vector_norm(x, axis=1),
        lambda x: np.sqrt((x * x).sum(axis=1)),
        {
            "no root": lambda x: (x * x).sum(axis=1),
            "sum of magnitudes": lambda x: np.abs(x).sum(axis=1),
            "terms dropped": lambda x: np.sqrt((x[:, 3:] ** 2).sum(axis=1)),
            "root mean square": lambda x: np.sqrt((x * x).mean(axis=1)),
        },
    ),
    "largest": (
        lambda x: er.max(x, axis=1),
        lambda x: x.max(axis=1),
        {
            "smallest": lambda x: x.min(axis=1),
            "of magnitudes": lambda x: np.abs(x).max(axis=1),
            "last block dropped": lambda x: x[:, :16].max(axis=1),
            "starts from 0": lambda x: np.maximum(x[:, :2].max(axis=1), 0),
        },
    ),
}
CASES = [(name, bug) for name, (_, _, bugs) in REDUCTIONS.items() for bug in bugs]


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize(("op", "bug"), CASES)
def test_reductions(op: str, bug: str, name: str) -> None:
    rng = np.random.default_rng([60, CASES.index((op, bug)), FORMATS.index(name)])
    reference, right, bugs = REDUCTIONS[op]
    x = drawn(rng, name, 200, N, centre=0.5)
    if op == "prod":
        x = store(rng.uniform(0.8, 1.25, (200, N)), SPECS[name])
    given = x.astype(float32_of(name))
    with np.errstate(all="ignore"):
        good, wrong = right(given), bugs[bug](given)
    assert outside(reference(er.asarray(x, name)), good, wrong, name) > 0.9


def test_the_mean_of_squares_less_the_squared_mean_is_no_variance() -> None:
    rng = np.random.default_rng(61)
    x = (rng.standard_normal((200, N)) + 2000).astype(np.float32)
    result = er.var(x, axis=1)
    assert result.covers(np.var(x, axis=1)).all()
    naive = (x * x).mean(axis=1) - x.mean(axis=1) ** 2
    assert np.mean(np.asarray(result.covers(naive).data)) < 0.1


def test_a_variance_of_narrower_inputs_or_of_a_rounded_mean() -> None:
    rng = np.random.default_rng(62)
    x = rng.standard_normal((200, N)).astype(np.float32)
    result = er.var(x, axis=1)
    for bits in ("bfloat16", "float16", "tfloat32"):
        narrow = np.var(store(x, SPECS[bits]).astype(np.float32), axis=1)
        assert np.mean(np.asarray(result.covers(narrow).data)) < 0.1
    x = x + np.float32(3.25)
    mean = store(x.mean(axis=1, keepdims=True), SPECS["float8_e5m2"]).astype(np.float32)
    rounded = ((x - mean) ** 2).mean(axis=1)
    assert np.mean(np.asarray(er.var(x, axis=1).covers(rounded).data)) < 0.1


SCANS: dict[str, Bug] = {
    "exclusive": lambda x: np.cumsum(x, axis=1) - x,
    "from the end": lambda x: np.cumsum(x[:, ::-1], axis=1)[:, ::-1],
    "starts again at a block": lambda x: np.concatenate(
        [np.cumsum(part, axis=1) for part in (x[:, :32], x[:, 32:])], axis=1
    ),
    "first term dropped": lambda x: np.cumsum(x, axis=1) - x[:, :1],
    "another axis": lambda x: np.cumsum(x, axis=0),
}


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("bug", SCANS)
def test_scans(bug: str, name: str) -> None:
    rng = np.random.default_rng([63, list(SCANS).index(bug), FORMATS.index(name)])
    x = drawn(rng, name, N, N)
    given = x.astype(float32_of(name))
    result = er.cumulative_sum(er.asarray(x, name), axis=1)
    assert outside(result, np.cumsum(given, axis=1), SCANS[bug](given), name) > 0.9


LINEAR: dict[str, Bug] = {
    "no bias": lambda x, w, b: x @ w.T,
    "bias twice": lambda x, w, b: x @ w.T + 2 * b,
    "bias along rows": lambda x, w, b: x @ w.T + b[:, None],
    "weight not transposed": lambda x, w, b: x @ w + b,
    "last feature dropped": lambda x, w, b: x[:, :-1] @ w[:, :-1].T + b,
    "narrower inputs": lambda x, w, b: store(x, SPECS["float8_e5m2"]) @ w.T + b,
}


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("bug", LINEAR)
def test_linear(bug: str, name: str) -> None:
    rng = np.random.default_rng([64, list(LINEAR).index(bug), FORMATS.index(name)])
    x, w, b = drawn(rng, name, 24, 24), drawn(rng, name, 24, 24), drawn(rng, name, 24)
    given = [part.astype(float32_of(name)) for part in (x, w, b)]
    result = er.linear(*(er.asarray(part, name) for part in (x, w, b)))
    right = given[0] @ given[1].T + given[2]
    assert outside(result, right, LINEAR[bug](*given), name) > 0.9
    addmm = er.addmm(*(er.asarray(p, name) for p in (b, x, w.T.copy())), beta=0.5, alpha=2)
    half = float32_of(name)(0.5) * given[2] + 2 * (given[0] @ given[1].T)
    assert outside(addmm, half, 2 * given[2] + half / 4, name) > 0.9


def test_steps() -> None:
    rng = np.random.default_rng(65)
    x, y = rng.uniform(0.5, 2, (2, 5000)).astype(np.float32)
    z = -(x * y)  # what is left is the rounding of the product
    fused = er.fma(x, y, z)
    right = (x.astype(np.float64) * y + z).astype(np.float32)
    assert fused.covers(right).all()
    assert not fused.covers((x * y) + z).values()[right != 0].any()
    beside = np.nextafter(1 / x, np.float32(9))
    assert not er.reciprocal(x).covers(beside).any()
    root = 1 / np.sqrt(x)
    assert er.rsqrt(x).covers(root).all()
    assert not er.rsqrt(x).covers(root * np.float32(1 + 2.0**-20)).any()
    assert (
        not er.rsqrt(x)
        .covers(store(root, SPECS["bfloat16"]).astype(np.float32))
        .values()[store(root, SPECS["bfloat16"]) != root]
        .any()
    )
    signed = np.concatenate([x, -x])
    assert not er.relu(signed).covers(signed).values()[5000:].any()
    leaky = np.where(signed > 0, signed, np.float32(0.02) * signed)
    assert not er.leaky_relu(signed).covers(leaky).values()[5000:].any()
    wide = (x.astype(np.float64) * 1.1).astype(np.float32)
    cast = er.astype(wide, "bfloat16")
    away = store(wide, SPECS["bfloat16"], "toward_zero")
    right = store(wide, SPECS["bfloat16"])
    assert not cast.covers(er.asarray(away, "bfloat16")).values()[away != right].any()


def test_choices() -> None:
    x = np.array([1.0, np.nan, 2.0, -3.0], np.float32)
    y = np.array([np.nan, 1.0, 3.0, -2.0], np.float32)
    assert er.maximum(x, y).covers(np.maximum(x, y)).all()
    assert er.maximum(x, y).covers(np.fmax(x, y)).tolist() == [False, False, True, True]
    ignored = er.maximum(x, y, nan="ignore")
    assert ignored.covers(np.fmax(x, y)).all()
    assert ignored.covers(np.maximum(x, y)).tolist() == [False, False, True, True]
    assert er.clip([1.0, 5.0], 2.0, 4.0).covers([2.0, 4.0]).all()
    assert not er.clip([1.0, 5.0], 2.0, 4.0).covers([1.0, 5.0]).any()
    assert not er.where([True, False], [1.0, 2.0], [3.0, 4.0]).covers([3.0, 2.0]).any()
    zeros = er.maximum([-0.0], [0.0])
    assert zeros.covers([-0.0]).all()
    for zero in (0.0, -0.0):
        assert zeros.covers([zero], signed_zeros=True).all()
        assert er.min([[-0.0, 0.0, 1.0]], axis=1).covers([zero], signed_zeros=True).all()
        assert er.relu([-0.0]).covers([zero], signed_zeros=True).all()
    assert not er.maximum([0.0], [0.0]).covers([-0.0], signed_zeros=True).any()


def test_complex_products() -> None:
    rng = np.random.default_rng(66)
    z, w = (rng.standard_normal((2, 100, 8, 2)) @ np.array([1, 1j])).astype(np.complex64)
    dot = er.vecdot(z, w)
    assert dot.covers(np.einsum("ij,ij->i", z.conj(), w)).all()
    wrong = np.asarray(dot.covers(np.einsum("ij,ij->i", z, w)).data)
    assert not wrong.all(axis=-1).any()
    norm = er.vector_norm(z, axis=1)
    assert norm.dtype == "float32"
    assert norm.covers(np.sqrt((np.abs(z) ** 2).sum(axis=1)).astype(np.float32)).all()
    assert not norm.covers(np.abs(z.sum(axis=1)).astype(np.float32)).any()
