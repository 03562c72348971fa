"""Frameworks: a drawn array keeps its bits in every library."""

from __future__ import annotations

import numpy as np
import pytest

import exactref as er
from exactref_core.formats.catalogue import FORMATS
from pytest_exactref.frameworks import to_framework

TORCH = [
    "float64", "float32", "tfloat32", "bfloat16", "float16", "float8_e4m3fn", "float8_e5m2",
    "complex64", "complex128", "int8", "int16", "int32", "int64", "uint8", "bool",
]  # fmt: skip


def values_of(dtype: str) -> er.Array:
    """Four values that every format has, in two rows."""
    return (
        er.asarray([[0, 1], [1, 0]], dtype)
        if dtype == "bool"
        else er.asarray([[0, 1], [2, 3]], dtype)
    )


@pytest.mark.parametrize("dtype", sorted(FORMATS))
def test_numpy_arrays_are_writable_copies(dtype: str) -> None:
    array = values_of(dtype)
    given = to_framework(array, "numpy")
    before = array.tolist()
    given[...] = 1
    assert array.tolist() == before
    assert given.flags.writeable


@pytest.mark.parametrize("dtype", TORCH)
def test_torch_tensors_hold_the_same_values(dtype: str) -> None:
    torch = pytest.importorskip("torch")
    array = values_of(dtype)
    tensor = to_framework(array, "torch", "cpu")
    assert str(tensor.dtype) == f"torch.{'float32' if dtype == 'tfloat32' else dtype}"
    assert tensor.to(torch.complex128).tolist() == array.values().astype(complex).tolist()


@pytest.mark.parametrize("shape", [(), (0,), (3, 0), (1, 1)])
def test_torch_keeps_shapes(shape: tuple[int, ...]) -> None:
    pytest.importorskip("torch")
    array = er.asarray(np.zeros(shape), "bfloat16")
    assert tuple(to_framework(array, "torch").shape) == shape


def test_a_nan_keeps_its_payload_and_a_zero_its_sign() -> None:
    torch = pytest.importorskip("torch")
    bits = np.array([0x7FC1_2345, 0x8000_0000], dtype=np.uint32)
    tensor = to_framework(er.asarray(bits.view(np.float32)), "torch")
    assert (tensor.view(torch.int32).numpy().view(np.uint32) == bits).all()


def test_a_format_that_torch_lacks_is_a_usage_error() -> None:
    pytest.importorskip("torch")
    with pytest.raises(pytest.UsageError, match="torch has no dtype float6_e2m3fn"):
        to_framework(er.asarray([1.0], "float6_e2m3fn"), "torch")


def test_jax_arrays_hold_the_same_values() -> None:
    pytest.importorskip("jax")
    for dtype in ("float32", "bfloat16", "float16", "complex64", "int32"):
        array = values_of(dtype)
        assert np.asarray(to_framework(array, "jax", "cpu")).tolist() == array.data.tolist()
    with pytest.raises(pytest.UsageError, match="jax_enable_x64"):
        to_framework(values_of("float64"), "jax")


@pytest.mark.parametrize(("framework", "device"), [("torch", "cuda:99"), ("jax", "cpu:99")])
def test_an_absent_device_skips(framework: str, device: str) -> None:
    pytest.importorskip(framework)
    with pytest.raises(pytest.skip.Exception, match="has no device"):
        to_framework(er.asarray([1.0], "float32"), framework, device)
