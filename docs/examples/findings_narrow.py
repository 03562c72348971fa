"""What judging torch's CPU kernels of bfloat16 and float16 found, and Triton's interpreter."""

from __future__ import annotations

import importlib
import os
from dataclasses import replace
from typing import Any

import numpy as np

import exactref as er
from docs.examples.finding import Case, array, covered_by, finding, on_autograd, on_torch, tensor


@finding(
    "`x.to(torch.float16)`, float64",
    "1 + 2^-11 + 2^-40",
    "1",
    "rounds to float32 first",
)
def torch_cast_to_float16() -> Case:
    x = np.array([1 + 2.0**-11 + 2.0**-40])
    return Case(on_torch(lambda torch, x: x.to(torch.float16), x), er.astype(x, "float16"))


def ones(m: int, k: int, n: int) -> list[Any]:
    """Matrices of ones; beyond 4096 multiply-adds torch takes oneDNN's kernel."""
    return [array(np.ones(shape), "bfloat16") for shape in ((m, k), (k, n))]


@finding(
    "`torch.matmul`, bfloat16",
    "17 x 16 filled with 2^-127, times ones 16 x 16",
    "0",
    "subnormal inputs are flushed once m k n exceeds 4096, `tensordot` too; covered with "
    "`flush_to_zero=True`",
)
def torch_bfloat16_matmul_flushes() -> Case:
    A, B = ones(17, 16, 16)
    A[:] = 2.0**-127
    r = er.matmul(A, B)
    return Case(
        on_torch(lambda _, A, B: A @ B, A, B), r, declared=covered_by(r, flush_to_zero=True)
    )


@finding(
    "`torch.matmul`, bfloat16",
    "17 x 17 ones but for an infinity in row 1, column 0, times ones: row 0",
    "nan",
    "for an odd inner axis the row's padding is the first element of the next row, times zero",
    on="AMX",
)
def torch_bfloat16_matmul_leaks() -> Case:
    A, B = ones(17, 17, 17)
    A[1, 0] = np.inf
    return Case(on_torch(lambda _, A, B: (A @ B)[0], A, B), er.matmul(A[0], B))


def inverse_root(value: float, dtype: str) -> Case:
    """A reciprocal square root of one number."""
    x = array([value], dtype)
    return Case(on_torch(lambda torch, x: torch.rsqrt(x), x), er.rsqrt(x))


@finding(
    "`torch.rsqrt`, bfloat16",
    "11",
    "0.302734375",
    "the root is stored in 16 bits before the quotient",
)
def torch_rsqrt_bfloat16() -> Case:
    return inverse_root(11, "bfloat16")


@finding("`torch.rsqrt`, float16", "17", "0.242431640625", "the same")
def torch_rsqrt_float16() -> Case:
    return inverse_root(17, "float16")


def dot(dtype: str, u: float) -> Case:
    """A dot product whose products do not fit the format, in a batch of one."""
    x, y = array([[1 + u, -1]], dtype), array([[1 + u, 1 + 2 * u]], dtype)
    return Case(on_torch(lambda torch, x, y: torch.linalg.vecdot(x, y), x, y), er.vecdot(x, y))


@finding(
    "`torch.linalg.vecdot`, in batches, bfloat16",
    "`[1 + u, -1]` and `[1 + u, 1 + 2u]`, u = 2^-7",
    "0",
    "products are stored in 16 bits",
)
def torch_vecdot_bfloat16() -> Case:
    return dot("bfloat16", 2.0**-7)


@finding("`torch.linalg.vecdot`, in batches, float16", "the same, u = 2^-10", "0", "the same")
def torch_vecdot_float16() -> Case:
    return dot("float16", 2.0**-10)


@finding(
    "`torch.erf`, float16",
    "2^-24",
    "0",
    "right to about 1e-7 absolutely, not relatively; bfloat16 too",
)
def torch_erf_float16() -> Case:
    x = np.full(64, 2.0**-24, np.float16)
    return Case(on_torch(lambda torch, x: torch.erf(x), x), er.erf(x))


