"""Numpy's and Python's own sums and means.

Numpy adds pairwise with eight running sums, which is an order that `normal` does not admit, so its
reductions are judged under `any_order`. `math.fsum` rounds once and is held to `normal`.
"""

import math

import numpy as np
import pytest

import exactref as er

FLOATS = ["float64", "float32", "float16"]


def noise(shape, dtype, seed=0):
    """Normally distributed values of one size; the seed makes every run the same."""
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def steep(shape, dtype, seed=0):
    """Values over many exponents and of both signs, where the order of additions matters."""
    rng = np.random.default_rng(seed)
    return (rng.standard_normal(shape) * 2.0 ** rng.integers(-8, 9, shape)).astype(dtype)


@er.op("sum", axis=-1, dtype=FLOATS, standard="any_order")
def test_sum_of_rows(x):
    return np.sum(x, axis=-1)


@er.op("sum", axis=0, dtype=["float64", "float32"], standard="any_order")
def test_sum_of_columns(x):
    return np.sum(x, axis=0)


@er.op("sum", axis=-1, dtype=["complex128", "complex64"], standard="any_order")
def test_complex_sum(x):
    return np.sum(x, axis=-1)


@er.op("mean", axis=-1, dtype=["float64", "float32"], standard="any_order")
def test_mean_of_rows(x):
    return np.mean(x, axis=-1)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("values", [noise, steep])
def test_large_sum(exactref, values, dtype):
    x = values((3, 10_007), dtype)
    exactref.check(
        np.sum(x, axis=-1, dtype=np.promote_types(dtype, "float32")).astype(dtype),
        er.sum(x, axis=-1),
        standard="any_order",
    )


@pytest.mark.parametrize("dtype", FLOATS)
def test_large_mean(exactref, dtype):
    x = noise((64, 1000), dtype)
    exactref.check(np.mean(x, axis=-1), er.mean(x, axis=-1), standard="any_order")


def test_mean_of_large_float16_values(exactref):
    x = np.full(3, 40_000.0, dtype=np.float16)  # their sum is beyond float16, their mean is not
    exactref.check(np.mean(x), er.mean(x))


# Two large values side by side cancel in a loop, and meet other values first in numpy's order.
STEEP = np.array([2, 2**25, -(2**25), 1, 0, 0, 0, 0], dtype=np.float32)


def test_numpy_sum_may_be_worse_than_a_loop(exactref):
    exactref.check(np.sum(STEEP), er.sum(STEEP), worse="allow")


@pytest.mark.xfail(strict=True, raises=AssertionError, reason="0 where a loop gives 1, exactly 3")
def test_numpy_sum_is_not_normal(exactref):
    exactref.check(np.sum(STEEP), er.sum(STEEP), standard="normal")


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_running_sum_is_a_loop(exactref, dtype):
    x = steep((5, 2000), dtype)  # np.cumsum adds in index order: the ordinary loop itself
    exactref.check(np.cumsum(x, axis=-1)[:, -1], er.sum(x, axis=-1), standard="normal")


@pytest.mark.parametrize("values", [noise, steep])
def test_fsum_rounds_once(exactref, values):
    rows = values((20, 3000), "float64")
    output = [math.fsum(row) for row in rows]
    exactref.check(output, er.sum(rows, axis=-1), standard="normal")


def test_fsum_of_values_that_cancel(exactref):
    x = [1e16, 1.0, -1e16, 2.0**-60]
    assert er.sum(x).rounded.tolist() == 1.0 + 2.0**-60 == math.fsum(x)
    exactref.check(math.fsum(x), er.sum(x))


def test_python_sum_of_floats(exactref):
    x = noise(1000, "float64", seed=4).tolist()
    exactref.check(sum(x), er.sum(x), standard="any_order")


def test_einsum_adds_rows(exactref):
    x = noise((30, 700), "float32")
    exactref.check(np.einsum("ij->i", x), er.sum(x, axis=1), standard="any_order")


def test_einsum_adds_columns(exactref):
    x = noise((700, 30), "float64")
    exactref.check(np.einsum("ij->j", x), er.sum(x, axis=0), standard="any_order")


def test_integer_sums_are_exact(exactref):
    x = np.random.default_rng(5).integers(-(2**40), 2**40, (10, 500))
    exactref.check(np.sum(x, axis=-1), er.sum(x, axis=-1))
