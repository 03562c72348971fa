"""One small call of every operation, for what has to hold of all of them."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from exactref_core.adapters import asarray
from exactref_core.array import Array
from exactref_core.evaluate import call, output_shape
from exactref_core.op import REQUIRED, Op
from exactref_core.result import Result

SIZES = {"m": 2, "n": 3, "k": 4, "p": 2, "i": 2, "j": 3, "b": 2, "c": 3, "l": 2, "s": 3, "e": 4}
# What an operation needs that has no default, and arrays that are no tensors.
NEEDED = {
    "target": np.array([2, 0, 1]),
    "condition": np.array([True, False, True]),
    "subscripts": "ij->ji",
    "dtype": "float16",
}
# What else makes sense of a call.
ALSO: dict[str, dict[str, Any]] = {"batch_norm": {"training": True}}


def shapes_of(op: Op) -> list[tuple[int, ...]]:
    """The shapes of the tensors; elementwise ones have an axis, of the size that NEEDED has."""
    forward = op if op.forward is None else op.forward
    groups = re.findall(r"\(([^)]*)\)", forward.domain.signature.split("->")[0])
    shapes = []
    for name, group in zip(forward.tensors, groups, strict=True):
        shape = tuple(SIZES.get(axis.strip("?"), 2) for axis in group.split(",") if axis) or (3,)
        double = 2 if name in forward.domain.doubled else 1
        shapes.append((*shape[:-1], double * shape[-1]))
    return shapes


def parameters_of(op: Op) -> dict[str, Any]:
    """The parameters that the operation needs."""
    needed = [*op.first, *(name for name, value in op.defaults.items() if value is REQUIRED)]
    for name in needed:
        if name not in NEEDED:
            pytest.skip(f"{op.name} needs {name}")
    own = op.name if op.forward is None else op.forward.name
    return {**{name: NEEDED[name] for name in needed}, **ALSO.get(own, {})}


def tensors_of(op: Op, dtype: str = "float32", seed: int = 1) -> list[Array]:
    """Tensors of values in (0, 1), which every operation takes."""
    rng = np.random.default_rng(seed)
    shapes = shapes_of(op)
    if op.forward is not None:
        shapes = [output_shape(op.forward, shapes, parameters_of(op)), *shapes]
    forms = [dtype] * len(shapes)
    if op.forward is not None and op.forward.casts:
        forms[0] = NEEDED["dtype"]
    values = [rng.uniform(0.1, 0.9, shape) for shape in shapes]
    return [asarray(x, form) for x, form in zip(values, forms, strict=True)]


def simple_call(op: Op, dtype: str = "float32", **more: Any) -> Result:
    """A call of an operation on such tensors."""
    return call(op, tensors_of(op, dtype), {**parameters_of(op), **more})
