"""Nested lists taken apart: their numbers in row-major order, and the shape they spell."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import chain
from typing import Any

from exactref_core.adapters.cast import place
from exactref_core.array import Array
from exactref_core.errors import InputError

__all__ = ["flatten", "is_python"]

SEQUENCES = (list, tuple, range)
NUMBERS = (bool, int, float, complex, Fraction)
DEEPEST = 32  # numpy before 2.0 has no more axes

Load = Callable[[Any, str], Array]


def is_python(x: Any) -> bool:
    """Whether x is a list, a tuple, a range, or a Python number (Fractions included)."""
    return isinstance(x, SEQUENCES) or type(x) in NUMBERS


def flatten(x: Any, name: str, load: Load) -> tuple[list[Any], tuple[int, ...]]:
    """The Python numbers in x, row-major, and the shape.

    ``load`` reads elements that are scalars or arrays of a library. InputError where the nesting
    is ragged, naming the first position that differs from the first of its level.
    """
    shape: list[int] = []
    level = _as_python([x], shape, name, load)
    while not all(kind in NUMBERS for kind in set(map(type, level))):
        _refuse_ragged(level, shape, name)
        if len(shape) == DEEPEST:
            raise InputError(f"{name} is nested more than {DEEPEST} deep")
        shape.append(len(level[0]))
        level = _as_python(list(chain.from_iterable(level)), shape, name, load)
    return level, tuple(shape)


def _as_python(level: list[Any], shape: list[int], name: str, load: Load) -> list[Any]:
    """The level with whatever is neither a list nor a Python number as what it holds of these."""
    if all(kind in NUMBERS or issubclass(kind, SEQUENCES) for kind in set(map(type, level))):
        return level
    return [
        item if is_python(item) else _plain(item, name, (position, tuple(shape)), load)
        for position, item in enumerate(level)
    ]


def _plain(item: Any, name: str, at: tuple[int, tuple[int, ...]], load: Load) -> Any:
    # Subclasses of Python's numbers first: numpy.float64 is one, and lists of it are common.
    if isinstance(item, int):
        return int(item)
    if isinstance(item, float):
        return float(item)
    if isinstance(item, complex):
        return complex(item)
    return load(item, name + place(*at)).tolist()


def _refuse_ragged(level: list[Any], shape: list[int], name: str) -> None:
    first = _describe(level[0])
    for position, item in enumerate(level):
        if _describe(item) != first:
            here, there = (name + place(at, tuple(shape)) for at in (position, 0))
            raise InputError(
                f"{name} is ragged: {here} is {_describe(item)} where {there} is {first}"
            )


def _describe(item: Any) -> str:
    return f"a list of {len(item)}" if isinstance(item, SEQUENCES) else "a number"
