"""The outputs that a caller supplies, by the names that the result has for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from exactref_core.errors import InputError
from exactref_core.result import Result

__all__ = ["supplied"]


def supplied(output: Any, result: Result) -> dict[str, Any]:
    """Return the outputs that are given, by name."""
    names = list(result.outputs)
    if isinstance(output, Mapping):
        for name in output:
            if name not in names:
                raise InputError(f"output {name!r} is none of the outputs {names}")
        return dict(output)
    if isinstance(output, tuple):
        if len(output) > len(names):
            raise InputError(f"output is a tuple of {len(output)}; the result has outputs {names}")
        return dict(zip(names, output, strict=False))
    return {names[0]: output}
