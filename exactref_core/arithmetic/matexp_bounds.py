"""Bounds of matrix exponentials as arrays, from their backward error."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from exactref_core.arithmetic import states
from exactref_core.arithmetic.bound import Bound
from exactref_core.arithmetic.brackets import Bracket
from exactref_core.arithmetic.graph import Indices, Node
from exactref_core.arithmetic.matexp_fast import Matrices
from exactref_core.arithmetic.matexp_rules import compute_of, entry_set, perturbation_of
from exactref_core.exact.interval import rational
from exactref_core.exact.upper import root_above

if TYPE_CHECKING:
    from exactref_core.arithmetic.bounds import FloatBounds

__all__ = ["bound"]


def bound(reading: FloatBounds, node: Node, flat: Indices | None) -> Bound:
    """Return the bounds of a matexp node; what is not plain is left to the certified reading."""
    found = Matrices(reading.fast, node, flat)
    low, high = np.zeros(found.places.shape), np.zeros(found.places.shape)
    sets = np.full(found.places.shape, states.FINITE, np.uint8)
    unsure = np.zeros(found.places.shape, bool)
    shape = found.entries.shape
    given = [reading.at(x, found.entries).map(lambda part: part, shape) for x in node.operands]
    for index in range(found.chosen.size):
        where = np.flatnonzero(found.pick == index)
        exponential = found.exponential(index)
        moved = moved_by(given, index, found.n * found.n)
        if exponential is None or moved is None:
            high[where] = np.inf
            unsure[where] = True
            continue
        perturbation = perturbation_of(compute_of(node), found.n, moved, reading.flush)
        table = entry_set(exponential, perturbation, compute_of(node))
        for spot, place in zip(where.tolist(), found.places[where].tolist(), strict=True):
            i, j = divmod(place % (found.n * found.n), found.n)
            i += node.attrs.part * found.n
            low[spot], high[spot] = exponential.error_floats(perturbation, i, j)
            sets[spot] = table[i][j]
    error = Bracket(low, high)
    result = Bound(error, error, sets, unsure)
    if flat is not None:
        return result
    return result.map(lambda part: part.reshape(node.shape), (node.size,))


def moved_by(given: list[Bound], index: int, area: int) -> Any:
    """Return the Frobenius norm of the errors of a matrix's entries; None where it is not plain."""
    part = slice(index * area, (index + 1) * area)
    square = rational(0)
    for operand in given:
        if operand.states is not None and np.any(operand.states[part] != states.FINITE):
            return None
        if operand.unsure is not None and np.any(operand.unsure[part]):
            return None
        errors = operand.error.high[part]
        if not np.all(np.isfinite(errors)):
            return None
        square += sum((rational(float(e)) ** 2 for e in errors if e), rational(0))
    return root_above(square)
