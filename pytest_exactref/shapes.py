"""Shapes of an operation's tensors: sizes where kernels break, from its signature."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from typing import Any, Final

import pytest
from hypothesis import strategies as st

__all__ = [
    "QUICK_WORK", "THOROUGH_WORK", "Shape", "any_shape", "core_names", "given_shapes", "op_shapes",
    "pick", "result_names",
]  # fmt: skip

Shape = tuple[int, ...]
Axis = int | str  # a leading axis, counted from the last; a core axis by its name

# Nothing, one, odd and prime numbers, the common tile sizes and their neighbours. Positions 0 and 1
# hold 0 and 1, which stay what they are where others are made smaller.
SIDES: Final = (0, 1, 2, 3, 5, 7, 8, 9, 13, 15, 16, 17, 31, 32, 33, 64, 65, 127, 128, 129)


# Multiply-adds of one example, at most: one of these is drawn for each. Most faults show on small
# inputs, which are also cheap to judge and to shrink; tiles and their neighbours need the larger.
QUICK_WORK: Final = (2**4, 2**6, 2**8, 2**10)
THOROUGH_WORK: Final = (*[2**6] * 4, *[2**9] * 5, *[2**12] * 2, 2**14)


_PLACES: Final = range(2, len(SIDES))
_TILES: Final = range(SIDES.index(15), len(SIDES))
# The least work of a call with no, one or two long axes: with 2 elsewhere, 64 or twice 17 fit.
_LONG_WORK: Final = (0, 2 * 2 * 64, 17 * 2 * 17)

# Leading axes of a call whose tensors have no, one or more core axes, in which rows lie.
_LEADING: Final = ((1, 2), (0, 1, 1, 2), (0, 0, 1, 2))


@dataclass(frozen=True)
class _Call:
    """Which axes a call has: of each tensor the core axes and, counted from the last, the leading
    ones, with whether they have side 1 whatever the others have; and the core axes of the result.
    """

    cores: tuple[tuple[str, ...], ...]
    ones: tuple[tuple[bool, ...], ...]
    result: tuple[str, ...]
    adds: bool

    @property
    def axes(self) -> list[Axis]:
        names = [name for core in self.cores for name in core]
        return [*range(max(map(len, self.ones))), *dict.fromkeys(names)]

    def shapes(self, sides: Mapping[Axis, int]) -> tuple[Shape, ...]:
        """The shape of each tensor."""
        found = []
        for core, ones in zip(self.cores, self.ones, strict=True):
            leading = [1 if one else sides[axis] for axis, one in enumerate(ones)]
            found.append((*reversed(leading), *(sides[name] for name in core)))
        return tuple(found)

    def work(self, sides: Mapping[Axis, int]) -> int:
        """The multiply-adds, or the elements of a tensor that has more."""
        total = math.prod(sides[name] for name in self.result)
        for axis in range(max(map(len, self.ones))):
            present = any(len(ones) > axis and not ones[axis] for ones in self.ones)
            total *= sides[axis] if present else 1
        shapes = self.shapes(sides)
        longest = max((side for shape in shapes for side in shape), default=1)
        return max(total * (max(1, longest) if self.adds else 1), *map(math.prod, shapes))


@st.composite
def op_shapes(
    draw: st.DrawFn,
    signature: str,
    parameters: Mapping[str, Any],
    work: Sequence[int] = QUICK_WORK,
    least_side: int = 0,
    leading: bool = True,
) -> tuple[Shape, ...]:
    """Shapes that fit a generalised-ufunc signature, one for each tensor.

    Up to two leading axes broadcast; ``axis`` among the parameters asks for as many axes as it
    needs. One of ``work`` bounds the multiply-adds: sides are made smaller until the call stays
    below it. ``least_side`` is 1 where the operation has no value without terms; without
    ``leading`` axes there are those of the signature alone.
    """
    names, core = core_names(signature), _core_axes(signature)
    limit = pick(draw, "work", work)
    # Half of the examples have the same leading axes everywhere, and no side of 0 or 1.
    alike = pick(draw, "alike", (False, True))
    least = max(0, _axes_needed(parameters.get("axis")) - core)
    most = max(least, pick(draw, "leading", _LEADING[min(core, 2)]))
    if not leading:
        least = most = 0
    least = most if alike else least
    optional = {n: None for each in names for n in each if n.endswith("?")} if not least else {}
    without = {name for name in optional if pick(draw, ("without", name), [False] * 7 + [True])}
    ones: list[tuple[bool, ...]] = []
    for role, each in enumerate(names):
        # What has lost a core axis has no leading axis, which would be taken for it.
        count = 0 if without & set(each) else pick(draw, ("leading", role), range(least, most + 1))
        stated = (False,) if alike or len(names) == 1 else (True, False, False)
        ones.append(tuple(pick(draw, ("one", role, axis), stated) for axis in range(count)))
    call = _Call(
        cores=tuple(tuple(n for n in each if n not in without) for each in names),
        ones=tuple(ones),
        result=tuple(result_names(signature) & {n for each in names for n in each} - without),
        adds=_adds(signature),
    )
    long = pick(draw, "long", _long(call))
    # A single row, key or term is its own case, more often than any other side.
    short = [place for place in (0, 1, 1, 1, 1) if place >= least_side and not alike]
    positions = {
        axis: pick(draw, ("side", axis), _TILES if axis in long else (*short, *_PLACES))
        for axis in call.axes
    }
    return call.shapes(_sized(call, positions, long, max(limit, _LONG_WORK[len(long)])))


def pick(draw: st.DrawFn, what: Any, options: Sequence[Any]) -> Any:
    """One of some options, drawn under a label that no other draw of the example has.

    Of the examples after the tenth, hypothesis makes five in six by copying one draw of the example
    before over another of the same label. Two equal sides are not worth that: without such labels
    every example is a new one.
    """
    return draw(_labelled(what, tuple(options)))[1]


@cache
def _labelled(what: Any, options: tuple[Any, ...]) -> st.SearchStrategy[tuple[Any, Any]]:
    return st.sampled_from([(what, option) for option in options])


def _long(call: _Call) -> list[tuple[Axis, ...]]:
    """The axes that may be long while all others are short: one, or two of one length; or none."""
    core = [axis for axis in call.axes if isinstance(axis, str)]
    some: list[tuple[Axis, ...]] = [(axis,) for axis in core or call.axes]
    some += combinations(core, 2)
    return [()] * max(1, len(some) // 2) + some


def _sized(
    call: _Call, positions: Mapping[Axis, int], long: tuple[Axis, ...], limit: int
) -> dict[Axis, int]:
    """Sides for positions, made smaller until the call fits.

    Every position is drawn nearer to 2 by the same ratio, so that unequal sides stay unequal;
    those of ``long`` axes only after the others, so that they pass the sizes of blocks.
    """
    steps = len(SIDES)

    def side(axis: Axis, ratio: int) -> int:
        if isinstance(axis, str) and axis.isdigit():
            return int(axis)
        at = positions[long[0] if axis in long else axis]
        return SIDES[at if at < 2 else 2 + (at - 2) * ratio // steps]

    def fitted(sides: Callable[[int], dict[Axis, int]]) -> int:
        return next((r for r in range(steps, 0, -1) if call.work(sides(r)) <= limit), 1)

    least = {axis: side(axis, 1) for axis in positions}
    most = fitted(lambda ratio: {**least, **{axis: side(axis, ratio) for axis in long}})
    kept = {axis: side(axis, most) for axis in long}
    ratio = fitted(lambda ratio: {**{axis: side(axis, ratio) for axis in positions}, **kept})
    return {**{axis: side(axis, ratio) for axis in positions}, **kept}


def any_shape() -> st.SearchStrategy[tuple[Shape, ...]]:
    """One shape of up to two axes."""
    return op_shapes("()->()", {})


def core_names(signature: str) -> list[list[str]]:
    """The names of the core axes of each tensor; an optional one ends in a question mark."""
    return [names.split(",") if names else [] for names in _groups(signature, 0)]


def result_names(signature: str) -> set[str]:
    """The names of the core axes that reach an output."""
    return {name for names in _groups(signature, 1) for name in names.split(",") if name}


def _groups(signature: str, side: int) -> list[str]:
    return re.findall(r"\(([^)]*)\)", signature.replace(" ", "").split("->")[side])


def _adds(signature: str) -> bool:
    """Whether some axis is added along."""
    names = {name for each in core_names(signature) for name in each}
    return bool(names - result_names(signature))


def _core_axes(signature: str) -> int:
    """The number of axes of the first tensor that every call has."""
    return sum(not name.endswith("?") for name in core_names(signature)[0])


def _axes_needed(axis: Any) -> int:
    axes = axis if isinstance(axis, (tuple, list)) else [axis]
    return max((a + 1 if a >= 0 else -a for a in axes if isinstance(a, int)), default=0)


def given_shapes(shapes: Any, tensors: Sequence[str]) -> st.SearchStrategy[tuple[Shape, ...]]:
    """The strategy that ``shapes=`` states.

    ``shapes`` is one shape for every tensor ((4, 128)); one shape a tensor, in order or by name;
    a list of such choices; or a strategy that draws them.

    Raises:
        pytest.UsageError: it is none of these.
    """
    if isinstance(shapes, st.SearchStrategy):
        return shapes.map(lambda drawn: _one_each(drawn, tensors))
    choices = shapes if isinstance(shapes, list) else [shapes]
    if not choices:
        raise pytest.UsageError("shapes= is empty")
    return st.sampled_from([_one_each(choice, tensors) for choice in choices])


def _one_each(choice: Any, tensors: Sequence[str]) -> tuple[Shape, ...]:
    if isinstance(choice, int):
        choice = (choice,)
    if isinstance(choice, Mapping) and set(choice) == set(tensors):
        choice = tuple(choice[name] for name in tensors)
    if _is_shape(choice):
        return (tuple(choice),) * len(tensors)
    if isinstance(choice, tuple) and len(choice) == len(tensors) and all(map(_is_shape, choice)):
        return tuple(tuple(shape) for shape in choice)
    raise pytest.UsageError(
        f"shapes={choice!r} is neither a shape nor a shape for each of {', '.join(tensors)}"
    )


def _is_shape(value: Any) -> bool:
    return isinstance(value, (tuple, list)) and all(
        isinstance(side, int) and side >= 0 for side in value
    )
