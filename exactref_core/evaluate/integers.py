"""Exact integer outputs: sums of integers, as int64 or an error."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from exactref_core.arithmetic.certified import number
from exactref_core.arithmetic.parts import Part
from exactref_core.errors import InputError

__all__ = ["exact_integers"]


def exact_integers(part: Part, op: str) -> npt.NDArray[np.int64]:
    """Return the exact integers of a part, flat; InputError where one is beyond int64."""
    x = part.levels[-1].whole(part.source)
    high = x.high.reshape(-1)
    low = np.zeros(high.shape) if x.low is None else x.low.reshape(-1)
    radius = np.zeros(high.shape) if x.radius is None else x.radius.reshape(-1)
    result = np.zeros(high.shape, np.int64)
    sure = (radius == 0) & (np.abs(high) < 2.0**62) & (low == np.rint(low))
    result[sure] = high[sure].astype(np.int64) + low[sure].astype(np.int64)
    for flat in np.flatnonzero(~sure).tolist():
        result[flat] = checked(number(part.scalar(flat)), flat, part, op)
    return result


def checked(value: Any, flat: int, part: Part, op: str) -> int:
    """Return an integer that int64 holds, or raise."""
    if not -(2**63) <= value < 2**63:
        raise InputError(
            f"{op}: element {part.index(flat)} is {int(value)}, which int64 does not hold; "
            "give dtype= a float format"
        )
    return int(value)
