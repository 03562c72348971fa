"""complex_infinities=: which infinities and NaN complex products and quotients may have.

Judged are C99's own operators, written out in `annex_g`, and NumPy's, which are part by part.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

import exactref as er
from tests.every_op import annex_g

INF, NAN = np.inf, np.nan
PARTS = {"complex64": np.float32, "complex128": np.float64}
RULES = ("either", "annex_g", "parts", "any")
# What each rule promises, of the two ways to compute.
ADMITTED = {"either": "AP", "annex_g": "A", "parts": "P", "any": "AP"}
PLAIN = (0.0, -0.0, 1.5, -2.0, INF, -INF, NAN)
HUGE = {"complex64": 1e30, "complex128": 1e200}
TINY = {"complex64": 1e-42, "complex128": 1e-310}


def complex_of(real: Any, imag: Any, form: str) -> np.ndarray:
    z = np.empty(np.shape(real), form)
    z.real, z.imag = real, imag
    return z


def drawn(form: str, count: int, seed: int, tiny: bool = True) -> tuple[np.ndarray, np.ndarray]:
    """Operands of every class, of which products overflow and divisors lose a part."""
    rng = np.random.default_rng(seed)
    few = (*PLAIN, HUGE[form], -HUGE[form], *([TINY[form]] if tiny else []))
    x, y = (complex_of(*rng.choice(few, (2, count)), form) for _ in range(2))
    return x, y


def each(function: Callable[..., Any], x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """A function of two numbers, given as pairs of their parts, of every pair."""
    kind = PARTS[x.dtype.name]
    with np.errstate(all="ignore"):
        found = [
            function((kind(a.real), kind(a.imag)), (kind(b.real), kind(b.imag)))
            for a, b in zip(x, y, strict=True)
        ]
    return complex_of(*np.array(found, kind).T, x.dtype.name)


def outside(result: er.Result, output: np.ndarray) -> int:
    """How many numbers are outside."""
    covered = np.asarray(result.covers(output, "any_order"))
    return int((~covered.all(axis=-1)).sum())


def judged(rule: str, result: er.Result, by_annex: np.ndarray, by_parts: np.ndarray) -> None:
    """What the rule admits is inside; of the other, it refuses something."""
    for letter, output in (("A", by_annex), ("P", by_parts)):
        count = outside(result, output)
        assert (count == 0) == (letter in ADMITTED[rule]), (rule, letter, count)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("form", PARTS)
def test_products(form: str, rule: str) -> None:
    x, y = drawn(form, 150, 1)
    with np.errstate(all="ignore"):
        judged(rule, er.multiply(x, y, complex_infinities=rule), each(annex_g.product, x, y), x * y)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("form", PARTS)
def test_quotients(form: str, rule: str) -> None:
    x, y = drawn(form, 60, 2)
    # NumPy's goes astray with subnormal divisors, which is a finding.
    size = np.maximum(abs(y.real), abs(y.imag))
    kept = ~((size > 0) & (size < np.finfo(PARTS[form]).tiny))
    x, y = x[kept], y[kept]
    with np.errstate(all="ignore"):
        judged(rule, er.divide(x, y, complex_infinities=rule), each(annex_g.quotient, x, y), x / y)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("name", ["matmul", "vecdot", "einsum"])
def test_sums_of_products(name: str, rule: str) -> None:
    """A loop over products, each by itself."""
    x, y = (z.reshape(60, 2) for z in drawn("complex64", 120, 3))
    call: dict[str, Callable[..., er.Result]] = {
        "matmul": lambda **how: er.matmul(x[:, None, :], y[:, :, None], **how).reshape((60,)),
        "vecdot": lambda **how: er.vecdot(np.conj(x), y, **how),
        "einsum": lambda **how: er.einsum("ij,ij->i", x, y, **how),
    }
    with np.errstate(all="ignore"):
        products = [(each(annex_g.product, a, b), a * b) for a, b in zip(x.T, y.T, strict=True)]
        by_annex, by_parts = (sum(terms) for terms in zip(*products, strict=True))
    judged(rule, call[name](complex_infinities=rule), by_annex, by_parts)


@pytest.mark.parametrize("name", ["multiply", "divide"])
def test_rounded_is_that_of_the_rule(name: str) -> None:
    """Of operands whose products and scaled divisors stay in range."""
    parts = [complex_of(*np.array(list(product(PLAIN, repeat=2))).T, "complex128")] * 2
    x, y = (z.reshape(-1) for z in np.meshgrid(*parts))
    call = getattr(er, name)
    with np.errstate(all="ignore"):
        wanted = each(getattr(annex_g, {"multiply": "product", "divide": "quotient"}[name]), x, y)
    odd = ~np.isfinite(wanted)
    found = call(x, y, complex_infinities="annex_g").rounded.values()
    assert np.array_equal(found[odd].view(float), wanted[odd].view(float), equal_nan=True)
    if name == "multiply":
        with np.errstate(all="ignore"):
            found, wanted = call(x, y, complex_infinities="parts").rounded.values(), x * y
        assert np.array_equal(found.view(float), wanted.view(float), equal_nan=True)


def test_kernels_that_multiply_what_they_return() -> None:
    """By 1 + 0i, or divided by n + 0i: covered by "any" alone, and no number is."""
    rng = np.random.default_rng(4)
    x = complex_of(*rng.choice((1.5, -2.0, INF, NAN), (2, 40), p=(0.4, 0.4, 0.1, 0.1)), "complex64")
    y = x[::-1].copy()
    one, two, turn = np.complex64(1), np.complex64(2), np.complex64(1 + 1j)
    with np.errstate(all="ignore"):
        cases = {
            "add": (lambda **how: er.add(x, y, **how), x + y * one),
            "mean": (
                lambda **how: er.mean(np.stack([x, y]), axis=0, **how),
                (x + y) * (one / two),
            ),
            "matmul": (
                lambda **how: er.vecdot(np.stack([x, y], 1).conj(), np.full(2, turn), **how),
                (x * turn + y * turn) * one,
            ),
        }
    for name, (call, output) in cases.items():
        assert outside(call(), output) > 0, name
        result = call(complex_infinities="any")
        assert outside(result, output) == 0, name
        assert outside(result, np.where(np.isfinite(output), output, 7)) > 0, name
        for mine, default in zip(result.finite_range(), call().finite_range(), strict=True):
            assert np.array_equal(mine.values(), default.values(), equal_nan=True)


def test_a_gradient_takes_the_rule_too() -> None:
    """(inf + inf i)(1 + 0i) is an infinity by Annex G, NaN part by part."""
    x, one = complex_of([INF], [INF], "complex64"), np.ones(1, "complex64")
    nan = complex_of([NAN], [NAN], "complex64")
    for rule, admitted in (("annex_g", x), ("parts", nan)):
        found = er.backward.multiply(x, one, one, complex_infinities=rule)["grad_x1"]
        for output in (x, nan):
            assert bool(found.covers(output).all()) == (output is admitted)


def test_what_is_refused() -> None:
    z, x = np.ones(2, np.complex64), np.ones(2, np.float32)
    with pytest.raises(er.InputError, match="complex_infinities='ieee' is not one of 'either', 'a"):
        er.multiply(z, z, complex_infinities="ieee")
    with pytest.raises(er.InputError, match="complex numbers, and the inputs are float32; leave"):
        er.multiply(x, x, complex_infinities="any")
    with pytest.raises(er.DTypeError, match=r"relu\(\) has no parameter 'complex_infinities'"):
        er.relu(x, complex_infinities="any")


def test_a_failure_names_the_rule() -> None:
    """As NumPy's mean fails, on more numbers."""
    x = complex_of([[INF, 1.0]], [[1.0, 1.0]], "complex64")
    with pytest.raises(AssertionError, match='complex_infinities="any"'):
        er.assert_covers(complex_of([INF], [NAN], "complex64"), er.mean(x, axis=1))
