"""Small calls of operations of every kind, whose outputs are split into blocks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import exactref as er

F32 = np.float32
RNG = np.random.default_rng(20)


def real(*shape: int) -> Any:
    return RNG.standard_normal(shape).astype(F32)


def complex_(*shape: int) -> Any:
    return (real(*shape) + 1j * real(*shape)).astype(np.complex64)


X = real(6, 5, 7)
# Special values take part: a block may hold some where the whole does not, and the other way round.
X[1, 2, 3], X[4, 0, 0], X[5, 4, 6] = np.inf, np.nan, -0.0
HEADS = [real(2, 3, 6, 4), real(2, 3, 5, 4), real(2, 3, 5, 4)]
CASES: dict[str, Callable[[], Any]] = {
    "add, broadcast": lambda: er.add(X, real(5, 7)),
    "multiply by a column": lambda: er.multiply(X, real(6, 1, 1)),
    "complex multiply": lambda: er.multiply(complex_(6, 5), complex_(5)),
    "complex divide": lambda: er.divide(complex_(6, 5), complex_(5)),
    "complex sqrt": lambda: er.sqrt(complex_(6, 5)),
    "square": lambda: er.square(X),
    "sum": lambda: er.sum(X, axis=-1),
    "sum of the first axis": lambda: er.sum(X, axis=0),
    "mean": lambda: er.mean(X, axis=-1, keepdims=True),
    "prod": lambda: er.prod(X, axis=-1),
    "max": lambda: er.max(X, axis=-1),
    "var": lambda: er.var(X, axis=-1),
    "vector_norm": lambda: er.vector_norm(X, axis=-1),
    "cumulative_sum": lambda: er.cumulative_sum(X, axis=-1),
    "softmax": lambda: er.softmax(X),
    "softmax over the first axis": lambda: er.softmax(X, axis=0),
    "softmax over the middle axis": lambda: er.softmax(X, axis=1),
    "layer_norm of a sum over the first axis": lambda: er.layer_norm(er.sum(X, axis=0), 7),
    "outer": lambda: er.outer(real(9), real(8)),
    "einsum": lambda: er.einsum("ij,kj->ki", real(9, 8), real(6, 8)),
    "batch_norm": lambda: er.batch_norm(real(4, 6, 3), None, None, real(6), real(6), training=True),
    "matrix_exp": lambda: er.matrix_exp(real(3, 4, 4)),
    "complex matrix_exp": lambda: er.matrix_exp(complex_(2, 3, 3)),
    "log_softmax": lambda: er.log_softmax(X),
    "logsumexp": lambda: er.logsumexp(X, axis=-1),
    "matmul": lambda: er.matmul(real(9, 8), real(8, 6)),
    "batched matmul": lambda: er.matmul(real(3, 9, 8), real(8, 6)),
    "complex matmul": lambda: er.matmul(complex_(9, 4), complex_(4, 3)),
    "linear": lambda: er.linear(real(9, 4), real(3, 4), real(3)),
    "addmm": lambda: er.addmm(real(6, 3), real(6, 4), real(4, 3)),
    "where": lambda: er.where(RNG.random((6, 5, 7)) > 0.5, X, real(6, 5, 7)),
    "maximum": lambda: er.maximum(X, real(7)),
    "gelu": lambda: er.gelu(X),
    "layer_norm": lambda: er.layer_norm(X, 7, real(7), real(7)),
    "rms_norm": lambda: er.rms_norm(X, 7, real(7)),
    "group_norm": lambda: er.group_norm(real(4, 6, 3), 2, real(6), real(6)),
    "rope": lambda: er.rope(real(2, 3, 6, 4), real(6, 2), real(6, 2)),
    "cross_entropy": lambda: er.cross_entropy(real(6, 4), np.arange(6) % 4, reduction="none"),
    "causal attention": lambda: er.scaled_dot_product_attention(*HEADS, is_causal=True),
    "biased attention": lambda: er.scaled_dot_product_attention(*HEADS, attn_mask=real(6, 5)),
    "softmax's gradient": lambda: er.backward.softmax(real(6, 5), real(6, 5)),
    "matmul's gradient": lambda: er.backward.matmul(real(6, 3), real(6, 4), real(4, 3)),
    "max's gradient": lambda: er.backward.max(real(6, 5), np.round(X * 2), axis=-1),
    "maximum's gradient": lambda: er.backward.maximum(X, real(6, 5, 7), X)["grad_x1"],
    "group_norm's gradient": lambda: er.backward.group_norm(real(4, 6, 3), real(4, 6, 3), 2),
    "chain": lambda: er.softmax(er.add(er.matmul(real(6, 4), real(4, 5)), real(5))),
}
