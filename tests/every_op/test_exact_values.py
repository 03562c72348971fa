"""``exact.value`` contains the true value, with radius 0 where that is rational.

True values are Fractions, or roots of Fractions that are compared through their squares.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import exactref as er
from exactref_core.enclosures import Enclosure
from tests.every_op.cases import Case, chunks
from tests.every_op.checking import enclosures
from tests.every_op.expected import term_rows
from tests.every_op.formulas import root_of_fraction

THOROUGH = os.environ.get("EXACTREF_THOROUGH") == "1"
ELEMENTS, CHUNK = (2_000, 400) if THOROUGH else (160, 40)
FORMATS = ("float64", "float32", "bfloat16", "float16", "complex64", "complex128", "int64")

Gauss = tuple[Fraction, Fraction]


def parts(z: Any) -> Gauss | None:
    """A finite number as a pair of Fractions."""
    value = z.item()
    if isinstance(value, complex):
        return (Fraction(value.real), Fraction(value.imag)) if np.isfinite(value) else None
    return (Fraction(value), Fraction(0)) if np.isfinite(value) else None


def add(x: Gauss, y: Gauss) -> Gauss:
    return x[0] + y[0], x[1] + y[1]


def multiply(x: Gauss, y: Gauss) -> Gauss:
    return x[0] * y[0] - x[1] * y[1], x[0] * y[1] + x[1] * y[0]


def divide(x: Gauss, y: Gauss) -> Gauss | None:
    size = y[0] ** 2 + y[1] ** 2
    if size == 0:
        return None
    top = multiply(x, (y[0], -y[1]))
    return top[0] / size, top[1] / size


def total(terms: list[Gauss]) -> Gauss:
    return sum((x for x, _ in terms), Fraction(0)), sum((y for _, y in terms), Fraction(0))


def operands(case: Case) -> list[list[Any]]:
    """For each output element the numbers it is made of; None for one that is not finite."""
    if case.op.domain.signature == "(n)->()":
        _, rows = term_rows(case.tensors[0], case.params["axis"], False)
        return [[parts(x) for x in row] for row in rows]
    arrays = np.broadcast_arrays(*case.tensors)
    return [[parts(x) for x in pair] for pair in zip(*(x.reshape(-1) for x in arrays), strict=True)]


FORMULAS: dict[str, Callable[..., Gauss | None]] = {
    "add": add,
    "subtract": lambda x, y: add(x, (-y[0], -y[1])),
    "multiply": multiply,
    "divide": divide,
    "negative": lambda x: (-x[0], -x[1]),
    "sum": lambda *terms: total(list(terms)),
    "mean": lambda *terms: divide(total(list(terms)), (Fraction(len(terms)), Fraction(0))),
}


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("name", sorted(FORMULAS))
def test_rational_values_are_exact(name: str, form: str) -> None:
    checked = 0
    for case in chunks(name, form, ELEMENTS, CHUNK, seed=50):
        result = case.call(dtype=case.own_output)
        for flat, numbers in enumerate(operands(case)):
            value = None if None in numbers else FORMULAS[name](*numbers)
            if value is None:
                if None in numbers and name in ("negative", "mean", "sum"):
                    with pytest.raises(ValueError, match="exact value"):
                        enclosures(result, flat)
                continue
            found = enclosures(result, flat)
            wanted = value[: len(found)]
            assert [x.midpoint.to_fraction() for x in found] == list(wanted)
            assert [x.radius for x in found] == [0] * len(found)
            assert all(isinstance(x.radius, Fraction) for x in found)
            checked += 1
    assert checked > ELEMENTS / 3


@pytest.mark.parametrize("form", FORMATS)
def test_products_are_exact(form: str) -> None:
    checked = 0
    for case in chunks("matmul", form, ELEMENTS, CHUNK, seed=51):
        a, b = case.tensors
        result = case.call(dtype=case.own_output)
        if a.ndim != 3 or a.shape[1] != 1:
            continue
        for flat, (row, column) in enumerate(zip(a[:, 0, :], b[:, :, 0], strict=True)):
            left, right = ([parts(x) for x in side] for side in (row, column))
            if None in left or None in right:
                continue
            value = total([multiply(x, y) for x, y in zip(left, right, strict=True)])
            for found, wanted in zip(enclosures(result, flat), value, strict=False):
                assert found.midpoint.to_fraction() == wanted
                assert found.radius == 0
            checked += 1
    assert checked > 0


def contains_root(found: Enclosure, square: Fraction) -> bool:
    """Whether an enclosure contains the root of ``square``."""
    low = found.midpoint.to_fraction() - found.radius
    high = found.midpoint.to_fraction() + found.radius
    return high >= 0 and high**2 >= square and (low <= 0 or low**2 <= square)


@pytest.mark.parametrize("form", ["float64", "float32", "float16", "int64"])
def test_roots_are_contained(form: str) -> None:
    for case in chunks("sqrt", form, ELEMENTS, CHUNK, seed=52):
        result = case.call(dtype=case.own_output)
        for flat, (number,) in enumerate(operands(case)):
            if number is None or number[0] < 0:
                continue
            (found,) = enclosures(result, flat)
            assert contains_root(found, number[0])
            rational = not isinstance(root := root_of_fraction(number[0]), tuple) or not root[3]
            if rational:
                assert found.radius == 0
            assert found.radius * 2**90 <= abs(found.midpoint.to_fraction())


@pytest.mark.parametrize("form", ["complex64", "complex128"])
def test_moduli_and_complex_roots_are_contained(form: str) -> None:
    """With w^2 = z: re(w)^2 - im(w)^2 = re(z), 2 re(w) im(w) = im(z), re(w) >= 0; and re(w)^2 =
    (|z| + re(z)) / 2, so that 2 t^2 - re(z) is compared with |z|."""
    for case in chunks("sqrt", form, ELEMENTS, CHUNK, seed=53):
        roots, moduli = case.call(), er.abs(*case.inputs)
        for flat, (z,) in enumerate(operands(case)):
            if z is None:
                continue
            square = z[0] ** 2 + z[1] ** 2
            assert contains_root(enclosures(moduli, flat)[0], square)
            for part, found, sign in zip((0, 1), enclosures(roots, flat), (1, -1), strict=True):
                low, high = (
                    abs(found.midpoint.to_fraction()) + side * found.radius for side in (-1, 1)
                )
                rest = 2 * high**2 - sign * z[0]
                assert rest >= 0
                assert rest**2 >= square
                rest = 2 * low**2 - sign * z[0]
                assert low <= 0 or rest <= 0 or rest**2 <= square
                if part and z[1] != 0:
                    assert (found.midpoint.to_fraction() > 0) == (z[1] > 0)
