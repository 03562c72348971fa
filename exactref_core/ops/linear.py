"""linear, addmm: matrix products with something added."""

from __future__ import annotations

from typing import Any

from exactref_core.errors import InputError
from exactref_core.op import Domain, Op
from exactref_core.ops.dtypes import NUMBERS

__all__ = ["OPS"]


def linear(v: Any, x: Any, weight: Any, bias: Any = None) -> Any:
    """Linear map x weight^T + bias of vectors x (..., k) by weight (n, k) and bias (n).

    sum_k x_k weight_nk + bias_n, as torch.nn.functional.linear. The bias is added to the sum of the
    products, or is one of its terms, first or last.
    """
    if not x.shape or len(weight.shape) != 2 or x.shape[-1] != weight.shape[-1]:
        raise InputError(
            f"x has shape {x.shape} and weight {weight.shape}; linear takes x (..., k) and "
            "weight (n, k)"
        )
    n, k = weight.shape
    if bias is not None and bias.shape != (n,):
        raise InputError(
            f"bias has shape {bias.shape}; weight with shape {weight.shape} needs ({n},)"
        )
    count = 1
    for extent in x.shape[:-1]:
        count *= extent
    rows, columns = v.arrange(x, (count, k)), v.swap_last(weight)
    if bias is None:
        product = v.matmul(rows, columns)
    else:
        one = v.number(1, "1", x)
        product = v.product_plus(rows, columns, v.arrange(bias, (1, n)), one, one)
    return v.arrange(product, (*x.shape[:-1], n))


def linear_backward(v: Any, grad_output: Any, x: Any, weight: Any, bias: Any = None) -> Any:
    """grad_output weight for x, grad_output^T x for the weight, the sum of rows for the bias."""
    n, k = weight.shape
    count = 1
    for extent in x.shape[:-1]:
        count *= extent
    g, rows = v.arrange(grad_output, (count, n)), v.arrange(x, (count, k))
    return {
        "x": v.arrange(v.matmul(g, v.conjugate(weight)), x.shape),
        "weight": v.matmul(v.swap_last(g), v.conjugate(rows)),
        "bias": g,
    }


def addmm(v: Any, input: Any, mat1: Any, mat2: Any, beta: Any = 1, alpha: Any = 1) -> Any:
    """Matrix product with an addend, beta * input + alpha * (mat1 @ mat2).

    mat1 (m, k), mat2 (k, n), input broadcast to (m, n); names and defaults as torch.addmm. With
    ``beta=0`` the input is not read, so that its infinities and NaN do not matter.
    """
    for name, x in (("mat1", mat1), ("mat2", mat2)):
        if len(x.shape) != 2:
            raise InputError(f"{name} has shape {x.shape}; addmm takes matrices (m, k) and (k, n)")
    if mat1.shape[1] != mat2.shape[0]:
        raise InputError(
            f"mat1 with shape {mat1.shape} and mat2 with shape {mat2.shape} do not match: mat1 has "
            f"{mat1.shape[1]} columns and mat2 {mat2.shape[0]} rows"
        )
    shape = (mat1.shape[0], mat2.shape[1])
    if v.broadcast_shapes(input.shape, shape, "input and mat1 @ mat2") != shape:
        raise InputError(f"input has shape {input.shape}, which does not broadcast to {shape}")
    first, factor = v.number(beta, "beta", input), v.number(alpha, "alpha", input)
    if beta == 0:
        product = v.matmul(mat1, mat2)
        return product if alpha == 1 else v.scaled_product(mat1, mat2, product, factor)
    two = (1,) * (2 - len(input.shape)) + tuple(input.shape)
    return v.product_plus(mat1, mat2, v.arrange(input, two), factor, first)


def addmm_backward(
    v: Any, grad_output: Any, input: Any, mat1: Any, mat2: Any, beta: Any = 1, alpha: Any = 1
) -> Any:
    """beta grad_output for the input, alpha grad_output mat2^H and alpha mat1^H grad_output.

    alpha and beta are conjugated where they are complex. Sums over what the input was broadcast to
    are taken before or after the product with beta. With ``beta=0`` the input has the gradient 0; a
    kernel that multiplies all the same gives NaN where grad_output, or a sum of it, is not finite.
    """
    first = v.number(beta.conjugate(), "beta", input)
    factor = v.number(alpha.conjugate(), "alpha", input)
    if beta == 1:
        addend = v.sum_to(grad_output, input.shape)
    else:
        before = v.scale_by(v.sum_to(grad_output, input.shape), first)
        after = v.sum_to(v.scale_by(grad_output, first), input.shape)
        alone = grad_output.shape == input.shape
        zero = () if beta else (v.zeros_like(input),)
        ways = (*zero, before) if alone else (*zero, before, after)
        addend = before if ways == (before,) else v.one_of(ways[0], *ways)
    pairs = {"mat1": (grad_output, v.adjoint(mat2)), "mat2": (v.adjoint(mat1), grad_output)}
    found = {"input": addend}
    for name, (x, y) in pairs.items():
        product = v.matmul(x, y)
        found[name] = product if alpha == 1 else v.scaled_product(x, y, product, factor)
    return found


OPS = (
    Op(
        "linear",
        linear,
        ("x", "weight"),
        Domain("(m?,k),(n,k)->(m?,n)", NUMBERS, leading=False),
        {"bias": None},
        optional=("bias",),
        backward=linear_backward,
    ),
    Op(
        "addmm",
        addmm,
        ("input", "mat1", "mat2"),
        Domain("(m,n),(m,k),(k,n)->(m,n)", NUMBERS, leading=False),
        {"beta": 1, "alpha": 1},
        backward=addmm_backward,
    ),
)
