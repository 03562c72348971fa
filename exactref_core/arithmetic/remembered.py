"""What a part of an output is asked for, from the cache where that has it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy.typing as npt

from exactref_core.arithmetic.boxes import cells
from exactref_core.arithmetic.graph import Node
from exactref_core.arithmetic.graph_digest import NotDigestible, digest
from exactref_core.cache import Cache, current

__all__ = ["keep", "recalled", "remembered", "under"]

Arrays = tuple[npt.NDArray[Any], ...]

# Below so many elements of all steps, and so many seconds, a file costs more than it saves.
LEAST_CELLS = 1 << 12
LEAST_SECONDS = 0.02


def under(what: str, standard: Any, flush: bool) -> str:
    """Return the name of what depends on a standard; none for a standard of somebody else.

    Its source is not part of what tells versions apart.
    """
    if type(standard).__module__.partition(".")[0] != "exactref_core":
        return ""
    return f"{what} {standard.name}{' flush' if flush else ''}"


def remembered(node: Node, what: str, compute: Callable[[], Arrays]) -> Arrays:
    """Return what ``compute`` returns: flat arrays that depend on a graph and ``what`` alone.

    Nothing is kept under an empty name.
    """
    found = recalled(node, what)
    if found is not None:
        return found
    start = time.perf_counter()
    computed = compute()
    if time.perf_counter() - start >= LEAST_SECONDS:
        keep(node, what, computed)
    return computed


def keep(node: Node, what: str, arrays: Arrays) -> None:
    """Give flat arrays to the cache, if there is one."""
    cache = current()
    key = key_of(node, what) if what and cache is not None else None
    if key is not None and cache is not None:
        cache.save(key, arrays)


def recalled(node: Node, what: str) -> Arrays | None:
    """Return what the cache has, or None."""
    cache: Cache | None = current()
    if not what or cache is None or cells(node) < LEAST_CELLS:
        return None
    key = key_of(node, what)
    found = None if key is None else cache.load(key)
    return None if found is None else tuple(found)


def key_of(node: Node, what: str) -> bytes | None:
    """Return the key of what is asked of a graph; None where it cannot be told from others."""
    try:
        return digest(node) + what.encode()
    except NotDigestible:
        return None
