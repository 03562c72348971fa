"""Arrays of jax, which hands over a numpy array of the same dtype, ml_dtypes' included."""

from __future__ import annotations

from typing import Any

import numpy as np

from exactref_core.adapters.adapter import Adapter, format_of, instance_of
from exactref_core.adapters.numpy_arrays import NUMPY
from exactref_core.array import Array
from exactref_core.errors import DTypeError

__all__ = ["JAX"]


def recognises(x: Any) -> bool:
    """Whether jax is loaded and x is one of its arrays."""
    return instance_of(x, "jax", "Array")


def load(x: Any, name: str) -> Array:
    """A copy of x from whatever devices it lies on; DTypeError for tracers and PRNG keys."""
    if instance_of(x, "jax.core", "Tracer"):
        raise DTypeError(f"{name} is a jax tracer, which holds no numbers: call outside of jit")
    format_of(
        x.dtype, name, "use .astype() with a dtype that is"
    )  # before jax refuses in its words
    return NUMPY.load(np.asarray(x), name)


JAX = Adapter("jax", recognises, load)
