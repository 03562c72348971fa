"""Verbs made of products: matrix products with something added, dot products of vectors."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from exactref_core.arithmetic.graph import Node
from exactref_core.arithmetic.pick_verbs import PickVerbs
from exactref_core.arithmetic.verbs import Complex, Value
from exactref_core.arithmetic.views import View
from exactref_core.errors import InputError
from exactref_core.exact.rationals import exactly

__all__ = ["ProductVerbs"]


class ProductVerbs(PickVerbs):
    """Every verb so far, with those made of products."""

    def swap_last(self, x: Value) -> Value:
        """Return a value with its last two axes exchanged."""
        if isinstance(x, Complex):
            return Complex(self.swapped(x.real), self.swapped(x.imag))
        return self.swapped(x)

    def swapped(self, x: Node) -> Node:
        """Return a real value with its last two axes exchanged."""
        last = len(x.shape) - 1
        return self.transpose(x, (*range(last - 1), last, last - 1))

    def reorder(self, x: Value, axes: tuple[int, ...]) -> Value:
        """Return a value with its axes in the given order."""
        if isinstance(x, Complex):
            return Complex(self.transpose(x.real, axes), self.transpose(x.imag, axes))
        return self.transpose(x, axes)

    def spread(self, x: Value, shape: tuple[int, ...]) -> Value:
        """Return a value broadcast to a shape."""
        if isinstance(x, Complex):
            return Complex(self.broadcast(x.real, shape), self.broadcast(x.imag, shape))
        return self.broadcast(x, shape)

    def diagonal(self, x: Value, names: str) -> Value:
        """Return a value with the axes of one letter taken together: its diagonal."""
        if len(set(names)) == len(names):
            return x
        if isinstance(x, Complex):
            return Complex(self.diagonal_of(x.real, names), self.diagonal_of(x.imag, names))
        return self.diagonal_of(x, names)

    def diagonal_of(self, x: Node, names: str) -> Node:
        """Return a real value's diagonal, a view of its strides."""
        labels = [list(dict.fromkeys(names)).index(name) for name in names]
        once = list(dict.fromkeys(labels))

        def view(array: Any) -> Any:
            return np.einsum(array, labels, once)

        shape = tuple(x.shape[labels.index(label)] for label in once)
        return Node("view", (x,), shape, View(view, x.shape, shape))

    def on_diagonal(self, x: Value, names: str) -> Value:
        """Return the value whose `diagonal` is ``x``, with exact zeros beside it."""
        if len(set(names)) == len(names):
            return x
        if isinstance(x, Complex):
            return Complex(self.spread_out(x.real, names), self.spread_out(x.imag, names))
        return self.spread_out(x, names)

    def spread_out(self, x: Node, names: str) -> Node:
        """Return a real value on the diagonal of zeros."""
        once = list(dict.fromkeys(names))
        labels = [once.index(name) for name in names]
        shape = tuple(x.shape[label] for label in labels)
        which, source = np.ones(shape, np.uint8), np.zeros(shape, np.intp)
        order = list(range(len(once)))
        np.einsum(which, labels, order)[...] = 0  # a view
        np.einsum(source, labels, order)[...] = np.arange(x.size).reshape(x.shape)
        return self.pick((x, self.exact.constant(0)), which, source)

    def conjugate(self, x: Value) -> Value:
        """Return the complex conjugate; a real value as it is."""
        return Complex(x.real, self.step("negative", x.imag)) if isinstance(x, Complex) else x

    def number(self, value: Any, name: str, like: Value) -> Value:
        """Return a finite number that the caller gives, exactly; complex where ``like`` is."""
        try:
            if isinstance(value, complex):
                parts = (Fraction(value.real), Fraction(value.imag))
            else:
                parts = (exactly(value), Fraction(0))
        except (AttributeError, TypeError, ValueError, OverflowError):
            raise InputError(f"{name} must be a finite number, not {value!r}") from None
        if isinstance(like, Complex):
            return Complex(*(self.constant(part) for part in parts))
        if parts[1]:
            raise InputError(f"{name}={value!r} is complex; the inputs are real")
        return self.constant(parts[0])

    def scale_by(self, x: Value, factor: Value) -> Value:
        """Return factor * x for a number, part by part where the number is real."""
        if isinstance(x, Complex) and isinstance(factor, Complex):
            if factor.imag.attrs == 0:
                parts = (self.step("multiply", part, factor.real) for part in (x.real, x.imag))
                return Complex(*parts)
            shape = x.shape
            return self.multiply(x, self.spread(factor, shape))
        return self.each("multiply", x, factor)

    def product_plus(self, x: Value, y: Value, addend: Value, alpha: Value, beta: Value) -> Value:
        """Return alpha * (x @ y) + beta * addend for x (..., m, k), y (..., k, n).

        Admitted: alpha times the sum of the products, plus beta times the addend; and one sum of
        k + 1 terms in which the addend is one, first or last in index order, for kernels whose
        accumulators start from it (alpha multiplies a factor then: y in the reference BLAS, x in
        its answer for transposed matrices). Any way of splitting k is an order of those terms. The
        addend is a product with 1, which rounds nothing.
        """
        if not x.shape[-1]:
            alone = addend if is_one(beta) else self.scale_by(addend, beta)
            return self.spread(alone, (*x.shape[:-1], y.shape[-1]))
        exact = ProductVerbs(None)
        product = self.matmul(x, y)
        last = self.scale_by(addend, beta) if not is_one(beta) else addend
        apart = self.add(product if is_one(alpha) else self.scale_by(product, alpha), last)
        added = exact.scale_by(addend, exact_of(beta))
        definition = exact.add(exact.scale_by(product, exact_of(alpha)), added)
        ends = (True, False)
        sums = [
            self.augmented(*pair, last, first)
            for pair in self.scaled_pairs(x, y, alpha)
            for first in ends
        ]
        return self.one_of(definition, apart, *sums)

    def scaled_product(self, x: Value, y: Value, product: Value, alpha: Value) -> Value:
        """Return alpha * (x @ y), of the sum or of either factor's elements."""
        definition = ProductVerbs(None).scale_by(product, exact_of(alpha))
        inside = [self.matmul(*pair) for pair in self.scaled_pairs(x, y, alpha)]
        return self.one_of(definition, self.scale_by(product, alpha), *inside)

    def scaled_pairs(self, x: Value, y: Value, alpha: Value) -> list[tuple[Value, Value]]:
        """Return two factors with one of them times alpha, in both ways where these differ."""
        if is_one(alpha):
            return [(x, y)]
        return [(self.scale_by(x, alpha), y), (x, self.scale_by(y, alpha))]

    def augmented(self, x: Value, y: Value, addend: Value, first: bool) -> Value:
        """Return sum_k x_ik y_kj + 1 * addend_ij as one dot product, the addend first or last.

        An addend that is one row for all is a further row of y; any other makes a product of its
        own of each element.
        """
        *batch, m, n = self.broadcast_shapes(
            (*self.broadcast_shapes(x.shape[:-2], y.shape[:-2], "x and y"), *x.shape[-2:-1], 1),
            (1, y.shape[-1]),
            "x and y",
        )
        k = x.shape[-1]
        alone = any(extent != 1 for extent in addend.shape[:-1])
        if alone:
            columns = self.swap_last(self.spread(y, (*batch, k, n)))
            columns = self.arrange(columns, (*batch, 1, n, k, 1))
            y = self.spread(columns, (*batch, m, n, k, 1))
            more = self.arrange(self.spread(addend, (*batch, m, n)), (*batch, m, n, 1, 1))
        else:
            more = self.spread(addend, (*y.shape[:-2], 1, n))
        ones = self.spread(self.number(1, "1", x), (*x.shape[:-1], 1))
        pairs = [(ones, x), (more, y)] if first else [(x, ones), (y, more)]
        left = self.join(*pairs[0], len(x.shape) - 1)
        right = self.join(*pairs[1], len(y.shape) - 2)
        if alone:  # the row of each element, for all columns
            left = self.arrange(left, (*x.shape[:-1], 1, 1, k + 1))
            left = self.spread(left, (*batch, m, n, 1, k + 1))
        return self.arrange(self.matmul(left, right), (*batch, m, n))

    def one_of(self, definition: Value, *computations: Value) -> Value:
        """Return a definition of which each of some computations is admitted."""
        if isinstance(definition, Complex):
            pairs = [(x.real, x.imag) for x in computations if isinstance(x, Complex)]
            real, imag = zip(*pairs, strict=True)
            return Complex(self.admit(definition.real, *real), self.admit(definition.imag, *imag))
        return self.admit(definition, *(x for x in computations if isinstance(x, Node)))


def is_one(factor: Value) -> bool:
    """Return whether a number that the caller gives is 1."""
    if isinstance(factor, Complex):
        return bool(factor.real.attrs == 1 and factor.imag.attrs == 0)
    return bool(factor.attrs == 1)


def exact_of(factor: Value) -> Value:
    """Return a number that the caller gives without the rounding of its load."""
    if isinstance(factor, Complex):
        return Complex(*(Node("constant", (), (), x.attrs) for x in (factor.real, factor.imag)))
    return Node("constant", (), (), factor.attrs)
