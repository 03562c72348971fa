"""Expected exact values of a call: every operation of the registry on whole arrays.

`FORMULAS` has one row an operation; a new operation needs a row before its tests can run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from exactref_core.formats.format import Format
from tests.every_op import expected_choices, expected_products, expected_reductions
from tests.every_op import formulas as f
from tests.every_op.arrays import Answer, Parts, scalars, unit_of
from tests.every_op.expected_products import dot
from tests.every_op.numbers import Number, Numbers, ratio


def parts_of(values: Sequence[Any], give: Callable[[Any], Any], is_complex: bool) -> Parts:
    """The parts' numbers of computed elements."""
    found = [give(x) for x in values]
    if not is_complex:
        return [found]
    return [[x[0] for x in found], [x[1] for x in found]]


def pairwise(real: Callable[..., Any], both: Callable[..., Any]) -> Callable[..., Answer]:
    """A formula of two operands, element by element after broadcasting."""

    def formula(unit: int, x: np.ndarray, y: np.ndarray) -> Answer:
        x, y = np.broadcast_arrays(x, y)
        step = both if x.dtype.kind == "c" else real
        pairs = list(zip(scalars(x, unit), scalars(y, unit), strict=True))
        return x.shape, parts_of(pairs, lambda p: step(unit, *p), x.dtype.kind == "c")

    return formula


def single(
    real: Callable[..., Any], both: Callable[..., Any], real_output: bool = False
) -> Callable[..., Answer]:
    """A formula of one operand, element by element."""

    def formula(unit: int, x: np.ndarray) -> Answer:
        is_complex = x.dtype.kind == "c"
        step = both if is_complex else real
        found = scalars(x, unit)
        return x.shape, parts_of(found, lambda v: step(unit, v), is_complex and not real_output)

    return formula


def each(step: Callable[..., Any]) -> Callable[..., Any]:
    """A complex step that is a real one on either part."""

    def both(unit: int, *operands: Any) -> Any:
        return tuple(step(unit, *(z[i] for z in operands)) for i in (0, 1))

    return both


def add(unit: int, x: Any, y: Any) -> Number:
    return f.give(f.plus(x, y), unit)


def subtract(unit: int, x: Any, y: Any) -> Number:
    return f.give(f.plus(x, f.minus(y)), unit)


def multiply(unit: int, x: Any, y: Any) -> Number:
    return f.give(f.times(x, y), 2 * unit)


def complex_multiply(unit: int, x: Any, y: Any) -> tuple[Number, Number]:
    real, imag = f.complex_times(x, y)
    return f.give(real, 2 * unit), f.give(imag, 2 * unit)


def negative(unit: int, x: Any) -> Number:
    return f.give(f.minus(x), unit)


def absolute(unit: int, x: Any) -> Number:
    return f.give(f.settled(abs(x)) if isinstance(x, float) else abs(x), unit)


def term_rows(x: np.ndarray, axis: Any, keepdims: bool) -> tuple[tuple[int, ...], np.ndarray]:
    """The output's shape, and the reduced elements as rows."""
    axes = range(x.ndim) if axis is None else (axis if isinstance(axis, tuple) else (axis,))
    reduced = sorted(a % x.ndim for a in axes)
    kept = [a for a in range(x.ndim) if a not in reduced]
    n = int(np.prod([x.shape[a] for a in reduced], dtype=int))
    count = int(np.prod([x.shape[a] for a in kept], dtype=int))
    flat = x.transpose(*kept, *reduced).reshape(count, n)
    if keepdims:
        return tuple(1 if a in reduced else x.shape[a] for a in range(x.ndim)), flat
    return tuple(x.shape[a] for a in kept), flat


def reduction(finish: Callable[[Any, int, int], Number]) -> Callable[..., Answer]:
    """A formula of the total of the elements along some axes."""

    def formula(unit: int, x: np.ndarray, axis: Any = None, keepdims: bool = False) -> Answer:
        shape, flat = term_rows(x, axis, keepdims)
        sides = [flat.real, flat.imag] if flat.dtype.kind == "c" else [flat]
        return shape, [
            [finish(f.total(scalars(row, unit)), row.size, unit) for row in side] for side in sides
        ]

    return formula


def average(total: Any, n: int, unit: int) -> Number:
    if isinstance(total, float):
        return total
    return ratio(total, n, unit) if total else 0.0


def matmul(unit: int, a: np.ndarray, b: np.ndarray) -> Answer:
    """Products of rows and columns; numpy's gufunc rule says which meet."""
    x, y = a[None, :] if a.ndim == 1 else a, b[:, None] if b.ndim == 1 else b
    batch = np.broadcast_shapes(x.shape[:-2], y.shape[:-2])
    count = int(np.prod(batch, dtype=int))
    x = np.broadcast_to(x, batch + x.shape[-2:]).reshape(count, *x.shape[-2:])
    y = np.broadcast_to(y, batch + y.shape[-2:]).reshape(count, *y.shape[-2:])
    parts: Parts = [[], []] if a.dtype.kind == "c" else [[]]
    for left, right in zip(x, y, strict=True):
        rows = [scalars(row, unit) for row in left]
        columns = [scalars(column, unit) for column in right.T]
        for row in rows:
            for column in columns:
                found = dot(row, column) if row else [0] * len(parts)
                for part, value in zip(parts, found, strict=True):
                    part.append(f.give(value, 2 * unit))
    shape = batch + (() if a.ndim == 1 else x.shape[-2:-1]) + (() if b.ndim == 1 else y.shape[-1:])
    return shape, parts


FORMULAS: dict[str, Callable[..., Answer]] = {
    "add": pairwise(add, each(add)),
    "subtract": pairwise(subtract, each(subtract)),
    "multiply": pairwise(multiply, complex_multiply),
    "divide": pairwise(lambda u, x, y: f.over(x, y, 0), lambda u, x, y: f.complex_over(x, y)),
    "sqrt": single(lambda u, x: f.real_sqrt(x, u), lambda u, z: f.complex_sqrt(z, u)),
    "negative": single(negative, each(negative)),
    "abs": single(absolute, lambda u, z: f.modulus(z, u), real_output=True),
    "sum": reduction(lambda total, n, unit: f.give(total, unit)),
    "mean": reduction(average),
    "matmul": matmul,
    **expected_products.FORMULAS,
    **expected_choices.FORMULAS,
    **expected_reductions.FORMULAS,
}


def expected(
    op: str, tensors: Sequence[np.ndarray], form: Format, params: dict[str, Any]
) -> tuple[tuple[int, ...], list[Numbers]]:
    """The output's shape and its exact parts, for input values of a format."""
    shape, parts = FORMULAS[op](unit_of(form), *tensors, **params)
    return shape, [Numbers.of(part) for part in parts]
