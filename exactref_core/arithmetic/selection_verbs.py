"""Verbs that choose among numbers, decided exactly: maxima, minima, by sign."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from exactref_core.arithmetic.graph import Node
from exactref_core.arithmetic.largest_rules import NAN_RULES
from exactref_core.arithmetic.order_rules import Ties
from exactref_core.arithmetic.product_verbs import ProductVerbs
from exactref_core.arithmetic.verbs import Complex, Value
from exactref_core.errors import InputError

__all__ = ["SelectionVerbs"]

TIE_RULES = ("even", "first")

# A fused step that underflows is off by half the smallest subnormal.
HALF = Fraction(1, 2)


class SelectionVerbs(ProductVerbs):
    """Every verb so far, with those that choose."""

    def largest(self, x: Node, nan: str) -> Node:
        """Return the largest number along the last axis, which is not empty.

        ``nan`` "propagate" makes it NaN where one is, "ignore" leaves NaN out of account.
        """
        if nan not in NAN_RULES:
            raise InputError(f"nan is one of {NAN_RULES}, not {nan!r}")
        return Node("largest", (x,), x.shape[:-1], nan, self.compute)

    def smallest(self, x: Node, nan: str) -> Node:
        """Return the smallest number along the last axis."""
        return self.step("negative", self.largest(self.step("negative", x), nan))

    def pair(self, x: Node, y: Node) -> Node:
        """Return two values side by side along a new last axis."""
        shape = self.broadcast_shapes(x.shape, y.shape, "the operands")
        return self.stack((self.broadcast(x, shape), self.broadcast(y, shape)))

    def at_least(self, x: Node, y: Node, nan: str) -> Node:
        """Return the larger of two numbers."""
        return self.largest(self.pair(x, y), nan)

    def at_most(self, x: Node, y: Node, nan: str) -> Node:
        """Return the smaller of two numbers."""
        return self.smallest(self.pair(x, y), nan)

    def order(self, x: Node, y: Node, unordered: int) -> Node:
        """Return 1, 0 or -1 as x is above, equal to or below y; ``unordered`` where either is NaN.

        Exact: what is stored beside an input decides as the input does.
        """
        shape = self.broadcast_shapes(x.shape, y.shape, "the operands")
        pair = (self.broadcast(x, shape), self.broadcast(y, shape))
        return Node("order", pair, shape, unordered, self.compute)

    def ties(self, x: Node, rule: str, nan: str) -> Node:
        """Return what each element has of 1 that those equal to the maximum of their row share.

        ``rule`` "first" gives all to the first of them. A NaN is the largest, or with ``nan``
        "ignore" the smallest.
        """
        if rule not in TIE_RULES:
            raise InputError(f"ties is one of {TIE_RULES}, not {rule!r}")
        if nan not in NAN_RULES:
            raise InputError(f"nan is one of {NAN_RULES}, not {nan!r}")
        attrs = Ties(rule == "first", nan != "propagate")
        return Node("ties", (x,), x.shape, attrs, self.compute)

    def by_order(self, order: Node, above: Node, equal: Node, below: Node) -> Node:
        """Return ``above``, ``equal`` or ``below`` as an order is 1, 0 or -1."""
        choose = self.exact.step
        flipped = choose("subtract", self.exact.constant(0), order)  # +0 of 0
        return choose("by_sign", order, choose("by_sign", flipped, equal, above), below)

    def if_number(self, x: Node, yes: Node, no: Node) -> Node:
        """Return ``yes`` where x is no NaN, else ``no``."""
        return self.exact.step("by_sign", self.order(x, x, -1), yes, no)

    def either(self, x: Node, y: Node) -> Node:
        """Return x, where a kernel may as well return y: a choice by a sign that is not certain."""
        if self.compute is None:
            return x
        twice = 2 << self.compute.precision  # 1 +- 2
        unsure = self.within(self.exact.constant(1), twice, 0)
        return self.exact.step("by_sign", unsure, x, y)

    def signed(self, x: Value, value: Node) -> Value:
        """Return a value times the sign of x: 0 at 0, also NaN of an infinity or NaN times 0;
        at NaN 0 too, as where signs are compared for, or NaN. Complex: times x / |x|."""
        exact, zero = self.exact, self.exact.constant(0)
        none = self.broadcast(zero, value.shape)
        none = self.admit(none, none, exact.step("multiply", value, zero))
        if isinstance(x, Complex):
            size = self.absolute(x)
            order = self.order(size, zero, 1)

            def turned(part: Node) -> Node:
                return self.by_order(order, self.shared_product(value, part, size), none, none)

            return Complex(turned(x.real), turned(x.imag))
        order = self.order(x, zero, 0)
        found = self.by_order(order, value, none, exact.step("negative", value))
        # Of a choice by the sign of NaN either branch is admitted; the first is taken.
        either = exact.step("by_sign", x, zero, exact.step("multiply", x, value))
        return self.if_number(x, found, either)

    def shared_product(self, x: Node, y: Node, divisor: Node) -> Node:
        """Return x y / divisor, in any order of its two steps."""
        first = self.step("multiply", y, self.step("divide", x, divisor))
        last = self.step("divide", self.step("multiply", x, y), divisor)
        return self.admit(
            first, first, last, self.step("multiply", x, self.step("divide", y, divisor))
        )

    def distributed(
        self, x: Node, m: Node, r: Node, weight: Node | None = None, bias: Node | None = None
    ) -> Node:
        """Return (x - m) r weight + bias, as x (r weight) + (bias - m r weight)."""
        exact = self.exact.step
        factors = exact("multiply", exact("subtract", x, m), r)
        left, right = self.step("multiply", x, r), self.step("multiply", m, r)
        if weight is not None:
            factors = exact("multiply", factors, weight)
            left = self.step("multiply", x, self.step("multiply", r, weight))
            right = self.step("multiply", right, weight)
        if bias is None:
            return self.factored(self.step("subtract", left, right), factors)
        direct = self.step("add", left, self.step("subtract", bias, right))
        return self.factored(direct, exact("add", factors, bias))

    def by_sign_of(self, a: Node, x: Node, y: Node) -> Node:
        """Return x where a >= 0 (sign bit clear), else y."""
        return self.step("by_sign", a, x, y)

    def identity(self, x: Any) -> Any:
        """Return the value itself."""
        return x

    def square(self, x: Value) -> Value:
        """Return x * x; of a real number as |x| |x|, so that its sign does not count."""
        if isinstance(x, Complex):
            return self.multiply(x, x)
        size = self.step("absolute", x)
        return self.step("multiply", size, size)

    def fused(self, x: Node, y: Node, z: Node) -> Node:
        """Return x * y + z, rounded once."""
        exact = self.exact.step
        return self.within(exact("add", exact("multiply", x, y), z), 1, HALF)

    def reciprocal_root(self, x: Node) -> Node:
        """Return 1 / sqrt(x), as a library function (2 ulp) returns it.

        CUDA's rsqrtf is rsqrt.approx, which errs by 2^-22.9 < 2.2u (PTX ISA; "2 ulp" in the guide).
        A root and a quotient of it stay within 4u as well: (1 + 2u) / (1 - u) < 1 + 4u.
        """
        one = self.exact.constant(1)
        return self.within(self.exact.step("divide", one, self.exact.step("sqrt", x)), 4, 2)
