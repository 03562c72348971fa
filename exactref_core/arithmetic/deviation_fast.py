"""The fast reading of sums of squared deviations: that of their definition."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exactref_core.arithmetic.approx import Approx
from exactref_core.arithmetic.graph import Indices, Node

if TYPE_CHECKING:
    from exactref_core.arithmetic.fast import FastReading

__all__ = ["exact"]


def exact(reading: FastReading, node: Node, flat: Indices | None) -> Approx:
    """Return the values of the definition, whole or at flat indices."""
    definition = node.operands[0]
    return reading.whole(definition) if flat is None else reading.at(definition, flat)
