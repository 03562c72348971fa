"""One output of a result: its parts evaluated, viewed, and put together as arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from exactref_core.adapters import asarray
from exactref_core.arithmetic import states
from exactref_core.arithmetic.coverage import covered
from exactref_core.arithmetic.graph import Node
from exactref_core.arithmetic.guarantees import without_guarantee
from exactref_core.arithmetic.ordinary import OrdinaryReading
from exactref_core.arithmetic.parts import Part
from exactref_core.arithmetic.ranges import Range
from exactref_core.arithmetic.verbs import Verbs
from exactref_core.array import Array
from exactref_core.errors import DTypeError, InputError
from exactref_core.evaluate.enclosures import enclose
from exactref_core.evaluate.integers import exact_integers
from exactref_core.evaluate.storing import picked
from exactref_core.exact.context import sheltered
from exactref_core.formats.catalogue import get_format
from exactref_core.formats.format import Format
from exactref_core.registry import get_standard

__all__ = ["PartsOutput"]

Floats = npt.NDArray[np.float64]

FLAGS = {"+inf": states.PLUS, "-inf": states.MINUS, "nan": states.NAN}


class PartsOutput:
    """An output made of one real part, or of a real and an imaginary one.

    ``nodes`` are the parts as views of their stores, for a further call; ``places`` maps the
    output's elements to those of the parts (None: the same order, all of them).
    """

    def __init__(
        self,
        op: str,
        name: str,
        form: Format,
        parts: Sequence[Part],
        nodes: Sequence[Node],
        places: npt.NDArray[np.integer[Any]] | None,
        normal_answer: bool = True,
    ) -> None:
        self.op = op
        self.name = name
        self.format = form
        self.parts = tuple(parts)
        self.nodes = tuple(nodes)
        self.places = places
        self.normal_answer = normal_answer

    @property
    def shape(self) -> tuple[int, ...]:
        """The output's shape."""
        return self.nodes[0].shape

    @property
    def size(self) -> int:
        """The number of elements."""
        return self.nodes[0].size

    @property
    def dtype(self) -> str:
        """The output format's name."""
        return self.format.name

    # -- assembling ----------------------------------------------------------------------------

    def pick(self, flat: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return a part's flat array as the output's elements, in the output's shape."""
        chosen = flat if self.places is None else flat[self.places]
        return chosen.reshape(self.shape)

    def join(self, arrays: Sequence[npt.NDArray[Any]]) -> npt.NDArray[Any]:
        """Return the parts' float64 arrays as one: real, or complex."""
        picked = [self.pick(array) for array in arrays]
        if len(picked) == 1:
            return picked[0]
        whole = np.empty(picked[0].shape, np.complex128)
        whole.real, whole.imag = picked
        return whole

    def last_axis(self, arrays: Sequence[npt.NDArray[Any]]) -> Array:
        """Return the parts' bool arrays as one, complex parts along a last axis."""
        picked = [self.pick(array) for array in arrays]
        whole = picked[0] if len(picked) == 1 else np.stack(picked, axis=-1)
        return Array.from_values(whole, get_format("bool"))

    def ranges(self, standard: str, flush: bool) -> list[Range]:
        """Return the parts' ranges under a standard."""
        rule = get_standard(standard)
        return [part.range(rule, bool(flush)) for part in self.parts]

    # -- what a result asks --------------------------------------------------------------------

    @sheltered
    def rounded(self) -> Array:
        """The exact values rounded once."""
        if self.format.is_integer:
            return Array.from_values(self.pick(exact_integers(self.parts[0], self.op)), self.format)
        if len(self.parts) == 1:
            return picked(self.parts[0].stored(), self.places, self.shape, self.format)
        return Array.from_values(self.join([part.rounded() for part in self.parts]), self.format)

    @sheltered
    def normal(self) -> Array:
        """What an index-order loop returns."""
        if not self.normal_answer:
            raise NotImplementedError(f"{self.op} has no normal answer")
        if self.format.is_integer:
            return self.rounded()
        reading = OrdinaryReading()
        return Array.from_values(
            self.join([reading.whole(part.node).reshape(-1) for part in self.parts]), self.format
        )

    @sheltered
    def tolerance(self, standard: str, flush: bool) -> Array:
        """The largest distance of a correct output from ``rounded``."""
        if self.format.is_integer:
            return Array.from_values(np.zeros(self.shape), get_format("float64"))
        found = [
            distances(part.rounded(), ranges)
            for part, ranges in zip(self.parts, self.ranges(standard, flush), strict=True)
        ]
        wide = "complex128" if self.format.is_complex else "float64"
        return Array.from_values(self.join(found), get_format(wide))

    @sheltered
    def finite_range(self, standard: str, flush: bool) -> tuple[Array, Array]:
        """The lowest and highest finite output."""
        if self.format.is_integer:
            return self.rounded(), self.rounded()
        ranges = self.ranges(standard, flush)
        low = self.join([r.low for r in ranges])
        high = self.join([r.high for r in ranges])
        return Array.from_values(low, self.format), Array.from_values(high, self.format)

    @sheltered
    def may_be(self, value: str, standard: str, flush: bool) -> Array:
        """Where a correct output may be an infinity or NaN."""
        if value not in FLAGS:
            raise InputError(f'may_be() takes "+inf", "-inf" or "nan", not {value!r}')
        bit = FLAGS[value]
        if self.format.is_integer:
            return Array.from_values(np.zeros(self.shape, bool), get_format("bool"))
        return self.last_axis([(r.states & bit) != 0 for r in self.ranges(standard, flush)])

    @sheltered
    def covers(self, output: Any, standard: str, flush: bool, signed_zeros: bool) -> Array:
        """Which elements of an output are correct."""
        array = self.check(output)
        rule = get_standard(standard)
        if self.format.is_integer:
            same = array.data == self.rounded().data
            return Array.from_values(np.asarray(same), get_format("bool"))
        values = array.values().reshape(-1)
        places = None if self.places is None else self.places.astype(np.intp, copy=False)
        found = []
        for index, part in enumerate(self.parts):
            side = values if len(self.parts) == 1 else (values.imag if index else values.real)
            verdicts = covered(
                part,
                np.asarray(side, np.float64),
                places,
                rule,
                bool(flush),
                bool(signed_zeros),
            )
            found.append(verdicts.reshape(self.shape))
        whole = found[0] if len(found) == 1 else np.stack(found, axis=-1)
        return Array.from_values(whole, get_format("bool"))

    def check(self, output: Any) -> Array:
        """Return an output as an array of this shape and format, or say what is wrong with it."""
        array = asarray(output, name="output")
        if array.format != self.format:
            hint = "" if hasattr(output, "dtype") else f"; or pass er.asarray(_, {self.dtype!r})"
            raise DTypeError(
                f"output is {array.dtype}, the result of {self.op} is {self.dtype}; give the "
                f"operation dtype={array.dtype!r} (er.op: output_dtype=) if that is what the "
                f"implementation returns{hint}"
            )
        if array.shape != self.shape:
            raise InputError(
                f"output has shape {array.shape}, the result of {self.op} has shape {self.shape}"
            )
        return array

    @sheltered
    def vacuous(self, standard: str, flush: bool) -> int:
        """How many elements have a bound that reaches the sum of the magnitudes of their terms, or
        none."""
        rule = get_standard(standard)
        return sum(
            int(self.pick(without_guarantee(part, rule, bool(flush))).sum()) for part in self.parts
        )

    @sheltered
    def enclosure(self, index: tuple[int, ...]) -> Any:
        """The enclosure of one exact value (a pair of them for complex outputs)."""
        flat = flat_index(index, self.shape)
        place = flat if self.places is None else int(self.places[flat])
        found = tuple(enclose(part, place) for part in self.parts)
        return found[0] if len(found) == 1 else found

    def view(self, kind: str, argument: Any) -> PartsOutput:
        """The same evaluation under another shape or a choice of elements."""
        moved = [VIEWS[kind](node, argument) for node in self.nodes]
        flat = np.arange(moved[0].size)
        source = self.nodes[0]
        places = flat if moved[0] is source else moved[0].attrs.gather(flat)
        if self.places is not None:
            places = self.places[places].astype(np.intp)
        return PartsOutput(
            self.op, self.name, self.format, self.parts, moved, places, self.normal_answer
        )


def distances(rounded: Floats, ranges: Range) -> Floats:
    """Return the larger distance of the ends from ``rounded``, rounded up where it is inexact."""
    with np.errstate(invalid="ignore", over="ignore"):
        found = np.maximum(difference(ranges.high, rounded), difference(rounded, ranges.low))
        found = np.where(ranges.unbounded, np.inf, found)
    return np.where(np.isfinite(rounded), found, np.nan)


def difference(high: Floats, low: Floats) -> Floats:
    """Return high - low, rounded up."""
    gap = high - low
    part = gap - high
    rest = (high - (gap - part)) + (-low - part)
    return np.where(rest > 0, np.nextafter(gap, np.inf), gap)


def flat_index(index: tuple[Any, ...], shape: tuple[int, ...]) -> int:
    """Return the flat index of an element; InputError where the index does not fit."""
    if len(index) != len(shape):
        raise InputError(
            f"exact.value() takes {len(shape)} indices for shape {shape}, not {len(index)}"
        )
    flat = 0
    for place, extent in zip(index, shape, strict=True):
        if isinstance(place, bool) or not hasattr(place, "__index__"):
            raise InputError(f"exact.value() takes integers, not {place!r}")
        if not -extent <= place.__index__() < extent:
            raise InputError(f"index {index} is out of range for shape {shape}")
        flat = flat * extent + place.__index__() % extent
    return flat


def reshaped(node: Node, shape: tuple[Any, ...]) -> Node:
    """Return a node under another shape, in which one extent may be -1."""
    try:
        target = np.broadcast_to(np.int8(0), node.shape).reshape(shape).shape
    except (ValueError, TypeError) as error:
        raise InputError(f"a result of shape {node.shape} cannot be reshaped to {shape}") from error
    return Verbs(None).reshape(node, target)


def transposed(node: Node, axes: tuple[Any, ...]) -> Node:
    """Return a node with its axes reversed, or in the order given."""
    order = axes or tuple(range(len(node.shape) - 1, -1, -1))
    if sorted(order) != list(range(len(node.shape))):
        raise InputError(
            f"transpose() takes a permutation of the {len(node.shape)} axes, not {axes}"
        )
    return Verbs(None).transpose(node, tuple(order))


def indexed(node: Node, key: tuple[Any, ...]) -> Node:
    """Return the elements that basic indexing selects."""
    for part in key:
        basic = part is None or part is Ellipsis or isinstance(part, slice)
        if not basic and (isinstance(part, bool) or not hasattr(part, "__index__")):
            raise InputError(f"a result is indexed by integers, slices, None and ..., not {part!r}")
    try:
        return Verbs(None).index(node, key)
    except IndexError as error:
        raise InputError(f"index {key} does not fit a result of shape {node.shape}") from error


VIEWS: dict[str, Callable[[Node, Any], Node]] = {
    "reshape": reshaped,
    "transpose": transposed,
    "index": indexed,
}
