"""Sharpness: planted bugs fall outside the normal standard on ordinary random inputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import exactref as er
from tests.every_op.kernels import Machine
from tests.every_op.kernels_formats import SPECS, Spec, store
from tests.every_op.kernels_orders import chain as index_order
from tests.every_op.kernels_orders import columns, evaluate
from tests.every_op.kernels_values import hostile

FORMATS = ("float32", "float64", "bfloat16", "float16")
ROWS, N = 400, 64
Row = Callable[[Machine, np.ndarray], np.ndarray]


def loop(m: Machine, x: np.ndarray) -> np.ndarray:
    return evaluate(index_order(list(range(x.shape[-1]))), columns(x), m)


def doubled(m: Machine, x: np.ndarray) -> np.ndarray:
    return loop(m, np.concatenate([x, x[:, 7:8]], -1))


def stale(m: Machine, x: np.ndarray) -> np.ndarray:
    """One element read where its neighbour should have been."""
    y = x.copy()
    y[:, 9] = y[:, 8]
    return loop(m, y)


SUM_BUGS: dict[str, Row] = {
    "first term dropped": lambda m, x: loop(m, x[:, 1:]),
    "last term dropped": lambda m, x: loop(m, x[:, :-1]),
    "term doubled": doubled,
    "term stale": stale,
    "last block of 32 dropped": lambda m, x: loop(m, x[:, :32]),
    "sign of a term": lambda m, x: loop(m, np.concatenate([-x[:, :1], x[:, 1:]], -1)),
}
MEAN_BUGS = {"n - 1": N - 1, "n + 1": N + 1, "padded n": 2 * N}


def caught(result: Any, output: np.ndarray, name: str, right: np.ndarray) -> float:
    """The share of elements outside, among those that the bug changed."""
    assert result.covers(er.asarray(right, name)).all()
    covers = np.asarray(result.covers(er.asarray(output, name)).data)
    changed = output != right
    assert changed.any()
    return float(np.mean(~covers[changed]))


@pytest.mark.parametrize("bug", SUM_BUGS)
@pytest.mark.parametrize("name", FORMATS)
def test_sum(name: str, bug: str) -> None:
    rng = np.random.default_rng([20, FORMATS.index(name), list(SUM_BUGS).index(bug)])
    spec = SPECS[name]
    m = Machine(spec.compute)
    x = hostile(rng, "scaled", (ROWS, N), spec)
    right, wrong = (store(run(m, m.load(x)), spec) for run in (loop, SUM_BUGS[bug]))
    assert caught(er.sum(er.asarray(x, name), axis=1), wrong, name, right) > 0.99


@pytest.mark.parametrize("bug", MEAN_BUGS)
@pytest.mark.parametrize("name", FORMATS)
def test_mean(name: str, bug: str) -> None:
    rng = np.random.default_rng([21, FORMATS.index(name), MEAN_BUGS[bug]])
    spec = SPECS[name]
    m = Machine(spec.compute)
    x = hostile(rng, "scaled", (ROWS, N), spec)
    total = loop(m, m.load(x))
    right, wrong = (store(total / m.load(np.asarray(n)), spec) for n in (N, MEAN_BUGS[bug]))
    assert caught(er.mean(er.asarray(x, name), axis=1), wrong, name, right) > 0.99


NARROWER = [("float32", "bfloat16"), ("float32", "float16"), ("float32", "tfloat32")]
NARROWER += [("float64", "float32"), ("float16", "bfloat16"), ("bfloat16", "float8_e5m2")]


def products(m: Machine, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Index-order fused dot products of all rows with all columns."""
    total = np.zeros((a.shape[0], b.shape[1]), m.dtype)
    for k in range(a.shape[1]):
        total = m.fma(a[:, k, None], b[None, k], total)
    return total


def operands(rng: np.random.Generator, spec: Spec) -> tuple[np.ndarray, np.ndarray]:
    return hostile(rng, "scaled", (20, N), spec), hostile(rng, "scaled", (N, 20), spec)


@pytest.mark.parametrize(("name", "narrower"), NARROWER)
def test_narrower_inputs(name: str, narrower: str) -> None:
    rng = np.random.default_rng([22, NARROWER.index((name, narrower))])
    spec, other = SPECS[name], SPECS[narrower]
    m = Machine(spec.compute)
    a, b = operands(rng, spec)
    right = store(products(m, m.load(a), m.load(b)), spec)
    wrong = store(products(m, *(m.load(store(x, other)) for x in (a, b))), spec)
    assert caught(er.matmul(er.asarray(a, name), er.asarray(b, name)), wrong, name, right) > 0.9
    x = a.copy()
    total, rounded = (store(loop(m, m.load(v)), spec) for v in (x, store(x, other)))
    assert caught(er.sum(er.asarray(x, name), axis=1), rounded, name, total) > 0.9


@pytest.mark.parametrize(("name", "narrower"), [*NARROWER[:4], ("float16", "float16")])
def test_narrower_accumulator(name: str, narrower: str) -> None:
    """Every partial sum rounded to a narrower format."""
    rng = np.random.default_rng([23, ord(narrower[-1]), ord(name[-1])])
    spec, other = SPECS[name], SPECS[narrower]
    m = Machine(spec.compute)
    a, b = operands(rng, spec)
    right, total = store(products(m, m.load(a), m.load(b)), spec), np.zeros((20, 20))
    for k in range(N):
        total = store(total + np.outer(a[:, k], b[k]), other)
    wrong = store(total, spec)
    assert caught(er.matmul(er.asarray(a, name), er.asarray(b, name)), wrong, name, right) > 0.9


