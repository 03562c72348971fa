"""The verbs that definitions have beside the operations: views, choices, constants, gradients."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import exactref as er
from exactref_core.errors import DTypeError, InputError

F32 = np.float32
NAN, INF = float("nan"), float("inf")
X = np.random.default_rng(3).standard_normal((4, 6)).astype(F32)
Z = (X + 1j * X[::-1]).astype(np.complex64)


def of(body: Any, *tensors: Any, **how: Any) -> Any:
    """The rounded output of a definition."""
    form = er.get_format("float32")
    domain = er.extend.Domain(
        ",".join(["(n)"] * len(tensors)) + "->(n)", (form.name, "complex64"), leading=True
    )
    return np.asarray(er.define(body, name="n", domain=domain, **how)(*tensors).rounded)


@pytest.mark.parametrize("x", [X, Z], ids=["real", "complex"])
@pytest.mark.parametrize(
    ("body", "like"),
    [
        (lambda v, x: x[..., 1:4:2], lambda x: x[..., 1:4:2]),
        (lambda v, x: x[2], lambda x: x[2]),
        (lambda v, x: x[-1, None], lambda x: x[-1, None]),
        (lambda v, x: v.reshape(x, (2, -1)), lambda x: x.reshape(2, -1)),
        (lambda v, x: v.reshape(x, -1), lambda x: x.reshape(-1)),
        (lambda v, x: v.permute_dims(x, (-1, 0)), lambda x: x.T),
        (lambda v, x: v.matrix_transpose(x[None]), lambda x: x.T[None]),
        (lambda v, x: v.broadcast_to(x[0], (3, 6)), lambda x: np.stack([x[0]] * 3)),
        (lambda v, x: v.concat([x, x[:1]], axis=0), lambda x: np.concatenate([x, x[:1]])),
        (lambda v, x: v.concat([x, x[:, :2]], axis=-1), lambda x: np.hstack([x, x[:, :2]])),
        (lambda v, x: v.stack([x, x], axis=-1), lambda x: np.stack([x, x], -1)),
        (lambda v, x: v.take(x, [3, -1, 3]), lambda x: x[:, [3, -1, 3]]),
        (lambda v, x: v.take(x, np.array([[2], [0]]), axis=0), lambda x: x[[[2], [0]]]),
    ],
)
def test_views_are_those_of_numpy(x: Any, body: Any, like: Any) -> None:
    assert np.array_equal(of(body, x), like(x))
    assert of(body, x).shape == like(x).shape


PAIRS = F32([[1, 2, 2, INF, INF, NAN, 0.0, NAN], [2, 1, 2, INF, -INF, 1, -0.0, NAN]])


@pytest.mark.parametrize("name", ["greater", "greater_equal", "less", "less_equal", "equal"])
def test_comparisons_are_those_of_numpy(name: str) -> None:
    found = of(lambda v, x, y: v.where(getattr(v, name)(x, y), 1.0, 0.0), *PAIRS)
    assert np.array_equal(found, getattr(np, name)(*PAIRS))
    assert of(lambda v, x, y: v.where(v.not_equal(x, y), 1.0, 0.0), *PAIRS).tolist() == [
        *(1, 1, 0, 0, 1, 1, 0, 1)
    ]
    assert of(lambda v, x, y: v.where(v.isnan(x), y, 3.0), *PAIRS)[:6].tolist() == [3] * 5 + [1]


def test_a_choice_that_roundings_may_turn_has_both_branches() -> None:
    def body(v: Any, x: Any, y: Any) -> Any:
        return v.where(v.greater(v.add(x, y), 1.0), 5.0, v.add(x, y))

    result = er.define(body, name="n")(F32([1, 1, 1]), F32([2.0**-30, -(2.0**-20), 2.0**-20]))
    assert result.rounded.tolist() == [5.0, 1 - 2.0**-20, 5.0]
    five = np.asarray(result.covers(F32([5, 5, 5])))
    assert five.tolist() == [True, False, True]
    assert np.asarray(result.covers(F32([1, 1 - 2.0**-20, 5]))).all()


def test_constants() -> None:
    table = np.float64([0.1, 0.2, 0.5, 1, 2, 3])
    result = er.define(lambda v, x: v.multiply(x, v.constant(table)), name="n")(X)
    wide = np.vectorize(Fraction)(X.astype(float)) * np.vectorize(Fraction)(table)
    for place, exact in np.ndenumerate(wide):
        assert result.exact.value(*place).midpoint.to_fraction() == exact
    assert np.asarray(result.covers(X * table.astype(F32))).all()
    masked = of(lambda v, x: v.softmax(v.where(X > 0, x, -INF)), X)
    assert np.array_equal(masked > 0, X > 0)
    assert np.allclose(masked.sum(-1), 1)
    assert of(lambda v, x: v.clip(x, 0.0, 0.5), X).tolist() == np.clip(X, 0, 0.5).tolist()


def test_a_cast_is_a_store() -> None:
    for name in ("store", "astype"):

        def kept(v: Any, x: Any, how: str = name) -> Any:
            return v.multiply(getattr(v, how)(x, "bfloat16"), 2)

        result = er.define(kept, name="n")(X)
        assert np.asarray(result.covers(X.astype(ml_dtypes.bfloat16).astype(F32) * 2)).all()
        assert np.array_equal(np.asarray(result.rounded), X * 2)


def test_gradients_of_operations_are_verbs() -> None:
    def backward(v: Any, grad_output: Any, x: Any, y: Any) -> Any:
        inner = v.backward.gelu(grad_output, v.multiply(x, y), approximate="tanh")["grad_x"]
        found = v.backward.multiply(inner, x, y)
        return {"x": found["grad_x1"]}

    er.define(
        lambda v, x, y: v.gelu(v.multiply(x, y), approximate="tanh"),
        name="n",
        backward=backward,
        gradients=("x",),
    )
    y = X[::-1].copy()
    result = er.backward.n(X, X, y)
    assert list(result.outputs) == ["grad_x"]
    chained = er.multiply(er.backward.gelu(X, er.multiply(X, y), approximate="tanh"), y)
    apart = result.rounded.values() - chained.rounded.values()
    assert np.abs(apart).max() < 1e-6


def test_optional_tensors_and_arrays() -> None:
    @er.define(name="n", signature="(m,k),(c,k)->()", optional=("bias",), arrays=("target",))
    def loss(
        v: Any, x: Any, weight: Any, target: Any, bias: Any = None, *, scale: float = 1
    ) -> Any:
        return v.multiply(v.cross_entropy(v.linear(x, weight, bias), target), scale)

    weight, target = X[:3], np.array([0, 2, -100, 1])
    scores = X.astype(float) @ weight.T.astype(float)
    for bias in (None, F32([1, 2, 3])):
        shifted = scores if bias is None else scores + bias
        logs = shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))
        wanted = -(logs[0, 0] + logs[1, 2] + logs[3, 1]) / 3
        result = loss(X, weight, target, bias)
        assert abs(result.rounded.values() - wanted) < 1e-6
        assert np.asarray(result.covers(np.asarray(wanted, F32), "any_order")).all()
        assert abs(loss(X, weight, target, bias, scale=2).rounded.values() - 2 * wanted) < 2e-6
    with pytest.raises(DTypeError, match="missing a required argument: 'target'"):
        loss(X, weight)


@pytest.mark.parametrize(
    ("body", "error", "message"),
    [
        (lambda v, x: v.reshape(x, (5, 5)), InputError, r"reshape of x with shape \(4, 6\)"),
        (lambda v, x: v.permute_dims(x, (0,)), InputError, "permute_dims"),
        (lambda v, x: v.take(x, [6]), InputError, "take of x .*out of bounds"),
        (lambda v, x: v.take(x, [0.5]), DTypeError, "integers"),
        (lambda v, x: v.concat([x, x[:1]], axis=1), InputError, "differ elsewhere"),
        (lambda v, x: v.concat([]), InputError, "no elements"),
        (lambda v, x: x[4], InputError, r"shape \(4, 6\) has no index 4"),
        (lambda v, x: x[[0, 1]], DTypeError, "v.take"),
        (lambda v, x: v.where(x, x, 0.0), DTypeError, r"v.greater\(x, 0\)"),
        (lambda v, x: v.add(x, X), DTypeError, r"v.constant\(x\) makes a value of an array"),
        (lambda v, x: v.power(x, 2), AttributeError, r"it is v.pow"),
        (lambda v, x: v.backward.gello(x, x), AttributeError, "backward.gelu"),
        (lambda v, x: v.softmax(x, dim=-1), DTypeError, "dim is axis"),
        (lambda v, x: v.add(x, er.exp(X)), DTypeError, "must be a value of the definition"),
    ],
)
def test_what_does_not_fit_is_named(body: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        of(body, X)


def test_choices_and_optional_tensors_by_the_chain_rule() -> None:
    @er.define(
        name="n",
        signature="(n),(n)->(n)",
        optional=("w",),
        backward="chain_rule",
        gradients=("x", "w"),
    )
    def huber(v: Any, x: Any, y: Any, w: Any = None) -> Any:
        gap = v.abs(v.subtract(x, y))
        small = v.less_equal(gap, 1.0)
        loss = v.where(small, v.multiply(0.5, v.square(gap)), v.subtract(gap, 0.5))
        return loss if w is None else v.multiply(loss, w)

    x, y, w = X[0].astype(float), 2 * X[1].astype(float), X[2].astype(float)
    gap = x - y
    wanted = np.where(np.abs(gap) <= 1, gap, np.sign(gap))
    found = er.backward.n(np.ones(6), x, y)
    assert list(found.outputs) == ["grad_x"]
    assert np.abs(found.rounded.values() - wanted).max() < 1e-12
    both = er.backward.n(np.ones(6), x, y, w)
    assert np.abs(both.rounded.grad_x.values() - wanted * w).max() < 1e-12
    losses = np.where(np.abs(gap) <= 1, gap**2 / 2, np.abs(gap) - 0.5)
    assert np.abs(both.rounded.grad_w.values() - losses).max() < 1e-12
