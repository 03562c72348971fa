"""Values to storage bits and back, exactly."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from exactref_core.errors import InputError
from exactref_core.formats.format import Format

__all__ = ["decode", "encode", "storage_dtype"]

VALUE_DTYPES = {"float": np.float64, "complex": np.complex128}


@cache
def storage_dtype(fmt: Format) -> np.dtype[Any]:
    """The numpy dtype, in native byte order, that keeps values of ``fmt``.

    ml_dtypes is imported here, and only for the formats that numpy does not have.
    """
    try:
        return np.dtype(fmt.storage)
    except TypeError:
        import ml_dtypes

        dtype: np.dtype[Any] = np.dtype(getattr(ml_dtypes, fmt.storage))
        return dtype


def encode(values: npt.ArrayLike, fmt: Format) -> npt.NDArray[Any]:
    """Values of ``fmt`` as a new C-contiguous array of its storage dtype, of the same shape.

    ``values`` are float64 for float formats, complex128 for complex ones, and integers or bools
    for the others. Each must be a value of ``fmt`` (``round_pair`` makes them so): then the
    result is exact; nothing is rounded here. InputError for a NaN where the format has none.
    """
    array = np.asarray(values)
    if fmt.is_float and not fmt.nan and bool(np.isnan(array).any()):
        raise InputError(f"{fmt.name} has no NaN to store")
    with np.errstate(all="ignore"):
        return array.astype(storage_dtype(fmt), order="C")


def decode(storage: npt.NDArray[Any], fmt: Format) -> npt.NDArray[Any]:
    """The values in a storage array: float64, complex128, or the integer or bool array itself.

    Exact; where the storage dtype already is the dtype of the values, the array itself comes back.
    """
    if fmt.is_integer:
        return storage
    if fmt.is_float and storage.dtype.itemsize == 1:
        return np.asarray(_byte_values(fmt)[storage.view(np.uint8)])
    with np.errstate(all="ignore"):
        return storage.astype(VALUE_DTYPES[fmt.kind], copy=False)


@cache
def _byte_values(fmt: Format) -> npt.NDArray[np.float64]:
    """The float64 value of each of the 256 patterns of an 8-bit storage dtype."""
    patterns = np.arange(256, dtype=np.uint8).view(storage_dtype(fmt))
    with np.errstate(all="ignore"):
        return patterns.astype(np.float64)
