"""Bounds of products as arrays; what may leave the range is certified element by element."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from exactref_core.arithmetic import states
from exactref_core.arithmetic.bound import ALGEBRA, Bound, magnitude
from exactref_core.arithmetic.brackets import Bracket
from exactref_core.arithmetic.graph import Indices, Node
from exactref_core.arithmetic.largest_bounds import row_bounds
from exactref_core.arithmetic.largest_fast import row_values
from exactref_core.arithmetic.prod_rules import Rounds, prefix_errors, product_error
from exactref_core.arithmetic.step_sets import threshold
from exactref_core.formats.format import Format

if TYPE_CHECKING:
    from exactref_core.arithmetic.bounds import FloatBounds

__all__ = ["bound", "columns", "scan"]


def columns(bracket: Bracket, shape: tuple[int, ...]) -> list[Bracket]:
    """Return the columns of rows of brackets."""
    low, high = (np.broadcast_to(end, shape) for end in (bracket.low, bracket.high))
    return [Bracket(low[..., i], high[..., i]) for i in range(shape[-1])]


def bound(reading: FloatBounds, node: Node, flat: Indices | None) -> Bound:
    """Return the bounds of a node of products, whole or at flat indices."""
    x, given = row_values(reading.fast, node, flat), row_bounds(reading, node, flat)
    shape = x.high.shape
    sizes, errors = columns(magnitude(x), shape), columns(given.error, shape)
    form, loops = compute_of(node), reading.standard.prefixes
    error = product_error(ALGEBRA, form, reading.flush, sizes, errors, loops)
    return settled(error, heights(sizes, errors, form, shape)[-1], given, shape, form)


def scan(reading: FloatBounds, node: Node) -> Bound:
    """Return the bounds of all prefixes of rows, in one walk."""
    x, given = row_values(reading.fast, node, None), row_bounds(reading, node, None)
    shape, form = x.high.shape, compute_of(node)
    sizes, errors = columns(magnitude(x), shape), columns(given.error, shape)
    loops = reading.standard.prefixes
    walk = prefix_errors(ALGEBRA, form, reading.flush, sizes, errors, loops)
    tops = heights(sizes, errors, form, shape)
    found = []
    for k, (ask, top) in enumerate(zip(walk, tops, strict=True), start=1):
        head = given.map(lambda part, k=k: part[..., :k], shape)  # type: ignore[misc]
        found.append(settled(ask(), top, head, (*shape[:-1], k), form))
    low, high = (
        np.stack(ends, -1)
        for ends in zip(*((b.error.low, b.error.high) for b in found), strict=True)
    )
    error = Bracket(low, high)
    if all(b.states is None for b in found):
        return Bound(error, error)
    sets = [np.full(shape[:-1], states.FINITE) if b.states is None else b.states for b in found]
    doubts = [np.zeros(shape[:-1], bool) if b.unsure is None else b.unsure for b in found]
    return Bound(error, error, np.stack(sets, -1).astype(np.uint8), np.stack(doubts, -1))


def compute_of(node: Node) -> Format:
    """Return the format that products are stored in."""
    if node.compute is None:
        raise ValueError("a product has a compute format")
    return node.compute


def settled(error: Bracket, top: Bracket, given: Bound, shape: Any, form: Format) -> Bound:
    """Return the bounds of rows: those that may leave the range, or hold specials, are unsure."""
    error = Bracket(*(np.broadcast_to(end, shape[:-1]) for end in (error.low, error.high)))
    odd = np.broadcast_to(~(np.asarray(top.high) < threshold(form)[0]), shape[:-1])
    if given.states is not None:
        odd = odd | np.broadcast_to(given.states != states.FINITE, shape).any(axis=-1)
    if given.unsure is not None:
        odd = odd | np.broadcast_to(given.unsure, shape).any(axis=-1)
    none = np.isinf(np.broadcast_to(given.error.low, shape)).any(axis=-1)
    # Certified bounds say what these may be, and how far.
    low = np.where(none, np.inf, np.where(odd, 0.0, error.low))
    error = Bracket(low, np.where(odd | none, np.inf, error.high))
    if not np.any(odd):
        return Bound(error, error)
    return Bound(error, error, np.full(shape[:-1], states.FINITE, np.uint8), np.asarray(odd))


def heights(sizes: list[Bracket], errors: list[Bracket], form: Rounds, shape: Any) -> list[Bracket]:
    """Return what products of the factors above 1 of each prefix may reach."""
    one = ALGEBRA.constant(1)
    height = Bracket(np.ones(shape[:-1]), np.ones(shape[:-1]))
    found = []
    for k, (x, r) in enumerate(zip(sizes, errors, strict=True), start=1):
        height = height * ALGEBRA.maximum(one, x + r)
        found.append(height * ALGEBRA.power(form.unit_roundoff, k))
    return found
