"""The front door for arrays: anything that holds numbers becomes an Array."""

from __future__ import annotations

from typing import Any

from exactref_core.adapters.adapter import Adapter
from exactref_core.adapters.cast import cast
from exactref_core.adapters.cupy_arrays import CUPY
from exactref_core.adapters.dlpack import DLPACK, PROTOCOL
from exactref_core.adapters.jax_arrays import JAX
from exactref_core.adapters.lists import load_python
from exactref_core.adapters.nesting import is_python
from exactref_core.adapters.numpy_arrays import NUMPY
from exactref_core.adapters.torch_tensors import TORCH
from exactref_core.array import Array
from exactref_core.environment import in_default_environment
from exactref_core.errors import DTypeError, InputError
from exactref_core.formats.catalogue import get_format
from exactref_core.providers import ask, cached

__all__ = ["adapters", "asarray", "register_adapter"]

# Asked in order: libraries with their own ways first, the general protocols last.
_ADAPTERS: list[Adapter] = [NUMPY, TORCH, JAX, CUPY, DLPACK, PROTOCOL]


def adapters() -> tuple[Adapter, ...]:
    """The adapters in the order in which they are asked: those that packages add come first."""
    return (*_provided(), *_ADAPTERS)


@cached
def _provided() -> tuple[Adapter, ...]:
    return tuple(ask("exactref_adapters"))


def register_adapter(adapter: Adapter) -> None:
    """Ask ``adapter`` before those known so far; InputError if another one has its name."""
    if adapter in _ADAPTERS:
        return
    if any(known.name == adapter.name for known in _ADAPTERS):
        raise InputError(f"a different adapter is already registered as {adapter.name!r}")
    _ADAPTERS.insert(0, adapter)


@in_default_environment
def asarray(x: Any, dtype: Any = None, *, name: str = "x") -> Array:
    """The numbers in ``x`` as an Array: a private copy that later writes to x do not reach.

    ``x`` is an array of numpy, ml_dtypes, torch, jax, cupy or any library with DLPack or
    ``__array__``, which keeps its dtype; or a Python number or nested list, which becomes bool,
    int64, float64 or complex128 and may hold scalars and arrays of those libraries. An Array
    comes back as it is.

    ``dtype`` asks for a format, in any spelling that ``get_format`` takes. Floats and complex
    numbers are rounded into it once, to nearest-even, and so are the numbers of a list, whatever
    their size. Everything else must be a value of the format already: integers of an array that
    it cannot hold are an InputError, floats into integers and complex into real a DTypeError.

    ``name`` is the argument that errors blame. InputError for ragged lists and Python integers
    that do not fit, DTypeError for what is no array and for dtypes that no format has
    (longdouble, object, text, dates, structured, masked), UnknownNameError for an unknown dtype.
    """
    fmt = None if dtype is None else get_format(dtype)
    if is_python(x):
        return load_python(x, fmt, name, _load)
    array = _load(x, name)
    return array if fmt is None else cast(array, fmt, name)


def _load(x: Any, name: str) -> Array:
    if isinstance(x, Array):
        return x
    for adapter in adapters():
        if adapter.recognises(x):
            return adapter.load(x, name)
    kind = f"{type(x).__module__}.{type(x).__qualname__}".removeprefix("builtins.")
    raise DTypeError(
        f"{name} is of type {kind}: pass an array, a number, or nested lists of numbers"
    )
