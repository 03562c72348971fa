"""Numpy's own matrix products, through BLAS and through its own loops.

BLAS adds in tiles with fused multiply-add, so products are judged under `any_order`.
"""

import numpy as np
import pytest

import exactref as er

FLOATS = ["float64", "float32", "float16"]
COMPLEX = ["complex128", "complex64"]


def noise(shape, dtype, seed=0):
    """Normally distributed values, in both parts of complex dtypes; the same in every run."""
    rng = np.random.default_rng(seed)
    values = rng.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        values = values + 1j * rng.standard_normal(shape)
    return values.astype(dtype)


@er.op("matmul", dtype=FLOATS, standard="any_order")
def test_matmul(A, B):
    return np.matmul(A, B)


@pytest.mark.parametrize("dtype", FLOATS + COMPLEX)
def test_square_matmul(exactref, dtype):
    A, B = noise((96, 96), dtype, 1), noise((96, 96), dtype, 2)
    exactref.check(A @ B, er.matmul(A, B), standard="any_order")


@pytest.mark.parametrize("dtype", FLOATS + COMPLEX)
def test_odd_matmul(exactref, dtype):
    A, B = noise((33, 129), dtype, 3), noise((129, 17), dtype, 4)
    exactref.check(A @ B, er.matmul(A, B), standard="any_order")


@pytest.mark.parametrize("dtype", FLOATS)
def test_batched_matmul_with_broadcasting(exactref, dtype):
    A, B = noise((5, 1, 7, 40), dtype, 5), noise((3, 40, 9), dtype, 6)
    exactref.check(np.matmul(A, B), er.matmul(A, B), standard="any_order")


@pytest.mark.parametrize("dtype", FLOATS + COMPLEX)
def test_dot(exactref, dtype):
    a, b = noise(5000, dtype, 7), noise(5000, dtype, 8)
    exactref.check(np.dot(a, b), er.matmul(a, b), standard="any_order")


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_matrix_times_its_transpose(exactref, dtype):
    A = noise((50, 80), dtype, 9)  # numpy sends this one to BLAS's syrk
    exactref.check(A @ A.T, er.matmul(A, A.T), standard="any_order")


@pytest.mark.parametrize("optimize", [False, True])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_einsum_matmul(exactref, dtype, optimize):
    A, B = noise((20, 300), dtype, 10), noise((300, 25), dtype, 11)
    output = np.einsum("ik,kj->ij", A, B, optimize=optimize)
    exactref.check(output, er.matmul(A, B), standard="any_order")


def test_transposed_views(exactref):
    A, B = noise((40, 24), "float32", 12).T, noise((32, 40), "float32", 13).T
    exactref.check(A @ B, er.matmul(A, B), standard="any_order")


def test_float16_inputs_and_a_float32_output(exactref):
    A, B = noise((30, 200), "float16", 14), noise((200, 30), "float16", 15)
    output = np.matmul(A, B, dtype=np.float32)
    exactref.check(output, er.matmul(A, B, dtype="float32"), standard="any_order")
