"""Expected exact values of products: dots of rows and columns found by loops over all indices."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np

from tests.every_op import formulas as f
from tests.every_op.arrays import Answer, Parts, scalars

# The factors of addmm are sixteenths.
SIXTEENTHS = 4


def dot(row: list[Any], column: list[Any]) -> list[Any]:
    """The parts of a dot product."""
    if not isinstance(row[0], tuple):
        return [f.total([f.times(x, y) for x, y in zip(row, column, strict=True)])]
    real, imag = [], []
    for (a, b), (c, d) in zip(row, column, strict=True):
        real += [f.times(a, c), f.times(f.minus(b), d)]
        imag += [f.times(a, d), f.times(b, c)]
    return [f.total(real), f.total(imag)]


def tables(unit: int, *arrays: np.ndarray) -> list[np.ndarray]:
    """Object arrays of scalars."""
    found = []
    for array in arrays:
        table = np.empty(array.size, object)
        table[:] = scalars(array, unit)
        found.append(table.reshape(array.shape))
    return found


def gathered(unit: int, values: list[list[Any]], count: int) -> Parts:
    """Parts by element as parts by part, in units of 2**(2 * unit)."""
    return [[f.give(value[part], 2 * unit) for value in values] for part in range(count)]


def lifted(x: Any, shift: int) -> Any:
    """A scalar in units 2**shift times smaller."""
    return x if isinstance(x, float) else x << shift


def parts_of(x: Any) -> list[Any]:
    return list(x) if isinstance(x, tuple) else [x]


def linear(unit: int, x: np.ndarray, weight: np.ndarray, *bias: np.ndarray) -> Answer:
    rows, weights, *more = tables(unit, x.reshape(-1, x.shape[-1]), weight, *bias)
    found = []
    for row in rows:
        for j, column in enumerate(weights):
            value = dot(list(row), list(column))
            if more:
                added = parts_of(more[0][j])
                value = [f.plus(v, lifted(b, -unit)) for v, b in zip(value, added, strict=True)]
            found.append(value)
    count = 2 if x.dtype.kind == "c" else 1
    return (*x.shape[:-1], weight.shape[0]), gathered(unit, found, count)


def addmm(
    unit: int,
    c: np.ndarray,
    a: np.ndarray,
    b: np.ndarray,
    beta: float = 1,
    alpha: float = 1,
) -> Answer:
    shape = (a.shape[0], b.shape[1])
    table, rows, columns = tables(unit, np.broadcast_to(c, shape), a, b)
    count = 2 if a.dtype.kind == "c" else 1
    parts: Parts = [[] for _ in range(count)]
    p, q = (int(16 * factor) for factor in (alpha, beta))
    for i, j in product(*map(range, shape)):
        value = dot(list(rows[i]), list(columns[:, j]))
        for part, v, extra in zip(parts, value, parts_of(table[i, j]), strict=True):
            total = v if p == 16 else f.times(v, p)
            total = lifted(total, SIXTEENTHS) if p == 16 else total
            if q:
                total = f.plus(total, f.times(lifted(extra, -unit), q))
            part.append(f.give(total, 2 * unit - SIXTEENTHS))
    return shape, parts


def conjugated(x: Any) -> Any:
    return (x[0], f.minus(x[1])) if isinstance(x, tuple) else x


def vecdot(unit: int, x: np.ndarray, y: np.ndarray, axis: int = -1) -> Answer:
    x, y = np.broadcast_arrays(np.moveaxis(x, axis, -1), np.moveaxis(y, axis, -1))
    n = x.shape[-1]
    left, right = (t.reshape(-1, n) for t in tables(unit, x, y))
    found = [dot([conjugated(v) for v in p], list(q)) for p, q in zip(left, right, strict=True)]
    return x.shape[:-1], gathered(unit, found, 2 if x.dtype.kind == "c" else 1)


def single(x: Any, y: Any) -> list[Any]:
    """One product, signs of zeros and all."""
    return list(f.complex_times(x, y)) if isinstance(x, tuple) else [f.times(x, y)]


def outer(unit: int, x: np.ndarray, y: np.ndarray) -> Answer:
    left, right = tables(unit, x, y)
    found = [single(p, q) for p in left for q in right]
    return (x.size, y.size), gathered(unit, found, 2 if x.dtype.kind == "c" else 1)


def einsum(unit: int, x: np.ndarray, *others: np.ndarray, subscripts: str) -> Answer:
    """Loops over every letter; subscripts have an arrow here."""
    given, output = subscripts.split("->")
    names = given.split(",")
    extents: dict[str, int] = {}
    for part, array in zip(names, (x, *others), strict=True):
        extents.update(zip(part, array.shape, strict=True))
    inner = [n for n in extents if n not in output]
    operands = tables(unit, x, *others)
    complex_one = (1, 0) if x.dtype.kind == "c" else 1
    found, parts = [], 2 if x.dtype.kind == "c" else 1
    for outside in product(*(range(extents[n]) for n in output)):
        place = dict(zip(output, outside, strict=True))
        rows: list[list[Any]] = [[], []]
        for inside in product(*(range(extents[n]) for n in inner)):
            place.update(zip(inner, inside, strict=True))
            picked = [t[tuple(place[n] for n in p)] for t, p in zip(operands, names, strict=True)]
            rows[0].append(picked[0])
            rows[1].append(picked[1] if others else complex_one)
        found.append(value_of(rows, bool(inner), bool(others)))
    shape = tuple(extents[n] for n in output)
    if others:
        return shape, gathered(unit, found, parts)
    return shape, [[f.give(value[i], unit) for value in found] for i in range(parts)]


def value_of(rows: list[list[Any]], summed: bool, two: bool) -> list[Any]:
    if not summed:
        return single(rows[0][0], rows[1][0]) if two else parts_of(rows[0][0])
    if two:
        return dot(*rows)
    sides = zip(*map(parts_of, rows[0]), strict=True)
    return [f.total(list(side)) for side in sides]


def tensordot(unit: int, x: np.ndarray, y: np.ndarray, axes: Any = 2) -> Answer:
    if isinstance(axes, int):
        axes = (list(range(x.ndim - axes, x.ndim)), list(range(axes)))
    letters = iter("abcdefghij")
    left, right = [next(letters) for _ in x.shape], [next(letters) for _ in y.shape]
    for i, j in zip(*axes, strict=True):
        right[j] = left[i]
    output = [n for n in left if n not in right] + [n for n in right if n not in left]
    return einsum(unit, x, y, subscripts=f"{''.join(left)},{''.join(right)}->{''.join(output)}")


FORMULAS: dict[str, Callable[..., Answer]] = {
    "linear": linear,
    "addmm": addmm,
    "vecdot": vecdot,
    "outer": outer,
    "tensordot": tensordot,
    "einsum": einsum,
}