def gelus(value: float, dtype: str) -> Case:
    """The gelu of two equal numbers."""
    x = array([value] * 2, dtype)
    r = er.gelu(x)
    return Case(on_torch(lambda torch, x: torch.nn.functional.gelu(x), x), r)


@finding(
    "`gelu` of torch, bfloat16",
    "2^-131, in an array of 2",
    "0",
    "subnormal numbers are flushed, those of its gradient too; covered with `flush_to_zero=True`",
)
def torch_gelu_bfloat16_flushes() -> Case:
    case = gelus(2.0**-131, "bfloat16")
    return replace(case, declared=covered_by(case.result, flush_to_zero=True))


@finding(
    "`gelu` of torch, bfloat16",
    "2^127, in an array of 2",
    "inf",
    "from 2^127 on, where twice x overflows float32; single numbers are right; float32 too",
)
def torch_gelu_bfloat16_overflows() -> Case:
    return gelus(2.0**127, "bfloat16")


@finding(
    "`gelu` of torch, float16",
    "inf, in an array of 2",
    "nan",
    "single numbers are right",
    on="AMX",
)
def torch_gelu_float16() -> Case:
    return gelus(np.inf, "float16")


@finding(
    "torch's autograd of `tanh`, bfloat16",
    "3, gradient 1",
    "0.0078125",
    "the gradient is computed from the stored output, 0.99609375, of whose distance to 1 little is "
    "left; other gradients too, or step by step, every step stored in bfloat16",
)
def torch_autograd_bfloat16() -> Case:
    x, g = array([3], "bfloat16"), array([1], "bfloat16")
    return Case(on_autograd(lambda torch, x: torch.tanh(x), g, x), er.backward.tanh(g, x))


@finding(
    "`torch.linalg.matrix_exp`, bfloat16",
    "`[[1, 0], [0, 1]]`",
    "-1.2973611611710785e+30",
    "NaN for `[[0.001, 0], [0, 0.001]]`, -20896 for this one in float16; single numbers are right",
)
def torch_matrix_exp_bfloat16() -> Case:
    a = array(np.eye(2), "bfloat16")
    return Case(on_torch(lambda torch, a: torch.linalg.matrix_exp(a), a), er.matrix_exp(a))


@finding(
    "`batch_norm` of torch in training, bfloat16",
    "`[[1.5], [0.5], [0]]`, element 1",
    "-0.26953125",
    "mean and variance are stored in 16 bits; float16 too",
)
def torch_batch_norm_bfloat16() -> Case:
    x = array([[1.5], [0.5], [0]], "bfloat16")
    run = on_torch(lambda torch, x: torch.nn.functional.batch_norm(x, None, None, training=True), x)
    return Case(run, er.batch_norm(x, training=True), 1)


@finding(
    "Triton's interpreter, store, bfloat16",
    "515",
    "512",
    "truncates, where rounding to nearest is the default of Triton's casts",
)
def triton_store_bfloat16() -> Case:
    x = np.full(16, 515, np.float32)

    def output() -> Any:
        os.environ["TRITON_INTERPRET"] = "1"
        torch = importlib.import_module("torch")
        kernel = importlib.import_module("docs.examples.triton_store").store
        out = torch.empty(16, dtype=torch.bfloat16)
        kernel[(1,)](tensor(x), out, 16)
        return out

    return Case(output, er.astype(x, "bfloat16"))


@finding(
    "`torch.pow(x, 3)`, bfloat16",
    "1.0390625",
    "1.1171875",
    "small exponents that are numbers are products, each stored in bfloat16; tensors are right",
)
def torch_bfloat16_cube() -> Case:
    x = array([1.0390625], "bfloat16")
    return Case(on_torch(lambda torch, x: torch.pow(x, 3.0), x), er.pow(x, array([3], "bfloat16")))
