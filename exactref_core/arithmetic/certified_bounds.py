"""The bounds reading, certified: the same rules, one element at a time, on certified numbers."""

from __future__ import annotations

from contextlib import suppress
from fractions import Fraction
from functools import cached_property, partial
from typing import Any

import numpy as np

from exactref_core.arithmetic import (
    certified_sets,
    certified_steps,
    factored_certified_bounds,
    flush_certified_bounds,
    rules,
    states,
)
from exactref_core.arithmetic.algebraic_reading import signed
from exactref_core.arithmetic.alike import each_alike
from exactref_core.arithmetic.certified import CertifiedReading, Scalar, finite, number
from exactref_core.arithmetic.certified_loads import constant, loaded
from exactref_core.arithmetic.certified_prefixes import prefix_sums
from exactref_core.arithmetic.families import FAMILIES, family
from exactref_core.arithmetic.graph import (
    COUNTS,
    FACTORED,
    GROWS,
    Node,
    dot_terms,
    sum_terms,
)
from exactref_core.arithmetic.scalar_bound import ScalarBound, ScalarTerm, is_exactly
from exactref_core.arithmetic.step_sets import ANY_SIDE, overflow_sides
from exactref_core.arithmetic.terms import exact_product_bits, holds_addend
from exactref_core.arithmetic.traversal import Layered, element_layers
from exactref_core.exact.interval import Interval, rational
from exactref_core.exact.nonnegative import Unbounded, is_infinite
from exactref_core.formats.format import Format

__all__ = ["CertifiedBounds", "ScalarBound"]


