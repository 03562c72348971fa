"""What an adapter is: how the arrays of one library are recognised and copied."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from exactref_core.array import Array
from exactref_core.errors import DTypeError, UnknownNameError
from exactref_core.formats.catalogue import get_format
from exactref_core.formats.format import Format

__all__ = ["Adapter", "format_of", "instance_of"]


@dataclass(frozen=True)
class Adapter:
    """One array library.

    ``recognises(x)`` says whether x is one of its arrays, and imports nothing. ``load(x, name)``
    returns a private copy of x in the format that x has; ``name`` is the argument to blame in a
    DTypeError or InputError.
    """

    name: str
    recognises: Callable[[Any], bool]
    load: Callable[[Any, str], Array]


def instance_of(x: object, module: str, *classes: str) -> bool:
    """Whether x is an instance of one of the classes of a module, if that is loaded at all."""
    loaded = sys.modules.get(module)
    found = (getattr(loaded, name, None) for name in classes) if loaded is not None else ()
    return any(isinstance(x, cls) for cls in found if isinstance(cls, type))


def format_of(dtype: object, name: str, cure: str) -> Format:
    """The format a library's dtype spells; DTypeError naming the argument and a cure otherwise."""
    try:
        return get_format(dtype)
    except UnknownNameError:
        raise DTypeError(f"{name} has dtype {dtype}, which is not supported: {cure}") from None