@pytest.mark.parametrize("name", FORMATS)
def test_other_planted_bugs_of_matmul(name: str) -> None:
    rng = np.random.default_rng([24, FORMATS.index(name)])
    spec = SPECS[name]
    m = Machine(spec.compute)
    a, b = hostile(rng, "scaled", (20, 20), spec), hostile(rng, "scaled", (20, 20), spec)
    result = er.matmul(er.asarray(a, name), er.asarray(b, name))
    p, q = m.load(a), m.load(b)
    right = store(products(m, p, q), spec)
    for wrong in (
        products(m, p, q.T),
        products(m, p.T, q),
        products(m, p, q).T,
        products(m, p[:, :-1], q[:-1]),
        products(m, np.roll(p, 1, axis=1), q),
        products(m, p, q) * m.dtype.type(1 + 2.0**-6),
        products(m, p, q) + m.dtype.type(2.0**-3),
    ):
        assert caught(result, store(wrong, spec), name, right) > 0.95


@pytest.mark.parametrize("name", ["bfloat16", "float16", "float8_e5m2"])
@pytest.mark.parametrize("mode", ["toward_zero", "up", "down", "nearest_away"])
def test_another_rounding_of_the_store(name: str, mode: str) -> None:
    """Truncated stores, and ties away from zero."""
    rng = np.random.default_rng([25, len(name), len(mode)])
    spec = SPECS[name]
    m = Machine(spec.compute)
    x = hostile(rng, "scaled", (20_000, 8), spec)
    if mode != "nearest_away":
        # An exact tie is within the bound of both neighbours, and of few terms many sums are ties.
        total = loop(m, m.load(x))
        right, wrong = store(total, spec), store(total, spec, mode)
        assert caught(er.sum(er.asarray(x, name), axis=1), wrong, name, right) > 0.7
    lone = m.multiply(*(m.load(x[:, i]) for i in (0, 1)))
    result = er.multiply(er.asarray(x[:, 0], name), er.asarray(x[:, 1], name))
    assert caught(result, store(lone, spec, mode), name, store(lone, spec)) == 1.0


@pytest.mark.parametrize(("output", "middle"), [("float16", "float32"), ("bfloat16", "float16")])
def test_a_second_rounding_of_the_store(output: str, middle: str) -> None:
    """Products of float64 numbers stored through a format in between."""
    rng = np.random.default_rng([26, len(output)])
    x, y = rng.uniform(1, 1.2, (2, 200_000))
    right = store(x * y, SPECS[output])
    wrong = store(store(x * y, SPECS[middle]), SPECS[output])
    result = er.multiply(x, y, dtype=output)
    assert caught(result, wrong, output, right) == 1.0


@pytest.mark.parametrize("name", ["complex64", "complex128"])
def test_complex_products(name: str) -> None:
    rng = np.random.default_rng([27, len(name)])
    dtype = np.dtype(name)
    z, w = (
        (rng.standard_normal(500) + 1j * rng.standard_normal(500)).astype(dtype) for _ in range(2)
    )
    result = er.multiply(z, w)
    assert result.covers(z * w).all()
    for wrong in (z * w.conj(), z.conj() * w, z * w.real, z * w + z.real):
        covered = np.asarray(result.covers(wrong.astype(dtype)).data)
        assert np.mean(covered.all(axis=-1)) < 0.01


def naive_quotient(z: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Whatever the size of the divisor's square."""
    c, d = w.real, w.imag
    bottom = c * c + d * d
    found = np.empty_like(z)
    found.real = (z.real * c + z.imag * d) / bottom
    found.imag = (z.imag * c - z.real * d) / bottom
    return found


@pytest.mark.parametrize("name", ["complex64", "complex128"])
def test_complex_quotients_moduli_and_roots(name: str) -> None:
    rng = np.random.default_rng([28, len(name)])
    dtype = np.dtype(name)
    z, w = (
        (rng.standard_normal(300) + 1j * rng.standard_normal(300)).astype(dtype) for _ in range(2)
    )
    quotient, modulus, root = er.divide(z, w), er.abs(z), er.sqrt(z)
    assert quotient.covers(z / w).all()
    assert modulus.covers(np.abs(z)).all()
    assert root.covers(np.sqrt(z)).all()
    for result, wrong in (
        (quotient, z / w.conj()),
        (quotient, z * w),
        (quotient, w / z),
        (quotient, z / w.real),
        (modulus, np.abs(z.real) + np.abs(z.imag)),
        (modulus, np.abs(z) ** 2),
        (root, np.sqrt(z).conj()),
        (root, np.sqrt(-z)),
        (root, -np.sqrt(z)),
    ):
        covered = np.asarray(result.covers(wrong.astype(result.dtype)).data)
        assert np.mean(covered.reshape(300, -1).all(axis=-1)) < 0.02
    # Out of the range of squares, formulas without scaling lose everything.
    for scale in (2.0**-140, 2.0**100) if name == "complex64" else (2.0**-1060, 2.0**900):
        u, v = ((x.real.astype(dtype) * scale + 1j * scale).astype(dtype) for x in (z, w))
        with np.errstate(all="ignore"):
            covered = np.asarray(er.divide(u, v).covers(naive_quotient(u, v)).data)
            assert not covered.all(axis=-1).any()
            squares = np.sqrt(u.real * u.real + u.imag * u.imag)
            assert not np.asarray(er.abs(u).covers(squares).data).any()