class CertifiedBounds(Layered):
    """Bounds of single elements under one standard, at one precision.

    `Unsure` says that this precision cannot tell; `Unbounded` that no bound exists.
    """

    def __init__(self, exact: CertifiedReading, standard: Any, flush: bool) -> None:
        self.exact = exact
        self.algebra = exact.arithmetic
        self.standard = standard
        self.flush = flush
        self.memo: dict[tuple[Node, int], ScalarBound] = {}
        self.rows: dict[Any, Any] = {}  # rows of scores that several elements share

    def bound(self, node: Node, flat: int) -> ScalarBound:
        """Return the bound of one element."""
        key = (node, flat)
        if key not in self.memo:
            below = partial(element_layers, key, self.memo, exact=False)
            self.descend(node, below, lambda lower: self.attempt(*lower))
            self.memo[key] = self.compute(node, flat)
        return self.memo[key]

    def attempt(self, node: Node, flat: int) -> None:
        """Bound one element, if it has a bound."""
        with suppress(Unbounded):
            self.bound(node, flat)

    def compute(self, node: Node, flat: int) -> ScalarBound:
        """Evaluate one element."""
        verb = node.verb
        if verb == "load":
            return loaded(self, node, flat)
        if verb == "constant":
            return constant(node)
        if verb == "view":
            return self.bound(node.operands[0], int(node.attrs.gather(np.asarray([flat]))[0]))
        if verb == "stack":
            source, which = divmod(flat, len(node.operands))
            return self.bound(node.operands[which], source)
        if verb == "admit":
            return self.admit(node, flat)
        if verb == "inside":
            return self.inside(node, flat)
        if verb == "flushable":
            return flush_certified_bounds.bound(self, node, flat)
        if verb in FAMILIES:
            found: ScalarBound = family(verb).certified_bounds.bound(self, node, flat)
            return found
        if verb in ("sum", "dot", "paired_dot"):
            return self.accumulate(node, flat)
        if verb == "store":
            from exactref_core.arithmetic.certified_stores import stored

            return stored(self, node, flat)
        return self.step(node, flat)

    def admit(self, node: Node, flat: int) -> ScalarBound:
        """The union of the admitted computations."""
        guarded, extra = node.attrs
        if guarded == FACTORED:
            return factored_certified_bounds.bound(self, node, flat)
        result = self.bound(node.operands[1], flat)
        if extra and extra != self.standard.name:
            return result
        for computation in node.operands[2:]:
            other = self.tame(computation, flat) if guarded else self.bound(computation, flat)
            if other is None:
                continue
            error = self.algebra.maximum(result.error, other.error)
            sets = result.states if guarded else result.states | other.states
            result = ScalarBound(error, error, sets)
        return result

    def tame(self, node: Node, flat: int) -> ScalarBound | None:
        """The bound of a guarded computation where it stays in range, even if only unflushed."""
        with suppress(Unbounded):
            found = self.bound(node, flat)
            if found.states == states.FINITE:
                return found
        return self.unflushed.tame(node, flat) if self.flush else None

    @cached_property
    def unflushed(self) -> CertifiedBounds:
        """The same reading where nothing is flushed."""
        return CertifiedBounds(self.exact, self.standard, False)

    def inside(self, node: Node, flat: int) -> ScalarBound:
        """The first operand, wild where the second is below the smallest normal number."""
        bound = self.bound(node.operands[0], flat)
        divisor = self.exact.value(node.operands[1], flat)
        if not finite(divisor):
            return bound
        form: Format = node.attrs
        normal = certified_sets.at_least(
            self.algebra, self.algebra.absolute(number(divisor)), rational(form.smallest_normal)
        )
        wild = 0 if normal else states.WILD
        return ScalarBound(bound.error, bound.inherited, bound.states | wild)

    def step(self, node: Node, flat: int) -> ScalarBound:
        """One elementwise step."""
        verb, form, algebra = node.verb, node.compute, self.algebra
        if verb == "by_sign":
            branch = certified_sets.branch(self, node, flat)
            if branch is not None:
                return self.bound(branch, flat)
        values = [signed(self.exact, x, flat) for x in node.operands]
        bounds = [self.bound(x, flat) for x in node.operands]
        result = signed(self.exact, node, flat)
        if verb == "scaled":
            return self.score(node, flat, values, bounds)
        size = exact = algebra.absolute(number(result)) if finite(result) else rational(0)
        inherited = certified_steps.inherited(self, node, flat, values, bounds)
        error = before = inherited
        stores = form is not None and (verb == "within" or verb in rules.ROUNDINGS)
        if stores and form is not None and self.flush and node.attrs == GROWS:
            error = certified_steps.grown_and_flushed(self, node, flat)
        elif stores and form is not None:
            units, etas, *least = node.attrs if verb == "within" else rules.ROUNDINGS[verb]
            size = rules.at_least(algebra, size, *least)
            if verb == "within" and self.fixed(node.operands[0], flat):
                size = rational(0)
            error = rules.rounded_step(algebra, form, size, inherited, units, etas, self.flush)
            if verb != "divide" or not certified_sets.scales(values[1], bounds[1]):
                before = rules.before_last(algebra, form, size, inherited, units, etas, self.flush)
        sets = certified_sets.step_set(self, node, values, bounds)
        if stores and form is not None and sets & states.FINITE:
            sides = overflow_sides(node)
            # A number that is stored for an infinity or NaN is measured from 0.
            middle = number(result) if finite(result) else rational(0)
            sets |= certified_sets.overflow_set(algebra, form, middle, before, sides)
            if finite(result) and sides != ANY_SIDE and sets & states.PLUS:
                sets = certified_sets.without_numbers(algebra, form, number(result), error, sets)
        if verb == "within" and form is not None and not form.infinity:
            sets = int(states.without_infinities(sets))
        if not sets & states.FINITE and (not finite(result) or is_infinite(exact)):
            error = inherited = rational(0)
        return ScalarBound(error, inherited, sets)

    def fixed(self, node: Node, flat: int) -> bool:
        """Whether a library has no choice but to return a value, if it is a number."""
        return node.verb == "pair" and family("pair").certified_bounds.fixed(self, node, flat)

    def score(
        self, node: Node, flat: int, values: list[Scalar], bounds: list[ScalarBound]
    ) -> ScalarBound:
        """A scaled score with its bias."""
        readings = family("scaled").certified_bounds
        inherited, error = readings.scaled(self, node, flat)
        sets = certified_sets.step_set(self, node, values, bounds)
        sets |= readings.factors_set(self, node, flat)
        result = self.exact.value(node, flat)
        if sets & states.FINITE and finite(result) and node.compute is not None:
            sets |= certified_sets.overflow_set(
                self.algebra, node.compute, number(result), inherited
            )
        return ScalarBound(error, inherited, sets)

    def terms(self, node: Node, flat: int) -> list[ScalarTerm]:
        """Return the stored terms of a sum or product."""
        place = np.asarray([flat])
        if node.verb == "sum":
            return each_alike(node.operands[0], sum_terms(node, place)[0], self.term)
        left, right = (
            each_alike(x, index[0], self.term)
            for x, index in zip(node.operands, dot_terms(node, place), strict=True)
        )
        once = {(id(x), id(y)): (x, y) for x, y in zip(left, right, strict=True)}
        known = {key: self.product(node, *pair) for key, pair in once.items()}
        found = [known[id(x), id(y)] for x, y in zip(left, right, strict=True)]
        if node.verb == "paired_dot":
            return [self.pair(node, x, y) for x, y in zip(found[::2], found[1::2], strict=True)]
        return found

    def term(self, node: Node, flat: int) -> ScalarTerm:
        """Return one stored value as a term."""
        bound = self.bound(node, flat)
        return ScalarTerm(self.exact.value(node, flat), bound.error, bound.states)

    def product(self, node: Node, x: ScalarTerm, y: ScalarTerm) -> ScalarTerm:
        """Return a stored product; nothing is added where the compute format holds it exactly."""
        form, algebra = node.compute, self.algebra
        if form is None:
            raise ValueError("a dot product has a compute format")
        sets = certified_sets.pair_set("multiply", x, y)
        a, b = (number(t.value) if finite(t.value) else rational(0) for t in (x, y))
        # A number that is stored for an infinity or NaN is measured from 0.
        value = algebra.multiply(a, b)
        size, left, right = (algebra.absolute(v) for v in (value, a, b))
        error = algebra.product_change(size, left, right, x.error, y.error)
        moved = error
        plain = not isinstance(value, Interval) and not isinstance(error, Interval) and error == 0
        held = not self.flush and holds_addend(node) and is_exactly(x, 1)
        if not (held or (plain and value == 0)):
            bits = exact_product_bits(node, form)
            if bits is not None and plain and (value / rational(form.eta)).denominator == 1:
                error = rational(form.smallest_normal) if self.flush else error
            else:
                size, units, etas = algebra.absolute(value), 1, rules.HALF
                if bits is not None and not plain:
                    # Numbers of few bits that are large enough multiply to a multiple of eta.
                    limit = rational(form.eta) * 2**bits
                    units = 0
                    etas *= not certified_sets.at_least(algebra, size - error, limit)
                error = rules.rounded_step(algebra, form, size, error, units, etas, self.flush)
        if sets & states.FINITE:
            sets |= certified_sets.overflow_set(algebra, form, value, moved)
        if not (finite(x.value) and finite(y.value)):
            value = certified_sets.ieee_product(x.value, y.value)
        return ScalarTerm(value, error, sets)

    def pair(self, node: Node, x: ScalarTerm, y: ScalarTerm) -> ScalarTerm:
        """Return the stored sum of two terms."""
        form, algebra = node.compute, self.algebra
        if form is None:
            raise ValueError("a dot product has a compute format")
        sets = certified_sets.pair_set("add", x, y)
        value = self.exact.total([x.value, y.value])
        moved = x.error + y.error
        middle = number(value) if finite(value) else rational(0)
        if not finite(value):
            # A number that is stored for an infinity or NaN is measured from 0.
            sizes = [algebra.absolute(number(t.value)) for t in (x, y) if finite(t.value)]
            moved = moved + algebra.total(sizes)
        size = algebra.absolute(middle)
        error = rules.rounded_step(algebra, form, size, moved, 1, Fraction(0), self.flush)
        # Beside a zero the other product is stored as it is.
        if sets & states.FINITE and not (is_exactly(x, 0) or is_exactly(y, 0)):
            sets |= certified_sets.overflow_set(algebra, form, middle, moved)
        return ScalarTerm(value, error, sets)

    def accumulate(self, node: Node, flat: int) -> ScalarBound:
        """Return the bound of a sum or product under the standard."""
        form, algebra = node.compute, self.algebra
        if form is None:
            raise ValueError("a sum has a compute format")
        terms = self.terms(node, flat)
        n = len(terms)
        if n == 0:
            return ScalarBound(rational(0), rational(0), states.FINITE)
        values = [number(t.value) if finite(t.value) else rational(0) for t in terms]
        unit = form.unit_roundoff
        sums = prefix_sums(algebra, values, self.standard)
        error = self.standard.error(algebra, unit, n, sums)
        carried = algebra.total([t.error for t in terms])
        if node.attrs == COUNTS:
            return ScalarBound(carried, carried, certified_sets.sum_set(self, form, terms, values))
        error = error + carried * algebra.power(unit, n)
        if self.flush and n > 1:
            error = error + rational((n - 1) * form.smallest_normal) * algebra.power(unit, n - 1)
        if any(not finite(t.value) and t.states & states.FINITE for t in terms):
            # Measured from 0, as what is stored for an infinity or NaN is, with all other terms.
            error = error + sums.magnitudes
        return ScalarBound(error, error, certified_sets.sum_set(self, form, terms, values))
