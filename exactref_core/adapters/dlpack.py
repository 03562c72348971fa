"""Any other library's arrays, through DLPack or numpy's array protocols."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from exactref_core.adapters.adapter import Adapter
from exactref_core.adapters.numpy_arrays import NUMPY
from exactref_core.array import Array
from exactref_core.errors import DTypeError

__all__ = ["DLPACK", "PROTOCOL"]

# DLPack's device types whose memory the CPU reads: CPU and pinned (CUDA, ROCm) host memory.
HOST_MEMORY = (1, 3, 11)
# What exporters raise where a dtype, a device or an array cannot cross: DLPack names BufferError,
# and libraries add their own.
REFUSALS = (BufferError, RuntimeError, TypeError, ValueError, AttributeError)


def has_dlpack(x: Any) -> bool:
    """Whether x exports itself through DLPack."""
    return hasattr(type(x), "__dlpack__") and hasattr(type(x), "__dlpack_device__")


def load_dlpack(x: Any, name: str) -> Array:
    """A copy of what x exports; through ``__array__`` where DLPack cannot carry it to numpy."""
    try:
        exported = _import(x)
    except REFUSALS as error:
        if has_protocol(x):
            return load_protocol(x, name)
        raise DTypeError(
            f"{name} ({_kind(x)}) does not cross by DLPack: {error}; pass a numpy array of it"
        ) from error
    return NUMPY.load(exported, name)


def _import(x: Any) -> npt.NDArray[Any]:
    if int(x.__dlpack_device__()[0]) in HOST_MEMORY:
        return np.from_dlpack(x)
    return np.from_dlpack(x, device="cpu", copy=True)  # numpy 2.1; TypeError before


def has_protocol(x: Any) -> bool:
    """Whether numpy can read x: ``__array__``, an array interface, or a buffer that is no text."""
    if isinstance(x, (str, bytes, bytearray)):
        return False
    if hasattr(type(x), "__array__") or hasattr(x, "__array_interface__"):
        return True
    try:
        return bool(memoryview(x).ndim)
    except (TypeError, ValueError):
        return False


def load_protocol(x: Any, name: str) -> Array:
    """A copy of the numpy array that x gives."""
    try:
        array = np.asarray(x)
    except REFUSALS as error:
        raise DTypeError(f"{name} ({_kind(x)}) gives no numpy array: {error}") from error
    return NUMPY.load(array, name)


def _kind(x: object) -> str:
    return f"{type(x).__module__}.{type(x).__qualname__}"


DLPACK = Adapter("dlpack", has_dlpack, load_dlpack)
PROTOCOL = Adapter("array protocol", has_protocol, load_protocol)
