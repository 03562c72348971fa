"""Boxes of views: which part of an operand a view's part shows, and by which strides.

A box has a range of each of the first axes and all of the others.
"""

from __future__ import annotations

from math import prod
from typing import TypeAlias

from exactref_core.arithmetic.views import View

__all__ = ["Apart", "Box", "permutation", "permuted", "reshaped", "strides_in", "trimmed"]

Box: TypeAlias = tuple[slice, ...]


class Apart(Exception):
    """A step of a graph does not keep the axes of a box."""


def trimmed(shape: tuple[int, ...], box: Box) -> Box:
    """Return a box without the last of its axes that it has whole."""
    while box and box[-1] == slice(0, shape[len(box) - 1]):
        box = box[:-1]
    return box


def reshaped(target: tuple[int, ...], source: tuple[int, ...], box: Box) -> Box:
    """Return the box of a reshape's operand: the boxed axes have to be the same, but for ones."""
    inner: list[slice] = []
    for axis, side in enumerate(box):
        if target[axis] == 1:
            continue
        while len(inner) < len(source) and source[len(inner)] == 1:
            inner.append(slice(0, 1))
        if len(inner) < len(source) and source[len(inner)] == target[axis]:
            inner.append(side)
        elif len(trimmed(target, box)) > axis:
            raise Apart
        else:
            break
    return tuple(inner)


def permutation(view: View) -> list[int] | None:
    """Return the operand's axis of each axis of a view that only permutes axes; None for others.

    Those of extent 1 stand where they are in both, or the view is another one.
    """
    offset, strides = view.layout
    if offset or len(view.source) != len(view.target):
        return None
    steps = [prod(view.source[axis + 1 :]) for axis in range(len(view.source))]
    order = []
    for axis, (extent, stride) in enumerate(zip(view.target, strides, strict=True)):
        same = [
            i for i, n in enumerate(view.source) if n == extent and steps[i] == stride and n > 1
        ]
        if extent == 1 and view.source[axis] == 1:
            same = [axis]
        if len(same) != 1:
            return None
        order.append(same[0])
    return order if sorted(order) == list(range(len(order))) else None


def permuted(source: tuple[int, ...], order: list[int], box: Box) -> tuple[Box, tuple[int, ...]]:
    """Return the box of a permuted operand, and the strides of the view over that part."""
    inner = [slice(0, extent) for extent in source]
    for axis, side in zip(order, box, strict=False):
        inner[axis] = side
    part = [side.stop - side.start for side in inner]
    return tuple(inner), tuple(prod(part[axis + 1 :]) for axis in order)


def strides_in(view: View, box: Box) -> tuple[Box, tuple[int, ...]]:
    """Return the box of a strided view's operand, and the view's strides over that part.

    Every boxed axis is the operand's axis of the same place, or one that repeats it.
    """
    offset, strides = view.layout
    inner: list[slice] = []
    for axis, side in enumerate(box):
        extent = view.source[axis] if axis < len(view.source) else 0
        step = prod(view.source[axis + 1 :])
        if strides[axis] == step and extent == view.target[axis]:
            inner.append(side)
        elif strides[axis] == 0 and extent == 1:
            inner.append(slice(0, 1))
        elif any(strides[axis : len(box)]):
            raise Apart
        else:
            break
    rest = range(len(box), len(view.target))
    reach = sum((view.target[axis] - 1) * strides[axis] for axis in rest)
    below = prod(view.source[len(inner) :])
    if offset or min((strides[axis] for axis in rest), default=0) < 0 or reach >= below:
        raise Apart
    part = (*(side.stop - side.start for side in inner), *view.source[len(inner) :])
    boxed = [
        prod(part[axis + 1 :]) if axis < len(inner) and strides[axis] else 0
        for axis in range(len(box))
    ]
    return tuple(inner), (*boxed, *strides[len(box) :])
