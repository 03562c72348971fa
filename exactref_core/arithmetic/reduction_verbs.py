"""Verbs of reductions: products, scans, sums of squared deviations, norms."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from exactref_core.arithmetic.graph import NONNEGATIVE, Node
from exactref_core.arithmetic.selection_verbs import SelectionVerbs
from exactref_core.arithmetic.verbs import Complex, Value
from exactref_core.errors import InputError

__all__ = ["ReductionVerbs", "Scan"]

# Elements that gradients of products may take, of which each product without a factor has its own.
MOST = 1 << 24


@dataclass(frozen=True, eq=False)
class Scan:
    """The reduction whose prefixes a scan gives, and the nodes of those that were asked for."""

    verb: str
    nodes: dict[int, Node] = field(default_factory=dict, compare=False)


@dataclass(frozen=True)
class Product:
    """Which part of a complex product, and whether standards narrow the order of its factors."""

    part: int
    loops: bool


class ReductionVerbs(SelectionVerbs):
    """Every verb so far, with those of reductions."""

    def product(self, x: Value, axes: tuple[int, ...], loops: bool = True) -> Any:
        """Return the product over ``axes``; 1 of nothing.

        Complex, without ``loops``: in any order, under every standard.
        """
        if isinstance(x, Complex):
            parts = (self.last(part, axes) for part in (x.real, x.imag))
            return self.complex_product(Complex(*parts), loops)
        rows = self.last(x, axes)
        if rows.shape[-1] == 0:
            return self.broadcast(self.constant(1), rows.shape[:-1])
        return Node("prod", (rows,), rows.shape[:-1], None, self.compute)

    def complex_product(self, rows: Complex, loops: bool) -> Complex:
        """Return the product along the last axis; that of two is `multiply`."""
        shape, n = rows.shape[:-1], rows.shape[-1]
        if n == 0:
            parts = (self.broadcast(self.constant(value), shape) for value in (1, 0))
            return Complex(*parts)
        if n <= 2:
            columns = [
                Complex(self.index(rows.real, (..., i)), self.index(rows.imag, (..., i)))
                for i in range(n)
            ]
            found: Complex = columns[0] if n == 1 else self.multiply(*columns)  # type: ignore[assignment]
            return found
        flat = self.interleave(rows.real, rows.imag, -1)
        real, imag = (
            Node("complex_prod", (flat,), shape, Product(part, loops), self.compute)
            for part in (0, 1)
        )
        return Complex(real, imag)

    def replaced(self, rows: Node, value: Node) -> Node:
        """Return each row once for each of its elements, with ``value`` in its place: (..., n, n).

        InputError for more elements than fit.
        """
        n, row = rows.shape[-1], self.row_starts(rows)
        own = np.broadcast_to(np.eye(n, dtype=bool), (*rows.shape, n))
        return self.pick((rows, value), own, np.where(own, row, row * n + np.arange(n)))

    def without_each(self, rows: Node) -> Node:
        """Return each row once for each of its elements, without that one: (..., n, n - 1).

        InputError for more elements than fit.
        """
        n, columns = rows.shape[-1], np.arange(rows.shape[-1] - 1)
        kept = columns + (columns >= np.arange(n)[:, None])
        return self.pick((rows,), 0, self.row_starts(rows) * n + kept)

    def terms_without_each(self, rows: Node, value: Node) -> Node:
        """Return the factors of value_k prod_(i <= k, i != j) x_i as (..., j, k, n).

        ``value`` takes the place of the factor that is left out, and 1 that of those after k.
        InputError for more elements than fit.
        """
        n = rows.shape[-1]
        row = self.row_starts(rows, n * n)[..., None]
        j, k, i = np.ogrid[:n, :n, :n]
        shape = (*rows.shape, n, n)
        which = np.broadcast_to(np.where(i == j, 1, np.where(i > k, 2, 0)), shape)
        source = np.where(which == 1, row * n + k, np.where(which == 2, 0, row * n + i))
        return self.pick((rows, value, self.exact.constant(1)), which, source)

    def row_starts(self, rows: Node, times: int = 0) -> Any:
        """Return the number of each row, which is not empty, under two more axes."""
        n = rows.shape[-1]
        if rows.size * (times or n) > MOST:
            raise InputError(
                f"x has {rows.size} elements in products of {n}: the gradient takes each product "
                f"without each of its factors, of {MOST} elements together at most"
            )
        return np.arange(rows.size // n).reshape(*rows.shape[:-1], 1, 1)

    def upper(self, x: Node) -> Node:
        """Return matrices with exact zeros below their diagonals."""
        m, n = x.shape[-2:]
        below = np.broadcast_to(np.arange(n) < np.arange(m)[:, None], x.shape)
        places = np.arange(x.size).reshape(x.shape)
        return self.pick((x, self.exact.constant(0)), below, np.where(below, 0, places))

    def scan(self, verb: str, x: Value, axis: int, initial: int | None) -> Value:
        """Return the sums ("sum") or products ("prod") of the elements up to each along an axis.

        ``initial`` is put before them where it is given.
        """
        if isinstance(x, Complex) and verb == "prod":
            return self.complex_products(x, axis, initial)
        if isinstance(x, Complex):
            return Complex(
                self.scanned(verb, x.real, axis, initial), self.scanned(verb, x.imag, axis, initial)
            )
        return self.scanned(verb, x, axis, initial)

    def complex_products(self, x: Complex, axis: int, initial: int | None) -> Complex:
        """Return the products of the complex elements up to each along an axis."""
        rows = Complex(self.move_last(x.real, axis), self.move_last(x.imag, axis))
        found = [] if initial is None else [self.complex_product(self.first(rows, 0), True)]
        found += [
            self.complex_product(self.first(rows, k + 1), True) for k in range(rows.shape[-1])
        ]
        if not found:
            return x
        parts = ([z.real for z in found], [z.imag for z in found])
        return Complex(*(self.move_back(self.columns(part), axis) for part in parts))

    def columns(self, parts: list[Node]) -> Node:
        """Return values, of which there may be many, along a new last axis."""
        if len(parts) == 1:
            return self.reshape(parts[0], (*parts[0].shape, 1))
        half = len(parts) // 2
        sides = (self.columns(parts[:half]), self.columns(parts[half:]))
        joined: Node = self.joined(sides, len(parts[0].shape))
        return joined

    def first(self, rows: Complex, count: int) -> Complex:
        """Return the first elements of rows."""
        place = (..., slice(0, count))
        return Complex(self.index(rows.real, place), self.index(rows.imag, place))

    def scanned(self, verb: str, x: Node, axis: int, initial: int | None) -> Node:
        """Return the scan of a real value."""
        rows = self.move_last(x, axis)
        found = Node("prefix", (rows,), rows.shape, Scan(verb), self.compute)
        if initial is not None:
            first = self.broadcast(self.constant(initial), (*rows.shape[:-1], 1))
            found = self.joined((first, found), len(rows.shape) - 1)
        moved: Node = self.move_back(found, axis)
        return moved

    def deviations(self, x: Node, axes: tuple[int, ...]) -> Node:
        """Return the sum of the squared deviations from the mean over ``axes``, not empty."""
        rows = self.last(x, axes)
        exact = self.exact
        count = exact.constant(rows.shape[-1])
        mean = exact.step("divide", exact.total(rows), count)
        deviation = exact.step("subtract", rows, exact.reshape(mean, (*mean.shape, 1)))
        definition = exact.total(exact.step("multiply", deviation, deviation))
        return Node("deviations", (definition, rows), definition.shape, None, self.compute)

    def quotient_by(self, x: Node, divisor: Fraction) -> Node:
        """Return x over a positive number."""
        return self.step("divide", x, self.constant(divisor))

    def root_of(self, x: Node) -> Node:
        """Return the square root of a value that is never negative."""
        return Node("sqrt", (x,), x.shape, NONNEGATIVE, self.compute)

    def norm2(self, x: Value, axes: tuple[int, ...]) -> Node:
        """Return the root of the sum of the squared magnitudes over ``axes``.

        Admitted: the root of a dot product with itself; of complex numbers also of their moduli;
        and that of quotients by the largest magnitude, multiplied by it, which count where none of
        their steps may leave the range.
        """
        parts = (x.real, x.imag) if isinstance(x, Complex) else (x,)
        rows = [self.last(part, axes) for part in parts]
        flat = rows[0] if len(rows) == 1 else self.interleave(rows[0], rows[1], -1)
        exact = self.exact
        square = exact.total(exact.step("multiply", flat, flat))
        definition = Node("sqrt", (square,), square.shape, NONNEGATIVE)
        if not flat.shape[-1]:
            return self.broadcast(self.constant(0), definition.shape)
        direct = [self.root_of(self.self_dot(rows))]
        if len(rows) == 2:
            direct.append(self.root_of(self.self_dot([self.absolute(Complex(*rows))])))
        always = self.admit(definition, *direct)
        size = self.largest(self.step("absolute", flat), "propagate")
        ratio = self.step("divide", flat, self.reshape(size, (*size.shape, 1)))
        scaled = self.step("multiply", size, self.root_of(self.self_dot([ratio])))
        return self.admit(definition, always, scaled, guarded=True)

    def self_dot(self, rows: list[Node]) -> Node:
        """Return the dot products of rows with themselves, of pairs of rows their sum."""
        n = rows[0].shape[-1]
        left = [self.reshape(x, (*x.shape[:-1], 1, n)) for x in rows]
        right = [self.reshape(x, (*x.shape[:-1], n, 1)) for x in rows]
        if len(rows) == 1:
            found = self.dot(left[0], right[0])
        else:
            found = self.paired_dot(left[0], left[1], right[0], right[1])
        return self.reshape(found, rows[0].shape[:-1])
