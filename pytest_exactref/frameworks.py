"""Tensors of the array libraries: a drawn array as numpy, torch, jax or cupy knows it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from exactref_core.array import Array

__all__ = ["FRAMEWORKS", "check_framework", "to_framework"]


def check_framework(framework: str, device: str | None) -> None:
    """Raise ``pytest.UsageError`` for an unknown framework, or a device that it cannot have."""
    if framework not in FRAMEWORKS:
        known = ", ".join(map(repr, FRAMEWORKS))
        raise pytest.UsageError(f"framework={framework!r} is none of {known}")
    if framework == "numpy" and device not in (None, "cpu"):
        raise pytest.UsageError(f"device={device!r}: numpy arrays live on the cpu")


def to_framework(array: Array, framework: str, device: str | None = None) -> Any:
    """A writable tensor of ``framework`` with the elements of ``array``, bit for bit.

    The test is skipped where the framework, or the device, is absent.

    Raises:
        pytest.UsageError: the framework has no such dtype, or would change the values.
    """
    return FRAMEWORKS[framework](array, device)


def _numpy(array: Array, device: str | None) -> Any:
    return array.data.copy()


def _torch(array: Array, device: str | None) -> Any:
    torch = pytest.importorskip("torch")
    data = array.data.copy()
    name = _storage_name(array)
    dtype = getattr(torch, name, None)
    if dtype is None:
        raise pytest.UsageError(f"torch has no dtype {name}")
    if not _is_numpys_own(data):
        # numpy and torch share no narrow float types; integers of the same width carry the bits.
        bits = data.view("u1" if data.itemsize == 1 else f"i{data.itemsize}")
        tensor = torch.from_numpy(bits).view(dtype)
    else:
        tensor = torch.from_numpy(data)
    if device is None or device == "cpu":
        return tensor
    _need_torch_device(torch, device)
    return tensor.to(device)


def _need_torch_device(torch: Any, device: str) -> None:
    kind, _, index = device.partition(":")
    backend = getattr(torch, kind, None) or getattr(torch.backends, kind, None)
    available = getattr(backend, "is_available", lambda: True)()
    if available and kind == "cuda" and index:
        available = int(index) < torch.cuda.device_count()
    if not available:
        pytest.skip(f"torch has no device {device} here")


def _jax(array: Array, device: str | None) -> Any:
    jax = pytest.importorskip("jax")
    tensor = jax.numpy.asarray(array.data.copy())
    if tensor.dtype != array.data.dtype:
        raise pytest.UsageError(
            f"jax turns {array.dtype} into {tensor.dtype}: set jax_enable_x64 to test {array.dtype}"
        )
    if device is None:
        return tensor
    kind, _, index = device.partition(":")
    try:
        devices = jax.devices(kind)
    except RuntimeError:
        devices = []
    if len(devices) <= int(index or 0):
        pytest.skip(f"jax has no device {device} here")
    return jax.device_put(tensor, devices[int(index or 0)])


def _cupy(array: Array, device: str | None) -> Any:
    cupy = pytest.importorskip("cupy")
    if not _is_numpys_own(array.data):
        raise pytest.UsageError(f"cupy has no dtype {array.dtype}")
    index = int((device or "cuda:0").partition(":")[2] or 0)
    if index >= cupy.cuda.runtime.getDeviceCount():
        pytest.skip(f"cupy has no device {index} here")
    with cupy.cuda.Device(index):
        return cupy.asarray(array.data)


def _is_numpys_own(data: Any) -> bool:
    """Whether numpy defines the dtype itself; ml_dtypes adds others, some of kind "f"."""
    return bool(data.dtype.isbuiltin == 1)


def _storage_name(array: Array) -> str:
    return "float32" if array.dtype == "tfloat32" else str(array.dtype)


FRAMEWORKS: Final = {"numpy": _numpy, "torch": _torch, "jax": _jax, "cupy": _cupy}
