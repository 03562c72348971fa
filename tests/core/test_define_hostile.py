"""Definitions, gradients and empty arrays that do not fit: what is said, and what is stored."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import exactref as er
from exactref_core.errors import DTypeError, InputError

F32 = np.float32
ONE = F32([1.0])


def identity(v: Any, x: Any) -> Any:
    return x


def gradient(backward: Any, grad: Any = ONE) -> Any:
    er.define(identity, name="n", backward=backward)
    return er.backward.n(grad, grad)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: er.define("x"), "define.. takes a function"),
        (lambda: er.define(identity, name="not a name"), "identifier"),
        (lambda: er.define(identity, signature="(n)->(m"), "signature"),
        (lambda: er.define(identity, signature="(n),(n)->(n)"), "signature .* of 1 tensors"),
        (lambda: er.define(identity, outputs="ab"), "tuple of names"),
        (lambda: er.define(identity, outputs=()), "tuple of names"),
        (lambda: er.define(lambda v, x, *, k: x, name="n"), r"takes \['k'\]"),
        (lambda: er.define(identity, backward="x"), "backward must be a function"),
        (
            lambda: er.define(identity, outputs=("a", "b"), backward=lambda v, g, x: {"x": g}),
            "with the outputs",
        ),
        (lambda: er.define(lambda v, x: v.apply("exq", x), name="n")(ONE), "no function 'exq'"),
        (lambda: er.define(lambda v, x: v.total(x), name="n")(F32(1)), "without axes"),
        (lambda: gradient(lambda v, g, x: {"x": 1.0}), "returned float"),
        (lambda: gradient(lambda v, g, x: {"x": g, "z": g}), r"names \['z'\]"),
        (
            lambda: gradient(lambda v, g, x: {"x": v.sum(g)}, np.ones((2, 3), F32)),
            r"x has shape \(2, 3\), and its gradient \(\)",
        ),
    ],
)
def test_what_does_not_fit_is_named(make: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()


@pytest.mark.parametrize("form", ["float6_e2m3fn", "float4_e2m1fn"])
def test_stores_need_a_nan(form: str) -> None:
    with pytest.raises(DTypeError, match="with a NaN"):
        er.define(lambda v, x: v.store(x, form), name="n")(ONE)


def test_a_store_without_infinities_overflows_to_nan() -> None:
    @er.define
    def narrow(v: Any, x: Any) -> Any:
        return v.multiply(v.store(v.add(x, 1.0), "float8_e4m3fn"), 1.0)

    result = narrow(F32([1.0, 462.0, 1000.0, -1000.0, np.inf, np.nan]))
    assert result.may_be("nan").tolist() == [False, False, True, True, True, True]
    assert result.may_be("-inf").tolist() == [False] * 6
    for flat, part in enumerate([False, False, True, True, True, True]):
        one = narrow(F32([[1.0, 462.0, 1000.0, -1000.0, np.inf, np.nan][flat]]))
        assert one.may_be("nan").tolist() == [part]


def test_an_operation_defined_anew_replaces_the_old_one() -> None:
    for factor in (2.0, 3.0):
        er.define(
            lambda v, x, by=factor: v.multiply(x, by),
            name="anew",
            backward=lambda v, g, x, by=factor: {"x": v.multiply(g, by)},
        )
        assert er.anew(ONE).rounded.tolist() == [factor]
        assert er.backward.anew(ONE, ONE).rounded.tolist() == [factor]


def test_numbers_of_numpy_are_numbers() -> None:
    x = F32([0.5, -0.5])
    assert (
        er.elu(x, alpha=np.float32(0.5)).rounded.tolist() == er.elu(x, alpha=0.5).rounded.tolist()
    )
    shift = er.define(lambda v, x: v.add(x, np.float32(0.1)), name="shift")
    assert np.asarray(shift(x).covers(x + F32(0.1))).all()
    with pytest.raises(InputError, match="finite number"):
        er.elu(x, alpha=np.float32("nan"))


def test_empty_arrays_have_empty_tolerances() -> None:
    some = np.ones((2, 2), F32)
    for result in (
        er.softmax(np.zeros((2, 0), F32)),
        er.backward.softmax(np.zeros((2, 0), F32), np.zeros((2, 0), F32)),
        er.matmul(np.ones((0, 2), F32), some),
        er.backward.matmul(some, np.ones((2, 0), F32), np.ones((0, 2), F32))["grad_A"],
        er.backward.matmul(some, np.ones((2, 0), F32), np.ones((0, 2), F32))["grad_B"],
    ):
        for standard in ("normal", "any_order"):
            assert result.tolerance(standard, flush_to_zero=True).shape == result.shape
        assert np.asarray(result.covers(result.normal())).all()
