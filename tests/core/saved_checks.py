"""Checks to save, and what tells two results of a call from each other."""

from __future__ import annotations

from typing import Any

from exactref_core.arithmetic.graph_digest import digest
from exactref_core.evaluate import origin_of
from exactref_core.result import Result
from exactref_core.saved import SavedCheck

__all__ = ["check_of", "steps"]


def check_of(result: Result, **terms: Any) -> SavedCheck:
    """A check of the correctly rounded outputs."""
    outputs = {name: result[name].rounded for name in result.outputs}
    return SavedCheck(outputs, origin_of(result), **terms)


def steps(result: Result) -> list[bytes]:
    """The digests of the graphs of the outputs' parts."""
    outputs: Any = result.outputs
    return [digest(node) for out in outputs.values() for node in out.nodes]
