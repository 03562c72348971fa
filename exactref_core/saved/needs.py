"""What has to be imported before a saved check can be judged, and importing it when asked to."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from exactref_core.errors import InputError, UnknownNameError
from exactref_core.evaluate.origin import Call, Origin, View
from exactref_core.op import Op
from exactref_core.providers import packaged, register
from exactref_core.registry import OWN, get_standard

__all__ = ["load", "modules_for"]

KINDS: Final = ("ops", "standards", "formats", "adapters")


def modules_for(origin: Origin, standard: str, folder: Path) -> tuple[str, ...]:
    """Return what defines the operations and the standard of a check, built-in ones apart.

    A file relative to ``folder`` for a module that is not in a package, else the module's name.
    Installed packages that declare what they add are found without being named.
    """
    found = [home_of(op) for op in ops_of(origin)]
    rule = get_standard(standard)
    if not any(rule is known for known in packaged("exactref_standards")):
        found.append(type(rule).__module__)
    names = [name for name in found if name and name.partition(".")[0] != "exactref_core"]
    return tuple(dict.fromkeys(spelled(name, folder) for name in names))


def ops_of(origin: Origin) -> Iterator[Op]:
    """Yield the operations behind a result, the forward one for a gradient."""
    if isinstance(origin, View):
        yield from ops_of(origin.source)
    elif isinstance(origin, Call):
        for value in origin.inputs.values():
            if isinstance(value, Origin):
                yield from ops_of(value)
        yield origin.op if origin.op.forward is None else origin.op.forward


def home_of(op: Op) -> str:
    """Return the module that adds an operation; "" for one that is found without it."""
    if op.name in OWN:
        return OWN[op.name][1]
    if any(op is known for known in packaged("exactref_ops")):
        return ""
    return str(op.define.__module__)


def spelled(module: str, folder: Path) -> str:
    """Return how a module is named on a command line."""
    file = getattr(sys.modules.get(module), "__file__", None)
    if "." in module or file is None:
        return module
    path = Path(file)
    return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else module


class Conftest:
    """What the hooks of a conftest add, as a provider."""

    def __init__(self, module: ModuleType) -> None:
        for kind in KINDS:
            hook = getattr(module, f"pytest_exactref_{kind}", None)
            if hook is not None:
                setattr(self, f"exactref_{kind}", lambda hook=hook: added(hook))


def added(hook: Any) -> Iterable[Any]:
    """Return what a hook adds; there is no configuration of pytest to hand to it."""
    names = hook.__code__.co_varnames[: hook.__code__.co_argcount]
    found: Iterable[Any] = hook(**{name: None for name in names if name == "config"})
    return found


def load(name: str) -> None:
    """Import a module, or a Python file, and take what it adds: its definitions and its hooks.

    InputError where it cannot be imported.
    """
    try:
        module = from_file(Path(name)) if name.endswith(".py") else importlib.import_module(name)
    except UnknownNameError as error:
        raise InputError(
            f"{name} cannot be imported: {error}; if a conftest.py adds it, --import that one first"
        ) from None
    except Exception as error:
        raise InputError(f"{name} cannot be imported: {error!r}") from None
    if any(hasattr(module, f"exactref_{kind}") for kind in KINDS):
        register(module)
    if any(hasattr(module, f"pytest_exactref_{kind}") for kind in KINDS):
        register(Conftest(module))


def from_file(path: Path) -> ModuleType:
    """Return the module of a file."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise FileNotFoundError(f"there is no file {path}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module
