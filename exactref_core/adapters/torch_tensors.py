"""Tensors of torch: detached, brought to the CPU, narrow floats through their bits."""

from __future__ import annotations

import sys
from typing import Any

from exactref_core.adapters.adapter import Adapter, format_of, instance_of
from exactref_core.adapters.numpy_arrays import NUMPY
from exactref_core.array import Array
from exactref_core.errors import DTypeError
from exactref_core.formats.codec import storage_dtype
from exactref_core.formats.format import Format

__all__ = ["TORCH"]

CURE = "use .to() with a dtype that is"


def recognises(x: Any) -> bool:
    """Whether torch is loaded and x is one of its tensors."""
    return instance_of(x, "torch", "Tensor")


def load(x: Any, name: str) -> Array:
    """A copy of a dense tensor: gradients detached, device memory copied, lazy views resolved.

    DTypeError for quantized, sparse, nested and meta tensors, and dtypes that no format has.
    """
    _refuse_what_holds_no_plain_numbers(x, name)
    fmt = format_of(x.dtype, name, CURE)
    plain = x.detach().cpu().resolve_conj().resolve_neg()
    return NUMPY.load(_to_numpy(plain, fmt), name)


def _to_numpy(tensor: Any, fmt: Format) -> Any:
    dtype = storage_dtype(fmt)
    if dtype.isbuiltin == 1:
        return tensor.numpy()
    torch = sys.modules["torch"]  # loaded: the tensor is one of its own
    # numpy has no dtype for these, so torch cannot hand them over: the bits cross as integers.
    carrier = {1: torch.uint8, 2: torch.int16}[dtype.itemsize]
    return tensor.view(carrier).numpy().view(dtype)


def _refuse_what_holds_no_plain_numbers(x: Any, name: str) -> None:
    if x.is_quantized:
        raise DTypeError(f"{name} is a quantized tensor: use .dequantize()")
    if x.is_nested:
        raise DTypeError(f"{name} is a nested tensor: pass its parts, or torch's to_padded_tensor")
    if str(x.layout) != "torch.strided":
        raise DTypeError(f"{name} is a tensor of layout {x.layout}: use .to_dense()")
    if x.device.type == "meta":
        raise DTypeError(f"{name} is a meta tensor, which holds no numbers: put it on a device")


TORCH = Adapter("torch", recognises, load)
