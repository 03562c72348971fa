"""What checks should refuse: zeros, the results of permuted inputs and of narrower ones."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import exactref as er
from exactref_core import vacuity
from exactref_core.vacuity import impostors


def normal(*shape: int) -> np.ndarray:
    return np.random.default_rng([5, *shape]).standard_normal(shape).astype(np.float32)


def values(found: Any) -> np.ndarray:
    return np.asarray(found["output"].values())


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (np.float32, "float32"),
        (ml_dtypes.bfloat16, "bfloat16"),
        (np.complex64, "complex64"),
        (np.int64, "int64"),
        (bool, "int64"),
    ],
)
def test_zeros_have_the_shape_and_format(kind: Any, expected: str) -> None:
    found = impostors(er.sum(np.ones((3, 2), kind), axis=0), "zeros", ["output"])
    assert found is not None
    assert values(found).tolist() == [0, 0]
    assert found["output"].dtype == expected


def test_permuted_reverses_the_first_input_that_matters() -> None:
    a, b = normal(4, 3), normal(3)
    found = impostors(er.subtract(a, b), "permuted", ["output"])
    assert values(found).tolist() == (a[::-1, ::-1] - b).tolist()
    same = np.ones((4, 3), np.float32)
    found = impostors(er.subtract(same, b), "permuted", ["output"])
    assert values(found).tolist() == (same - b[::-1]).tolist()


def test_no_permutation_of_a_sum_changes_it() -> None:
    assert impostors(er.sum(normal(9)), "permuted", ["output"]) is None
    assert impostors(er.add(np.float32(1), np.float32(2)), "permuted", ["output"]) is None


@pytest.mark.parametrize(
    ("kind", "narrow"),
    [
        (np.float64, np.float32),
        (np.float16, ml_dtypes.bfloat16),
        (ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn),
    ],
)
def test_narrower_rounds_the_inputs_and_keeps_the_format(kind: Any, narrow: Any) -> None:
    x = np.random.default_rng(6).standard_normal(40).astype(kind)
    found = impostors(er.negative(x), "narrower", ["output"])
    assert found is not None
    assert found["output"].dtype == np.dtype(kind).name
    expected = -x.astype(np.float64).astype(np.float32) if kind is np.float64 else None
    if expected is None:
        expected = -x.astype(np.float32).astype(narrow).astype(np.float64)
    assert values(found).tolist() == expected.tolist()


def test_narrower_float32_keeps_eleven_bits() -> None:
    x = np.float32([1 + 2.0**-10, 1 + 2.0**-11, 1 + 3 * 2.0**-11])
    found = impostors(er.negative(x), "narrower", ["output"])
    assert values(found).tolist() == [-(1 + 2.0**-10), -1, -(1 + 2.0**-9)]


def test_narrower_holds_large_numbers_and_specials() -> None:
    x = np.array([1e30, -1e30, np.inf, -np.inf, np.nan], ml_dtypes.bfloat16)
    found = values(impostors(er.negative(x), "narrower", ["output"]))
    np.testing.assert_array_equal(found, [-448, 448, -np.inf, np.inf, np.nan])
    z = np.complex128([1e300 + 1j, complex(2, 1 + 2.0**-40)])
    found = values(impostors(er.negative(z), "narrower", ["output"]))
    assert found.tolist() == [complex(-float(np.finfo(np.float32).max), -1), -2 - 1j]


def test_where_nothing_is_narrower_or_the_result_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    assert impostors(er.sum(np.arange(5)), "narrower", ["output"]) is None
    eight = np.ones(3, ml_dtypes.float8_e5m2)
    assert impostors(er.negative(eight), "narrower", ["output"]) is None
    monkeypatch.setattr(vacuity, "LARGEST", 4)
    x = normal(5)
    assert impostors(er.negative(x), "narrower", ["output"]) is None
    assert impostors(er.negative(x), "permuted", ["output"]) is None
    assert impostors(er.negative(x[:4]), "permuted", ["output"]) is not None


def test_chains_and_several_outputs() -> None:
    q, k, v = normal(3, 4), normal(5, 4), normal(5, 2)
    result = er.scaled_dot_product_attention(q, k, v)
    found = impostors(result, "permuted", ["logsumexp"])
    expected = er.scaled_dot_product_attention(q[::-1, ::-1], k, v)["logsumexp"].rounded
    assert found is not None
    assert list(found) == ["logsumexp"]
    assert found["logsumexp"].tolist() == expected.tolist()
    chain = er.add(er.matmul(q, k.T), np.float32(1))[0]
    found = impostors(chain, "permuted", ["output"])
    expected = er.add(er.matmul(q[::-1, ::-1], k.T), np.float32(1))[0].rounded
    assert values(found).tolist() == expected.tolist()


def test_a_divisor_that_vanishes_in_the_narrower_format() -> None:
    x = np.float64([1e-300, 1.0])
    found = impostors(er.divide(np.float64(1), x), "narrower", ["output"])
    assert values(found).tolist() == [np.inf, 1]
