"""The verbs that a definition has beside the operations: views, comparisons, constants."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from numbers import Real
from typing import Any

import numpy as np

from exactref_core.adapters import asarray
from exactref_core.arithmetic.graph import Node
from exactref_core.arithmetic.traced import Traced
from exactref_core.arithmetic.verbs import Complex, Value, Verbs
from exactref_core.errors import DTypeError, InputError
from exactref_core.evaluate.inputs import nodes
from exactref_core.evaluate.parameters import plain
from exactref_core.exact.rationals import exactly
from exactref_core.op import one_axis

__all__ = ["Compared", "DefinitionViews", "no_value"]


@dataclass(frozen=True, eq=False)
class Compared(Traced):
    """What a comparison says of each element, for ``v.where``.

    ``order`` is 1, 0 or -1; ``holds`` whether the comparison holds of each of these.
    """

    order: Node
    holds: tuple[bool, bool, bool]

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of what is compared, broadcast."""
        return self.order.shape


def no_value(x: Any, name: str) -> DTypeError:
    """Return the error for what is neither a value of a definition nor a number."""
    if isinstance(x, Mapping):
        return DTypeError(
            f"{name} must be a value of the definition or a number, not the outputs {[*x]} of an "
            "operation: take one by its name"
        )
    return DTypeError(
        f"{name} must be a value of the definition or a number, not {type(x).__name__}; "
        "v.constant(x) makes a value of an array, and parameters without a default are tensors"
    )


