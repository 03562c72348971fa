"""Gradients of real functions of complex numbers: abs and vector_norm, for real gradients."""

from __future__ import annotations

import math
from fractions import Fraction

import gmpy2
import numpy as np
import pytest

import exactref as er
from exactref_core.errors import DTypeError

F32 = np.float32
BITS = 300


def drawn(seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = (rng.standard_normal((4, 6)) + 1j * rng.standard_normal((4, 6))).astype(np.complex64)
    x[0] = 0
    x[1, 2] = 3 - 4j
    x[2, :3] = [1j, -1, 1]
    return rng.standard_normal((4, 6)).astype(F32), x


def root(square: Fraction) -> Fraction:
    with gmpy2.context(precision=BITS):
        found = gmpy2.mpq(gmpy2.sqrt(gmpy2.mpq(square.numerator, square.denominator)))
    return Fraction(int(found.numerator), int(found.denominator))


def length(values: list[complex]) -> Fraction:
    return root(sum((Fraction(v.real) ** 2 + Fraction(v.imag) ** 2 for v in values), Fraction(0)))


@pytest.mark.parametrize("name", ["abs", "vector_norm"])
def test_gradients_are_exact(name: str) -> None:
    grad, x = drawn(1)
    given = grad if name == "abs" else grad[:, 0]
    how = {} if name == "abs" else {"axis": 1}
    result = getattr(er.backward, name)(given, x, **how)
    assert result.rounded.dtype == "complex64"
    for i, j in np.ndindex(x.shape):
        size = length([complex(x[i, j])] if name == "abs" else [complex(v) for v in x[i]])
        g = Fraction(float(grad[i, j] if name == "abs" else grad[i, 0]))
        for found, part in zip(result.exact.value(i, j), (x[i, j].real, x[i, j].imag), strict=True):
            wanted = g * Fraction(float(part)) / size if size else Fraction(0)
            room = found.radius + Fraction(1, 2 ** (BITS - 20))
            assert abs(found.midpoint.to_fraction() - wanted) <= room, (i, j)


@pytest.mark.parametrize("form", ["complex64", "complex128"])
def test_torch_is_inside_and_faults_are_not(form: str) -> None:
    torch = pytest.importorskip("torch")
    for seed in range(4):
        grad, x = (torch.tensor(part) for part in drawn(seed))
        x = x.to(getattr(torch, form))
        grad = grad.to(x.real.dtype)
        calls = {"abs": (lambda z: z.abs(), grad, {})}
        for order in (1, 2, math.inf, -math.inf):
            norm = lambda z, order=order: torch.linalg.vector_norm(z, order, 1)  # noqa: E731
            calls[f"vector_norm {order}"] = (norm, grad[:, 0], {"axis": 1, "ord": order})
        for label, (function, given, how) in calls.items():
            leaf = x.clone().requires_grad_()
            function(leaf).backward(given)
            result = getattr(er.backward, label.split()[0])(given, x, **how)
            assert np.asarray(result.covers(leaf.grad)).all(), label
            assert np.asarray(result.covers(result.normal())).all()
            right = leaf.grad != 0
            # Three moduli of 1 in a row: each may be stored as the largest, or not.
            right[2] &= "inf" not in label
            for fault in (leaf.grad.conj(), leaf.grad * 1.0001, leaf.grad * x.abs()):
                changed = (right & ((fault - leaf.grad).abs() > 1e-5)).numpy()
                outside = ~np.asarray(result.covers(fault.resolve_conj(), "any_order"))
                assert outside.any(axis=-1)[changed].all(), label


def test_orders_of_the_steps() -> None:
    grad, x = drawn(5)
    size = np.abs(x)
    with np.errstate(all="ignore"):
        steps = (x * (grad / size), (x.real * grad) / size + 1j * ((x.imag * grad) / size))
    result = er.backward.abs(grad, x)
    for output in steps:
        kept = np.where(x == 0, 0, output).astype(np.complex64)
        assert np.asarray(result.covers(kept)).all()


def test_the_gradient_is_real() -> None:
    grad, x = drawn(6)
    with pytest.raises(DTypeError, match="grad_output is complex64; of complex64 inputs it is fl"):
        er.backward.abs(x, x)
    with pytest.raises(DTypeError, match="grad_output is float64"):
        er.backward.abs(grad.astype(float), x)
