"""How a result came about: the calls and views behind it, so that it can be called again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from exactref_core.adapters import asarray
from exactref_core.array import Array
from exactref_core.errors import InputError
from exactref_core.evaluate.parameters import is_array
from exactref_core.op import Op
from exactref_core.result import Result

__all__ = ["Call", "Change", "Origin", "View", "arrays_of", "origin_of", "snapshots"]

Change = Callable[[str, Array], Array]


class Origin:
    """A call of an operation, or a view of what one returned."""

    def view(self, kind: str, argument: Any) -> Origin:
        """Return the origin of a view: "reshape", "transpose", "index", or an output's "name"."""
        return View(self, kind, argument)


@dataclass(frozen=True, eq=False)
class Call(Origin):
    """A call of an operation.

    ``inputs`` are the tensors by name, in order, optional ones that were given included: arrays, or
    the origins of earlier results. ``parameters`` are all others, with ``dtype`` (a Format, None
    for that of the inputs), ``rounding`` and ``overflow``; arrays among them are Arrays.
    """

    op: Op
    inputs: Mapping[str, Array | Origin]
    parameters: Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class View(Origin):
    """A view of a result: elements in another order or shape, or one of several outputs."""

    source: Origin
    kind: str
    argument: Any


def origin_of(result: Result) -> Origin:
    """Return how a result came about; InputError for one that no operation returned."""
    found = result.origin
    if not isinstance(found, Origin):
        raise InputError("result must be what an operation returned; this one was put together")
    return found


def snapshots(op: Op, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters with those that are arrays as Arrays, which later writes do not reach."""
    found = dict(given)
    for name in (*op.arrays, *op.first):
        if is_array(found.get(name)) or isinstance(found.get(name), (list, tuple)):
            found[name] = asarray(found[name], name=name)
    return {name: [*x] if isinstance(x, list) else x for name, x in found.items()}


def arrays_of(origin: Origin) -> list[tuple[str, Array]]:
    """Return the input arrays by their names in the calls, each place once, in order of use."""
    found: list[tuple[str, Array]] = []
    seen: set[Origin] = set()

    def visit(one: Origin) -> None:
        if one in seen:
            return
        seen.add(one)
        if isinstance(one, View):
            visit(one.source)
        elif isinstance(one, Call):
            for name, value in one.inputs.items():
                if isinstance(value, Origin):
                    visit(value)
                else:
                    found.append((name, value))

    visit(origin)
    return found
