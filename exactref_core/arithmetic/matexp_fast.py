"""The fast reading of matrix exponentials: certified enclosures as double-double numbers."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from exactref_core.arithmetic.approx import Approx
from exactref_core.arithmetic.graph import Indices, Node
from exactref_core.arithmetic.matexp_rules import exponential_of
from exactref_core.exact.exponential_entries import Exponential
from exactref_core.exact.interval import Arithmetic, Interval, Unsure, rational

if TYPE_CHECKING:
    from exactref_core.arithmetic.fast import FastReading

__all__ = ["Matrices", "exact"]

BITS = 160
ARITHMETIC = Arithmetic(BITS)


class Matrices:
    """Some matrices of a node: their entries as a reading knows them."""

    def __init__(self, reading: FastReading, node: Node, flat: Indices | None) -> None:
        self.node = node
        self.n = node.shape[-1]
        area = self.n * self.n
        places = np.arange(node.size) if flat is None else flat
        self.places = places
        self.chosen, self.pick = np.unique(places // max(area, 1), return_inverse=True)
        self.entries = (self.chosen[:, None] * area + np.arange(area)).reshape(-1)
        self.operands = [
            reading.at(x, self.entries).map(lambda part: part.reshape(self.chosen.size, area))
            for x in node.operands
        ]

    def special(self, index: int) -> list[float]:
        """Return the infinities and NaN among a matrix's entries."""
        found: list[float] = []
        for x in self.operands:
            if x.special is not None:
                values = x.special[index]
                found += values[values != 0].tolist()
        return found

    def exponential(self, index: int) -> Exponential | None:
        """Return the exponential of a matrix; None where it is not known or not finite."""
        rows = []
        for x in self.operands:
            if self.special(index) or not np.all(x.known()[index]):
                return None
            numbers = [number(x, index, k) for k in range(self.n * self.n)]
            rows += [numbers[k : k + self.n] for k in range(0, len(numbers), self.n)]
        try:
            found = exponential_of(self.node, rows, ARITHMETIC)
            found.table(BITS)
        except Unsure:
            return None
        return found


def number(x: Approx, index: int, place: int) -> Any:
    """Return one value as a rational, or as an interval."""
    middle = rational(float(x.high[index, place]))
    if x.low is not None:
        middle = middle + rational(float(x.low[index, place]))
    radius = 0.0 if x.radius is None else float(x.radius[index, place])
    if radius == 0:
        return middle
    low, high = (middle + rational(s * Fraction(radius)) for s in (-1, 1))
    return Interval(ARITHMETIC.ends(low)[0], ARITHMETIC.ends(high)[1], ARITHMETIC)


def exact(reading: FastReading, node: Node, flat: Indices | None) -> Approx:
    """Return the values of a matexp node, whole or at flat indices."""
    found = Matrices(reading, node, flat)
    high, low, radius, special = (np.zeros(found.places.shape) for _ in range(4))
    for index in range(found.chosen.size):
        where = np.flatnonzero(found.pick == index)
        if found.special(index):
            special[where] = np.nan
            continue
        exponential = found.exponential(index)
        radius[where] = np.inf
        for spot, place in zip(where.tolist(), found.places[where].tolist(), strict=True):
            if exponential is not None:
                i, j = divmod(place % (found.n * found.n), found.n)
                ends = exponential.floats(i, j, node.attrs.part, BITS)
                high[spot], low[spot], radius[spot] = ends
    given = special if np.any(special != 0) else None
    result = Approx(high, low, radius, given)
    return result if flat is not None else result.map(lambda part: part.reshape(node.shape))
