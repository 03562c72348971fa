"""Results passed to further calls: the exact value goes along, whatever was stored on the way."""

from __future__ import annotations

import os
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

import exactref as er
from exactref_core.formats.catalogue import get_format, part_format
from exactref_core.result import Result
from tests.every_op import formulas as f
from tests.every_op.checking import differing, enclosures, parts_of, shown
from tests.every_op.expected import scalars, unit_of
from tests.every_op.formulas import root_of_fraction
from tests.every_op.hostile import complex_operands, elements
from tests.every_op.numbers import MODES, OVERFLOWS, Number, Numbers, of_fraction

THOROUGH = os.environ.get("EXACTREF_THOROUGH") == "1"


def matrices(rng: np.random.Generator, form: str, *shapes: tuple[int, ...]) -> list[Any]:
    fmt = get_format(form)
    return [
        er.Array.from_values(elements(rng, fmt, int(np.prod(s)), 0.0).reshape(s), fmt)
        for s in shapes
    ]


def fractions(x: Any) -> np.ndarray:
    """An array's values as Fractions, in an object array."""
    found = np.empty(x.shape, object)
    found.reshape(-1)[:] = [Fraction(v) for v in x.scalars()]
    return found


def check_chain(chain: Callable[[dict[str, Any]], Result], wanted: list[Number]) -> None:
    """Compare the last call's roundings by every rule, and its exact values."""
    numbers = Numbers.of(wanted)
    for mode, overflow in product(MODES, OVERFLOWS):
        result = chain({"rounding": mode, "overflow": overflow})
        got = result.rounded.values().reshape(-1)
        form = get_format(result.dtype)
        assert np.array_equal(got, numbers.round(form, mode, overflow), equal_nan=True)
    for flat, value in enumerate(wanted):
        if isinstance(value, float) and not np.isfinite(value):
            continue
        (found,) = enclosures(result, flat)
        low = found.midpoint.to_fraction() - found.radius
        high = found.midpoint.to_fraction() + found.radius
        if isinstance(value, float):
            assert low == high == 0
            continue
        negative, s, e, more = value
        foot, head = Fraction(s) * Fraction(2) ** e, Fraction(s + more) * Fraction(2) ** e
        if negative:
            foot, head = -head, -foot
        assert low <= head
        assert high >= foot


CHAINS = range(20 if THOROUGH else 4)


@pytest.mark.parametrize("form", ["float64", "float32", "bfloat16", "float16"])
@pytest.mark.parametrize("seed", CHAINS)
def test_rational_chains(form: str, seed: int) -> None:
    rng = np.random.default_rng([60, seed])
    a, b, c = matrices(rng, form, (3, 4), (3, 4), (4, 2))
    p, q, r = fractions(a), fractions(b), fractions(c)

    def kernel(how: dict[str, Any]) -> Result:
        return er.matmul(er.subtract(a, er.mean(a, axis=1, keepdims=True)), c, **how)

    centred = p - p.sum(axis=1, keepdims=True) / 4
    check_chain(kernel, [of_fraction(x) for x in (centred @ r).reshape(-1)])

    def ratio(how: dict[str, Any]) -> Result:
        top = er.sum(er.multiply(a, b, dtype=form), axis=0)
        return er.divide(top, er.sum(er.abs(er.negative(b)), axis=0), **how)

    wanted = [quotient(x, y) for x, y in zip((p * q).sum(axis=0), abs(q).sum(axis=0), strict=True)]
    check_chain(ratio, wanted)

    def views(how: dict[str, Any]) -> Result:
        product = er.matmul(er.add(a, b), c)
        return er.subtract(product.transpose()[::-1], product[1:2].reshape(2, 1), **how)

    product_ = (p + q) @ r
    found = product_.T[::-1] - product_[1:2].reshape(2, 1)
    check_chain(views, [of_fraction(x) for x in found.reshape(-1)])


def quotient(x: Fraction, y: Fraction) -> Number:
    """x / y by IEEE rules, for y >= 0; zeros of a sum are +0."""
    if y == 0:
        return float("nan") if x == 0 else float("inf") if x > 0 else float("-inf")
    return of_fraction(x / y)


