"""Definitions, gradients and empty arrays that do not fit: what is said, and what is stored."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import exactref as er
from exactref_core.errors import DTypeError, InputError, UnknownNameError

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


class Built:
    def __init__(self, v: Any, x: Any) -> None:
        pass


def endless(v: Any, x: Any) -> Any:
    return endless(v, x)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"signature": "()->()", "domain": er.extend.Domain("()->()", ("float32",))}, "not both"),
        ({"domain": "(n)->(n)"}, "exactref.extend.Domain"),
        ({"domain": er.extend.Domain("()->()", "float32")}, "dtypes .* tuple of names"),  # type: ignore[arg-type]
        ({"domain": er.extend.Domain("()->()", ("float33",))}, "float33"),
        ({"domain": er.extend.Domain("()->()", ("float32",), nonzero=("y",))}, r"\['y'\]"),
        ({"signature": 3}, "signature 3"),
        ({"outputs": ("a", "a")}, "tuple of names"),
        ({"outputs": (1,)}, "tuple of names"),
        ({"optional": ("bias",)}, r"optional names \['bias'\]; .* default is None"),
        ({"arrays": "mask"}, "arrays must be a tuple"),
        ({"gradients": ("y",), "backward": lambda v, g, x: {"x": g}}, r"gradients names \['y'\]"),
        ({"backward": lambda v, x: {"x": x}}, "called as v, grad_output, x"),
        ({"name": 3}, "identifier"),
        ({"name": "class"}, "identifier"),
    ],
)
def test_arguments_that_do_not_fit_the_function(how: Any, message: str) -> None:
    with pytest.raises((InputError, UnknownNameError), match=message):
        er.define(identity, **{"name": "n", **how})


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda v, x, dtype=None: x, "every call takes"),
        (lambda v, *xs: xs[0], r"takes \['xs'\]"),
        (lambda v, x, **more: x, r"takes \['more'\]"),
        (Built, "takes a function"),
    ],
)
def test_functions_that_are_no_definitions(function: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        er.define(function, name="n")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (lambda v, x: x + 1, r"no operators: write v.add\(x, y\)"),
        (lambda v, x: 2 * x, r"v.multiply\(x, y\)"),
        (lambda v, x: -x, r"v.negative\(x\)"),
        (lambda v, x: x if x else v.exp(x), r"no truth.* v.where\(v.greater"),
        (lambda v, x: x if x == 0 else v.exp(x), r"no truth.* v.where\(v.equal"),
        (lambda v, x: x if x > 0 else v.exp(x), r"no truth.* v.where\(v.greater"),
        (lambda v, x: max(x, 0.0), "no truth"),
        (lambda v, x: v.where(v.greater(v.abs(x), 0) or True, x, x), "no truth"),
        (lambda v, x: v.add(x, float(x)), "no numbers"),
        (lambda v, x: v.divide(x, len(x)), r"x\.shape"),
        (lambda v, x: next(iter(x)), "no numbers"),
        (lambda v, x: np.exp(x), r"v.exp\("),
        (lambda v, x: F32(2) * x, r"v.multiply\("),
        (lambda v, x: np.concatenate([x, x]), r"v.concat\("),
        (lambda v, x: np.asarray(x), "verbs of v"),
        (lambda v, x: er.exp(x), "inside it operations are verbs"),
        (endless, "endless calls itself without an end"),
    ],
)
def test_what_definitions_cannot_do_is_answered_with_a_verb(body: Any, message: str) -> None:
    for one in (ONE, ONE.astype(np.complex64)):
        domain = er.extend.Domain("()->()", ("float32", "complex64"))
        with pytest.raises((DTypeError, InputError), match=message):
            er.define(body, name="n", domain=domain)(one)


def test_torch_functions_are_answered_with_a_verb() -> None:
    torch = pytest.importorskip("torch")
    with pytest.raises(DTypeError, match=r"v.softmax\("):
        er.define(lambda v, x: torch.softmax(x, -1), name="n")(ONE)


def test_attributes_of_arrays_are_named() -> None:
    with pytest.raises(AttributeError, match=r"no 'sum': write v.sum\(x\)"):
        er.define(lambda v, x: x.sum(), name="n")(ONE)


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
