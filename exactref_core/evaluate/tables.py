"""Elementwise operations of narrow inputs: evaluated once for each number that occurs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from exactref_core.arithmetic.graph import Node
from exactref_core.arithmetic.pick_verbs import Pick
from exactref_core.array import Array
from exactref_core.evaluate.outputs import PartsOutput
from exactref_core.evaluate.storing import BLOCK, taken
from exactref_core.op import Op

__all__ = ["Table", "table_of"]

# Elements from which looking for those that occur more than once is worth it.
LEAST = 1 << 12
WIDEST = 2  # bytes of an element
PLAIN = (bool, int, float, str, type(None))


@dataclass(frozen=True, eq=False)
class Table:
    """The different elements of an array, and where each element of the array is among them."""

    array: Array
    places: npt.NDArray[np.uint16]
    shape: tuple[int, ...]

    def spread(self, output: PartsOutput) -> PartsOutput:
        """Return an output for the different elements as one for all."""
        which = np.zeros(self.places.size, np.uint8)
        nodes = [
            Node("pick", (node,), self.shape, Pick(which, self.places), node.compute)
            for node in output.nodes
        ]
        return PartsOutput(
            output.op,
            output.name,
            output.format,
            output.parts,
            nodes,
            self.places,
            output.normal_answer,
        )


def table_of(op: Op, sources: Mapping[str, Any], parameters: Mapping[str, Any]) -> Table | None:
    """Return the table of an elementwise call of one narrow array; None where there is none.

    An element's answers depend on its number alone, bit by bit: zeros of both signs are apart.
    """
    source = next(iter(sources.values()))
    if len(sources) != 1 or op.domain.signature != "()->()" or op.forward is not None:
        return None
    if not isinstance(source, Array) or source.size < LEAST or not source.format.is_float:
        return None
    if source.data.itemsize > WIDEST or not all(isinstance(x, PLAIN) for x in parameters.values()):
        return None
    bits = source.data.reshape(-1).view(f"u{source.data.itemsize}")
    occurs = np.zeros(1 << (8 * source.data.itemsize), bool)
    for start in range(0, bits.size, BLOCK):
        occurs[bits[start : start + BLOCK].astype(np.intp)] = True
    found = np.flatnonzero(occurs)
    if 2 * found.size > bits.size:
        return None
    order = np.zeros(occurs.size, np.uint16)
    order[found] = np.arange(found.size)
    array = Array(found.astype(bits.dtype).view(source.data.dtype), source.format)
    return Table(array, taken(order, bits), source.shape)
