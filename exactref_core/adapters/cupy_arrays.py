"""Arrays of cupy, copied from the device by cupy itself."""

from __future__ import annotations

from typing import Any

from exactref_core.adapters.adapter import Adapter, instance_of
from exactref_core.adapters.numpy_arrays import NUMPY
from exactref_core.array import Array

__all__ = ["CUPY"]


def recognises(x: Any) -> bool:
    """Whether cupy is loaded and x is one of its arrays."""
    return instance_of(x, "cupy", "ndarray")


def load(x: Any, name: str) -> Array:
    """A copy of x in host memory, in the format of its dtype."""
    return NUMPY.load(x.get(), name)


CUPY = Adapter("cupy", recognises, load)