class DefinitionViews:
    """Verbs over values of a definition and numbers, with the names of the array API standard."""

    _verbs: Any

    def _value(self, x: Any, name: str) -> Value:
        """Return a value of the definition; a number is a constant."""
        if isinstance(x, (Node, Complex)):
            return x
        x = plain(x)
        if isinstance(x, bool) or not isinstance(x, Real):
            raise no_value(x, name)
        if x in (float("inf"), float("-inf")):
            return self.constant(x)
        try:
            number = exactly(x)
        except (ValueError, OverflowError):
            raise InputError(f"{name} must be a finite number or an infinity, not {x!r}") from None
        constant: Node = self._verbs.constant(number)
        return constant

    def constant(self, x: Any) -> Value:
        """Return a number, or the numbers of an array, as a value: exact, whatever their format."""
        if isinstance(x, (int, Fraction)) or (isinstance(x, float) and np.isfinite(x)):
            return self._value(x, "constant: x")
        source = asarray(x, name="constant: x")
        return nodes(source, self._verbs.compute)

    # -- views ---------------------------------------------------------------------------------

    def _viewed(self, x: Any, name: str, view: Any) -> Value:
        """Return a view of a value, part by part; InputError for what does not fit its shape."""
        value = self._value(x, f"{name}: x")
        try:
            if isinstance(value, Complex):
                return Complex(view(value.real), view(value.imag))
            found: Node = view(value)
        except (ValueError, IndexError) as error:
            if isinstance(error, InputError):
                raise
            raise InputError(f"{name} of x with shape {value.shape}: {error}") from None
        return found

    def reshape(self, x: Any, shape: Any) -> Value:
        """Return the elements in row-major order under another shape; one length may be -1."""
        shape = (shape,) if hasattr(shape, "__index__") else tuple(shape)

        def view(node: Node) -> Node:
            full = np.broadcast_to(np.int8(0), node.shape).reshape(shape).shape
            return Verbs(None).reshape(node, full)

        return self._viewed(x, "reshape", view)

    def permute_dims(self, x: Any, axes: Any) -> Value:
        """Return ``x`` with its axes in another order."""

        def view(node: Node) -> Node:
            order = tuple(one_axis(axis, len(node.shape)) for axis in axes)
            if sorted(order) != list(range(len(node.shape))):
                raise InputError(f"permute_dims of x with shape {node.shape}: axes={axes!r}")
            return Verbs(None).transpose(node, order)

        return self._viewed(x, "permute_dims", view)

    def matrix_transpose(self, x: Any) -> Value:
        """Return ``x`` with its last two axes exchanged."""
        axes = list(range(len(self._value(x, "matrix_transpose: x").shape)))
        return self.permute_dims(x, (*axes[:-2], *axes[:-3:-1]))

    def broadcast_to(self, x: Any, shape: Any) -> Value:
        """Return ``x`` broadcast to a shape."""
        return self._viewed(x, "broadcast_to", lambda one: Verbs(None).broadcast(one, tuple(shape)))

    def take(self, x: Any, indices: Any, axis: Any = -1) -> Value:
        """Return the elements at integer ``indices`` along an axis, as an array gives them."""
        places = asarray(indices, name="take: indices")
        if not places.format.is_integer:
            raise DTypeError(f"take: indices are {places.dtype}; they are integers")

        def view(node: Node) -> Node:
            every = np.arange(node.size).reshape(node.shape)
            along = one_axis(axis, len(node.shape))
            found = np.take(every, np.asarray(places.data, np.intp), along)
            picked: Node = self._verbs.pick((node,), 0, found)
            return picked

        return self._viewed(x, "take", view)

    def concat(self, arrays: Any, axis: Any = 0) -> Value:
        """Return values one after the other along an axis they have."""
        values = [self._value(x, "concat: one of arrays") for x in arrays]
        if not values:
            raise InputError("concat: arrays has no elements")
        place = one_axis(axis, len(values[0].shape))
        shapes = [x.shape[:place] + x.shape[place + 1 :] for x in values]
        if any(shape != shapes[0] for shape in shapes):
            raise InputError(
                f"concat: arrays have shapes {[x.shape for x in values]}, which differ elsewhere "
                f"than along axis {place}"
            )
        joined: Value = values[0]
        for value in values[1:]:
            joined = self._verbs.join(joined, value, place)
        return joined

    def stack(self, arrays: Any, axis: Any = 0) -> Value:
        """Return values of one shape side by side along a new axis."""
        values = [self._value(x, "stack: one of arrays") for x in arrays]
        place = one_axis(axis, len(values[0].shape) + 1) if values else 0
        spread = [self.reshape(x, (*x.shape[:place], 1, *x.shape[place:])) for x in values]
        return self.concat(spread, place)

    # -- choices -------------------------------------------------------------------------------

    def _compared(self, x: Any, y: Any, name: str, holds: tuple[bool, bool, bool]) -> Compared:
        """Return a comparison of real numbers, decided exactly; it does not hold of NaN."""
        values = [self._value(one, f"{name}: {which}") for one, which in ((x, "x1"), (y, "x2"))]
        if any(isinstance(value, Complex) for value in values):
            raise DTypeError(f"{name} compares real values")
        unordered = (1, 0, -1)[holds.index(name == "not_equal")]
        return Compared(self._verbs.order(*values, unordered), holds)

    def greater(self, x1: Any, x2: Any) -> Compared:
        """Return where x1 > x2."""
        return self._compared(x1, x2, "greater", (True, False, False))

    def greater_equal(self, x1: Any, x2: Any) -> Compared:
        """Return where x1 >= x2."""
        return self._compared(x1, x2, "greater_equal", (True, True, False))

    def less(self, x1: Any, x2: Any) -> Compared:
        """Return where x1 < x2."""
        return self._compared(x1, x2, "less", (False, False, True))

    def less_equal(self, x1: Any, x2: Any) -> Compared:
        """Return where x1 <= x2."""
        return self._compared(x1, x2, "less_equal", (False, True, True))

    def equal(self, x1: Any, x2: Any) -> Compared:
        """Return where x1 == x2."""
        return self._compared(x1, x2, "equal", (False, True, False))

    def not_equal(self, x1: Any, x2: Any) -> Compared:
        """Return where x1 != x2, as NaN is."""
        return self._compared(x1, x2, "not_equal", (True, False, True))

    def isnan(self, x: Any) -> Compared:
        """Return where x is NaN."""
        return self._compared(x, x, "not_equal", (True, False, True))

    def _chosen(self, condition: Compared, x1: Any, x2: Any) -> Value:
        """Return x1 where a comparison holds, else x2; all broadcast."""
        values = [self._value(one, f"where: {which}") for one, which in ((x1, "x1"), (x2, "x2"))]
        if any(isinstance(value, Complex) for value in values):
            raise DTypeError("where takes real values where the condition is a comparison")
        shape = self._verbs.broadcast_shapes(values[0].shape, values[1].shape, "x1 and x2")
        shape = self._verbs.broadcast_shapes(condition.shape, shape, "condition and x1, x2")
        order, yes, no = (
            Verbs(None).broadcast(one, shape)
            for one in (condition.order, *values)
            if isinstance(one, Node)
        )
        chosen: Node = self._verbs.by_order(order, *(yes if it else no for it in condition.holds))
        return chosen
