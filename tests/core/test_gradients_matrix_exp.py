"""Gradients of matrix_exp: exact by the series of the derivative, torch's, scales, faults."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import exactref as er

F32 = np.float32
TERMS = 60
Numbers = list[list[tuple[Fraction, Fraction]]]


def numbers(x: np.ndarray) -> Numbers:
    wide = x.astype(np.complex128).tolist()
    return [[(Fraction(v.real), Fraction(v.imag)) for v in row] for row in wide]


def product(x: Numbers, y: Numbers) -> Numbers:
    found = []
    for row in x:
        line = []
        for column in zip(*y, strict=True):
            pairs = list(zip(row, column, strict=True))
            real = sum((a * c - b * d for (a, b), (c, d) in pairs), Fraction(0))
            line.append((real, sum((a * d + b * c for (a, b), (c, d) in pairs), Fraction(0))))
        found.append(line)
    return found


def plus(x: Numbers, y: Numbers, factor: Fraction = Fraction(1)) -> Numbers:
    return [
        [(a + factor * c, b + factor * d) for (a, b), (c, d) in zip(row, other, strict=True)]
        for row, other in zip(x, y, strict=True)
    ]


def slope(a: np.ndarray, e: np.ndarray) -> Numbers:
    """sum_k 1 / k! sum_(i < k) A^i E A^(k - 1 - i): M_k = A M_(k-1) + E A^(k-1)."""
    matrix, direction = numbers(a), numbers(e)
    power = numbers(np.eye(len(a)))
    moved = total = numbers(np.zeros(a.shape))
    factor = Fraction(1)
    for k in range(1, TERMS):
        moved = plus(product(matrix, moved), product(direction, power))
        power = product(power, matrix)
        factor /= k
        total = plus(total, moved, factor)
    return total


def drawn(seed: int, n: int, complex_: bool, scale: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng([seed, n])
    pair = [rng.integers(-8, 9, (n, n)) / 8 for _ in range(4)]
    if not complex_:
        return pair[0].astype(F32), (pair[1] * scale).astype(F32)
    a, e = pair[0] + 1j * pair[2], (pair[1] + 1j * pair[3]) * scale
    return a.astype(np.complex64), e.astype(np.complex64)


@pytest.mark.parametrize("complex_", [False, True])
@pytest.mark.parametrize("scale", [1.0, 2.0**-40, 2.0**30])
def test_gradients_are_exact(complex_: bool, scale: float) -> None:
    for n in (1, 2, 3):
        a, grad = drawn(1, n, complex_, scale)
        result = er.backward.matrix_exp(grad, a)
        wanted = slope(a.conj().T, grad)
        for i, j in np.ndindex(n, n):
            value = result.exact.value(i, j)
            parts = value if complex_ else (value,)
            for found, exact in zip(parts, wanted[i][j], strict=False):
                room = found.radius + Fraction(scale) / 2**100
                assert abs(found.midpoint.to_fraction() - exact) <= room, (n, i, j)


@pytest.mark.parametrize("form", ["float32", "float64", "complex64", "complex128"])
def test_torch_is_inside(form: str) -> None:
    torch = pytest.importorskip("torch")
    torch.manual_seed(2)
    for n in (1, 2, 5):
        for size in (1e-6, 1e-2, 1.0, 10.0):
            a = torch.randn(2, n, n, dtype=getattr(torch, form))
            grad = size * torch.randn(2, n, n, dtype=a.dtype)
            leaf = a.clone().requires_grad_()
            torch.linalg.matrix_exp(leaf).backward(grad)
            result = er.backward.matrix_exp(grad, a)
            assert np.asarray(result.covers(leaf.grad)).all(), (n, size)


def test_a_gradient_is_scaled_before_and_after() -> None:
    """Torch 2.13 puts it beside A as it is, and squares too often what it scaled for its size."""
    torch = pytest.importorskip("torch")
    torch.manual_seed(3)
    a, grad = torch.randn(4, 4), 2.0**20 * torch.randn(4, 4)
    result = er.backward.matrix_exp(grad, a)

    def gradient(scale: float) -> Any:
        leaf = a.clone().requires_grad_()
        torch.linalg.matrix_exp(leaf).backward(grad / scale)
        return leaf.grad * scale

    assert np.asarray(result.covers(gradient(2.0**20))).all()
    assert not np.asarray(result.covers(gradient(1.0))).any()


def test_everything_is_linear_in_the_gradient() -> None:
    a, grad = drawn(4, 3, False)
    one = er.backward.matrix_exp(grad, a)
    for power in (-30, 7, 60):
        scale = F32(2.0**power)
        other = er.backward.matrix_exp(grad * scale, a)
        assert np.array_equal(np.asarray(one.rounded.values()) * scale, other.rounded.values())
        assert np.array_equal(np.asarray(one.tolerance()) * scale, np.asarray(other.tolerance()))


def test_zeros_and_what_is_no_number() -> None:
    a, grad = drawn(5, 2, False)
    assert er.backward.matrix_exp(grad, 0 * a).rounded.tolist() == grad.tolist()
    assert not np.any(er.backward.matrix_exp(0 * grad, a).rounded.tolist())
    a[0, 0] = np.nan
    assert np.isnan(er.backward.matrix_exp(grad, a).rounded.tolist()).all()
    assert er.backward.matrix_exp(np.zeros((0, 0), F32), np.zeros((0, 0), F32)).shape == (0, 0)
    with pytest.raises(NotImplementedError, match="no normal answer"):
        er.backward.matrix_exp(grad, a).normal()


def test_faults_are_outside() -> None:
    a, grad = drawn(6, 4, True)
    result = er.backward.matrix_exp(grad, a)
    right = np.asarray(result.rounded.values(), np.complex64)

    def other(x: np.ndarray, e: np.ndarray) -> np.ndarray:
        return np.asarray(er.backward.matrix_exp(e, x).rounded.values(), np.complex64)

    exponential = np.asarray(er.matrix_exp(a.conj().T).rounded.values(), np.complex64)
    faults = {
        "not transposed": other(a.conj().T, grad),
        "not conjugated": other(a.conj(), grad),
        "as if they commuted": exponential @ grad,
        "half of each side": (exponential @ grad + grad @ exponential) / 2,
        "a part in 500": right * np.float32(1.002),
    }
    for label, fault in faults.items():
        outside = ~np.asarray(result.covers(fault.astype(np.complex64)))
        assert outside.mean() > 0.3, (label, outside.mean())
