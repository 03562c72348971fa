"""Gradients of products, norms, abs and astype: exact, torch's, kernels, faults."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import gmpy2
import numpy as np
import pytest

import exactref as er
from exactref_core.errors import DTypeError, InputError

F32 = np.float32
BITS = 300


def rows_of(seed: int, n: int) -> np.ndarray:
    """Rows without zeros, with one, with two, of small integers, steep."""
    rng = np.random.default_rng([seed, n])
    x = rng.standard_normal((6, n))
    x[1, n // 2] = 0
    x[2, [0, n - 1]] = 0
    x[3] = rng.integers(-2, 3, n)
    x[4] *= 10.0 ** rng.integers(-3, 4, n)
    return x.astype(F32)


def product(factors: list[Fraction]) -> Fraction:
    found = Fraction(1)
    for factor in factors:
        found *= factor
    return found


def fractions(row: np.ndarray) -> list[Fraction]:
    return [Fraction(float(v)) for v in row]


def expected(name: str, row: list[Fraction], grad: list[Fraction], j: int) -> Fraction:
    """The gradient at one element of a row."""
    if name == "prod":
        return grad[0] * product(row[:j] + row[j + 1 :])
    ends = range(j, len(row))
    return sum((grad[k] * product(row[:j] + row[j + 1 : k + 1]) for k in ends), Fraction(0))


@pytest.mark.parametrize("name", ["prod", "cumulative_prod"])
def test_products_are_exact(name: str) -> None:
    for n in (1, 2, 5, 9):
        x = rows_of(1, n)
        grad = np.random.default_rng(n).standard_normal(x.shape).astype(F32)
        given = grad[:, 0] if name == "prod" else grad
        result = getattr(er.backward, name)(given, x, axis=1)
        for i, j in np.ndindex(x.shape):
            value = result.exact.value(i, j)
            wanted = expected(name, fractions(x[i]), fractions(grad[i]), j)
            assert (value.midpoint.to_fraction(), value.radius) == (wanted, 0), (n, i, j)
        assert np.asarray(result.covers(result.normal())).all()


def tree(rng: np.random.Generator, parts: list[np.ndarray], step: Any) -> np.ndarray:
    """Parts joined in a random order."""
    parts = [parts[i] for i in rng.permutation(len(parts))]
    while len(parts) > 1:
        i, j = sorted(rng.choice(len(parts), 2, replace=False).tolist())
        parts[i] = step(parts[i], parts.pop(j))
    return parts[0]


def prod_kernels(rng: np.random.Generator, grad: Any, x: np.ndarray) -> Iterator[Any]:
    n = x.shape[1]
    one = np.ones((len(x), 1), F32)
    left = np.multiply.accumulate(np.concatenate([one, x[:, :-1]], 1), axis=1, dtype=F32)
    right = np.multiply.accumulate(np.concatenate([one, x[:, :0:-1]], 1), axis=1, dtype=F32)
    yield "both sides", (grad[:, None] * (left * right[:, ::-1])).astype(F32)
    columns = [
        tree(rng, [grad, *(x[:, k] for k in range(n) if k != j)], np.multiply) for j in range(n)
    ]
    yield "trees", np.stack(columns, axis=1)
    whole = np.multiply.accumulate(x, axis=1, dtype=F32)[:, -1:]
    with np.errstate(all="ignore"):
        yield (
            "quotients",
            np.where((x == 0).any(1, keepdims=True), np.nan, grad[:, None] * whole / x),
        )


def scan_kernels(rng: np.random.Generator, grad: np.ndarray, x: np.ndarray) -> Iterator[Any]:
    n = x.shape[1]
    tail, horner = grad[:, -1], [grad[:, -1]]
    for k in range(n - 1, 0, -1):
        tail = grad[:, k - 1] + x[:, k] * tail
        horner.append(tail)
    one = np.ones((len(x), 1), F32)
    left = np.multiply.accumulate(np.concatenate([one, x[:, :-1]], 1), axis=1, dtype=F32)
    yield "trees", left * np.stack(horner[::-1], axis=1)
    columns = []
    for j in range(n):
        terms = []
        for k in range(j, n):
            others = [x[:, i] for i in range(k + 1) if i != j]
            terms.append(tree(rng, [grad[:, k], *others], np.multiply))
        columns.append(tree(rng, terms, np.add))
    yield "trees", np.stack(columns, axis=1)
    whole = np.multiply.accumulate(x, axis=1, dtype=F32)
    sums = np.add.accumulate((grad * whole)[:, ::-1], axis=1, dtype=F32)[:, ::-1]
    with np.errstate(all="ignore"):
        yield "quotients", np.where((x == 0).any(1, keepdims=True), np.nan, sums / x)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", ["prod", "cumulative_prod"])
def test_simulated_kernels_are_inside(name: str, seed: int) -> None:
    rng = np.random.default_rng([7, seed])
    for n in (1, 2, 6, 40):
        x = rows_of(seed, n)
        grad = rng.standard_normal(x.shape).astype(F32)
        given = grad[:, 0] if name == "prod" else grad
        result = getattr(er.backward, name)(given, x, axis=1)
        simulated = prod_kernels if name == "prod" else scan_kernels
        for label, output in simulated(rng, given, x):
            standard = "any_order" if label == "trees" else "normal"
            inside = np.asarray(result.covers(output.astype(F32), standard))
            skipped = np.isnan(output) if label == "quotients" else False
            assert (inside | skipped).all(), (n, label)


@pytest.mark.parametrize("name", ["prod", "cumulative_prod"])
def test_kernels_that_leave_the_range_are_inside(name: str) -> None:
    rng = np.random.default_rng(5)
    simulated = prod_kernels if name == "prod" else scan_kernels
    for decades in (5, 20, 37) * 8:
        shape = (8, int(rng.integers(2, 7)))
        x = (rng.choice([-1, 1], shape) * 10.0 ** rng.uniform(-decades, decades, shape)).astype(F32)
        grad = (10.0 ** rng.uniform(-decades, decades, shape)).astype(F32)
        given = grad[:, 0] if name == "prod" else grad
        result = getattr(er.backward, name)(given, x, axis=1)
        with np.errstate(all="ignore"):
            kernels = [(k, out.astype(F32)) for k, out in simulated(rng, given, x)]
        for label, output in kernels:
            standard = "any_order" if label == "trees" else "normal"
            if label != "quotients":
                assert np.asarray(result.covers(output, standard)).all(), (label, decades)


@pytest.mark.parametrize("name", ["prod", "cumulative_prod"])
def test_faults_of_products_are_outside(name: str) -> None:
    rng = np.random.default_rng(2)
    x = rng.uniform(0.5, 2, (8, 12)).astype(F32)
    grad = rng.standard_normal(x.shape).astype(F32)
    given = grad[:, 0] if name == "prod" else grad
    result = getattr(er.backward, name)(given, x, axis=1)
    right = np.asarray(result.rounded.values(), F32)
    moved = x.copy()
    moved[:, 5] = np.nextafter(moved[:, 5] * F32(1.0001), F32(9))
    other = getattr(er.backward, name)(given, moved, axis=1).rounded
    whole = right * x  # the element itself left in
    for fault in (np.asarray(other.values(), F32), whole, right.astype(np.float16).astype(F32)):
        outside = ~np.asarray(result.covers(fault, "any_order"))
        assert outside.mean() > 0.4
    rows = x.copy()
    rows[:, 3] = 0
    result = getattr(er.backward, name)(given, rows, axis=1)
    naive = np.zeros_like(x)  # 0 where a quotient by 0 would be
    outside = ~np.asarray(result.covers(naive, "any_order"))
    assert outside[:, 3].all()


def test_a_quotient_after_an_underflow_is_outside() -> None:
    x = F32([[1e-30, 1e-20, 1.0]])
    result = er.backward.prod(F32([1.0]), x, axis=1)
    assert np.asarray(result.covers(F32([[1e-20, 1e-30, 0.0]]))).all()
    assert np.asarray(result.covers(F32([[0.0, 0.0, 0.0]]))).tolist() == [[False, False, True]]
    scan = er.backward.cumulative_prod(F32([[0.0, 1.0, 0.0]]), x, axis=1)
    assert np.asarray(scan.covers(F32([[0.0, 0.0, 0.0]]))).tolist() == [[False, False, True]]


def test_products_of_nothing_and_of_too_much() -> None:
    assert er.backward.prod(np.ones(2, F32), np.ones((2, 0), F32), axis=1).rounded.shape == (2, 0)
    first = er.backward.cumulative_prod(np.ones(4, F32), F32([2, 3, 5]), include_initial=True)
    assert first.rounded.tolist() == [1 + 3 + 15, 2 + 10, 6]
    with pytest.raises(InputError, match="the gradient takes each product without"):
        er.backward.prod(F32(1.0), np.ones(5000, F32))


def vectors(seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = rng.integers(-3, 4, (7, 6)).astype(F32)
    x[0] = rng.standard_normal(6)
    x[1] = 0
    x[2] *= F32(1e-25)
    return rng.standard_normal(7).astype(F32), x


def expected_norm(row: np.ndarray, grad: float, order: float) -> list[Fraction]:
    sizes = [abs(v) for v in fractions(row)]
    signs = [Fraction(int(np.sign(v))) for v in row]
    if order == 1:
        return [Fraction(grad) * s for s in signs]
    if order == 2:
        with gmpy2.context(precision=BITS):
            square = sum((v * v for v in sizes), Fraction(0))
            root = gmpy2.mpq(gmpy2.sqrt(gmpy2.mpq(square.numerator, square.denominator)))
        length = Fraction(int(root.numerator), int(root.denominator))
        return [Fraction(grad) * v / length if length else Fraction(0) for v in fractions(row)]
    top = max(sizes) if order > 0 else min(sizes)
    count = sizes.count(top)
    return [
        Fraction(grad) * s / count if v == top else Fraction(0)
        for v, s in zip(sizes, signs, strict=True)
    ]


@pytest.mark.parametrize("order", [1, 2, math.inf, -math.inf])
def test_norms_are_exact_and_torch_is_inside(order: float) -> None:
    torch = pytest.importorskip("torch")
    for seed in range(4):
        grad, x = vectors(seed)
        result = er.backward.vector_norm(grad, x, axis=1, ord=order)
        for i, row in enumerate(x):
            for j, wanted in enumerate(expected_norm(row, float(grad[i]), order)):
                found = result.exact.value(i, j)
                room = found.radius + abs(wanted) * Fraction(1, 2 ** (BITS - 10))
                assert abs(found.midpoint.to_fraction() - wanted) <= room, (i, j)
        assert np.asarray(result.covers(result.normal())).all()
        leaf = torch.tensor(x).requires_grad_()
        torch.linalg.vector_norm(leaf, order, 1).backward(torch.tensor(grad))
        assert np.asarray(result.covers(leaf.grad)).all()
        wrong = torch.where(leaf.grad == 0, 1.0, leaf.grad * 1.0001)
        covered = np.asarray(result.covers(wrong, "any_order"))
        # Squares of the third row underflow, and a norm of 0 has no gradient.
        assert not np.delete(covered, 2 if order == 2 else [], axis=0).any()


def test_orders_of_the_euclidean_norm() -> None:
    rng = np.random.default_rng(3)
    x = rng.standard_normal((30, 50)).astype(F32) * F32(10) ** rng.integers(-3, 3, (30, 1))
    x = x.astype(F32)
    grad = rng.standard_normal(30).astype(F32)
    norm = np.sqrt(np.add.accumulate(x * x, axis=1, dtype=F32)[:, -1:])
    result = er.backward.vector_norm(grad, x, axis=1)
    g = grad[:, None]
    for output in (x * (g / norm), (x * g) / norm, g * (x / norm), x * g * (1 / norm)):
        assert np.asarray(result.covers(output.astype(F32))).all()
    squared = x * g / (norm * norm)
    assert np.asarray(result.covers(squared.astype(F32), "any_order")).mean() < 0.1
    first = er.backward.vector_norm(F32(1.0), F32([3, -3, 1]), ord=math.inf, ties="first")
    assert first.rounded.tolist() == [1.0, 0.0, 0.0]
    even = er.backward.vector_norm(F32(1.0), F32([3, -3, 1]), ord=math.inf)
    assert even.rounded.tolist() == [0.5, -0.5, 0.0]


def test_signs_are_decided_exactly() -> None:
    x = F32([-2.0, -1e-45, -0.0, 0.0, 1e-45, math.inf, -math.inf, math.nan])
    grad = np.arange(1, 9, dtype=F32)
    wanted = [-1.0, -2.0, 0.0, 0.0, 5.0, 6.0, -7.0]
    result = er.backward.abs(grad, x)
    assert result.rounded.tolist() == [*wanted, 0.0]
    assert not np.asarray(result.covers(np.append(F32(wanted) + 1, F32(1)))).any()
    assert np.asarray(result.covers(grad * np.sign(x))).all()  # NaN at NaN
    norm = er.backward.vector_norm(F32(2.0), x, ord=1)
    assert norm.rounded.tolist() == [-2.0, -2.0, 0.0, 0.0, 2.0, 2.0, -2.0, 0.0]
    torch = pytest.importorskip("torch")
    leaf = torch.tensor(x).requires_grad_()
    leaf.abs().backward(torch.tensor(grad))
    assert np.asarray(result.covers(leaf.grad)).all()


def test_casts_have_two_formats() -> None:
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(8)
    for given, stored in (("float32", "bfloat16"), ("bfloat16", "float32"), ("float32", "float64")):
        leaf = torch.tensor(rng.standard_normal(50)).to(getattr(torch, given)).requires_grad_()
        output = leaf.to(getattr(torch, stored))
        grad = torch.tensor(rng.standard_normal(50)).to(output.dtype)
        output.backward(grad)
        result = er.backward.astype(grad, leaf.detach(), stored)
        assert result.rounded.dtype == given
        assert np.array_equal(
            np.asarray(result.rounded.values(), float), leaf.grad.double().numpy()
        )
        assert not np.asarray(result.covers(leaf.grad * 1.01)).any()
    with pytest.raises(DTypeError, match="grad_output is float32; it has the format that dtype"):
        er.backward.astype(np.ones(2, F32), np.ones(2, F32), "bfloat16")
    with pytest.raises(DTypeError, match="there are gradients from floats to floats"):
        er.backward.astype(np.ones(2, F32), np.ones(2, np.int32), "float32")
