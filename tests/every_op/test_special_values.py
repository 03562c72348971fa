"""Zeros, infinities and NaN, every combination: IEEE answers of the exact steps, signs included.

The expectations are NumPy's float64 arithmetic on numbers whose results it holds exactly, and
Python's cmath for complex roots (the table of C99 Annex G).
"""

from __future__ import annotations

import cmath
from itertools import product

import numpy as np
import pytest

import exactref as er
from exactref_core.formats.catalogue import get_format
from tests.every_op.checking import differing, parts_of
from tests.every_op.expected import expected
from tests.every_op.hostile import complex_of

FEW = (0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan)
MORE = (*FEW, 2.0, -0.5, 16.0, -0.25)
OPERATIONS = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "divide": np.divide,
}
Sides = tuple[np.ndarray, ...]


def columns(values: tuple[float, ...], count: int) -> Sides:
    """Every combination of ``count`` values, one array for each place."""
    return tuple(np.array(list(product(values, repeat=count)), np.float64).T)


def same(got: er.Array, *wanted: np.ndarray) -> None:
    for mine, theirs in zip(parts_of(got.values()), wanted, strict=True):
        assert differing(mine, theirs).size == 0


@pytest.mark.parametrize("form", ["float64", "float32", "bfloat16", "float16"])
@pytest.mark.parametrize("name", sorted(OPERATIONS))
def test_pairs(name: str, form: str) -> None:
    x, y = columns(MORE, 2)
    with np.errstate(all="ignore"):
        wanted = OPERATIONS[name](x, y)
    got = getattr(er, name)(er.asarray(x.tolist(), form), er.asarray(y.tolist(), form))
    same(got.rounded, wanted)


@pytest.mark.parametrize("form", ["complex64", "complex128"])
@pytest.mark.parametrize("name", sorted(OPERATIONS))
def test_complex_pairs(name: str, form: str) -> None:
    a, b, c, d = columns(FEW, 4)
    x, y = (complex_of(*z) for z in ((a, b), (c, d)))
    with np.errstate(all="ignore"):
        if name == "divide":
            wanted = quotients(x, y)
        elif name == "multiply":
            wanted = a * c - b * d, a * d + b * c
        else:
            wanted = OPERATIONS[name](a, c), OPERATIONS[name](b, d)
    same(getattr(er, name)(np.asarray(x, form), np.asarray(y, form)).rounded, *wanted)


def quotients(x: np.ndarray, y: np.ndarray) -> Sides:
    """Complex quotients in float64: C99 Annex G's at infinities, NaN and zero divisors."""
    form = get_format("complex128")
    _, parts = expected("divide", (x, y), form, {})
    return tuple(part.round(form, "nearest_even", "ieee") for part in parts)


@pytest.mark.parametrize("form", ["complex64", "complex128"])
def test_complex_functions(form: str) -> None:
    a, b = columns((0.0, -0.0, 4.0, -4.0, np.inf, -np.inf, np.nan), 2)
    x = np.asarray(complex_of(a, b), form)
    kept = ~np.isfinite(a) | ~np.isfinite(b) | (b == 0)  # the others are irrational
    roots = np.array([cmath.sqrt(z) for z in complex_of(a, b)[kept].tolist()])
    same(er.sqrt(x[kept]).rounded, roots.real, roots.imag)
    same(er.abs(x[kept]).rounded, np.hypot(a, b)[kept])
    same(er.negative(x).rounded, -a, -b)


@pytest.mark.parametrize("form", ["float64", "float32", "bfloat16", "float16"])
def test_functions(form: str) -> None:
    (x,) = columns((*FEW, 4.0), 1)
    given = er.asarray(x.tolist(), form)
    with np.errstate(all="ignore"):
        same(er.sqrt(given).rounded, np.sqrt(x))
    same(er.negative(given).rounded, -x)
    same(er.abs(given).rounded, np.abs(x))


@pytest.mark.parametrize("form", ["float64", "float32", "bfloat16", "float16"])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_sums_and_products_of_specials(form: str, count: int) -> None:
    """A sum that is exactly zero is +0, whatever its terms."""
    sides = columns(FEW, count)
    rows = er.asarray(np.stack(sides, axis=1).tolist(), form)
    ones = er.asarray([1.0] * count, form)
    with np.errstate(all="ignore"):
        total = sum(sides) + 0.0
        same(er.mean(rows, axis=1, dtype="float64").rounded, total / count)
    same(er.sum(rows, axis=1).rounded, total)
    same(er.matmul(rows, ones).rounded, total)


def test_doubtful_operands_give_no_special_answer() -> None:
    """An infinity beside a product that underflows is not told at first: inf - tiny * tiny."""
    x = np.array([complex(np.inf, 1e-320), complex(-np.inf, 0.0)])
    y = np.array([complex(1.0, 1e-10), complex(1.0, 0.0)])
    z = er.multiply(x, y)
    same(z.rounded, np.array([np.inf, -np.inf]), np.array([np.inf, np.nan]))
    same(er.sum(z).rounded, np.array([np.nan]), np.array([np.nan]))
    same(er.divide([1.0], er.abs(z[:1])).rounded, np.array([0.0]))
