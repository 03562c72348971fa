"""Arrays as lists of scalars: integers over a common unit, or floats for what is special."""

from __future__ import annotations

from typing import Any

import numpy as np

from exactref_core.formats.format import Format
from tests.every_op.numbers import Number

Parts = list[list[Number]]
Answer = tuple[tuple[int, ...], Parts]


def scalars(array: np.ndarray, unit: int) -> list[Any]:
    """The elements in row-major order as multiples of 2**unit; complex ones as pairs."""
    flat = np.asarray(array).reshape(-1)
    if flat.dtype.kind == "c":
        return list(zip(scalars(flat.real, unit), scalars(flat.imag, unit), strict=True))
    if flat.dtype.kind in "iub":
        return [int(x) for x in flat.tolist()]
    with np.errstate(all="ignore"):
        mantissas, exponents = np.frexp(flat)
        wholes = np.where(np.isfinite(flat), np.ldexp(mantissas, 53), 0.0).astype(np.int64)
    found: list[Any] = []
    for x, m, e in zip(flat.tolist(), wholes.tolist(), exponents.tolist(), strict=True):
        shift = e - 53 - unit
        whole = m << shift if shift >= 0 else m >> -shift
        special = m == 0 and str(x) != "0.0"
        found.append(x if special else whole)
    return found


def unit_of(form: Format) -> int:
    """All values of a format are multiples of 2**unit."""
    return 0 if form.is_integer else form.eta_exponent
