"""The verbs an operation's definition is written in; calling them traces the graph.

A value is a `Node` (real) or a `Complex` pair of nodes. Verbs are coarse: a dot product is one
verb, since fused multiply-add, exact products and prefix sums live inside it.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from exactref_core.arithmetic.graph import FACTORED, GROWS, Node
from exactref_core.arithmetic.traced import Traced
from exactref_core.arithmetic.views import View
from exactref_core.errors import DTypeError, InputError
from exactref_core.exact.elementary_table import FUNCTIONS, INTERNAL
from exactref_core.exact.pair_table import PAIRS
from exactref_core.formats.format import Format

__all__ = ["Complex", "Value", "Verbs", "broadcast_shapes", "part"]


@dataclass(frozen=True, eq=False)
class Complex(Traced):
    """A complex value: two real nodes of the same shape."""

    real: Node
    imag: Node

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of either part."""
        return self.real.shape


Value: TypeAlias = Node | Complex


def broadcast_shapes(left: tuple[int, ...], right: tuple[int, ...], names: str) -> tuple[int, ...]:
    """Return the shape both broadcast to; InputError names the arguments and both shapes."""
    try:
        return np.broadcast_shapes(left, right)
    except ValueError:
        raise InputError(
            f"{names} have shapes {left} and {right}, which do not broadcast together; "
            "from the last axis on, extents must be equal or 1"
        ) from None


