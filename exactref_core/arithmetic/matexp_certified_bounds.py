"""Bounds of single entries of matrix exponentials, certified."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exactref_core.arithmetic import states
from exactref_core.arithmetic.certified_sets import is_loose
from exactref_core.arithmetic.graph import Node
from exactref_core.arithmetic.matexp_certified import matrix_at
from exactref_core.arithmetic.matexp_rules import (
    compute_of,
    entry_set,
    perturbation_of,
    special_set,
)
from exactref_core.exact.interval import rational
from exactref_core.exact.nonnegative import Unbounded
from exactref_core.exact.upper import root_above

if TYPE_CHECKING:
    from exactref_core.arithmetic.certified_bounds import CertifiedBounds, ScalarBound

__all__ = ["bound"]


def bound(reading: CertifiedBounds, node: Node, flat: int) -> ScalarBound:
    """Return the bound of one entry; `Unbounded` where an operand may be a stored infinity."""
    from exactref_core.arithmetic.certified_bounds import ScalarBound

    n = node.shape[-1]
    index, place = divmod(flat, n * n)
    operands = [reading.bound(x, index * n * n + k) for x in node.operands for k in range(n * n)]
    given = 0
    for operand in operands:
        given |= operand.states
    if given & states.CARRIED:
        raise Unbounded  # exp of an infinity that an earlier call stored may be any finite value
    zero = rational(0)
    exponential, special = matrix_at(reading.exact, node, index)
    if exponential is None:
        places = [(x, index * n * n + k) for x in node.operands for k in range(n * n)]
        pairs = zip((reading.exact.value(*place) for place in places), operands, strict=True)
        if any(is_loose(*pair) for pair in pairs):
            raise Unbounded  # any number may be stored for an infinity or NaN
        return ScalarBound(zero, zero, special_set(special))
    square = zero
    for operand in operands:
        _, high = reading.algebra.bounds(operand.error)
        square += high * high
    form = compute_of(node)
    perturbation = perturbation_of(form, n, root_above(square), reading.flush)
    i, j = divmod(place, n)
    i += node.attrs.part * n
    error = exponential.error(perturbation, i, j)
    sets = entry_set(exponential, perturbation, form)[i][j]
    if given & ~states.FINITE:
        sets |= states.NAN | states.PLUS | states.MINUS
    return ScalarBound(error, error, sets)
