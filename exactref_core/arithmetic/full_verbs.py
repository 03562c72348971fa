"""The verbs on real and complex values: a complex verb is written out over its parts.

The computations admitted for a complex step are those that libraries use: a two-term dot a part for
a product, Smith's scaled quotient and the one scaled by the larger part of the divisor (where their
intermediates stay in range the textbook quotient too, and the one whose divisor is scaled by a
power of two), a library's hypot, and the C99 square root.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from exactref_core.arithmetic.flush_choices import flushable
from exactref_core.arithmetic.graph import NONNEGATIVE, Node, float_input
from exactref_core.arithmetic.infinities import EITHER, PARTS
from exactref_core.arithmetic.recovered_products import recovered
from exactref_core.arithmetic.verbs import Complex, Value, Verbs, broadcast_shapes
from exactref_core.formats.format import Format

__all__ = ["FullVerbs"]


def is_exact(x: Node) -> bool:
    """Return whether an operand is an input that carries no error, flushed or not."""
    return x.verb in ("flushed", "kept") or float_input(x) is not None


class FullVerbs(Verbs):
    """Every verb an operation's definition may use, on real and complex values alike."""

    def __init__(self, compute: Format | None, infinities: str = EITHER) -> None:
        super().__init__(compute)
        self.infinities = infinities  # the rule of complex products and quotients
        self.exact = Verbs(None)  # steps without a rounding point, for definitions only

    def arrange(self, x: Value, shape: tuple[int, ...]) -> Value:
        """Return the elements of ``x`` in row-major order under another shape."""
        if isinstance(x, Complex):
            return Complex(self.reshape(x.real, shape), self.reshape(x.imag, shape))
        return self.reshape(x, shape)

    def sum_to(self, x: Value, shape: tuple[int, ...]) -> Value:
        """Return ``x`` summed over what broadcasting from ``shape`` repeated."""
        if x.shape == shape:
            return x
        extra = len(x.shape) - len(shape)
        spread = [i for i, n in enumerate(shape) if n == 1 != x.shape[extra + i]]
        axes = (*range(extra), *(extra + i for i in spread))
        return self.arrange(self.sum(x, axes) if axes else x, shape)

    def conjugate(self, x: Value) -> Value:
        """Return the complex conjugate; a real value as it is."""
        return Complex(x.real, self.step("negative", x.imag)) if isinstance(x, Complex) else x

    def broadcast_shapes(
        self, left: tuple[int, ...], right: tuple[int, ...], names: str
    ) -> tuple[int, ...]:
        """Return the shape both broadcast to; InputError names the arguments and both shapes."""
        return broadcast_shapes(left, right, names)

    def each(self, verb: str, *values: Value) -> Value:
        """Apply a step part by part."""
        if isinstance(values[0], Complex):
            pairs = [(x.real, x.imag) for x in values if isinstance(x, Complex)]
            real, imag = (self.step(verb, *parts) for parts in zip(*pairs, strict=True))
            return Complex(real, imag)
        return self.step(verb, *(x for x in values if isinstance(x, Node)))

    def each_part(self, x: Value, function: Callable[..., Node], *more: Any) -> Value:
        """Return a function of the same part of complex values, or of real ones."""
        if isinstance(x, Complex):
            real, imag = ([value.real for value in more], [value.imag for value in more])
            return Complex(function(x.real, *real), function(x.imag, *imag))
        return function(x, *more)

    def add(self, x: Value, y: Value) -> Value:
        """Return x + y."""
        return self.each("add", x, y)

    def subtract(self, x: Value, y: Value) -> Value:
        """Return x - y."""
        return self.each("subtract", x, y)

    def negative(self, x: Value) -> Value:
        """Return -x."""
        return self.each("negative", x)

    def multiply(self, x: Value, y: Value) -> Value:
        """Return x * y; complex: (ac - bd) + (ad + bc)i, each part a two-term dot."""
        if not (isinstance(x, Complex) and isinstance(y, Complex)):
            return self.each("multiply", x, y)
        a, b, c, d = x.real, x.imag, y.real, y.imag
        step = self.step
        real = step("subtract", step("multiply", a, c), step("multiply", b, d))
        imag = step("add", step("multiply", a, d), step("multiply", b, c))
        product = Complex(real, imag)
        if self.infinities == PARTS:
            return product
        return self.special("multiply", product, x, y, rule=self.infinities)

    def scale(self, x: Value, divisor: int) -> Value:
        """Return x / divisor for a positive integer (or 0, which gives NaN from an empty sum)."""
        node = self.constant(divisor)
        if isinstance(x, Complex):
            return Complex(self.step("divide", x.real, node), self.step("divide", x.imag, node))
        return self.step("divide", x, node)

    def divide(self, x: Value, y: Value) -> Value:
        """Return x / y."""
        if not (isinstance(x, Complex) and isinstance(y, Complex)):
            return self.each("divide", x, y)
        shape = self.broadcast_shapes(x.shape, y.shape, "the operands")
        a, b, c, d = (self.broadcast(p, shape) for p in (x.real, x.imag, y.real, y.imag))
        negated = self.step("negative", a)

        def over(c: Node, d: Node) -> tuple[Node, Node]:
            real, imag = self.quotient(a, b, c, d), self.quotient(b, negated, c, d)
            operands = Complex(a, b), Complex(c, d)
            found = self.special("divide", Complex(real, imag), *operands, rule=self.infinities)
            return found.real, found.imag

        return Complex(*flushable(over, (c, d)))

    def quotient(self, a: Node, b: Node, c: Node, d: Node) -> Node:
        """Return (ac + bd) / (c^2 + d^2); with (b, -a) for (a, b) it is the imaginary part."""
        exact, step = self.exact.step, self.step

        def textbook(steps: Verbs, p: Node, q: Node, r: Node, s: Node) -> Node:
            top = steps.step("add", steps.step("multiply", p, r), steps.step("multiply", q, s))
            bottom = steps.grow(steps.step("multiply", r, r), steps.step("multiply", s, s))
            return steps.step("divide", top, bottom)

        def by_larger(big: Node, small: Node, first: Node, second: Node) -> Node:
            ratio = step("divide", small, big)
            bottom = self.grow(big, step("multiply", small, ratio))
            return step("divide", step("add", first, step("multiply", second, ratio)), bottom)

        if is_exact(c) and is_exact(d):
            big = exact("larger", c, d, c, d)
            others = (exact("larger", c, d, *pair) for pair in ((d, c), (a, b), (b, a)))
            smith, size = by_larger(big, *others), exact("absolute", big)
        else:
            # Which part is the larger depends on errors: a choice between whole quotients, which
            # are equal, is bounded where it may flip.
            sizes = exact("absolute", c), exact("absolute", d)
            gap = exact("subtract", *sizes)
            smith = exact("by_sign", gap, by_larger(c, d, a, b), by_larger(d, c, b, a))
            size = exact("by_sign", gap, *sizes)
        scaled = textbook(self, *(step("divide", part, size) for part in (a, b, c, d)))
        definition = textbook(self.exact, a, b, c, d)
        direct = self.inside(textbook(self, a, b, c, d), definition.operands[1])
        # A divisor scaled by a power of two, as C99 G.5.1 does: exact but for underflow. Scaled by
        # its larger part instead, products and their quotient lose no less to underflow.
        unit = (self.within(exact("divide", part, size), 0, 1) for part in (c, d))
        halved = self.within(exact("divide", textbook(self, a, b, *unit), size), 0, 1)
        always = self.admit(definition, smith, scaled)
        return self.admit(definition, always, direct, halved, guarded=True)

    def absolute(self, x: Value) -> Node:
        """Return |x|; complex: sqrt(re^2 + im^2), as a library's hypot (2 ulp) returns it."""
        if isinstance(x, Complex):
            return self.within(self.modulus(x), units=4, etas=2)
        return self.step("absolute", x)

    def modulus(self, x: Complex) -> Node:
        """Return the exact modulus of a complex value."""
        return self.exact.step("hypot", x.real, x.imag)

    def sqrt(self, x: Value) -> Value:
        """Return the principal square root.

        Complex, with t = sqrt((|a| + hypot(a, b)) / 2): the parts are t and |b| / (2t), in the
        order that the sign of a says, the imaginary one with the sign of b. hypot errs by 4u, the
        sum by u more, its root by 5u/2 + u, the quotient by 2u more: below 6u a part.
        """
        if not isinstance(x, Complex):
            return self.step("sqrt", x)
        exact = self.exact.step
        a, b = x.real, x.imag
        size, half = exact("absolute", a), self.exact.constant(2)
        modulus = self.modulus(x)
        outer = exact("sqrt", exact("divide", exact("add", modulus, size), half))
        inner = self.root(exact("divide", exact("subtract", modulus, size), half))
        if not (is_exact(a) and is_exact(b)):
            # By |b| / (2t), and 0 for b = 0, t = 0 included, the difference's errors do not grow.
            other = exact("absolute", b)
            none = exact("subtract", self.exact.constant(0), other)
            quotient = exact("divide", other, exact("multiply", half, outer))
            inner = self.admit(inner, exact("by_sign", none, self.exact.constant(0), quotient))
        real = exact("by_sign", a, outer, inner)
        imag = exact("with_sign", exact("by_sign", a, inner, outer), b)
        parts = (self.within(part, units=6, etas=2) for part in (real, imag))
        return self.special("sqrt", Complex(*parts), x)

    def root(self, x: Node) -> Node:
        """Return the exact square root of a value that the definition makes zero or positive."""
        return Node("sqrt", (x,), x.shape, NONNEGATIVE)

    def sum(self, x: Value, axes: tuple[int, ...]) -> Value:
        """Return the sum over ``axes``, index order being row-major order of those axes."""
        if isinstance(x, Complex):
            return Complex(self.total(self.last(x.real, axes)), self.total(self.last(x.imag, axes)))
        return self.total(self.last(x, axes))

    def matmul(self, x: Value, y: Value) -> Value:
        """Return the matrix products over the last two axes of both."""
        if not (isinstance(x, Complex) and isinstance(y, Complex)):
            if isinstance(x, Complex) or isinstance(y, Complex):
                raise TypeError("matmul takes two real values or two complex ones")
            return self.dot(x, y)
        a, b, c, d = x.real, x.imag, y.real, y.imag
        real = self.paired_dot(a, self.step("negative", b), c, d)
        return recovered(self, Complex(real, self.paired_dot(a, b, d, c)), x, y)

    def above_zero(self, x: Node, above: Node, other: Node) -> Node:
        """Return ``above`` where x > 0, else ``other``, by the sign of 0 - x: +0 for both zeros."""
        flipped = self.exact.step("subtract", self.exact.constant(0), x)
        return self.exact.step("by_sign", flipped, other, above)

    def part(self, x: Value, key: tuple[Any, ...]) -> Value:
        """Return ``x[key]`` for basic indexing, part by part."""
        if isinstance(x, Complex):
            return Complex(self.index(x.real, key), self.index(x.imag, key))
        return self.index(x, key)

    def adjoint(self, x: Value) -> Value:
        """Return the conjugate of ``x`` with its last two axes exchanged."""
        count = len(x.shape)
        axes = (*range(count - 2), count - 1, count - 2)
        flipped = self.conjugate(x)
        if isinstance(flipped, Complex):
            real, imag = (self.transpose(part, axes) for part in (flipped.real, flipped.imag))
            return Complex(real, imag)
        return self.transpose(flipped, axes)

    def spread(self, x: Value, shape: tuple[int, ...]) -> Value:
        """Return a value broadcast to a shape, part by part."""
        if isinstance(x, Complex):
            return Complex(self.broadcast(x.real, shape), self.broadcast(x.imag, shape))
        return self.broadcast(x, shape)

    def paired_dot(self, a: Node, b: Node, c: Node, d: Node) -> Node:
        """Return a @ c + b @ d.

        Admitted loops: fused into one running sum, product by product (either term of a pair
        first);
        each pair added first; two real products added at the end. All are trees over the same 2k
        terms, so that ``any_order`` covers them through the first one.
        """
        k = a.shape[-1]
        fused = self.dot(self.interleave(a, b, -1), self.interleave(c, d, -2))
        swapped = self.dot(self.interleave(b, a, -1), self.interleave(d, c, -2))
        apart = self.step("add", self.dot(a, c), self.dot(b, d))
        if k == 0:
            return fused
        pairs = Node(
            "paired_dot", (fused.operands[0], fused.operands[1]), fused.shape, None, self.compute
        )
        return self.admit(fused, fused, swapped, apart, pairs, extra="normal")

    def interleave(self, x: Node, y: Node, axis: int) -> Node:
        """Return x and y element by element in turn along ``axis`` (-1 or -2)."""
        stacked = self.stack((x, y))
        if axis == -1:
            return self.reshape(stacked, (*x.shape[:-1], 2 * x.shape[-1]))
        order = (*range(len(x.shape) - 1), len(x.shape), len(x.shape) - 1)
        moved = self.transpose(stacked, order)
        return self.reshape(moved, (*x.shape[:-2], 2 * x.shape[-2], x.shape[-1]))
