"""A number that may be stored where the exact value is an infinity or NaN, and what is made of it.

The sum of 1, c, c, c and -z is just below zero, and an index-order loop stores 2^-23 for it: where
the exact root is NaN, an ordinary kernel returns a number. What follows is measured from 0, by the
sizes of all that is stored. Kernels are NumPy's steps in float32.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import exactref as er
from exactref_core.arithmetic.verbs import Complex
from exactref_core.registry import get_standard

F32 = np.float32
C = 2.0**-24 + 2.0**-26
TERMS = F32([1.0, C, C, C, -(1 + 2.0**-22)])
STORED = np.sqrt(F32(2.0**-23))
FORMULAS = Callable[[Any, Any, Any], Any]


def stored_root() -> np.float32:
    """What an index-order loop and a root return for NaN."""
    total = F32(0)
    for term in TERMS:
        total = F32(total + term)
    return np.sqrt(total)


def beside(v: Any, root: Any, x: Any) -> Any:
    """Return (root, x) along a new last axis."""
    return v.stack((root, x))


def row(v: Any, root: Any, x: Any) -> Any:
    """Return the product of (root, 1) and (x, x)."""
    pair = v.arrange(beside(v, root, v.constant(1)), (1, 2))
    return v.arrange(v.matmul(pair, v.arrange(beside(v, x, x), (2, 1))), ())


def pairs(v: Any, root: Any, x: Any) -> Any:
    """Return the real part of a product of complex matrices, root x - x 1."""
    one = v.arrange(v.constant(1), (1, 1))
    left = Complex(v.arrange(root, (1, 1)), v.arrange(x, (1, 1)))
    return v.arrange(v.matmul(left, Complex(v.arrange(x, (1, 1)), one)).real, ())


def alike(result: Any, standard: str, flush: bool) -> bool:
    """Whether arrays and certified numbers say the same of the first element."""
    (part,) = result.outputs["output"].parts
    rule = get_standard(standard)
    found, certified = part.range(rule, flush), part.range_one(rule, flush, 0)
    pairs = zip(found.arrays, certified.arrays, strict=True)
    return all(np.array_equal(mine[:1], theirs, equal_nan=True) for mine, theirs in pairs)


def quotient(v: Any, root: Any, x: Any) -> Any:
    """Return the real part of (root + x i) / (x + i)."""
    return v.divide(Complex(root, x), Complex(x, v.constant(1))).real


def principal(v: Any, root: Any, x: Any) -> Any:
    """Return the real part of the root of root + x i."""
    return v.sqrt(Complex(root, x)).real


def product(v: Any, root: Any, x: Any) -> Any:
    """Return the real part of (root + x i) (x + i) (x + i)."""
    parts = Complex(v.stack((root, x, x)), v.stack((x, v.constant(1), v.constant(1))))
    return v.prod(parts).real


CASES: dict[str, tuple[FORMULAS, Callable[[Any, Any], Any]]] = {
    "add": (lambda v, r, x: v.add(r, x), lambda r, x: r + x),
    "subtract": (lambda v, r, x: v.subtract(x, r), lambda r, x: x - r),
    "hypot": (lambda v, r, x: v.step("hypot", r, x), lambda r, x: np.sqrt(r * r + x * x)),
    "multiply": (lambda v, r, x: v.multiply(r, x), lambda r, x: r * x),
    "over": (lambda v, r, x: v.divide(r, x), lambda r, x: r / x),
    "under": (lambda v, r, x: v.divide(x, r), lambda r, x: x / r),
    "twice": (lambda v, r, x: v.multiply(v.add(r, x), x), lambda r, x: (r + x) * x),
    "maximum": (lambda v, r, x: v.maximum(r, x), np.maximum),
    "minimum": (lambda v, r, x: v.minimum(r, x), np.minimum),
    "larger number": (lambda v, r, x: v.maximum(r, x, nan="ignore"), np.maximum),
    "smaller number": (lambda v, r, x: v.minimum(r, x, nan="ignore"), np.minimum),
    "sum": (lambda v, r, x: v.sum(beside(v, r, x)), lambda r, x: r + x),
    "prod": (lambda v, r, x: v.prod(beside(v, r, x)), lambda r, x: r * x),
    "dot": (row, lambda r, x: r * x + x),
    "complex": (pairs, lambda r, x: r * x - x),
    "var": (lambda v, r, x: v.var(beside(v, r, x)), lambda r, x: ((r - x) / 2) ** 2),
    "logsumexp": (
        lambda v, r, x: v.logsumexp(beside(v, r, x), axis=-1),
        lambda r, x: np.maximum(r, x) + np.log1p(np.exp(-np.abs(r - x))),
    ),
    "complex quotient": (quotient, lambda r, x: ((r + 1j * x) / (x + 1j)).real),
    "complex root": (principal, lambda r, x: np.sqrt(r + 1j * x).real),
    "complex product": (product, lambda r, x: ((r + 1j * x) * (x + 1j) ** 2).real),
    "choice": (lambda v, r, x: v.by_sign_of(r, x, v.negative(x)), lambda r, x: x),
    "exp": (lambda v, r, x: v.exp(v.add(r, x)), lambda r, x: np.exp(r + x)),
}
OTHERS = (5.0, -5.0, 2.0**-30, -(2.0**-12))


@pytest.mark.parametrize("name", sorted(CASES))
def test_what_is_stored_for_nan_is_covered(name: str) -> None:
    define, kernel = CASES[name]
    assert stored_root() == STORED
    op = er.define(
        lambda v, terms, x: define(v, v.sqrt(v.sum(terms)), x), name="made", signature="(n),()->()"
    )
    for x in OTHERS:
        result = op(TERMS, F32(x))
        output = F32(kernel(STORED, F32(x)))
        assert np.isfinite(output)
        for standard in ("normal", "any_order"):
            assert result.covers(output, standard=standard).all(), (name, x, standard)
            assert alike(result, standard, False), (name, x, standard)


@pytest.mark.parametrize("name", ["add", "subtract", "over", "maximum", "dot", "sum"])
def test_and_is_bounded(name: str) -> None:
    """Nothing near ten times what can be stored is covered."""
    define, kernel = CASES[name]
    op = er.define(
        lambda v, terms, x: define(v, v.sqrt(v.sum(terms)), x), name="made", signature="(n),()->()"
    )
    for x in (5.0, -5.0):
        far = F32(10 * kernel(np.sqrt(F32(2.0**-20)), F32(x)) + np.copysign(10, x))
        assert not op(TERMS, F32(x)).covers(far).any()


def test_a_choice_by_the_sign_of_a_sum_that_may_overflow_takes_either_branch() -> None:
    op = er.define(
        lambda v, x, y: v.by_sign_of(v.sum(x), y, v.negative(y)),
        name="made",
        signature="(n),()->()",
    )
    x = F32([3e38, 3e38, -3e38, -2.9e38])  # in some order, -inf
    for sign in (1, -1):
        result = op(sign * x, F32(2))
        for value in (2, -2):
            assert bool(result.covers(F32(value)).all()) == (value == 2 * sign)
            assert result.covers(F32(value), standard="any_order").all()
        assert alike(result, "any_order", False)


def test_a_quotient_by_the_root_of_a_flushed_negative_number_is_no_number() -> None:
    """It is 1 / 0, or NaN."""
    result = er.rsqrt(F32([-(2.0**-149)]))
    assert alike(result, "normal", True)
    assert result.covers(F32([np.inf]), flush_to_zero=True).all()
    assert result.covers(F32([np.nan]), flush_to_zero=True).all()
    assert not result.covers(F32([0.0]), flush_to_zero=True).any()


def test_an_infinity_beside_a_stored_nan_saturates() -> None:
    op = er.define(lambda v, x, y: v.pow(x, v.store(y, "float8_e4m3fn")), name="made")
    result = op(F32([-np.inf]), F32([np.inf]), overflow="saturate")
    assert result.rounded.tolist() == [np.inf]
    assert alike(result, "normal", False)
    assert result.covers(F32([np.finfo(F32).max])).all()


def test_a_row_of_scores_that_all_overflow_has_a_log_sum_exp_of_minus_infinity() -> None:
    """Libraries look out for a maximum of -inf, or make NaN of it."""
    top, step = F32(np.finfo(F32).max), F32(2.0**103)
    op = er.define(lambda v, x, y: v.logsumexp(v.subtract(x, y), axis=-1), name="made")
    result = op(F32([-top] * 3), F32([step] * 3))
    assert result.rounded.tolist() == -top
    assert alike(result, "normal", False)
    for output in (-top, F32(-np.inf), F32(np.nan)):
        assert result.covers(output).all()
