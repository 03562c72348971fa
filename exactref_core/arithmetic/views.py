"""Views of a graph: rearrangements of elements, which NumPy expresses by strides."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Strided", "View", "reshaping", "strided"]

Indices = npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class View:
    """A rearrangement of elements that NumPy expresses by strides, or a reshape."""

    function: Callable[[npt.NDArray[Any]], npt.NDArray[Any]]
    source: tuple[int, ...]
    target: tuple[int, ...]
    reshape: bool = False

    def apply(self, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return the view of a whole operand."""
        return self.function(array)

    @cached_property
    def layout(self) -> tuple[int, tuple[int, ...]]:
        """Offset and strides (in elements) of the view over a row-major operand.

        NumPy computes them on a strided array of one byte that is never read.
        """
        strides, step = [0] * len(self.source), 1
        for axis in range(len(self.source) - 1, -1, -1):
            strides[axis], step = step, step * self.source[axis]
        seed = np.zeros(1, np.int8)
        base = np.lib.stride_tricks.as_strided(seed, self.source, strides, writeable=False)
        view = self.function(base)
        start = view.__array_interface__["data"][0] - base.__array_interface__["data"][0]
        return start, view.strides

    def gather(self, flat: Indices) -> Indices:
        """Return the operand's flat index of each flat index of the view."""
        if self.reshape:
            return flat
        offset, strides = self.layout
        source: Indices = np.full(flat.shape, offset, np.intp)
        if self.target:
            for place, stride in zip(np.unravel_index(flat, self.target), strides, strict=True):
                source += place * stride
        return source

    def __reduce__(self) -> Any:
        # Functions do not travel to other processes; what they do to a row-major operand does.
        if self.reshape:
            return reshaping, (self.source, self.target)
        return strided, (self.source, self.target, *self.layout)


@dataclass(frozen=True, eq=False)
class Strided(View):
    """A view of a row-major operand by an offset and strides, counted in elements."""

    offset: int = 0
    strides: tuple[int, ...] = ()

    def apply(self, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return the view of a whole operand."""
        whole = array if array.flags.c_contiguous else array.copy("C")
        if not whole.size:
            return np.empty(self.target, whole.dtype)
        steps = tuple(step * whole.itemsize for step in self.strides)
        start = whole.reshape(-1)[self.offset :]
        return np.lib.stride_tricks.as_strided(start, self.target, steps, writeable=False)

    @property
    def layout(self) -> tuple[int, tuple[int, ...]]:
        """Offset and strides."""
        return self.offset, self.strides


def reshaping(source: tuple[int, ...], target: tuple[int, ...]) -> View:
    """Return the view that gives an operand another shape."""
    return View(partial(reshape, target), source, target, reshape=True)


def reshape(target: tuple[int, ...], array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return an array under another shape."""
    return array.reshape(target)


def strided(
    source: tuple[int, ...], target: tuple[int, ...], offset: int, strides: tuple[int, ...]
) -> Strided:
    """Return the view of a row-major operand by an offset and strides."""
    return Strided(np.asarray, source, target, offset=offset, strides=strides)
