"""Outputs that a check should refuse: what passes in their place shows that it tells nothing.

Zeros; the correctly rounded result of other inputs, namely the same ones permuted; and that of the
inputs in the next narrower format.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from exactref_core.adapters import asarray
from exactref_core.adapters.cast import round_parts
from exactref_core.array import Array
from exactref_core.errors import ExactRefError
from exactref_core.evaluate import again, arrays_of
from exactref_core.evaluate.origin import Origin
from exactref_core.formats.catalogue import get_format, part_format
from exactref_core.result import Result

__all__ = ["QUESTIONS", "impostors"]

# The format that kernels fall back to: the next one with fewer significant bits, and with a wide
# range where there is one.
NARROWER = {
    "float64": "float32",
    "float32": "tfloat32",
    "tfloat32": "bfloat16",
    "float16": "bfloat16",
    "bfloat16": "float8_e4m3fn",
}
# Larger results are not computed once more.
LARGEST = 1 << 20


def impostors(result: Result, question: str, names: Iterable[str]) -> dict[str, Any] | None:
    """Return what a check of ``result`` should refuse, for the outputs named.

    ``question`` is one of QUESTIONS. None where there is no such output: no permutation of an input
    changes the rounded result, no input has a narrower format, or the result is too large to be
    computed again.
    """
    found = QUESTIONS[question](result)
    return None if found is None else {name: found[name] for name in names}


def zeros(result: Result) -> dict[str, Any]:
    """Return outputs of zeros."""
    found = {}
    for name, output in result.outputs.items():
        form = get_format(output.dtype)
        kind = "complex128" if form.is_complex else "float64"
        kind = ("bool" if output.dtype == "bool" else "int64") if form.is_integer else kind
        found[name] = asarray(np.zeros(output.shape, kind), output.dtype)
    return found


def permuted(result: Result) -> dict[str, Any] | None:
    """Return the rounded outputs for one input in reverse order: the first that changes them."""
    origin = small_origin(result)
    if origin is None:
        return None
    given = rounded(result)
    for _, array in arrays_of(origin):
        if array.size < 2:
            continue

        def reverse(name: str, one: Array, target: Array = array) -> Array:
            if one is not target:
                return one
            return Array(one.data.reshape(-1)[::-1].reshape(one.shape).copy(), one.format)

        found = attempt(origin, reverse)
        if found is not None and any(differ(found[name], given[name]) for name in given):
            return found
    return None


def narrower(result: Result) -> dict[str, Any] | None:
    """Return the rounded outputs for inputs that are rounded to the next narrower format."""
    origin = small_origin(result)
    if origin is None:
        return None
    if not any(part_format(array.format).name in NARROWER for _, array in arrays_of(origin)):
        return None
    return attempt(origin, lambda name, one: narrow(one))


def narrow(array: Array) -> Array:
    """Return values rounded to the next narrower format, its largest where they overflow."""
    name = NARROWER.get(part_format(array.format).name)
    if name is None:
        return array
    form, values = get_format(name), array.values()
    top = float(form.max)
    parts = (values.real, values.imag) if np.iscomplexobj(values) else (values,)
    held = [
        round_parts(np.where(np.isfinite(part), np.clip(part, -top, top), part), form)
        for part in parts
    ]
    held = [np.where(np.isfinite(part), new, part) for part, new in zip(parts, held, strict=True)]
    joined = held[0]
    if len(held) == 2:
        joined = np.empty(array.shape, np.complex128)
        joined.real, joined.imag = held
    return Array.from_values(joined, array.format)


def small_origin(result: Result) -> Origin | None:
    """Return how a result came about; None where it is too large to be computed again."""
    origin = result.origin
    if not isinstance(origin, Origin):
        return None
    sizes = [int(np.prod(output.shape)) for output in result.outputs.values()]
    return origin if max(sizes + [a.size for _, a in arrays_of(origin)]) <= LARGEST else None


def attempt(origin: Origin, change: Callable[[str, Array], Array]) -> dict[str, Any] | None:
    """Return the rounded outputs for changed inputs; None where the operation refuses them."""
    try:
        return rounded(again(origin, change))
    except ExactRefError:
        return None


def rounded(result: Result) -> dict[str, Any]:
    """Return the rounded outputs by name."""
    return {name: output.rounded() for name, output in result.outputs.items()}


def differ(left: Array, right: Array) -> bool:
    """Return whether two outputs differ somewhere."""
    return left.data.tobytes() != right.data.tobytes()


QUESTIONS = {"zeros": zeros, "permuted": permuted, "narrower": narrower}
