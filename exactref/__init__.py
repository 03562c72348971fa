"""exactref: the exact result of an operation, and how far a correct implementation can be from it.

``import exactref as er``; every operation is a function here, ``er.asarray`` makes arrays of any
format, ``er.assert_covers`` checks an output, ``er.op`` marks a test for pytest. Names load on
first use.
"""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"

HOMES = {
    "Array": "exactref_core.array",
    "DTypeError": "exactref_core.errors",
    "ExactRefError": "exactref_core.errors",
    "Format": "exactref_core.formats.format",
    "InputError": "exactref_core.errors",
    "Overflow": "exactref_core.formats.rounding",
    "Result": "exactref_core.result",
    "Rounding": "exactref_core.formats.rounding",
    "UndecidedError": "exactref_core.errors",
    "UnknownNameError": "exactref_core.errors",
    "compute": "exactref_core.evaluate.compute",
    "define": "exactref_core.evaluate.defining",
    "asarray": "exactref_core.adapters",
    "assert_covers": "exactref_core.failure",
    "get_format": "exactref_core.formats.catalogue",
    "op": "pytest_exactref.marker",
    "ops": "exactref_core.registry",
    "store": "exactref_core.evaluate.definition_verbs",
    "register_format": "exactref_core.formats.catalogue",
}
MODULES = {
    "backward": "exactref.backward",
    "extend": "exactref_core.extend",
    "nn": "exactref.nn",
    "strategies": "pytest_exactref.strategies",
}


def __getattr__(name: str) -> Any:
    """Load a name on first use: a front door of the packages, or the function of an operation."""
    if name.startswith("__"):
        raise AttributeError(f"module 'exactref' has no attribute {name!r}")
    if name in MODULES:
        value: Any = importlib.import_module(MODULES[name])
    elif name in HOMES:
        value = getattr(importlib.import_module(HOMES[name]), name)
    else:
        from exactref_core.registry import OWN

        value = operation(name)
        if name in OWN:  # a user's own operation may be defined anew
            return value
    globals()[name] = value
    return value


def operation(name: str) -> Any:
    """Return the function of an operation; AttributeError where there is none."""
    from exactref_core.errors import UnknownNameError
    from exactref_core.evaluate import function
    from exactref_core.registry import get_op

    try:
        return function(get_op(name))
    except UnknownNameError as error:
        raise AttributeError(f"module 'exactref' has no attribute {name!r}; {error}") from None


def __dir__() -> list[str]:
    """List every name, operations included."""
    from exactref_core.registry import ops

    return sorted({*globals(), *HOMES, *MODULES, *(op.name for op in ops())})
