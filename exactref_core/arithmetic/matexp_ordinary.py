"""The ordinary reading of matrix exponentials: there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from exactref_core.arithmetic.graph import Node

if TYPE_CHECKING:
    from exactref_core.arithmetic.ordinary import OrdinaryReading

__all__ = ["exact"]


def exact(reading: OrdinaryReading, node: Node) -> NoReturn:
    """Raise NotImplementedError: no algorithm is the ordinary one."""
    raise NotImplementedError("matrix_exp has no normal answer")
