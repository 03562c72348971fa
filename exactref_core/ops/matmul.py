"""matmul: matrix products, batched and broadcast."""

from __future__ import annotations

from typing import Any

from exactref_core.errors import InputError
from exactref_core.op import Domain, Op
from exactref_core.ops.dtypes import NUMBERS
from exactref_core.ops.products import contract

__all__ = ["OPS"]


def define(v: Any, A: Any, B: Any) -> Any:
    """Matrix product of A (..., m, k) and B (..., k, n), leading axes broadcast.

    sum_k A_ik B_kj. A one-dimensional operand is a row on the left, a column on the right, and its
    axis is absent from the output; a product over no terms is 0.
    """
    for name, x in (("A", A), ("B", B)):
        if not x.shape:
            raise InputError(
                f"{name} has no axes; matmul takes vectors and matrices (use multiply)"
            )
    left, right = A.shape, B.shape
    a = v.arrange(A, (1, *left)) if len(left) == 1 else A
    b = v.arrange(B, (*right, 1)) if len(right) == 1 else B
    if a.shape[-1] != b.shape[-2]:
        raise InputError(
            f"A with shape {left} and B with shape {right} do not match: the last axis of A has "
            f"{a.shape[-1]} elements and the axis of B it meets has {b.shape[-2]}"
        )
    v.broadcast_shapes(a.shape[:-2], b.shape[:-2], "the leading axes of A and B")
    product = v.matmul(a, b)
    shape = product.shape[:-2]
    shape += () if len(left) == 1 else (a.shape[-2],)
    shape += () if len(right) == 1 else (b.shape[-1],)
    return v.arrange(product, shape)


def backward(v: Any, grad_output: Any, A: Any, B: Any) -> Any:
    """grad_output B^H and A^H grad_output; sums over leading axes that were broadcast, with those
    of the product or after them.
    """
    a = v.arrange(A, (1, *A.shape)) if len(A.shape) == 1 else A
    b = v.arrange(B, (*B.shape, 1)) if len(B.shape) == 1 else B
    batch = v.broadcast_shapes(a.shape[:-2], b.shape[:-2], "the leading axes of A and B")
    g = v.arrange(grad_output, (*batch, a.shape[-2], b.shape[-1]))
    wide = [v.conjugate(v.spread(x, (*batch, *x.shape[-2:]))) for x in (a, b)]
    last = len(batch)  # of the two axes of matrices
    found = {}
    for name, x, pair, axes in (
        ("A", a, (g, wide[1]), (last, last + 1)),
        ("B", b, (wide[0], g), (last + 1, last)),
    ):
        staged = v.sum_to(products(v, pair, [], axes), x.shape)
        found[name] = staged
        if gone := broadcast_axes(x.shape[:-2], batch):
            direct = v.arrange(products(v, pair, gone, axes), x.shape)
            found[name] = v.one_of(direct, direct, staged)
    return {name: v.arrange(found[name], x.shape) for name, x in (("A", A), ("B", B))}


def products(v: Any, pair: Any, gone: list[int], axes: tuple[int, int]) -> Any:
    """Return products of a pair over the second of ``axes`` and the leading axes ``gone``."""
    kept = [i for i in range(len(pair[0].shape) - 2) if i not in gone]
    summed = [*gone, axes[1]]
    x, y = pair
    return contract(v, x, y, (kept, kept), ([axes[0]], [axes[0]]), (summed, summed))


def broadcast_axes(shape: tuple[int, ...], batch: tuple[int, ...]) -> list[int]:
    """Return the axes of ``batch`` along which an operand with leading axes ``shape`` repeats."""
    whole = (*(0 for _ in range(len(batch) - len(shape))), *shape)
    return [i for i, (own, extent) in enumerate(zip(whole, batch, strict=True)) if own != extent]


OPS = (
    Op("matmul", define, ("A", "B"), Domain("(m?,n),(n,p?)->(m?,p?)", NUMBERS), backward=backward),
)
