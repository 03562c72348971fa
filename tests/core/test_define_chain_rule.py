"""Gradients of own operations by the chain rule, against automatic differentiation."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import exactref as er
from exactref_core.errors import DTypeError, InputError

F32 = np.float32
COMPLEX = er.extend.Domain("(n),(n)->()", ("float32", "complex64"))


def inputs(*shapes: tuple[int, ...]) -> list[np.ndarray]:
    rng = np.random.default_rng(7)
    return [rng.standard_normal(shape).astype(F32) for shape in shapes]


def fused(v: Any, x: Any, bias: Any, residual: Any, scale: float = 0.5) -> Any:
    hidden = v.multiply(v.gelu(v.add(x, bias), approximate="tanh"), scale)
    return v.layer_norm(v.add(hidden, residual))


def torch_fused(torch: Any, x: Any, bias: Any, residual: Any) -> Any:
    gelu = torch.nn.functional.gelu(x + bias, approximate="tanh")
    return torch.nn.functional.layer_norm(gelu * 0.5 + residual, (x.shape[-1],))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_fused_block_agrees_with_autograd(dtype: str) -> None:
    torch = pytest.importorskip("torch")
    er.define(fused, name="chain_fused", signature="(n),(n),(n)->(n)", backward="chain_rule")
    x, bias, residual, grad = inputs((6, 48), (48,), (6, 48), (6, 48))
    tensors = [torch.tensor(a.astype(dtype), requires_grad=True) for a in (x, bias, residual)]
    torch_fused(torch, *tensors).backward(torch.tensor(grad.astype(dtype)))
    result = er.backward.chain_fused(grad, x, bias, residual)
    for name, tensor in zip(("x", "bias", "residual"), tensors, strict=True):
        found, part = tensor.grad.numpy(), result[f"grad_{name}"]
        if dtype == "float32":
            assert np.asarray(part.covers(found, "any_order")).all(), name
            assert not np.asarray(part.covers(found * F32(1.001), "any_order")).all(), name
        else:
            assert np.allclose(np.asarray(part.rounded), found, rtol=1e-6, atol=1e-6), name


def heads(v: Any, x: Any, w: Any) -> Any:
    split = v.transpose(v.reshape(x, (*x.shape[:-1], 2, x.shape[-1] // 2)), (0, 2, 1))
    kept = v.store(split, "bfloat16")
    product = v.multiply(v.add(kept, v.index(kept, (..., slice(0, 1)))), split)
    back = v.reshape(v.transpose(product, (0, 2, 1)), x.shape)
    return {"weights": v.multiply(v.softmax(back), w), "sum": v.sum(back, axis=-1)}


def test_rearranged_elements_and_several_outputs() -> None:
    torch = pytest.importorskip("torch")
    er.define(
        heads,
        name="chain_heads",
        signature="(n),(n)->(n),()",
        outputs=("weights", "sum"),
        backward="chain_rule",
    )
    x, w, grad, other = inputs((3, 8), (8,), (3, 8), (3,))
    tx, tw = (torch.tensor(a.astype(float), requires_grad=True) for a in (x, w))
    split = tx.reshape(3, 2, 4).transpose(1, 2)
    back = ((split + split[..., :1]) * split).transpose(1, 2).reshape(3, 8)
    outputs = [torch.softmax(back, -1) * tw, back.sum(-1)]
    torch.autograd.backward(outputs, [torch.tensor(g.astype(float)) for g in (grad, other)])
    result = er.backward.chain_heads(grad, x, w, grad_sum=other)
    for name, tensor in (("x", tx), ("w", tw)):
        found = np.asarray(result[f"grad_{name}"].rounded)
        assert np.allclose(found, tensor.grad.numpy(), rtol=1e-6, atol=1e-6), name
    alone = er.backward.chain_heads(grad, x, w)
    assert (
        np.asarray(alone["grad_w"].rounded).tolist()
        == np.asarray(result["grad_w"].rounded).tolist()
    )
    assert not np.allclose(np.asarray(alone["grad_x"].rounded), tx.grad.numpy(), rtol=1e-2)


def test_what_is_stored_has_its_gradient_in_that_format() -> None:
    @er.define(name="chain_stored", backward="chain_rule")
    def stored(v: Any, x: Any) -> Any:
        return v.multiply(v.store(v.multiply(x, 3), "bfloat16"), 1)

    (x, grad) = inputs((50,), (50,))
    part = er.backward.chain_stored(grad, x)["grad_x"]
    narrow = grad.astype(ml_dtypes.bfloat16).astype(F32)
    assert np.asarray(part.covers(narrow * F32(3))).all()
    assert np.asarray(part.covers(grad * F32(3))).all()
    assert np.asarray(part.rounded, F32).tolist() == (grad * F32(3)).tolist()
    assert not np.asarray(part.covers(narrow * F32(3.05))).any()


def test_a_loop_of_any_length_and_a_value_used_often() -> None:
    @er.define(name="chain_loop", backward="chain_rule")
    def loop(v: Any, x: Any) -> Any:
        y = x
        for _ in range(500):
            y = v.add(v.multiply(y, 0.5), x)
        return v.add(v.add(v.multiply(y, x), x), x)

    # y = (2 - 2^-500) x: the slope is 2 (2 - 2^-500) x + 2.
    result = er.backward.chain_loop(er.asarray([1.0], "float64"), er.asarray([0.25], "float64"))
    assert result["grad_x"].rounded.tolist() == [3.0]


def test_what_no_output_is_made_of_has_zeros() -> None:
    er.define(lambda v, x, y: v.add(x, 1), name="chain_apart", backward="chain_rule")
    result = er.backward.chain_apart([2.0], [1.0], [5.0])
    assert result.rounded.grad_x.tolist() == [2.0]
    assert result.rounded.grad_y.tolist() == [0.0]
    # A tensor may be the output, twice over.
    er.define(lambda v, x: v.add(x, x), name="chain_twice", backward="chain_rule")
    assert er.backward.chain_twice([3.0], [1.0]).rounded.tolist() == [6.0]
    er.define(lambda v, x: x, name="chain_same", backward="chain_rule")
    assert er.backward.chain_same([3.0], [1.0]).rounded.tolist() == [3.0]


def test_complex_values_and_numbers_beside_them() -> None:
    torch = pytest.importorskip("torch")

    @er.define(name="chain_complex", domain=COMPLEX, backward="chain_rule", real_output=True)
    def length(v: Any, x: Any, y: Any) -> Any:
        return v.sum(v.abs(v.multiply(v.multiply(v.exp(x), 2 + 1j), v.subtract(x, y))), axis=-1)

    a, b, c, d, grad = inputs((2, 5), (2, 5), (2, 5), (2, 5), (2,))
    x, y = (a + 1j * b).astype(np.complex64), (c + 1j * d).astype(np.complex64)
    assert length(x, y).dtype == "float32"
    tensors = [torch.tensor(z.astype(complex), requires_grad=True) for z in (x, y)]
    value = (tensors[0].exp() * (2 + 1j) * (tensors[0] - tensors[1])).abs().sum(-1)
    value.backward(torch.tensor(grad.astype(float)))
    result = er.backward.chain_complex(grad, x, y)
    for name, tensor in zip("xy", tensors, strict=True):
        found = np.asarray(result[f"grad_{name}"].rounded, complex)
        assert np.allclose(found, tensor.grad.numpy(), rtol=1e-5, atol=1e-5), name
    er.define(lambda v, x, y: v.multiply(x, v.abs(y)), name="chain_mixed", domain=COMPLEX)
    with pytest.raises(DTypeError, match=r"multiply in a definition: .*'x2': 'real'"):
        er.chain_mixed(x, y)
    er.define(lambda v, x, y: v.add(x, v.complex(v.abs(y))), name="chain_lifted", domain=COMPLEX)
    assert er.chain_lifted([3 + 1j], [3 + 4j]).rounded.tolist() == [8 + 1j]


def test_what_has_no_gradient_is_named() -> None:
    er.define(lambda v, x: x, name="chain_none")
    er.define(lambda v, x: v.chain_none(x), name="chain_over", backward="chain_rule")
    with pytest.raises(InputError, match="chain_none has no gradient; state backward="):
        er.backward.chain_over([1.0], [1.0])
    er.define(lambda v, x: v.root(x), name="chain_verb", backward="chain_rule")
    with pytest.raises(InputError, match="the verb 'sqrt' itself"):
        er.backward.chain_verb([1.0], [1.0])


def test_own_operations_inside_each_other() -> None:
    @er.define(name="chain_inner", backward="chain_rule")
    def inner(v: Any, x: Any, s: float = 2.0) -> Any:
        return v.multiply(v.square(x), s)

    @er.define(name="chain_pair", outputs=("first", "second"), backward="chain_rule")
    def pair(v: Any, x: Any) -> Any:
        return {"first": v.square(x), "second": v.multiply(x, 5)}

    @er.define(name="chain_outer", backward="chain_rule")
    def outer(v: Any, x: Any) -> Any:
        return v.add(v.chain_inner(x, s=3.0), v.chain_pair(v.chain_inner(x))["second"])

    # 3 x^2 + 5 (2 x^2) = 13 x^2.
    assert outer([1.5, -2.0]).rounded.tolist() == [29.25, 52.0]
    assert er.backward.chain_outer([1.0, 2.0], [1.5, -2.0]).rounded.tolist() == [39.0, -104.0]
    er.define(lambda v, x: v.add(v.chain_pair(x), 1), name="chain_all_of_a_pair")
    with pytest.raises(DTypeError, match=r"add: x1 .* \['first', 'second'\] of an operation: take"):
        er.chain_all_of_a_pair([1.0])
