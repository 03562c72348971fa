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
from exactref_core.op import Op

__all__ = ["Table", "by_bits", "narrow_source", "occurring"]

# Elements from which looking for those that occur more than once is worth it, and from which it
# costs more than to evaluate others too, where that is cheap.
LEAST = 1 << 12
MANY = 1 << 20
WIDEST = 2  # bytes of an element
PLAIN = (bool, int, float, str, type(None))


@dataclass(frozen=True, eq=False)
class Table:
    """The different elements of an array, and where each element of the array is among them."""

    array: Array
    places: npt.NDArray[np.unsignedinteger[Any]]
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


def narrow_source(
    op: Op, sources: Mapping[str, Any], parameters: Mapping[str, Any]
) -> Array | None:
    """Return the one narrow array of an elementwise call; None where the call is another.

    An element's answers depend on its number alone, bit by bit: zeros of both signs are apart.
    """
    source = next(iter(sources.values()))
    if len(sources) != 1 or op.domain.signature != "()->()" or op.forward is not None:
        return None
    if not isinstance(source, Array) or source.size < LEAST or not source.format.is_float:
        return None
    if source.data.itemsize > WIDEST or not all(isinstance(x, PLAIN) for x in parameters.values()):
        return None
    return source


def bits_of(source: Array) -> npt.NDArray[np.unsignedinteger[Any]]:
    """Return an array's elements in their storage, flat, as integers."""
    return source.data.reshape(-1).view(f"u{source.data.itemsize}")


def occurring(source: Array) -> Table | None:
    """Return the table of the elements that occur; None where most are different."""
    bits = bits_of(source)
    occurs = np.zeros(1 << (8 * source.data.itemsize), bool)
    occurs[bits] = True
    found = np.flatnonzero(occurs)
    if 2 * found.size > bits.size:
        return None
    order = np.zeros(occurs.size, np.uint16)
    order[found] = np.arange(found.size)
    array = Array(found.astype(bits.dtype).view(source.data.dtype), source.format)
    return Table(array, order[bits], source.shape)


def by_bits(source: Array) -> Table | None:
    """Return the table of all numbers no larger in size than those that occur, by their bits.

    Negative ones come after the others; what would lie between is one of the elements. None where
    there are not MANY elements.
    """
    if source.size < MANY:
        return None
    bits = bits_of(source)
    numbers = np.arange(int(bits.max()) + 1, dtype=bits.dtype)
    top = max(int(bits.view(f"i{bits.itemsize}").max()), -1)
    numbers[top + 1 : 1 << (8 * bits.itemsize - 1)] = bits[0]
    return Table(Array(numbers.view(source.data.dtype), source.format), bits, source.shape)
