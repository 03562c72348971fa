"""Hand-written loops: a float16 accumulator is wrong, the same loop in float32 is normal."""

import ml_dtypes
import numpy as np
import pytest

import exactref as er


def loop(row, accumulator):
    """Add in index order, every sum stored in ``accumulator``, the last one in the row's dtype."""
    total = accumulator(0.0)
    for value in row:
        total = accumulator(total + accumulator(value))
    return row.dtype.type(total)


def rows(dtype):
    """Eight rows of 500 positive values: their sums outgrow a 16-bit significand."""
    return np.random.default_rng(0).uniform(0.5, 1.5, (8, 500)).astype(dtype)


@pytest.mark.parametrize("dtype", ["float16", ml_dtypes.bfloat16])
def test_float32_accumulator_is_normal(exactref, dtype):
    x = rows(dtype)
    exactref.check(np.array([loop(row, np.float32) for row in x]), er.sum(x, axis=1))


@pytest.mark.xfail(strict=True, raises=AssertionError, reason="sums stored in float16")
def test_float16_accumulator_is_wrong(exactref):
    x = rows("float16")
    exactref.check(
        np.array([loop(row, np.float16) for row in x]), er.sum(x, axis=1), standard="any_order"
    )


@pytest.mark.xfail(strict=True, raises=AssertionError, reason="sums stored in bfloat16")
def test_bfloat16_accumulator_is_wrong(exactref):
    x = rows(ml_dtypes.bfloat16)
    exactref.check(
        np.array([loop(row, ml_dtypes.bfloat16) for row in x]),
        er.sum(x, axis=1),
        standard="any_order",
    )


@er.op("sum", axis=-1, dtype=["float16", "float32"])
def test_float32_loop_on_hostile_values(x):
    sums = np.zeros(x.shape[:-1], dtype=x.dtype)
    for index in np.ndindex(sums.shape):
        sums[index] = loop(x[index], np.float32)
    return sums
