"""Norms of any order: exact values, those that are rational, infinities, counts, arguments."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import exactref as er
from exactref_core.formats.catalogue import get_format
from tests.every_op.numbers import MODES, Numbers

pytest.importorskip("flint")
from tests.core import power_norm_oracle as oracle  # needs flint

F32 = np.float32
INF, NAN = np.inf, np.nan
ORDERS = (3, 0.5, 2.5, -1, -2.25, 0.1, 7, 1.5, -0.5, 100, 4)


def rows(form: str, seed: int, n: int = 6, count: int = 10) -> np.ndarray:
    """Rows of one size and of all, integers, equal numbers, with zeros, near one number."""
    rng = np.random.default_rng([seed, *map(ord, form)])
    x = rng.standard_normal((count, n))
    x[1::5] *= 10.0 ** rng.integers(-3, 4, x[1::5].shape)
    x[2::5] = rng.integers(-4, 5, x[2::5].shape)
    x[3::5] = x[3::5, :1] * rng.choice([-1, 1, 1, 4], x[3::5].shape)
    x[4::5] = rng.choice([1.0, 4.0, 9.0, 0.25, 16.0], x[4::5].shape)
    return np.asarray(er.asarray(x.tolist(), form).values(), float)


@pytest.mark.parametrize("form", ["float64", "float32", "bfloat16"])
@pytest.mark.parametrize("p", ORDERS)
def test_rounded_is_exact(p: float, form: str) -> None:
    x = rows(form, 1)
    exact = Numbers.of([oracle.norm(row, p) for row in x.tolist()])
    result = er.vector_norm(er.asarray(x.tolist(), form), axis=1, ord=p)
    wanted = exact.round(get_format(form), "nearest_even", "ieee")
    assert np.array_equal(np.asarray(result.rounded.values(), float), wanted)
    for row, found in zip(x.tolist(), range(len(x)), strict=True):
        value = result.exact.value(found)
        assert value.radius == 0 if oracle.norm(row, p) == 0 else oracle.close(value, row, p)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("form", ["float64", "float16", "float8_e5m2"])
def test_rounded_in_every_mode(form: str, mode: str) -> None:
    x = rows("float32", 2, 3, 15)
    for p in (0.5, -1, 3):
        exact = Numbers.of([oracle.norm(row, p) for row in x.tolist()])
        result = er.vector_norm(x.astype(F32), axis=1, ord=p, dtype=form, rounding=mode)
        wanted = exact.round(get_format(form), mode, "ieee")
        assert np.array_equal(np.asarray(result.rounded.values(), float), wanted), p


@pytest.mark.parametrize("p", [3, 0.5, -1, 2.5])
def test_complex_norms_are_exact(p: float) -> None:
    rng = np.random.default_rng(3)
    z = rng.standard_normal((6, 4)) + 1j * rng.standard_normal((6, 4))
    z[1], z[2] = 3 + 4j, rng.integers(-3, 4, 4) + 1j * rng.integers(-3, 4, 4)
    z = z.astype(np.complex64)
    exact = Numbers.of([oracle.norm(row, p) for row in z.tolist()])
    result = er.vector_norm(z, axis=1, ord=p)
    wanted = exact.round(get_format("float32"), "nearest_even", "ieee")
    assert np.array_equal(np.asarray(result.rounded.values(), float), wanted)
    assert np.asarray(result.covers(np.linalg.norm(z, ord=p, axis=1))).all()


RATIONAL: list[tuple[list[complex], float, float]] = [
    ([3, 4, 5], 3, 6),
    ([1, -6, 8], 3, 9),
    ([2, 2], 0.5, 8),
    ([3, 12], 0.5, 27),
    ([8, 2, -2, 0], 0.5, 32),
    ([3] * 32, 2.5, 12),
    ([5] * 8, 1.5, 20),
    ([1 + 1j] * 4, 4, 2),
    ([3 + 4j] * 8, 3, 10),
    ([2, 2], -1, 1),
    ([6, 3, 0], -1, 0),
    ([6, 3, 2], -1, 1),
    ([7, 7, 7, 7], -0.5, 7 / 16),
    ([9, 9], -0.25, 9 / 16),
    ([1.0 + 2.0**-23], 0.1, 1.0 + 2.0**-23),
    ([1.0 + 2.0**-23], 1000, 1.0 + 2.0**-23),
    ([2.0**-149] * 16, 4, 2.0**-148),
    ([3e38, 0], 3, float(F32(3e38))),
]


@pytest.mark.parametrize(("row", "p", "value"), RATIONAL)
def test_rational_norms_are_told(row: list[complex], p: float, value: float) -> None:
    x = np.asarray(row)
    x = x.astype(np.complex64 if x.dtype.kind == "c" else F32)
    result = er.vector_norm(x, ord=p)
    exact = result.exact.value()
    assert (float(exact.midpoint.to_fraction()), exact.radius) == (value, 0)
    assert result.rounded.tolist() == value
    for mode in ("up", "down", "toward_zero"):  # what is nearly rational is rounded away
        assert er.vector_norm(x, ord=p, rounding=mode).rounded.tolist() == value


def test_ties_are_told_from_their_neighbours() -> None:
    tie = 1 + 2.0**-8  # midway between two bfloat16 numbers
    for factor, count, p in ((1.0, 1, 3), (0.25, 2, 0.5), (1 / 8, 8, 1), (0.25, 32, 2.5)):
        x = F32([tie * factor] * count)
        found = [
            er.vector_norm(F32(v), ord=p, dtype="bfloat16") for v in (x, x * F32(1 + 2.0**-22))
        ]
        assert [r.rounded.tolist() for r in found] == [1.0, 1 + 2.0**-7], p
    # Far smaller numbers beside it are enough.
    for small, p in ((2.0**-100, 3), (2.0**-20, 100), (1e-30, 20)):
        assert er.vector_norm(F32([tie, small]), ord=p, dtype="bfloat16").rounded.tolist() > 1
        assert er.vector_norm(F32([tie, small]), ord=-p, dtype="bfloat16").rounded.tolist() < tie


@pytest.mark.parametrize("p", [3, 0.5, 2.5, -1, -0.5, 0.1, 0])
def test_special_values_are_numpys(p: float) -> None:
    values = [0.0, -0.0, 1.0, -2.0, INF, -INF, NAN]
    x = F32([[a, b] for a in values for b in values])
    with np.errstate(all="ignore"):
        wanted = np.linalg.norm(x, ord=p, axis=1)
    result = er.vector_norm(x, axis=1, ord=p)
    rounded = np.asarray(result.rounded.values())
    plain = ~np.isfinite(wanted) | (wanted == 0)
    assert np.array_equal(rounded[plain], wanted[plain], equal_nan=True)
    assert np.asarray(result.covers(wanted)).all()
    for kind, holds in (("nan", np.isnan), ("+inf", np.isposinf), ("-inf", np.isneginf)):
        assert np.array_equal(np.asarray(result.may_be(kind, "any_order")), holds(wanted)), kind
    z = np.complex64([[complex(INF, NAN), 3], [complex(NAN, 1), 0], [complex(0, -INF), 1]])
    with np.errstate(all="ignore"):
        assert np.asarray(er.vector_norm(z, axis=1, ord=p).covers(np.linalg.norm(z, p, 1))).all()


def test_counts_are_exact() -> None:
    rng = np.random.default_rng(5)
    x = rng.integers(-1, 2, (20, 300)).astype(F32)
    x[0, :4] = [NAN, INF, -0.0, 1e-45]
    result = er.vector_norm(x, axis=1, ord=0)
    assert np.array_equal(result.rounded.tolist(), (x != 0).sum(axis=1))
    assert not np.asarray(result.tolerance("any_order")).any()
    assert result.normal().tolist() == result.rounded.tolist()
    assert er.vector_norm(x > 0, ord=0, dtype="float32").rounded.tolist() == (x > 0).sum()
    many = er.vector_norm(np.ones(3000, F32), ord=0, dtype="bfloat16")
    assert many.rounded.tolist() == 3008.0  # rounded once, at the end
    z = np.complex64([1e-45, 1e-45j, 0, complex(NAN, 0)])
    assert er.vector_norm(z, ord=0).tolerance("any_order").tolist() == 0
    assert er.vector_norm(z, ord=0).rounded.tolist() == 3
    small = er.vector_norm(F32([1e-40, 1.0]), ord=0)
    assert np.asarray(small.covers(F32(1.0), flush_to_zero=True)).all()
    assert not np.asarray(small.covers(F32(1.0))).any()
    assert er.backward.vector_norm(F32(2.0), x[0], ord=0).rounded.tolist() == [0.0] * 300


def test_axes_and_shapes() -> None:
    x = np.random.default_rng(6).standard_normal((2, 3, 4)).astype(F32)
    for axis, keepdims in ((None, False), (1, True), ((0, 2), False), ((2, 0), True)):
        result = er.vector_norm(x, axis=axis, keepdims=keepdims, ord=3)
        wanted = (np.abs(x.astype(float)) ** 3).sum(axis=axis, keepdims=keepdims) ** (1 / 3)
        assert result.shape == wanted.shape
        assert np.allclose(result.rounded.tolist(), wanted, rtol=1e-7)
    assert er.vector_norm(np.zeros((0, 3), F32), axis=0, ord=3).rounded.tolist() == [0, 0, 0]
    assert er.vector_norm(np.zeros((2, 0), F32), axis=1, ord=0).rounded.tolist() == [0, 0]


@pytest.mark.parametrize(
    ("ord", "words"),
    [
        (NAN, "ord=nan"),
        (None, "ord=None"),
        ("fro", "ord='fro'"),
        (True, "ord=True"),
        (1j, "ord=1j"),
        (1e39, "ord=1e\\+39: the constant 1e\\+39 is beyond"),
        (1e-39, "ord=1e-39: the constant 1e\\+39 is beyond"),
    ],
)
def test_orders_that_are_none(ord: Any, words: str) -> None:
    for call in (er.vector_norm, lambda x, **k: er.backward.vector_norm(F32(1.0), x, **k)):
        with pytest.raises(er.InputError, match=words):
            call(F32([1.0, 2.0]), ord=ord).rounded.tolist()


def test_of_nothing_a_negative_order_has_no_norm() -> None:
    with pytest.raises(er.InputError, match="no elements"):
        er.vector_norm(np.zeros(0, F32), ord=-1)
