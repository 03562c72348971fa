"""Outputs rounded stochastically: either neighbour of the number before the store is correct."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from exactref_core.arithmetic.graph import Indices, Node
from exactref_core.arithmetic.parts import Part
from exactref_core.arithmetic.ranges import Bools, Range, within
from exactref_core.exact.double_double import Floats
from exactref_core.formats.rounding import Rounding

__all__ = ["StochasticPart"]


class StochasticPart(Part):
    """A part whose store rounds to either neighbour, whatever the odds.

    ``node`` stores to nearest: that is ``rounded``. The range goes from what a store that rounds
    down may return to what one that rounds up may; a number of the format stays as it is. Beyond
    the largest number the neighbours are it and an infinity (it alone, saturated).
    """

    question = "stochastic range"

    def __init__(self, node: Node, label: str) -> None:
        super().__init__(node, label)
        rules = (replace(self.store, rounding=side) for side in (Rounding.DOWN, Rounding.UP))
        self.sides = tuple(
            Part(Node("store", node.operands, node.shape, rule, node.compute), label)
            for rule in rules
        )

    def range_at(self, standard: Any, flush: bool, flat: Indices | None) -> Range:
        """Return the hull of the two ranges."""
        down, up = (side.range_at(standard, flush, flat) for side in self.sides)
        return Range(
            np.where(np.isnan(down.low), up.low, down.low),
            np.where(np.isnan(up.high), down.high, up.high),
            down.states | up.states,
            down.unbounded | up.unbounded,
        )

    def within_range(
        self, values: Floats, standard: Any, flush: bool, flat: Indices | None
    ) -> Bools:
        """Return which values lie in the hull."""
        return within(self.range_at(standard, flush, flat), values)
