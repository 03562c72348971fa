"""Finds operations and standards by name: built-in ones and those that packages add."""

from __future__ import annotations

import difflib
import importlib
import pkgutil
from collections.abc import Iterable
from typing import Any

from exactref_core.errors import InputError, UnknownNameError
from exactref_core.gradients import gradient_of
from exactref_core.op import Op
from exactref_core.providers import ask, cached, changed

__all__ = ["get_op", "get_standard", "ops", "own", "standards"]


def built_in(package: str, attribute: str) -> Iterable[Any]:
    """Yield what every module of a built-in package lists under ``attribute``."""
    home = importlib.import_module(package)
    for module in pkgutil.iter_modules(home.__path__, package + "."):
        yield from getattr(importlib.import_module(module.name), attribute, ())


# A user's own operations, with the modules that define them.
OWN: dict[str, tuple[Op, str]] = {}


@cached
def tables() -> tuple[dict[str, Op], dict[str, Any]]:
    """Return the operations and the standards by name."""
    found: dict[str, Op] = {}
    for op in (*built_in("exactref_core.ops", "OPS"), *ask("exactref_ops")):
        if op.name in found:
            raise InputError(f"two operations are named {op.name!r}")
        found[op.name] = op
    found.update({name: op for name, (op, _) in OWN.items()})
    gradients = [gradient_of(op) for op in found.values() if op.backward is not None]
    found.update({op.name: op for op in gradients})
    rules: dict[str, Any] = {}
    given = built_in("exactref_core.standards", "STANDARDS")
    for standard in (*given, *ask("exactref_standards")):
        if standard.name in rules:
            raise InputError(f"two standards are named {standard.name!r}")
        rules[standard.name] = standard
    return found, rules


def own(op: Op, module: str) -> None:
    """Add a user's own operation; a module may define its own again, and no other name."""
    known = OWN.get(op.name)
    if op.name in tables()[0] and (known is None or known[1] != module):
        home = "built in" if known is None else f"defined in {known[1]}"
        raise InputError(f"an operation named {op.name!r} is {home}; give define() another name=")
    OWN[op.name] = (op, module)
    changed()


def ops() -> tuple[Op, ...]:
    """Return all operations, by name."""
    return tuple(op for _, op in sorted(tables()[0].items()))


def get_op(name: str) -> Op:
    """Return an operation; UnknownNameError names the closest ones."""
    op: Op = look_up(tables()[0], name, "operation")
    return op


def standards() -> tuple[str, ...]:
    """Return the names of the standards, the default first."""
    return tuple(sorted(tables()[1], key=lambda name: (name != "normal", name)))


def get_standard(name: str) -> Any:
    """Return a standard; UnknownNameError names those there are."""
    return look_up(tables()[1], name, "standard")


def look_up(table: dict[str, Any], name: str, kind: str) -> Any:
    """Return an entry, or raise an UnknownNameError that helps."""
    if name in table:
        return table[name]
    close = difflib.get_close_matches(str(name), table, n=3)
    if close:
        hint = f"did you mean {' or '.join(map(repr, close))}?"
    elif len(table) > 20:
        hint = "`python -m exactref ops` lists them"
    else:
        hint = f"there are {sorted(table)}"
    raise UnknownNameError(f"no {kind} is named {name!r}; {hint}")