@pytest.mark.parametrize("form", ["float64", "float32", "bfloat16", "float16"])
@pytest.mark.parametrize("seed", CHAINS)
def test_chains_through_roots(form: str, seed: int) -> None:
    """A root-mean-square norm, and its quotient: roots of rationals, with signs."""
    rng = np.random.default_rng([61, seed])
    (a,) = matrices(rng, form, (4, 5))
    p = fractions(a)

    def rms(how: dict[str, Any]) -> Result:
        return er.sqrt(er.mean(er.multiply(a, a), axis=1), **how)

    squares = (p * p).sum(axis=1) / 5
    check_chain(rms, [root_of_fraction(x) for x in squares])

    def norm(how: dict[str, Any]) -> Result:
        size = er.sqrt(er.mean(er.multiply(a, a), axis=1, keepdims=True))
        return er.divide(a, size, **how)

    wanted: list[Number] = []
    for x, square in zip(p.reshape(-1), np.repeat(squares, 5), strict=True):
        if square == 0:
            wanted.append(float("nan"))
            continue
        root = root_of_fraction(x * x / square)
        wanted.append((x < 0, *root[1:]) if isinstance(root, tuple) else root)
    check_chain(norm, wanted)


COMPLEX_CHAINS: dict[str, Callable[..., Result]] = {
    "abs": lambda z, w, **how: er.abs(z, **how),
    "add": lambda z, w, **how: er.add(z, w, **how),
    "divide": lambda z, w, **how: er.divide(z, w, **how),
    "multiply": lambda z, w, **how: er.multiply(z, er.negative(w), **how),
    "sqrt": lambda z, w, **how: er.sqrt(z, **how),
    "sum": lambda z, w, **how: er.sum(z.reshape(-1, 4), axis=1, **how),
}


def complex_answer(name: str, z: list[Any], w: list[Any], unit: int) -> list[list[Number]]:
    """The parts of a chain's last step over products that are multiples of 2**unit."""
    if name == "abs":
        return [[f.modulus(x, unit) for x in z]]
    if name == "sqrt":
        found: list[Any] = [f.complex_sqrt(x, unit) for x in z]
    elif name == "divide":
        found = [f.complex_over(x, y) for x, y in zip(z, w, strict=True)]
    else:
        if name == "sum":
            rows = [z[i : i + 4] for i in range(0, len(z), 4)]
            pairs = [tuple(f.total([x[i] for x in row]) for i in (0, 1)) for row in rows]
        elif name == "add":
            pairs = [(f.plus(x[0], y[0]), f.plus(x[1], y[1])) for x, y in zip(z, w, strict=True)]
        else:
            negated = [(f.minus(x), f.minus(y)) for x, y in w]
            pairs = [f.complex_times(x, y) for x, y in zip(z, negated, strict=True)]
        e = 2 * unit if name == "multiply" else unit
        found = [(f.give(x, e), f.give(y, e)) for x, y in pairs]
    return [[x[i] for x in found] for i in (0, 1)]


@pytest.mark.parametrize("form", ["complex64", "complex128"])
@pytest.mark.parametrize("name", sorted(COMPLEX_CHAINS))
def test_complex_chains(name: str, form: str) -> None:
    """Steps over products: infinities beside underflow, zeros, cancellation of any depth."""
    rng = np.random.default_rng(62)
    fmt = get_format(form)
    unit = unit_of(fmt)
    for round_ in range(10 if THOROUGH else 3):
        size = 400
        x, y = complex_operands(rng, part_format(fmt), size)
        u, v = complex_operands(rng, part_format(fmt), size)
        u, v = (np.where(rng.random(size) < 0.3, a, b) for a, b in ((x, u), (y, v)))
        a, b, c, d = (er.Array.from_values(t, fmt) for t in (x, y, u, v))
        z = [f.complex_times(*p) for p in zip(scalars(x, unit), scalars(y, unit), strict=True)]
        w = [f.complex_times(*p) for p in zip(scalars(u, unit), scalars(v, unit), strict=True)]
        wanted = [Numbers.of(part) for part in complex_answer(name, z, w, 2 * unit)]
        mode = "nearest_even" if round_ == 0 else MODES[int(rng.integers(len(MODES)))]
        found = COMPLEX_CHAINS[name](er.multiply(a, b), er.multiply(c, d), rounding=mode).rounded
        for mine, part in zip(parts_of(found.values()), wanted, strict=True):
            theirs = part.round(part_format(fmt), mode, "ieee")
            wrong = differing(mine, theirs)
            assert wrong.size == 0, [
                tuple(map(shown, (x[i], y[i], u[i], v[i], mine[i], theirs[i]))) for i in wrong[:3]
            ]
