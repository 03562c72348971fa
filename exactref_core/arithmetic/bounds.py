"""The bounds reading as arrays: how far stored values may be, and what else they may be.

For every node: a bracket of its error bound under one standard (the bound is one real number; the
bracket is what float64 knows of it), and the set of specials that a conforming implementation may
store. What float64 cannot tell is marked unsure, and certified element by element.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import numpy as np

from exactref_core.arithmetic import (
    factored_bounds,
    flush_bounds,
    quotient_bounds,
    rules,
    states,
)
from exactref_core.arithmetic.admitted import tame, union
from exactref_core.arithmetic.approx import Approx
from exactref_core.arithmetic.bound import ALGEBRA, Bound, either, magnitude, merge
from exactref_core.arithmetic.brackets import Bracket
from exactref_core.arithmetic.families import FAMILIES, family
from exactref_core.arithmetic.fast import FastReading
from exactref_core.arithmetic.graph import FACTORED, GROWS, Indices, Node
from exactref_core.arithmetic.level_choices import first_suffices
from exactref_core.arithmetic.loads import loaded
from exactref_core.arithmetic.source_bounds import constant
from exactref_core.arithmetic.step_errors import cleared, powers_of_two, taken_over
from exactref_core.arithmetic.step_sets import (
    ANY_SIDE,
    overflow_sides,
    step_sets,
    without_numbers,
)
from exactref_core.arithmetic.traversal import Kept, Layered, bounded, node_layers, worth_whole

__all__ = ["FloatBounds"]


class FloatBounds(Layered):
    """Bounds of every node of a graph under one standard, over one fast reading."""

    def __init__(self, fast: FastReading, standard: Any, flush: bool, precise: bool) -> None:
        self.fast = fast
        self.standard = standard
        self.flush = flush
        self.precise = precise
        self.least: frozenset[Node] = frozenset()  # of which lower ends alone are asked for
        self.coarse = self.took_coarse = False  # whether sums in float32 will do; did
        self.memo: dict[Node, Bound] = {}
        self.kept: Kept[Bound] = Kept()

    def whole(self, node: Node) -> Bound:
        """Return the bounds of all elements."""
        if node not in self.memo:
            self.descend(node, lambda: node_layers(node, self.memo, bounded), self.whole)
            with np.errstate(all="ignore"):
                self.memo[node] = self.compute(node, None)
        return self.memo[node]

    @cached_property
    def unflushed(self) -> FloatBounds:
        """The same reading where nothing is flushed."""
        found = FloatBounds(self.fast, self.standard, False, self.precise)
        found.least = self.least
        return found

    @contextmanager
    def scope(self) -> Iterator[None]:
        """Keep what is gathered inside, values and bounds."""
        with self.kept.scope(), self.fast.kept.scope():
            yield

    def at(self, node: Node, flat: Indices) -> Bound:
        """Return the bounds at flat indices."""
        if node in self.memo or worth_whole(node, flat.size):
            return self.whole(node).map(lambda part: part.reshape(-1)[flat], node.shape)
        self.descend(node, lambda: node_layers(node, self.memo, bounded), self.whole)
        with np.errstate(all="ignore"):
            if self.kept.scopes:
                return self.kept.get(node, flat, self.compute)
            with self.scope():
                return self.compute(node, flat)

    def get(self, node: Node, flat: Indices | None) -> Bound:
        """Return the bounds of all elements, or of those at flat indices."""
        return self.whole(node) if flat is None else self.at(node, flat)

    def value(self, node: Node, flat: Indices | None) -> Approx:
        """Return the exact values of all elements, or of those at flat indices."""
        return self.fast.whole(node) if flat is None else self.fast.at(node, flat)

    def compute(self, node: Node, flat: Indices | None) -> Bound:
        """Evaluate one node."""
        verb = node.verb
        if verb == "load":
            return loaded(self, node, flat)
        if verb == "constant":
            return constant(node)
        if verb == "inside":
            return self.inside(node, flat)
        if verb == "flushable":
            return flush_bounds.bound(self, node, flat)
        if verb == "view":
            return self.view(node, flat)
        if verb == "stack":
            return self.stack(node, flat)
        if verb == "admit":
            return self.admit(node, flat)
        if verb in FAMILIES:
            return family(verb).bounds.bound(self, node, flat)  # type: ignore[no-any-return]
        if verb in ("sum", "dot", "paired_dot"):
            from exactref_core.arithmetic.accumulation import accumulate

            return accumulate(self, node, flat)
        if verb == "store":
            from exactref_core.arithmetic.stores import stored

            return stored(self, node, flat)
        if verb == "by_sign":
            from exactref_core.arithmetic.signs_bounds import by_sign

            return by_sign(self, node, flat)
        return self.step(node, flat)

    def view(self, node: Node, flat: Indices | None) -> Bound:
        """A rearrangement."""
        source = node.operands[0]
        if flat is not None:
            return self.at(source, node.attrs.gather(flat))
        return self.whole(source).map(node.attrs.apply, source.shape)

    def stack(self, node: Node, flat: Indices | None) -> Bound:
        """Operands side by side."""
        count = len(node.operands)
        source, which = np.divmod(np.arange(node.size) if flat is None else flat, count)
        parts = [self.get(x, source) for x in node.operands]

        def pick(arrays: list[Any]) -> Any:
            if all(array is None for array in arrays):
                return None
            fill = [
                np.broadcast_to(states.FINITE if a is None else a, source.shape) for a in arrays
            ]
            chosen = np.choose(which, fill)
            return chosen if flat is not None else chosen.reshape(node.shape)

        error = Bracket(pick([p.error.low for p in parts]), pick([p.error.high for p in parts]))
        unsure = [np.zeros(source.shape, bool) if p.unsure is None else p.unsure for p in parts]
        known = all(p.unsure is None for p in parts)
        return Bound(error, error, pick([p.states for p in parts]), None if known else pick(unsure))

    def admit(self, node: Node, flat: Indices | None) -> Bound:
        """The union of the admitted computations."""
        guarded, extra = node.attrs
        if guarded == FACTORED:
            return factored_bounds.bound(self, node, flat)
        result = self.get(node.operands[1], flat)
        if extra and extra != self.standard.name:
            return result
        if node in self.least and (extra or first_suffices(node)):
            # Of such nodes the lower end of an error is asked for, and where numbers may be stored.
            # The first computation always counts: the union is no nearer to the exact value, holds
            # every number that the first one holds, and has no clip. Where others are extra ones,
            # nearly all that kernels store is as near as the first one tells.
            return Bound(result.error, result.error, result.states, result.unsure)
        for computation in node.operands[2:]:
            other = self.get(computation, flat)
            result = union(result, other, guarded)
            if guarded and self.flush and not tame(other):
                # What flushes take out of the range still counts where nothing is flushed.
                result = union(result, self.unflushed.get(computation, flat), guarded)
        return result

    def inside(self, node: Node, flat: Indices | None) -> Bound:
        """The first operand, wild where the second may lie below the smallest normal number."""
        bound = self.get(node.operands[0], flat)
        size = magnitude(self.value(node.operands[1], flat))
        least = float(node.attrs.smallest_normal)
        sets = np.where(size.low < least, states.WILD, 0).astype(np.uint8)
        unsure = (size.low < least) & (size.high >= least)
        base = states.FINITE if bound.states is None else bound.states
        sets = np.asarray(sets | base, np.uint8)
        return Bound(bound.error, bound.inherited, sets, merge(bound.unsure, unsure))

    def step(self, node: Node, flat: Indices | None) -> Bound:
        """One elementwise step."""
        verb, form = node.verb, node.compute
        values = [self.value(x, flat) for x in node.operands]
        bounds = [self.get(x, flat) for x in node.operands]
        result = self.value(node, flat)
        if verb == "scaled":
            return family(verb).bounds.score(self, node, flat, values, bounds, result)  # type: ignore[no-any-return]
        size = magnitude(result)
        if verb == "divide":
            inherited = quotient_bounds.inherited(self, node, flat, result, values, bounds)
        else:
            inherited = taken_over(node, values, bounds, result)
        error = before = inherited
        if form is not None and self.flush and node.attrs == GROWS:
            error = quotient_bounds.grown_and_flushed(self, node, flat)
        elif form is not None and (verb == "within" or verb in rules.ROUNDINGS):
            units, etas, *least = node.attrs if verb == "within" else rules.ROUNDINGS[verb]
            size = rules.at_least(ALGEBRA, size, *least)
            if verb == "within" and node.operands[0].verb == "pair":
                size = cleared(size, family("pair").bounds.fixed(self, node.operands[0], flat))
            error = rules.rounded_step(ALGEBRA, form, size, inherited, units, etas, self.flush)
            before = rules.before_last(ALGEBRA, form, size, inherited, units, etas, self.flush)
            if verb == "divide":
                scales = powers_of_two(values[1]) & (np.asarray(bounds[1].error.high) == 0)
                before = either(scales, inherited, before)
        sets, unsure = step_sets(node, values, bounds, result, before, self.flush)
        if sets is not None and form is not None and overflow_sides(node) != ANY_SIDE:
            sets, unsure = without_numbers(form, result, error, sets, unsure)
        if sets is not None:
            # Only an infinity, NaN or what is beyond float64 has none; overflow takes nothing.
            high = result.high if result.special is None else result.high + result.special
            never = ~np.isfinite(high) & ((sets & states.FINITE) == 0) & ~unsure
            error, inherited = cleared(error, never), cleared(inherited, never)
        error, inherited = without_bound(bounds, error), without_bound(bounds, inherited)
        if unsure is not None and result.special is not None:
            # Where it is open whether a number is stored for an infinity or NaN, there may be none,
            # and no error.
            maybe = unsure & (result.special != 0)
            error, inherited = perhaps_none(error, maybe), perhaps_none(inherited, maybe)
        return Bound(error, inherited, sets, unsure)


def perhaps_none(error: Bracket, where: Any) -> Bracket:
    """Return an error that is not known to have no bound in some places."""
    return Bracket(np.where(where & np.isinf(error.low), 0.0, error.low), error.high)


def without_bound(bounds: list[Bound], error: Bracket) -> Bracket:
    """Return an error without a bound where an operand has none, whatever is made of it."""
    for bound in bounds:
        none = np.isinf(bound.error.low)
        if none.any():
            error = either(none, Bracket(np.inf, np.inf), error)
    return error
