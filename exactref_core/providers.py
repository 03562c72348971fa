"""Who adds to the core: installed packages, by entry point, and what was added by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from importlib.metadata import entry_points
from typing import Any, Final, TypeVar

from exactref_core.errors import InputError

__all__ = ["ENTRY_POINT_GROUP", "ask", "cached", "changed", "packaged", "register", "unregister"]

ENTRY_POINT_GROUP: Final = "exactref"

Table = TypeVar("Table")

_added: list[Any] = []
_forgetters: list[Callable[[], None]] = []
_loaded: list[Any] | None = None  # None: no entry point has been asked for yet


def _packages() -> list[Any]:
    # A package that defines operations as it is loaded comes back here meanwhile: it finds what
    # has been loaded by then.
    global _loaded
    if _loaded is None:
        _loaded = []
        try:
            for point in entry_points(group=ENTRY_POINT_GROUP):
                _loaded.append(_load(point))
        except InputError:
            _loaded = None
            raise
        changed()
    return _loaded


def _load(point: Any) -> Any:
    try:
        return point.load()
    except Exception as error:
        raise InputError(
            f"the entry point {point.name!r} of the group {ENTRY_POINT_GROUP!r} ({point.value}) "
            f"does not load: {error!r}; fix or uninstall the package that declares it"
        ) from error


def ask(hook: str) -> Iterator[Any]:
    """Yield what every provider that has the function ``hook`` returns from it, item by item."""
    yield from _asked(hook, (*_packages(), *_added))


def packaged(hook: str) -> Iterator[Any]:
    """Yield what the providers among them return that installed packages declare."""
    yield from _asked(hook, _packages())


def _asked(hook: str, providers: Iterable[Any]) -> Iterator[Any]:
    for provider in providers:
        function = getattr(provider, hook, None)
        if function is not None:
            yield from _items(function(), hook, provider)


def _items(found: Any, hook: str, provider: Any) -> Iterable[Any]:
    if isinstance(found, Iterable) and not isinstance(found, (str, bytes)):
        return found
    raise InputError(f"{hook}() of {provider!r} must return an iterable, not {found!r}")


def cached(table: Callable[[], Table]) -> Callable[[], Table]:
    """Remember what a function reads from the providers until they change."""
    remembered = lru_cache(maxsize=1)(table)
    _forgetters.append(remembered.cache_clear)
    return remembered


def changed() -> None:
    """Forget what was read from the providers: they, or what they add, are no longer the same."""
    for forget in _forgetters:
        forget()


def register(provider: Any) -> None:
    """Add a provider (see `exactref.extend.Provider`) until `unregister`; a known one stays."""
    if not any(provider is known for known in _added):
        _added.append(provider)
        changed()


def unregister(provider: Any) -> None:
    """Take a provider back that `register` added; InputError where none was."""
    for place, known in enumerate(_added):
        if known is provider:
            del _added[place]
            changed()
            return
    raise InputError(f"{provider!r} is not registered")
