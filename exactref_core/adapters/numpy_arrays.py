"""Arrays and scalars of numpy and ml_dtypes, in any layout and byte order."""

from __future__ import annotations

from typing import Any

import numpy as np

from exactref_core.adapters.adapter import Adapter, format_of
from exactref_core.array import Array
from exactref_core.errors import DTypeError

__all__ = ["NUMPY"]

CURES = {
    "O": "pass a list to convert its Python numbers, or use .astype() with a number dtype",
    "U": "parse the text into numbers first",
    "S": "parse the text into numbers first",
    "T": "parse the text into numbers first",
    "M": "dates are not numbers; use .astype('int64') for their ticks",
    "m": "use .astype('int64') for the ticks of the durations",
    "f": "use .astype('float64') if that rounding is acceptable",
    "c": "use .astype('complex128') if that rounding is acceptable",
}
STRUCTURED = "pass one field of the structured array, such as x['field']"


def recognises(x: Any) -> bool:
    """Whether x is a numpy array or scalar, ml_dtypes' included."""
    return isinstance(x, (np.ndarray, np.generic)) or type(x).__module__ == "ml_dtypes"


def load(x: Any, name: str) -> Array:
    """A native-endian, C-contiguous copy of x in the format of its dtype.

    DTypeError for masked arrays and for dtypes that no format has (longdouble, object, text,
    dates, structured).
    """
    if isinstance(x, np.ma.MaskedArray):
        raise DTypeError(f"{name} is a masked array: pass x.filled(...) or x.data")
    array = np.asarray(x)
    fmt = format_of(array.dtype, name, _cure(array.dtype))
    return Array(np.array(array, dtype=array.dtype.newbyteorder("="), order="C", copy=True), fmt)


def _cure(dtype: np.dtype[Any]) -> str:
    if dtype.names is not None:
        return STRUCTURED
    return CURES.get(dtype.kind, "use .astype() with a dtype that is")


NUMPY = Adapter("numpy", recognises, load)
