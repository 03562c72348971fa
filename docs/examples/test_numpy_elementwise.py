"""Numpy's own elementwise operations: IEEE 754 asks that they round once, so nothing is granted.

Complex products and quotients round several times and have a tolerance.
"""

import numpy as np

import exactref as er

FLOATS = ["float64", "float32", "float16"]
COMPLEX = ["complex128", "complex64"]


@er.op("add", dtype=FLOATS + COMPLEX)
def test_add(x1, x2):
    return np.add(x1, x2)


@er.op("subtract", dtype=FLOATS + COMPLEX)
def test_subtract(x1, x2):
    return np.subtract(x1, x2)


@er.op("multiply", dtype=FLOATS)
def test_multiply(x1, x2):
    return np.multiply(x1, x2)


@er.op("multiply", dtype=COMPLEX)
def test_complex_multiply(x1, x2):
    return np.multiply(x1, x2)


@er.op("divide", dtype=FLOATS)
def test_divide(x1, x2):
    return np.divide(x1, x2)


@er.op("sqrt", dtype=FLOATS)
def test_sqrt(x):
    return np.sqrt(x)


@er.op("negative", dtype=FLOATS + COMPLEX)
def test_negative(x):
    return np.negative(x)


@er.op("abs", dtype=FLOATS)
def test_abs(x):
    return np.abs(x)


def complex_noise(shape, dtype, seed):
    """Complex values whose parts spread over a few exponents; the same in every run."""
    rng = np.random.default_rng(seed)
    parts = rng.standard_normal((2, *shape)) * 2.0 ** rng.integers(-5, 6, (2, *shape))
    return (parts[0] + 1j * parts[1]).astype(dtype)


def test_complex_divide(exactref):
    for dtype in COMPLEX:
        x1, x2 = complex_noise((500,), dtype, 1), complex_noise((500,), dtype, 2)
        exactref.check(np.divide(x1, x2), er.divide(x1, x2), label=dtype)


def test_complex_abs(exactref):
    for dtype in COMPLEX:
        x = complex_noise((500,), dtype, 3)
        exactref.check(np.abs(x), er.abs(x), label=dtype)


def test_complex_sqrt(exactref):
    for dtype in COMPLEX:
        x = complex_noise((500,), dtype, 4)
        exactref.check(np.sqrt(x), er.sqrt(x), label=dtype)
