"""An array in another format: floats rounded once, everything that would lose a value refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from exactref_core.array import Array
from exactref_core.errors import DTypeError, InputError
from exactref_core.formats.catalogue import part_format
from exactref_core.formats.format import Format
from exactref_core.formats.rounding_arrays import integer_pair, round_pair

__all__ = ["cast", "integers_to_format", "place", "round_parts"]


def cast(array: Array, fmt: Format, name: str) -> Array:
    """``array`` in the format ``fmt``.

    Floats and complex numbers are rounded once to nearest-even, per part. Integers must be values
    of ``fmt`` already: InputError naming the first that is not. DTypeError for floats to integers
    and complex numbers to real ones.
    """
    source = array.format
    if source == fmt:
        return array
    if source.is_integer:
        return integers_to_format(array.data, fmt, name)
    if fmt.is_integer:
        raise DTypeError(
            f"{name} is {source.name}, and floats do not become {fmt.name} by themselves: "
            f"convert them, saying how they round"
        )
    if source.is_complex and not fmt.is_complex:
        raise DTypeError(
            f"{name} is {source.name}, and {fmt.name} would drop the imaginary parts: "
            f"pass the real or the imaginary part"
        )
    return Array.from_values(round_parts(array.values(), fmt), fmt)


def round_parts(values: npt.NDArray[Any], fmt: Format) -> npt.NDArray[Any]:
    """Float64 or complex128 values rounded once, per part, into a float or complex format."""
    part = part_format(fmt)
    if not np.iscomplexobj(values):
        rounded: npt.NDArray[Any] = round_pair(values, None, part)
        return rounded.astype(np.complex128) if fmt.is_complex else rounded
    pairs = np.array(values, np.complex128, order="C").reshape(-1).view(np.float64)
    return round_pair(pairs, None, part).view(np.complex128).reshape(values.shape)


def integers_to_format(data: npt.NDArray[Any], fmt: Format, name: str) -> Array:
    """Integers or bools of a numpy dtype as values of ``fmt``; InputError where one is not."""
    if fmt.is_integer:
        lost = _out_of_range(data, fmt)
    else:
        high, low = integer_pair(data)
        rounded = round_pair(high, low, part_format(fmt))
        lost = (low != 0.0) | (rounded != high)
    if lost.any():
        first = int(np.flatnonzero(lost)[0])
        raise InputError(
            f"{name}{place(first, data.shape)} is {data.reshape(-1)[first]}, "
            f"which {fmt.name} cannot hold"
        )
    return Array.from_values(data if fmt.is_integer else rounded, fmt)


def _out_of_range(data: npt.NDArray[Any], fmt: Format) -> npt.NDArray[np.bool_]:
    lost = np.zeros(data.shape, np.bool_)
    if data.dtype.kind == "b":
        return lost
    limits = np.iinfo(data.dtype)  # numpy before 2.0 cannot compare with integers beyond these
    if fmt.low > limits.min:
        lost |= data < fmt.low
    if fmt.high < limits.max:
        lost |= data > fmt.high
    return lost


def place(position: int, shape: tuple[int, ...]) -> str:
    """The index of a row-major position as text, "[2, 0]"; nothing for no axes."""
    if not shape:
        return ""
    return f"[{', '.join(str(int(i)) for i in np.unravel_index(position, shape))}]"