class Verbs:
    """The verbs, for implementations that store intermediates in the format ``compute``.

    Without a format, steps are exact: parts of a definition that are no rounding points.
    """

    def __init__(self, compute: Format | None) -> None:
        self.compute = compute

    # -- views ---------------------------------------------------------------------------------

    def reshape(self, x: Node, shape: tuple[int, ...]) -> Node:
        """Return the elements of ``x`` in row-major order under another shape."""
        if shape == x.shape:
            return x
        view = View(lambda array: array.reshape(shape), x.shape, shape, reshape=True)
        return Node("view", (x,), shape, view)

    def transpose(self, x: Node, axes: tuple[int, ...]) -> Node:
        """Return ``x`` with its axes in the given order."""
        if axes == tuple(range(len(x.shape))):
            return x
        shape = tuple(x.shape[axis] for axis in axes)
        return Node("view", (x,), shape, View(lambda a: a.transpose(axes), x.shape, shape))

    def broadcast(self, x: Node, shape: tuple[int, ...]) -> Node:
        """Return ``x`` broadcast to a shape."""
        if shape == x.shape:
            return x
        view = View(lambda array: np.broadcast_to(array, shape), x.shape, shape)
        return Node("view", (x,), shape, view)

    def index(self, x: Node, key: tuple[Any, ...]) -> Node:
        """Return ``x[key]`` for basic indexing."""
        if not any(part is Ellipsis for part in key):
            key = (*key, ...)  # keeps a 0-d result an array
        shape = np.broadcast_to(np.int8(0), x.shape)[key].shape
        return Node("view", (x,), shape, View(lambda array: array[key], x.shape, shape))

    def stack(self, parts: tuple[Node, ...]) -> Node:
        """Return the parts (of one shape) side by side along a new last axis."""
        return Node("stack", parts, (*parts[0].shape, len(parts)))

    def last(self, x: Node, axes: tuple[int, ...]) -> Node:
        """Return ``x`` with ``axes`` flattened, in their order, into one last axis."""
        kept = tuple(axis for axis in range(len(x.shape)) if axis not in axes)
        moved = self.transpose(x, (*kept, *axes))
        n = 1
        for axis in axes:
            n *= x.shape[axis]
        return self.reshape(moved, (*(x.shape[axis] for axis in kept), n))

    def unlast(self, x: Node, axes: tuple[int, ...], shape: tuple[int, ...]) -> Node:
        """Return ``x``, of a shape that `last` gave for ``axes``, under the shape before it."""
        kept = tuple(axis for axis in range(len(shape)) if axis not in axes)
        order = (*kept, *axes)
        parts = self.reshape(x, tuple(shape[axis] for axis in order))
        return self.transpose(parts, tuple(order.index(axis) for axis in range(len(shape))))

    def keep(self, x: Node, shape: tuple[int, ...]) -> Node:
        """Return a reduction over the last axis, spread over that axis again."""
        return self.broadcast(self.reshape(x, (*x.shape, 1)), shape)

    # -- steps on real values ------------------------------------------------------------------

    def constant(self, value: int | Fraction) -> Node:
        """Return an exact constant; InputError where the compute format does not reach it."""
        if self.compute is not None and abs(Fraction(value)) >= self.compute.overflow_threshold:
            raise InputError(
                f"the constant {float(value):g} is beyond the range of {self.compute.name}, in "
                "which the steps of this call are stored"
            )
        return Node("constant", (), (), Fraction(value), self.compute)

    def step(self, verb: str, *operands: Node) -> Node:
        """Return one elementwise step over broadcast operands."""
        shape: tuple[int, ...] = ()
        for operand in operands:
            shape = broadcast_shapes(shape, operand.shape, "the operands")
        return Node(
            verb, tuple(self.broadcast(x, shape) for x in operands), shape, None, self.compute
        )

    def total(self, x: Node) -> Node:
        """Return the sum along the last axis."""
        if not x.shape:
            raise InputError("a value without axes has no last one to add up along")
        return Node("sum", (x,), x.shape[:-1], None, self.compute)

    def dot(self, a: Node, b: Node) -> Node:
        """Return the matrix products of (..., m, k) and (..., k, n), leading axes broadcast."""
        batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
        a = self.broadcast(a, (*batch, *a.shape[-2:]))
        b = self.broadcast(b, (*batch, *b.shape[-2:]))
        return Node("dot", (a, b), (*batch, a.shape[-2], b.shape[-1]), None, self.compute)

    def within(self, x: Node, units: int, etas: int | Fraction, least: int = 0) -> Node:
        """Return ``x`` as a library function returns it: within units * u * |x| + etas * eta.

        Where |x| is below ``least``, that takes its place: the error is absolute there.
        """
        attrs = (units, etas, least) if least else (units, etas)
        return Node("within", (x,), x.shape, attrs, self.compute)

    def function(self, name: str, x: Node) -> Node:
        """Return an elementary function of ``x``, exactly (see `apply` for a library's)."""
        rule = FUNCTIONS.get(name) or INTERNAL.get(name)
        if rule is None:
            raise InputError(f"there is no function {name!r}; there are {[*FUNCTIONS]}")
        return Node("function", (x,), x.shape, rule, self.compute)

    def apply(self, name: str, x: Value) -> Any:
        """Return an elementary function of ``x`` as a library computes it."""
        if isinstance(x, Complex):
            from exactref_core.arithmetic.complex_functions import applied

            return applied(self, name, x)
        value = self.function(name, x)
        function = value.attrs
        if function.poles is not None:
            from exactref_core.arithmetic.gamma_verbs import admitted

            found: Node = admitted(self, value, x)
            return found
        return self.within(value, function.units, function.etas)

    def binary(self, name: str, x: Node, y: Node, *definition: Node) -> Node:
        """Return a function of two values, broadcast against each other, exactly.

        A ``definition`` is another formula for it, rational where it is: what is exact then.
        """
        shape = broadcast_shapes(x.shape, y.shape, "the operands")
        operands = (self.broadcast(x, shape), self.broadcast(y, shape), *definition)
        return Node("pair", operands, shape, PAIRS[name], self.compute)

    def apply_binary(self, name: str, x: Node, y: Node, *definition: Node) -> Node:
        """Return a function of two values as a library computes it."""
        value = self.binary(name, x, y, *definition)
        return self.within(value, value.attrs.units, value.attrs.etas)

    def power(self, x: Value, y: Value) -> Any:
        """Return x^y as a library computes it."""
        if not (isinstance(x, Complex) and isinstance(y, Complex)):
            return self.apply_binary("pow", *(z for z in (x, y) if isinstance(z, Node)))
        from exactref_core.arithmetic.complex_power import power

        shape = broadcast_shapes(x.shape, y.shape, "the operands")
        parts = [self.broadcast(part, shape) for z in (x, y) for part in (z.real, z.imag)]
        return power(self, Complex(*parts[:2]), Complex(*parts[2:]))

    def inside(self, x: Node, divisor: Node) -> Node:
        """Return ``x`` as a guarded computation that counts only where ``divisor`` is normal."""
        return Node("inside", (x, divisor), x.shape, self.compute)

    def restated(self, x: Node, rational: Node) -> Node:
        """Return ``x``, of which ``rational`` is another formula: rational where the number is.

        For definitions alone. The fast reading encloses the first, the certified one the second.
        """
        return Node("restated", (x, rational), x.shape)

    def grow(self, x: Node, y: Node) -> Node:
        """Return x + y, which never have opposite signs, whatever their roundings."""
        return Node("add", (x, y), x.shape, GROWS, self.compute)

    def special(self, name: str, value: Complex, *inputs: Complex) -> Complex:
        """Return ``value``, with C99 Annex G's answer of a complex function where an input's part
        is not finite: possible beside the answer of the parts, each taken alone."""
        parts = tuple(self.broadcast(p, value.shape) for x in inputs for p in (x.real, x.imag))
        real, imag = (
            Node("special", (part, *parts), value.shape, (name, index))
            for index, part in enumerate((value.real, value.imag))
        )
        return Complex(real, imag)

    def factored(self, direct: Node, factors: Node) -> Node:
        """Return ``factors``, a step without roundings, as ``direct`` computes it from the same
        stored values, of one shape: a sum of products, of x r - m r for (x - m) r.

        Errors of these values move it as they move ``factors``; to that the roundings of the sum
        and of its terms are added.
        """
        operands = (factors, direct, factors)
        return Node("admit", operands, direct.shape, (FACTORED, ""), self.compute)

    def admit(
        self, definition: Node, *computations: Node, guarded: bool = False, extra: str = ""
    ) -> Node:
        """Return ``definition`` with the computations of it that are admitted.

        The exact value is the definition's; the bounds cover every computation. ``guarded``: those
        after the first count only where no intermediate of theirs may leave the range. ``extra``
        names the one standard under which those after the first count, where others cover them.
        """
        attrs = (guarded, extra)
        return Node("admit", (definition, *computations), definition.shape, attrs, self.compute)


def part(x: Any, key: Any) -> Value:
    """Return ``x[key]`` of a value: integers, slices, "..." and None, as basic indexing takes."""
    keys = key if isinstance(key, tuple) else (key,)
    for one in keys:
        basic = one is None or one is Ellipsis or isinstance(one, slice)
        if isinstance(one, bool) or not (basic or hasattr(one, "__index__")):
            raise DTypeError(
                f"values of a definition have no index {one!r}: write integers and slices, or "
                "v.take(x, indices, axis)"
            )
    verbs = Verbs(None)
    try:
        if isinstance(x, Complex):
            return Complex(verbs.index(x.real, keys), verbs.index(x.imag, keys))
        return verbs.index(x, keys)
    except IndexError as error:
        raise InputError(f"a value with shape {x.shape} has no index {key!r}: {error}") from None
