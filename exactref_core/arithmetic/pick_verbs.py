"""The verb that picks elements out of several values: joining them, choosing by a mask."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from exactref_core.adapters import asarray
from exactref_core.arithmetic.graph import Node
from exactref_core.arithmetic.softmax_verbs import SoftmaxVerbs
from exactref_core.arithmetic.verbs import Complex, Value
from exactref_core.errors import DTypeError

__all__ = ["Joined", "Pick", "PickVerbs"]


@dataclass(frozen=True, eq=False)
class Pick:
    """Where each element comes from: the operand's place, and the flat index in it."""

    which: npt.NDArray[np.integer[Any]]
    source: npt.NDArray[np.integer[Any]]


@dataclass(frozen=True, eq=False)
class Joined:
    """A `Pick` of all elements of values of these shapes, one after the other along an axis.

    Its indices are there where single elements are asked for.
    """

    shapes: tuple[tuple[int, ...], ...]
    axis: int

    @cached_property
    def which(self) -> npt.NDArray[np.integer[Any]]:
        """The place of the operand that each element comes from."""
        small = np.min_scalar_type(max(len(self.shapes) - 1, 0))
        places = [np.full(shape, place, small) for place, shape in enumerate(self.shapes)]
        return np.concatenate(places, self.axis).reshape(-1)

    @cached_property
    def source(self) -> npt.NDArray[np.integer[Any]]:
        """The flat index of each element in its operand."""
        places = [np.arange(prod(shape)).reshape(shape) for shape in self.shapes]
        return np.concatenate(places, self.axis).reshape(-1)

    def join(self, parts: list[Any], fill: Any) -> Any:
        """Return arrays of the operands, or broadcast to them, as one; None where all are None."""
        if all(part is None for part in parts):
            return None
        pairs = zip(parts, self.shapes, strict=True)
        full = [np.broadcast_to(fill if part is None else part, shape) for part, shape in pairs]
        return np.concatenate(full, self.axis)


class PickVerbs(SoftmaxVerbs):
    """Every verb so far, with those that pick elements."""

    def pick(self, operands: tuple[Node, ...], which: Any, source: Any) -> Node:
        """Return the elements at flat indices ``source`` of the operands that ``which`` counts."""
        which, source = np.broadcast_arrays(which, source)
        small = np.min_scalar_type(max(len(operands) - 1, 0))
        chosen = Pick(which.astype(small).reshape(-1), source.reshape(-1))
        return Node("pick", operands, which.shape, chosen, self.compute)

    def join(self, x: Value, y: Value, axis: int) -> Value:
        """Return x and y, of one shape but for ``axis``, one after the other along it."""
        if isinstance(x, Complex) and isinstance(y, Complex):
            real, imag = (x.real, y.real), (x.imag, y.imag)
            return Complex(self.joined(real, axis), self.joined(imag, axis))
        if isinstance(x, Complex) or isinstance(y, Complex):
            raise TypeError("join takes two real values or two complex ones")
        return self.joined((x, y), axis)

    def joined(self, parts: tuple[Node, ...], axis: int) -> Node:
        """Return real values one after the other along an axis."""
        axis %= len(parts[0].shape)
        shapes = tuple(node.shape for node in parts)
        shape = list(shapes[0])
        shape[axis] = sum(each[axis] for each in shapes)
        rest = {(*each[:axis], *each[axis + 1 :]) for each in shapes}
        if len(rest) > 1:
            raise ValueError(f"{shapes} differ beside axis {axis}")
        chosen = Joined(shapes, axis)
        return Node("pick", parts, tuple(shape), chosen, self.compute)

    def rounded_sum(
        self, scores: Node, bias: Node, tensors: tuple[Node, Node], rules: Mapping[str, Any]
    ) -> Node:
        """Return scores, or the additive mask where they do not change it by rounding."""
        from exactref_core.arithmetic.large_masks import absorbed

        which = absorbed(bias, tensors, rules, scores.compute)
        if not np.any(which):
            return scores
        return self.pick((scores, bias), which, np.arange(scores.size).reshape(scores.shape))

    def sequences(self, rules: Mapping[str, Any], queries: int, keys: int) -> Any:
        """Return the places of packed sequences' queries and keys, or None."""
        from exactref_core.arithmetic.packed import sequences

        return sequences(rules, queries, keys)

    def condition(self, value: Any, name: str) -> npt.NDArray[np.bool_]:
        """Return a bool array that the caller gives; DTypeError for another dtype."""
        mask = asarray(value, name=name)
        if mask.format.kind != "bool":
            raise DTypeError(f"{name} is {mask.dtype}; it is bool: True takes x1, False x2")
        return np.asarray(mask.data, bool)

    def zeros_like(self, x: Value) -> Value:
        """Return exact zeros of the shape of ``x``, complex where it is."""
        zero = self.broadcast(self.exact.constant(0), x.shape)
        return Complex(zero, zero) if isinstance(x, Complex) else zero

    def where(self, condition: npt.NDArray[np.bool_], x: Value, y: Value) -> Value:
        """Return x where the condition holds, else y; all three broadcast."""
        shape = self.broadcast_shapes(x.shape, y.shape, "x1 and x2")
        shape = self.broadcast_shapes(condition.shape, shape, "condition and x1, x2")
        mask = np.broadcast_to(condition, shape)
        places = np.arange(mask.size).reshape(shape)

        def real(one: Node, other: Node) -> Node:
            parts = (self.broadcast(one, shape), self.broadcast(other, shape))
            return self.pick(parts, ~mask, places)

        if isinstance(x, Complex) and isinstance(y, Complex):
            return Complex(real(x.real, y.real), real(x.imag, y.imag))
        if isinstance(x, Complex) or isinstance(y, Complex):
            raise TypeError("where takes two real values or two complex ones")
        return real(x, y)
