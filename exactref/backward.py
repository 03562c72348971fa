"""Gradients: ``er.backward.<operation>(grad_output, *arguments)``, outputs ``grad_<tensor>``."""

from __future__ import annotations

from typing import Any

PREFIX = "backward."


def __getattr__(name: str) -> Any:
    """Load a gradient's function on first use; AttributeError where there is none."""
    if name.startswith("__"):
        raise AttributeError(f"module 'exactref.backward' has no attribute {name!r}")
    from exactref_core.errors import UnknownNameError
    from exactref_core.evaluate import function
    from exactref_core.registry import OWN, get_op

    try:
        value = function(get_op(PREFIX + name))
    except UnknownNameError as error:
        text = f"module 'exactref.backward' has no attribute {name!r}; {error}"
        raise AttributeError(text) from None
    if name not in OWN:  # a user's own operation may be defined anew
        globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List every operation that has a gradient."""
    from exactref_core.registry import ops

    return sorted(op.name.removeprefix(PREFIX) for op in ops() if op.name.startswith(PREFIX))
