"""A user's own operations: what they give, how they round, what is refused."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import exactref as er
from exactref_core.errors import DTypeError, InputError
from exactref_core.registry import get_op

F32 = np.float32


def inputs(count: int, seed: int = 0) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [rng.standard_normal((5, 16)).astype(F32) for _ in range(count)]


def test_a_composition_is_judged_as_one_operation() -> None:
    @er.define(signature="(n),(n),(n)->(n)")
    def fused(v: Any, x: Any, bias: Any, residual: Any, scale: float = 0.5) -> Any:
        """Residual plus the scaled sigmoid of x + bias."""
        return v.add(v.multiply(v.sigmoid(v.add(x, bias)), scale), residual)

    x, bias, residual = inputs(3)
    result = fused(x, bias, residual, scale=0.25)
    sigmoid = F32(1) / (F32(1) + np.exp(-(x + bias)))
    assert np.asarray(result.covers(sigmoid * F32(0.25) + residual)).all()
    assert not np.asarray(result.covers(sigmoid * F32(0.5) + residual)).any()
    # One operation: sums are bounded by their own size, not by that of what is stored.
    assert max(result.tolerance().scalars()) < 2e-6
    assert get_op("fused").summary == "Residual plus the scaled sigmoid of x + bias."
    assert er.fused(x, bias, residual).shape == (5, 16)


def test_the_exact_value_is_that_of_the_definition() -> None:
    @er.define
    def square_less_one(v: Any, x: Any) -> Any:
        return v.subtract(v.multiply(x, x), 1)

    x = [1 + 2.0**-20, 3.0, 0.1]
    result = square_less_one(er.asarray(x, "float64"))
    for i, value in enumerate(x):
        found = result.exact.value(i)
        assert found.radius == 0
        assert found.midpoint.to_fraction() == Fraction(value) ** 2 - 1


@pytest.mark.parametrize("form", ["bfloat16", "float16", "float8_e5m2", "float8_e4m3fn"])
def test_a_definition_that_only_stores_has_the_rounding_of_its_store(form: str) -> None:
    kind = np.float16 if form == "float16" else getattr(ml_dtypes, form)
    x = F32([1.0, 1 + 2.0**-10, -3.3, 2.0**-20, 2.0**-149, 240.0])
    output = x.astype(kind).astype(F32)
    for body in (
        lambda v, x: v.store(x, form),
        lambda v, x: v.store(v.maximum(x, v.negative(x)), form),
        lambda v, x: v.reshape(v.store(x, form), x.shape),
    ):
        result = er.define(body, name="only_store")(x)
        kept = np.abs(output) if "maximum" in body.__code__.co_names else output
        assert result.covers(kept).tolist() == [True] * 6
        assert not result.covers(kept * F32(1.5) + F32(1)).any()
    # In the compute format itself there is nothing to round.
    same = er.define(lambda v, x: v.store(x, "float32"), name="only_store")(x)
    assert same.tolerance().tolist() == [0.0] * 6


def test_a_declared_store_widens_by_one_rounding() -> None:
    def body(v: Any, x: Any, y: Any) -> Any:
        return v.multiply(v.exp(x), y)

    plain = er.define(body, name="plain_product")
    stored = er.define(
        lambda v, x, y: v.multiply(v.store(v.exp(x), "bfloat16"), y), name="stored_product"
    )
    by_function = er.define(
        lambda v, x, y: v.multiply(er.store(v.exp(x), "bfloat16"), y), name="other_product"
    )
    x, y = inputs(2)
    output = np.exp(x).astype(ml_dtypes.bfloat16).astype(F32) * y
    assert not np.asarray(plain(x, y).covers(output)).all()
    assert np.asarray(stored(x, y).covers(output)).all()
    assert np.asarray(stored(x, y).covers(np.exp(x) * y)).all()
    assert np.asarray(stored(x, y).covers(stored(x, y).normal())).all()
    size = np.abs(np.exp(x.astype(float)) * y)
    ratio = np.asarray(stored(x, y).tolerance()) / (size * 2.0**-8)
    assert ratio.min() > 0.99
    assert ratio.max() < 1.01
    assert stored(x, y).tolerance().tolist() == by_function(x, y).tolerance().tolist()
    # What overflows the stored format may be an infinity.
    large = stored(F32([89.0]), F32([1.0]), dtype="float64")
    assert large.may_be("+inf").tolist() == [True]


def test_several_outputs() -> None:
    @er.define(outputs=("total", "difference"))
    def both(v: Any, x: Any, y: Any) -> Any:
        return {"total": v.add(x, y), "difference": v.subtract(x, y)}

    x, y = inputs(2)
    result = both(x, y)
    assert np.asarray(result.rounded.total, F32).tolist() == (x + y).tolist()
    assert np.asarray(result["difference"].rounded, F32).tolist() == (x - y).tolist()


def test_reductions_take_their_own_parameters() -> None:
    @er.define(signature="(n)->(n)")
    def centred(v: Any, x: Any) -> Any:
        return v.subtract(x, v.mean(x, axis=-1, keepdims=True))

    (x,) = inputs(1)
    assert np.asarray(centred(x).covers(x - x.mean(axis=-1, keepdims=True), "any_order")).all()


def test_a_gradient_of_its_own() -> None:
    def backward(v: Any, grad_output: Any, x: Any, y: Any) -> Any:
        return {"x": v.multiply(v.multiply(2, x), grad_output), "y": grad_output}

    @er.define(backward=backward)
    def square_plus(v: Any, x: Any, y: Any) -> Any:
        return v.add(v.multiply(x, x), y)

    x, y = inputs(2)
    result = er.backward.square_plus(x, x, y[0])
    assert result.rounded.grad_x.shape == (5, 16)
    assert np.asarray(result["grad_y"].covers(x.sum(axis=0))).all()
    er.define(lambda v, x: x, name="bad", backward=lambda v, g, x: {"y": g})
    with pytest.raises(InputError, match=r"and not \['x'\]"):
        er.backward.bad([1.0], [1.0])


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: er.define(lambda v, x: x, name="add"), InputError, "'add' is built in"),
        (lambda: er.define(lambda v, scale=1.0: v, name="n"), InputError, "has no tensor"),
        (lambda: er.define(lambda v, x: 3, name="n")([1.0]), InputError, "returned int"),
        (lambda: er.define(lambda v, x: v.gello(x), name="n")([1.0]), AttributeError, "gelu"),
        (lambda: er.define(lambda v, x: v.add(x), name="n")([1.0]), DTypeError, "add"),
        (lambda: er.define(lambda v, x: v.add(x, "1"), name="n")([1.0]), DTypeError, "number"),
        (
            lambda: er.define(lambda v, x: v.add(x, float("nan")), name="n")([1.0]),
            InputError,
            "finite number",
        ),
        (
            lambda: er.define(lambda v, x: {"a": x}, name="n", outputs=("b",))([1.0]),
            InputError,
            "outputs",
        ),
        (lambda: er.store(er.exp([1.0]), "bfloat16"), DTypeError, "dtype="),
        (lambda: er.store([1.0], "bfloat16"), DTypeError, "list"),
        (
            lambda: er.define(lambda v, x: v.store(x, "int8"), name="n")([1.0]),
            DTypeError,
            "float formats",
        ),
    ],
)
def test_bad_definitions(make: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make()
