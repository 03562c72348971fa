"""What failing values have in common: NaN, zero, a factor, an offset, a neighbour's value.

Each sentence holds of every failing element, up to the room that the elements' own tolerances give
and a few ulp; it is told where enough different elements agree.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import numpy as np
import numpy.typing as npt

__all__ = ["Sample", "moved_of", "values_of"]

Floats = npt.NDArray[np.float64]

ENOUGH: Final = 4  # failing elements that have to agree, with at least so many different values
ROOM: Final = 4.0  # ulp that roundings of the comparison itself are given
CLEAR: Final = 4.0  # rooms that a factor or an offset has to make a difference of


@dataclass(frozen=True)
class Sample:
    """Failing elements, or parts of complex ones: outputs, exact values rounded, tolerances.

    ``spacing`` is the distance from 1 to the next number of the output's format.
    """

    values: Floats
    rounded: Floats
    tolerance: Floats
    spacing: float


def values_of(sample: Sample) -> str:
    """Return what the outputs are, in words; "" where they have nothing in common."""
    values, rounded = sample.values, sample.rounded
    if not values.size:
        return ""
    if np.isnan(values).all():
        return "each is NaN"
    if np.isinf(values).all():
        return "each is an infinity"
    if (values == 0).all() and (rounded != 0).all():
        return "each is 0"
    finite = np.isfinite(values) & np.isfinite(rounded) & np.isfinite(sample.tolerance)
    if not finite.all() or len(np.unique(rounded)) < ENOUGH:
        return ""
    if len(np.unique(values)) == 1:
        return f"each is {values[0]:g}"
    return factor_of(sample) or offset_of(sample)


def room(expected: Floats, tolerance: Floats, spacing: float) -> Floats:
    """Return how far outputs may be from what is expected of them."""
    return np.asarray(2 * tolerance + ROOM * spacing * np.abs(expected), np.float64)


def agree(outputs: Floats, expected: Floats, tolerance: Floats, spacing: float) -> bool:
    """Return whether outputs are what is expected of them, given their tolerances."""
    with np.errstate(all="ignore"):
        near = np.abs(outputs - expected) <= room(expected, tolerance, spacing)
    same = near | (outputs == expected) | (np.isnan(outputs) & np.isnan(expected))
    return bool(np.all(same))


def far(expected: Floats, sample: Sample, tolerance: Floats) -> bool:
    """Return whether what is expected differs everywhere from the exact values by some rooms."""
    gaps = np.abs(expected - sample.rounded)
    return bool(np.all(gaps > CLEAR * room(expected, tolerance, sample.spacing)))


def factor_of(sample: Sample) -> str:
    """Return the factor that all outputs are off by."""
    values, rounded = sample.values, sample.rounded
    if not np.all(rounded):
        return ""
    with np.errstate(all="ignore"):
        best = float((values / rounded)[np.argmin(sample.tolerance / np.abs(rounded))])
        expected, tolerance = best * rounded, abs(best) * sample.tolerance
        if not np.isfinite(best) or not agree(values, expected, tolerance, sample.spacing):
            return ""
        if not far(expected, sample, tolerance):
            return ""
    if best == -1.0:
        return "each has the opposite sign"
    return f"each is {best:.6g} times the exact value"


def offset_of(sample: Sample) -> str:
    """Return what is added to all outputs."""
    with np.errstate(all="ignore"):
        size = sample.tolerance + sample.spacing * np.abs(sample.rounded)
        best = float((sample.values - sample.rounded)[np.argmin(size)])
        expected = sample.rounded + best
        if not agree(sample.values, expected, sample.tolerance, sample.spacing):
            return ""
        if not far(expected, sample, sample.tolerance):
            return ""
    return f"each is {abs(best):.6g} too {'large' if best > 0 else 'small'}"


# -- values of other places ------------------------------------------------------------------------


def moved_of(failing: Any, sample: Sample) -> str:
    """Return which other element's value the outputs have, in words; "" where none.

    ``failing`` and the arrays of the sample have the output's shape.
    """
    for words, move in moves(failing.shape):
        with np.errstate(all="ignore"):
            inside, rounded, tolerance = (
                move(x) for x in (np.ones(failing.shape, bool), sample.rounded, sample.tolerance)
            )
        told = failing & inside
        # Elements at the rim have no neighbour; all others have to agree.
        if told.sum() < max(ENOUGH, failing.sum() // 2):
            continue
        if len(np.unique(rounded[told])) < ENOUGH:
            continue
        if agree(sample.values[told], rounded[told], tolerance[told], sample.spacing):
            return words
    return ""


Move = Callable[[Any], Any]


def moves(shape: tuple[int, ...]) -> list[tuple[str, Move]]:
    """Return the ways in which the elements of an array may have been exchanged."""
    found: list[tuple[str, Move]] = []
    for axis in range(len(shape) - 1, max(len(shape) - 3, -1), -1):
        if shape[axis] < 2:
            continue
        for step in (1, -1):
            words = f"each has the value of the next element on axis {axis}"
            if step < 0:
                words = words.replace("next", "previous")
            found.append((words, shifted(axis, step)))
        words = f"each has the value of its mirror image on axis {axis}"
        found.append((words, partial(np.flip, axis=axis)))
    if len(shape) > 1 and shape[-1] == shape[-2] > 1:
        exchange = partial(np.swapaxes, axis1=-1, axis2=-2)
        found.append(("the last two axes are exchanged", exchange))
    return found


def shifted(axis: int, step: int) -> Move:
    """Return the move that gives each element its neighbour's value, and those at the rim 0."""

    def move(x: Any) -> Any:
        found = np.zeros_like(x)
        ahead = [slice(None)] * x.ndim
        behind = list(ahead)
        ahead[axis], behind[axis] = slice(1, None), slice(None, -1)
        if step > 0:
            found[tuple(behind)] = x[tuple(ahead)]
        else:
            found[tuple(ahead)] = x[tuple(behind)]
        return found

    return move
