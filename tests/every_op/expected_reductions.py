"""Expected exact values of reductions: products, variances, norms, scans."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import reduce
from typing import Any

import numpy as np

from tests.every_op import formulas as f
from tests.every_op.arrays import Answer, scalars
from tests.every_op.numbers import BITS, Number, dyadic, of_fraction, ratio


def rows_of(x: np.ndarray, axis: Any, keepdims: bool) -> tuple[tuple[int, ...], np.ndarray]:
    from tests.every_op.expected import term_rows

    return term_rows(x, axis, keepdims)


def prod(unit: int, x: np.ndarray, axis: Any = None, keepdims: bool = False) -> Answer:
    shape, rows = rows_of(x, axis, keepdims)
    if x.dtype.kind == "c":
        found = [complex_product_of(scalars(row, unit), unit) for row in rows]
        return shape, [[z[0] for z in found], [z[1] for z in found]]
    return shape, [[product_of(scalars(row, unit), unit) for row in rows]]


def complex_product_of(row: list[Any], unit: int) -> tuple[Number, Number]:
    """Both parts, multiplied in index order."""
    real, imag = reduce(f.complex_times, row) if row else (1, 0)
    return f.give(real, len(row) * unit), f.give(imag, len(row) * unit)


def product_of(row: list[Any], unit: int) -> Number:
    return f.give(reduce(f.times, row, 1), len(row) * unit)


def spread(row: list[Any], unit: int, correction: float) -> Fraction | float:
    """The variance, a Fraction, or NaN."""
    if not f.finite(*row):
        return math.nan
    n, numbers = len(row), [f.whole(x) for x in row]
    total = sum(numbers)
    square = sum((n * x - total) ** 2 for x in numbers)
    divisor = (n - Fraction(correction)) * n * n
    return Fraction(square) / divisor * Fraction(2) ** (2 * unit)


def var(
    unit: int, x: np.ndarray, axis: Any = None, correction: float = 0, keepdims: bool = False
) -> Answer:
    shape, rows = rows_of(x, axis, keepdims)
    found = [spread(scalars(row, unit), unit, correction) for row in rows]
    return shape, [[v if isinstance(v, float) else rational(v) for v in found]]


def rational(x: Fraction) -> Number:
    return of_fraction(x) if x else 0.0


def std(
    unit: int, x: np.ndarray, axis: Any = None, correction: float = 0, keepdims: bool = False
) -> Answer:
    shape, rows = rows_of(x, axis, keepdims)
    found = [spread(scalars(row, unit), unit, correction) for row in rows]
    return shape, [[v if isinstance(v, float) else f.root_of_fraction(v) for v in found]]


def vector_norm(
    unit: int, x: np.ndarray, axis: Any = None, keepdims: bool = False, ord: float = 2
) -> Answer:
    shape, rows = rows_of(x, axis, keepdims)
    return shape, [[norm_of(scalars(row, unit), unit, ord) for row in rows]]


def norm_of(row: list[Any], unit: int, ord: float) -> Number:
    if ord == 2:
        flat = [part for z in row for part in (z if isinstance(z, tuple) else (z,))]
        total = f.total([f.times(x, x) for x in flat])
        return total if isinstance(total, float) else f.root(total, 2 * unit) if total else 0.0
    if ord == 0:
        return f.give(sum(any(z) if isinstance(z, tuple) else z != 0 for z in row), 0)
    if isinstance(row[0], tuple) and ord != 4:
        return complex_norm(row, unit, ord)
    if ord == 4:
        return fourth(row, unit)
    sizes = [f.settled(abs(x)) if isinstance(x, float) else abs(x) for x in row]
    if ord == -1:
        return inverse(sizes, unit)
    if ord == 3:
        total = f.total([f.times(x, f.times(x, x)) for x in sizes])
        return total if isinstance(total, float) else root(total, 3, unit)
    if ord == 1:
        return f.give(f.total(sizes), unit)
    if any(isinstance(x, float) and math.isnan(x) for x in sizes):
        return math.nan
    return f.give(max(sizes) if ord > 0 else min(sizes), unit)


def inverse(sizes: list[Any], unit: int) -> Number:
    """One over the sum of one over each."""
    if any(isinstance(x, float) and math.isnan(x) for x in sizes):
        return math.nan
    total = sum((Fraction(1, x) for x in sizes if isinstance(x, int) and x), Fraction(0))
    if 0 in sizes or not total:
        return 0.0 if 0 in sizes else math.inf
    return ratio(total.denominator, total.numerator, unit)


def fourth(row: list[Any], unit: int) -> Number:
    """The fourth root of a sum of squared squares."""
    moduli = [f.modulus(z, unit) for z in row]
    special = [float(m) for m in moduli if isinstance(m, float) and m]
    if special:
        return sum(special)
    return root(sum(sum(f.whole(part) ** 2 for part in z) ** 2 for z in row), 4, unit)


def root(n: int, k: int, unit: int) -> Number:
    """The k-th root of an integer n >= 0, times 2**unit."""
    if n == 0:
        return 0.0
    shift = max(0, BITS + 4 - n.bit_length() // k)
    found = floor_of_root(n << k * shift, k)
    return dyadic(found, unit - shift, found**k != n << k * shift)


def floor_of_root(n: int, k: int) -> int:
    """The largest integer whose k-th power is at most n, by Newton's steps from above."""
    found = 1 << -(-n.bit_length() // k)
    while (lower := ((k - 1) * found + n // found ** (k - 1)) // k) < found:
        found = lower
    return found


def complex_norm(row: list[Any], unit: int, ord: float) -> Number:
    """The largest or smallest modulus: the root of the largest or smallest square."""
    moduli = [f.modulus(z, unit) for z in row]
    if any(isinstance(m, float) and math.isnan(m) for m in moduli):
        return math.nan
    infinite = [i for i, m in enumerate(moduli) if m == math.inf]
    if infinite and (ord > 0 or len(infinite) == len(row)):
        return math.inf
    squares = {
        i: sum(f.whole(part) ** 2 for part in z) for i, z in enumerate(row) if i not in infinite
    }
    chosen = max if ord > 0 else min
    return moduli[chosen(squares, key=lambda i: squares[i])]


def scan(first: int, step: Callable[[list[Any], int], Number]) -> Callable[..., Answer]:
    """Prefixes along an axis."""

    def formula(
        unit: int, x: np.ndarray, axis: int | None = None, include_initial: bool = False
    ) -> Answer:
        axis = 0 if axis is None else axis
        moved = np.moveaxis(x, axis, -1)
        n = moved.shape[-1] + include_initial
        sides = [moved.real, moved.imag] if x.dtype.kind == "c" else [moved]
        parts = []
        for i, side in enumerate(sides):
            table = np.empty((side.reshape(-1, moved.shape[-1]).shape[0], n), object)
            for row, out in zip(side.reshape(-1, moved.shape[-1]), table, strict=True):
                values = scalars(row, unit)
                found = [step(values[: k + 1], unit) for k in range(len(values))]
                start = [float(first) if i == 0 or not first else 0.0]
                out[:] = wrapped([*start, *found] if include_initial else found)
            full = np.moveaxis(table.reshape(*moved.shape[:-1], n), -1, axis)
            parts.append([cell[0] for cell in full.reshape(-1)])
        shape = np.moveaxis(np.zeros((*moved.shape[:-1], n), bool), -1, axis).shape
        return shape, parts

    return formula


def products(
    unit: int, x: np.ndarray, axis: int | None = None, include_initial: bool = False
) -> Answer:
    """Products of the elements up to each; complex ones are no products of their parts."""
    if x.dtype.kind != "c":
        return scan(1, product_of)(unit, x, axis, include_initial)
    moved = np.moveaxis(x, 0 if axis is None else axis, -1)
    rows, n = moved.reshape(-1, moved.shape[-1]), moved.shape[-1] + include_initial
    table = np.empty((len(rows), n), object)
    for row, out in zip(rows, table, strict=True):
        values = scalars(row, unit)
        for k in range(n):
            part = values[: k + 1 - include_initial]
            out[k] = complex_product_of(part, unit) if part else (ratio(1, 1), 0.0)
    full = np.moveaxis(table.reshape(*moved.shape[:-1], n), -1, 0 if axis is None else axis)
    cells = list(full.reshape(-1))
    return full.shape, [[z[0] for z in cells], [z[1] for z in cells]]


def wrapped(values: list[Number]) -> Any:
    """Numbers as cells of an object array, which must not take tuples apart."""
    cells = np.empty(len(values), object)
    for i, value in enumerate(values):
        cells[i] = [ratio(1, 1) if value == 1.0 and isinstance(value, float) else value]
    return cells


FORMULAS: dict[str, Callable[..., Answer]] = {
    "prod": prod,
    "var": var,
    "std": std,
    "vector_norm": vector_norm,
    "cumulative_sum": scan(0, lambda row, unit: f.give(f.total(row), unit)),
    "cumulative_prod": products,
}
