"""Flat numbers of a format put into its storage, and picked out of tables."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from exactref_core.array import Array
from exactref_core.formats.codec import encode, storage_dtype
from exactref_core.formats.format import Format

__all__ = ["BLOCK", "picked", "taken"]

# Elements that are looked up at once: NumPy widens their numbers to places first.
BLOCK = 12288


def picked(
    flat: npt.NDArray[np.floating[Any]],
    places: npt.NDArray[np.integer[Any]] | None,
    shape: tuple[int, ...],
    form: Format,
) -> Array:
    """Return the flat numbers at some places, in float64 or narrower, as an array of a format."""
    if places is None:
        return Array(as_stored(flat, form).reshape(shape), form)
    if flat.size < places.size:
        flat = as_stored(flat, form)
    return Array(as_stored(taken(flat, places), form).reshape(shape), form)


def as_stored(flat: npt.NDArray[Any], form: Format) -> npt.NDArray[Any]:
    """Return numbers of a format in its storage."""
    return flat if flat.dtype == storage_dtype(form) else encode(flat, form)


def taken(flat: npt.NDArray[Any], places: npt.NDArray[np.integer[Any]]) -> npt.NDArray[Any]:
    """Return the elements at places, in blocks, as NumPy widens the places of each call."""
    found = np.empty(places.size, flat.dtype)
    for start in range(0, places.size, BLOCK):
        part = slice(start, start + BLOCK)
        found[part] = flat.take(places[part])
    return found
