"""Kernels with planted faults, for the pictures in the documentation."""

from __future__ import annotations

import numpy as np
import pytest

import exactref as er

rng = np.random.default_rng(3)


def test_last_tile_is_never_written(exactref):
    A = rng.standard_normal((64, 96)).astype(np.float32)
    B = rng.standard_normal((96, 60)).astype(np.float32)
    out = np.zeros((64, 60), dtype=np.float32)
    out[:, :56] = A.astype(np.float64) @ B[:, :56]
    exactref.check(out, er.matmul(A, B))


def test_one_head_reads_tfloat32(exactref):
    A = rng.standard_normal((2, 3, 48, 64)).astype(np.float32)
    B = rng.standard_normal((2, 3, 64, 48)).astype(np.float32)
    out = (A.astype(np.float64) @ B).astype(np.float32)
    narrow = (A.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32)
    out[1, 2] = narrow[1, 2] @ B[1, 2]
    out[0, 1, 16:32, 32:] = np.nan
    exactref.check(out, er.matmul(A, B), standard="any_order")


def test_sums_in_float16(exactref):
    x = rng.random((2000, 24)).astype(np.float16)
    total = np.zeros(2000, dtype=np.float16)
    for column in x.T:
        total += column
    exactref.check(total, er.sum(x, axis=1))


@er.op("sum", axis=-1, dtype=["float32", "float16"], standard="any_order")
def test_numpy_sum(x):
    return np.sum(x, axis=-1, dtype=np.float32).astype(x.dtype)


@er.op("softmax", axis=-1, standard="any_order")
def test_softmax_without_the_shift(x):
    weights = np.exp(x)
    return weights / weights.sum(axis=-1, keepdims=True)


@pytest.mark.parametrize("size", [512, 1024, 4096])
def test_means(exactref, size):
    x = rng.standard_normal((16, size)).astype(np.float32)
    exactref.check(np.mean(x, axis=-1), er.mean(x, axis=-1), standard="any_order")


def test_products(exactref):
    x = rng.standard_normal((32, 32)).astype(np.float32)
    exactref.check(x * x.T, er.multiply(x, x.T))
