"""The door for extensions: what a package or a conftest may add, and how it says so.

An installed package declares an entry point in the group ``exactref`` that names a module, or an
object, with any of the functions of `Provider`; each returns an iterable. `register` adds one by
hand. A conftest has hooks of the same names with ``pytest_`` in front.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

from exactref_core.adapters import register_adapter
from exactref_core.adapters.adapter import Adapter
from exactref_core.array import Array
from exactref_core.exact.float_products import use_product
from exactref_core.formats.catalogue import register_format
from exactref_core.formats.format import Format
from exactref_core.op import REQUIRED, Domain, Op
from exactref_core.providers import ENTRY_POINT_GROUP, register, unregister
from exactref_core.standards.any_order import AnyOrder
from exactref_core.standards.normal import Normal
from exactref_core.standards.typical import Typical

__all__ = [
    "ENTRY_POINT_GROUP",
    "REQUIRED",
    "Adapter",
    "AnyOrder",
    "Array",
    "Domain",
    "Format",
    "Normal",
    "Op",
    "Provider",
    "Typical",
    "register",
    "register_adapter",
    "register_format",
    "unregister",
    "use_product",
]


class Provider(Protocol):
    """A module or object that adds to the library; every function is optional."""

    def exactref_ops(self) -> Iterable[Op]:
        """Return operations; each name once."""

    def exactref_standards(self) -> Iterable[Any]:
        """Return standards: objects with the methods of `AnyOrder`, as a rule of a subclass."""

    def exactref_formats(self) -> Iterable[Format]:
        """Return number formats; each name once."""

    def exactref_adapters(self) -> Iterable[Adapter]:
        """Return adapters of array libraries, asked before the built-in ones."""
