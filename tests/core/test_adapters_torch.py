"""asarray over torch's tensors."""

from __future__ import annotations

import warnings

import ml_dtypes
import numpy as np
import pytest

from exactref_core.adapters import asarray
from exactref_core.errors import DTypeError
from exactref_core.formats.catalogue import get_format

torch = pytest.importorskip("torch")

DTYPES = [
    "float64 float32 bfloat16 float16 float8_e4m3fn float8_e5m2 float8_e4m3fnuz float8_e5m2fnuz",
    "complex64 complex128 int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool",
]


@pytest.mark.parametrize("name", " ".join(DTYPES).split())
def test_every_dtype_in_every_layout(name):
    base = torch.tensor([[0.0, 1.0, 1.0], [1.0, 0.0, 1.0]], dtype=torch.float32)
    tensor = base.to(getattr(torch, name))
    for each in (tensor, tensor.T, tensor[:, 1:], tensor[1, 0], tensor[:0]):
        result = asarray(each)
        assert result.format is get_format(getattr(torch, name))
        assert result.dtype == name
        assert result.shape == tuple(each.shape)
        assert np.array(result.tolist(), complex).tolist() == each.to(torch.complex128).tolist()


@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz"])
def test_narrow_floats_cross_through_their_bits(name):
    dtype = getattr(torch, name)
    width = 16 if name == "bfloat16" else 8
    carrier = torch.int16 if width == 16 else torch.uint8
    patterns = np.arange(1 << width).astype(np.uint16 if width == 16 else np.uint8)
    tensor = torch.from_numpy(patterns.view(np.int16 if width == 16 else np.uint8)).view(dtype)
    assert tensor.view(carrier).numel() == 1 << width
    stored = asarray(tensor).data
    assert stored.dtype == np.dtype(getattr(ml_dtypes, name))
    assert np.array_equal(stored.view(patterns.dtype), patterns)


def test_gradients_are_detached_and_views_resolved():
    leaf = torch.tensor([1.0, 2.0], requires_grad=True)
    assert asarray(leaf).tolist() == asarray(torch.nn.Parameter(leaf.detach())).tolist() == [1, 2]
    assert asarray(leaf * 2).tolist() == [2.0, 4.0]
    z = torch.tensor([1 + 2j])
    assert asarray(z.conj()).tolist() == [1 - 2j]
    assert asarray(z.conj().imag).tolist() == [-2.0]
    assert asarray([torch.tensor(1.5), leaf[0]]).tolist() == [1.5, 1.0]


def test_later_writes_do_not_reach_the_array():
    for dtype in (torch.float32, torch.bfloat16):
        tensor = torch.zeros(3, dtype=dtype)
        result = asarray(tensor)
        tensor.fill_(1.0)
        assert result.tolist() == [0.0, 0.0, 0.0]


def test_dtypes_of_torch_name_formats():
    assert asarray([0.1], torch.bfloat16).dtype == "bfloat16"
    assert asarray(torch.tensor([2049.0]), torch.half).tolist() == [2048.0]


def test_torch_reads_the_array_by_dlpack():
    array = asarray([[1.0, 2.0]], "float32")
    tensor = torch.from_dlpack(array)
    tensor.fill_(0.0)
    assert array.tolist() == [[1.0, 2.0]]


def test_tensors_that_hold_no_plain_numbers_are_refused():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch warns that these kinds are experimental or leaving
        quantized = torch.quantize_per_tensor(torch.ones(2), 0.1, 0, torch.qint8)
        half_complex = torch.ones(2).to(torch.complex32)
        compressed = torch.eye(2).to_sparse_csr()
        nested = torch.nested.nested_tensor([torch.ones(1), torch.ones(2)])
    for tensor, message in (
        (quantized, r"q is a quantized tensor: use .dequantize\(\)"),
        (half_complex, "q has dtype torch.complex32"),
        (torch.eye(2).to_sparse(), r"layout torch.sparse_coo: use .to_dense\(\)"),
        (compressed, "layout torch.sparse_csr"),
        (nested, "q is a nested tensor"),
        (torch.ones(2, device="meta"), "meta tensor, which holds no numbers"),
        (torch.ones(2).to(torch.float8_e8m0fnu), "dtype torch.float8_e8m0fnu"),
    ):
        with pytest.raises(DTypeError, match=message):
            asarray(tensor, name="q")
