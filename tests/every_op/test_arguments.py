"""What operations refuse, and how they say it: the argument, what it got, what would do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import exactref as er

REAL_ONLY = {
    "maximum": 2,
    "minimum": 2,
    "max": 1,
    "min": 1,
    "clip": 1,
    "fma": 3,
    "rsqrt": 1,
    "relu": 1,
    "leaky_relu": 1,
    "var": 1,
    "std": 1,
}


@pytest.mark.parametrize("name", sorted(REAL_ONLY))
def test_complex_inputs_of_real_operations(name: str) -> None:
    inputs = [np.ones(2, np.complex64)] * REAL_ONLY[name]
    with pytest.raises(er.DTypeError, match=f"{name} takes real inputs; .* is complex64"):
        getattr(er, name)(*inputs)


X = np.ones((2, 3), np.float32)
V = np.ones(3, np.float32)
CASES: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: er.max(X[:0]), er.InputError, "no elements"),
    (lambda: er.min(X, axis=5), er.InputError, "axis 5 is out of range"),
    (lambda: er.max(X, nan="drop"), er.InputError, "nan is one of"),
    (lambda: er.vector_norm(X[:0], ord=np.inf), er.InputError, "no elements"),
    (lambda: er.vector_norm(X, ord="fro"), er.InputError, "ord=.fro."),
    (lambda: er.var(X[:, :1], axis=1, correction=1), er.InputError, "must be positive"),
    (lambda: er.std(X[:0]), er.InputError, "must be positive"),
    (lambda: er.var(X, correction="a"), er.InputError, "correction must be a finite number"),
    (lambda: er.cumulative_sum(X), er.InputError, "needs axis="),
    (lambda: er.cumulative_prod(X, axis=(0, 1)), er.InputError, "axis must be an int"),
    (lambda: er.clip(X, V[:2]), er.InputError, "x and min have shapes"),
    (lambda: er.clip(X, np.zeros(3)), er.DTypeError, "min is float64"),
    (lambda: er.where(X, X, X), er.DTypeError, "condition is float32; it is bool"),
    (lambda: er.where([True, False], X, X), er.InputError, "condition and x1, x2 have shapes"),
    (lambda: er.where(X > 0, X, X.astype(np.float64)), er.DTypeError, "one dtype"),
    (lambda: er.fma(X, X, V[:2]), er.InputError, "x, y and z have shapes"),
    (lambda: er.astype(X), er.DTypeError, "missing a required argument: 'dtype'"),
    (lambda: er.astype(X, "int32"), er.DTypeError, "gives float or complex outputs"),
    (lambda: er.leaky_relu(X, np.inf), er.InputError, "negative_slope must be a finite number"),
    (lambda: er.linear(X, X.T), er.InputError, "linear takes x"),
    (lambda: er.linear(X, X, V), er.InputError, r"bias has shape \(3,\)"),
    (lambda: er.linear(X, X, bias=np.ones(2)), er.DTypeError, "bias is float64"),
    (lambda: er.addmm(V, X, X), er.InputError, "do not match"),
    (lambda: er.addmm(X, V, X), er.InputError, "mat1 has shape"),
    (lambda: er.addmm(V[:2], X.T, X, beta=1j), er.InputError, "broadcast"),
    (lambda: er.addmm(V, X.T, X, alpha=1j), er.InputError, "alpha=1j is complex"),
    (lambda: er.addmm(V, X.T, X, beta=np.nan), er.InputError, "beta must be a finite number"),
    (lambda: er.vecdot(X, V[:2]), er.InputError, "must be equal"),
    (lambda: er.vecdot(X, V, axis=0), er.InputError, "count from the end"),
    (lambda: er.vecdot(1.0, 2.0), er.InputError, "has no axes"),
    (lambda: er.outer(X, V), er.InputError, "outer takes vectors"),
    (lambda: er.tensordot(X, V), er.InputError, "axes=2: x1 has 2 axes and x2 has 1"),
    (lambda: er.tensordot(X, V, axes=((0,), (0,))), er.InputError, "must be equal"),
    (lambda: er.tensordot(X, V, axes="a"), er.InputError, "number or two sequences"),
    (lambda: er.einsum("ij,jk,kl->il", X, X), er.InputError, "name 3 operands; 2 are given"),
    (lambda: er.einsum("ij", X, X, X), er.DTypeError, "chain two calls"),
    (lambda: er.einsum("ij->ijk", X), er.InputError, "letters of the operands"),
    (lambda: er.einsum("ijk->i", X), er.InputError, "3 axes"),
    (lambda: er.einsum("ij,ij->i", X, X.T), er.InputError, "give 'i' 2 elements"),
    (lambda: er.einsum(X, X), er.InputError, "subscripts is a string"),
    (lambda: er.max(X, dim=1), er.DTypeError, "use axis"),
    (lambda: er.var(X, ddof=1), er.DTypeError, "use correction"),
    (lambda: er.vector_norm(X, p=1), er.DTypeError, "use ord"),
    (lambda: er.add(er.asarray(X, "bfloat16"), 0.1), er.InputError, "x2=0.1 is no bfloat16 number"),
    (lambda: er.clip(er.asarray(X, "bfloat16"), 0.1), er.InputError, "min=0.1 is no bfloat16"),
    (lambda: er.clip(X, np.float64(0.1)), er.DTypeError, "min is float64"),
    (lambda: er.add(X, 1e39), er.InputError, "no float32 number"),
    (lambda: er.add(X, 1j), er.DTypeError, "x2 holds complex numbers"),
    (lambda: er.add(X, True), er.DTypeError, "x2 is bool"),
    (lambda: er.add(X, np.float64(2)), er.DTypeError, "x2 is float64"),
    (lambda: er.add(np.int32([1]), 0.5, dtype="float32"), er.DTypeError, "x2 is float64"),
    (
        lambda: er.scaled_dot_product_attention(*(np.ones((n, 3, 2)) for n in (4, 2, 2))),
        er.InputError,
        "4 heads and key has 2: enable_gqa=True",
    ),
    (lambda: er.prod([2**40, 2**40]).rounded, er.InputError, "int64 does not hold"),
]


@pytest.mark.parametrize("place", range(len(CASES)))
def test_refused(place: int) -> None:
    call, error, message = CASES[place]
    with pytest.raises(error, match=message):
        call()


SPECIAL = (0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan)


@pytest.mark.parametrize("form", ["float64", "float32", "bfloat16", "float16"])
def test_special_values(form: str) -> None:
    x, y = (part.reshape(-1) for part in np.meshgrid(SPECIAL, SPECIAL))
    a, b = er.asarray(x.tolist(), form), er.asarray(y.tolist(), form)
    pairs = er.asarray(np.stack([x, y], 1).tolist(), form)
    with np.errstate(all="ignore"):
        wanted = {
            "maximum": (er.maximum(a, b), np.maximum(x, y)),
            "fmin": (er.minimum(a, b, nan="ignore"), np.fmin(x, y)),
            "reciprocal": (er.reciprocal(a), 1 / x),
            "rsqrt": (er.rsqrt(a), 1 / np.sqrt(x)),
            "square": (er.square(a), x * x),
            "fma": (er.fma(a, b, a), x * y + x),
            "relu": (er.relu(a), np.maximum(x, 0)),
            "leaky": (er.leaky_relu(a, 0.5), np.where(np.signbit(x), 0.5 * x, x)),
            "clip": (er.clip(a, -1.0, b), np.minimum(np.maximum(x, -1), y)),
            "max": (er.max(pairs, axis=1), np.maximum(x, y)),
            "prod": (er.prod(pairs, axis=1), x * y),
            "norm": (er.vector_norm(pairs, axis=1, ord=1), np.abs(x) + np.abs(y)),
            "scan": (er.cumulative_sum(pairs, axis=1)[:, 1], x + y + 0.0),
            "where": (er.where(x > 0, a, b), np.where(x > 0, x, y)),
            "var": (er.var(pairs, axis=1), np.var(np.stack([x, y], 1), axis=1)),
        }
    for name, (result, expected) in wanted.items():
        found = result.rounded.values()
        assert np.array_equal(found, expected, equal_nan=True), name
        for standard in ("normal", "any_order"):
            assert result.covers(er.asarray(expected.tolist(), form), standard).all(), name
        if name not in ("maximum", "fmin", "relu", "max", "scan", "clip", "norm", "var"):
            told = ~np.isnan(expected)
            assert np.array_equal(np.signbit(found)[told], np.signbit(expected)[told]), name


def test_integers_are_exact() -> None:
    assert er.prod([3, 5, -2]).rounded.tolist() == -30
    assert er.max([[3, 5], [7, 1]], axis=0).rounded.tolist() == [7, 5]
    assert er.clip([1, 5, 9], 2, 6).rounded.tolist() == [2, 5, 6]
    assert er.where([True, False], [1, 2], [3, 4]).rounded.tolist() == [1, 4]
    assert er.cumulative_prod([2, 3, 4], include_initial=True).rounded.tolist() == [1, 2, 6, 24]
    assert er.cumulative_sum([True, True, False]).rounded.dtype == "int64"
    wide = er.max([2**53 + 1, 3], dtype="float32")
    assert wide.rounded.tolist() == 2.0**53
    assert er.astype([2**24 + 1], "float32").covers(er.asarray([2.0**24], "float32")).all()


@pytest.mark.parametrize(
    "shapes", [((1, 0), (0, 0)), ((0, 0), (0, 0)), ((0, 3), (3, 0)), ((2, 0), (0, 3))]
)
def test_products_of_nothing(shapes: tuple[tuple[int, int], tuple[int, int]]) -> None:
    x, y = (np.zeros(shape, np.float32) for shape in shapes)
    c = np.ones((x.shape[0], y.shape[1]), np.float32)
    for result in (er.matmul(x, y), er.linear(x, y.T.copy(), c[:1].reshape(-1)[: c.shape[1]])
                   if c.size else er.linear(x, y.T.copy()), er.addmm(c, x, y),
                   er.tensordot(x, y, 1), er.einsum("ij,jk->ik", x, y)):  # fmt: skip
        assert result.shape == c.shape
        for standard in ("normal", "any_order"):
            assert result.covers(result.normal(), standard).all()
            assert not result.tolerance(standard).values().any()


def test_shapes() -> None:
    x = np.ones((0, 3), np.float32)
    assert er.prod(x, axis=0).rounded.tolist() == [1, 1, 1]
    assert er.vector_norm(x, axis=0).rounded.tolist() == [0, 0, 0]
    assert er.max(x, axis=1).shape == (0,)
    assert er.cumulative_sum(x, axis=0, include_initial=True).rounded.tolist() == [[0, 0, 0]]
    assert er.cumulative_sum(x, axis=1).shape == (0, 3)
    assert (
        er.linear(np.ones((2, 0)), np.ones((3, 0)), np.ones(3)).rounded.tolist() == [[1.0] * 3] * 2
    )
    assert er.einsum("i,j->ij", [1.0, 2.0], [3.0]).rounded.tolist() == [[3.0], [6.0]]
    assert er.einsum("...", [1.0]).shape == (1,)
    assert er.tensordot(np.ones((2, 3)), np.ones((3, 2)), axes=0).shape == (2, 3, 3, 2)
    assert er.outer([], [1.0]).shape == (0, 1)
    assert er.clip(np.ones((2, 1), np.float32), max=V).shape == (2, 3)


def test_python_numbers_take_the_dtype_of_the_arrays() -> None:
    x = np.float32([0.1, 3, -2])
    tenth = np.float32(0.1)
    for found, wanted in (
        (er.multiply(x, 0.1), er.multiply(x, tenth)),
        (er.subtract(1, x), er.subtract(np.float32(1), x)),
        (er.pow(x, 2), er.pow(x, np.float32(2))),
        (er.maximum(x, float("-inf")), er.maximum(x, np.float32(-np.inf))),
        (er.where(x > 0, 0.0, x), er.where(x > 0, np.float32(0), x)),
        (er.multiply(er.exp(x), 3.0), er.multiply(er.exp(x), np.float32(3))),
    ):
        assert found.dtype == "float32"
        assert found.rounded.tolist() == wanted.rounded.tolist()
        assert found.tolerance().tolist() == wanted.tolerance().tolist()
    assert er.add(er.asarray(x, "float16"), 0.25).dtype == "float16"
    assert er.add(np.complex64(x), 1j).dtype == "complex64"
    assert er.add(2.0, 3.0).dtype == "float64"


def test_tensordot_takes_single_axes() -> None:
    a, b = np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(4, 3)
    found = er.tensordot(a, b, axes=(1, -1)).rounded
    assert np.array_equal(np.asarray(found), np.tensordot(a, b, axes=(1, 1)))
