"""Results called again: the same steps on the same bits, or what was asked to change."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import exactref as er
from exactref.nn.attention import AttentionAlgorithm
from exactref_core.arithmetic.graph_digest import digest
from exactref_core.array import Array
from exactref_core.errors import InputError
from exactref_core.evaluate import again, arrays_of, origin_of
from exactref_core.evaluate.origin import Call
from exactref_core.op import Op
from exactref_core.result import Result
from tests.every_op.simple import simple_call

RNG = np.random.default_rng(8)
F32 = np.float32


def real(*shape: int) -> Any:
    return RNG.standard_normal(shape).astype(F32)


def steps(result: Result) -> dict[str, list[bytes]]:
    """The digest of the graph of every part: its steps, formats, shapes and input bits."""
    outputs: Any = result.outputs
    return {name: [digest(node) for node in out.nodes] for name, out in outputs.items()}


@pytest.mark.parametrize("op", er.ops(), ids=lambda op: op.name)
def test_every_operation_is_called_again_with_the_same_steps(op: Op) -> None:
    result = simple_call(op)
    assert steps(again(origin_of(result))) == steps(result)


def chain() -> Result:
    x = er.exp(real(4, 3))
    total = er.sum(x, axis=-1, keepdims=True, dtype="float16")
    return er.divide(er.astype(x, "float16"), total)


MASK = RNG.random((4, 5)) > 0.3
HEADS = [real(2, 4, 8), real(2, 5, 8), real(2, 5, 3)]
CASES: dict[str, Any] = {
    "a chain that uses a result twice": chain,
    "views": lambda: er.matmul(real(3, 4), real(4, 6)).transpose().reshape(2, 9)[1:, ::2],
    "a result of integers": lambda: er.add(
        er.sum(np.arange(6).reshape(2, 3), axis=1), [2, 3], dtype="float32"
    ),
    "complex": lambda: er.matmul(*(real(1, 2).view("complex64") for _ in "AB")),
    "one of several outputs": lambda: er.scaled_dot_product_attention(*HEADS, attn_mask=MASK)[
        "logsumexp"
    ],
    "numbers for optional tensors": lambda: er.clip(real(5), -0.5, 0.25),
    "optional tensors": lambda: er.layer_norm(real(4, 6), None, real(6), real(6)),
    "an optional tensor that is a result": lambda: er.linear(
        real(4, 6), real(3, 6), er.multiply(real(3), real(3))
    ),
    "targets": lambda: er.cross_entropy(real(3, 4), np.array([1, 3, 0]), real(4)),
    "a gradient": lambda: er.backward.layer_norm(real(4, 6), real(4, 6), None, real(6)),
    "rounding and overflow": lambda: er.sum(
        real(9), dtype="float16", rounding="up", overflow="saturate"
    ),
    "an algorithm": lambda: er.scaled_dot_product_attention(
        *HEADS, algorithm=AttentionAlgorithm(weights="bfloat16")
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_result_is_called_again_with_the_same_steps(name: str) -> None:
    result = CASES[name]()
    assert steps(again(origin_of(result))) == steps(result)


def test_inputs_are_changed_where_they_enter() -> None:
    x, bias = real(4, 3), real(3)
    result = er.add(er.sum(er.exp(x), axis=0), bias)[1:]
    names = []

    def change(name: str, array: Array) -> Array:
        names.append(name)
        return er.asarray(np.float32(2) * array.data)

    other = again(origin_of(result), change)
    assert names == ["x", "x2"]
    assert steps(other) == steps(er.add(er.sum(er.exp(2 * x), axis=0), 2 * bias)[1:])


def test_an_input_that_is_used_twice_changes_twice_and_a_result_once() -> None:
    x = real(3)
    square = er.multiply(x, x)
    calls = []

    def change(name: str, array: Array) -> Array:
        calls.append(name)
        return array

    again(origin_of(er.add(square, square)), change)
    assert calls == ["x1", "x2"]
    assert [name for name, _ in arrays_of(origin_of(er.add(square, square)))] == ["x1", "x2"]


def test_later_writes_do_not_reach_what_is_called_again() -> None:
    mask, x, target = MASK.copy(), real(3, 4), np.array([0, 1, 2])
    masked = er.scaled_dot_product_attention(*HEADS, attn_mask=mask)
    loss = er.cross_entropy(x, target)
    before = [steps(masked), steps(loss)]
    mask[...] = True
    target[...] = 3
    x[...] = 0
    assert [steps(again(origin_of(result))) for result in (masked, loss)] == before


def test_parameters_of_the_last_call_are_replaced() -> None:
    x = real(5)
    result = er.sum(er.multiply(x, x))
    down = again(origin_of(result), rounding="toward_zero", dtype="bfloat16")
    expected = er.sum(er.multiply(x, x), rounding="toward_zero", dtype="bfloat16")
    assert steps(down) == steps(expected)
    narrow = AttentionAlgorithm(weights="bfloat16")
    attention = er.scaled_dot_product_attention
    other = again(origin_of(attention(*HEADS)["output"]), algorithm=narrow)
    assert steps(other) == steps(attention(*HEADS, algorithm=narrow)["output"])


def test_a_parameter_that_the_operation_lacks_is_an_error() -> None:
    with pytest.raises(InputError, match=r"^sum has no parameter algorithm; it has \['axis'"):
        again(origin_of(er.sum(real(3))), algorithm=None)


def test_what_no_operation_returned_has_no_origin() -> None:
    outputs: Any = er.sum(real(3)).outputs
    with pytest.raises(InputError, match="result must be what an operation returned"):
        origin_of(Result(dict(outputs)))
    assert er.add(Result(dict(outputs)), real(3)).origin is None
    assert er.add(Result(dict(outputs)), real(3))[0].origin is None


def test_an_origin_holds_the_arrays_of_the_call_and_no_copies() -> None:
    x = er.asarray(real(1000))
    origin = origin_of(er.sum(x))
    assert isinstance(origin, Call)
    assert origin.inputs["x"] is x
