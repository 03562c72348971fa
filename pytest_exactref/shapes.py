"""Shapes of an operation's tensors: sizes where kernels break, from its signature."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import pytest
from hypothesis import strategies as st
from hypothesis.extra.numpy import mutually_broadcastable_shapes

__all__ = [
    "QUICK_WORK", "THOROUGH_WORK", "Shape", "any_shape", "core_names", "given_shapes", "op_shapes",
    "result_names",
]  # fmt: skip

Shape = tuple[int, ...]

# Nothing, one, odd and prime numbers, the common tile sizes and their neighbours. Positions 0 and 1
# hold 0 and 1: a drawn shape broadcasts just as the positions that it was drawn as do.
SIDES: Final = (0, 1, 2, 3, 5, 7, 8, 9, 13, 15, 16, 17, 31, 32, 33, 64, 65, 127, 128, 129)


# Multiply-adds of one example, at most: one of these is drawn for each. Most faults show on small
# inputs, which are also cheap to judge and to shrink; tiles and their neighbours need the larger.
QUICK_WORK: Final = (2**4, 2**6, 2**8, 2**10)
THOROUGH_WORK: Final = (*[2**6] * 4, *[2**9] * 5, *[2**12] * 2, 2**14)


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
    least = max(0, _axes_needed(parameters.get("axis")) - _core_axes(signature))
    limit = draw(st.sampled_from(work))
    # Where a side may be 1, half of all sides are: the other half of the examples has none.
    alike = draw(st.booleans())
    most = max(least, draw(st.sampled_from((0, 0, 1, 2) if _core_axes(signature) else (1, 2))))
    if not leading:
        least = most = 0
    drawn = draw(
        mutually_broadcastable_shapes(
            signature=_plain(signature),
            min_dims=most if alike else least,
            max_dims=most,
            min_side=2 if alike else least_side,
            max_side=len(SIDES) - 1,
        )
    )
    return _sized(drawn.input_shapes, drawn.result_shape, limit, _adds(signature))


def any_shape() -> st.SearchStrategy[tuple[Shape, ...]]:
    """One shape of up to two axes."""
    return op_shapes("()->()", {})


def _plain(signature: str) -> str:
    return signature.replace(" ", "")


def core_names(signature: str) -> list[list[str]]:
    """The names of the core axes of each tensor; an optional one ends in a question mark."""
    return [names.split(",") if names else [] for names in _groups(signature, 0)]


def result_names(signature: str) -> set[str]:
    """The names of the core axes that reach an output."""
    return {name for names in _groups(signature, 1) for name in names.split(",") if name}


def _groups(signature: str, side: int) -> list[str]:
    return re.findall(r"\(([^)]*)\)", _plain(signature).split("->")[side])


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


def _sized(positions: Sequence[Shape], result: Shape, work: int, adds: bool) -> tuple[Shape, ...]:
    # Every position is drawn nearer to 2 by the same ratio, so that unequal sides stay unequal.
    steps = len(SIDES)
    for ratio in range(steps, 0, -1):
        sides = [SIDES[p if p < 2 else 2 + (p - 2) * ratio // steps] for p in range(steps)]
        shapes = tuple(tuple(sides[p] for p in shape) for shape in positions)
        longest = max((side for shape in shapes for side in shape), default=1)
        total = math.prod(sides[p] for p in result) * (max(1, longest) if adds else 1)
        if max(total, *map(math.prod, shapes)) <= work:
            break
    return shapes


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
