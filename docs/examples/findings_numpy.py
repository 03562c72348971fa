"""What judging numpy, ml_dtypes and scipy found, each on the smallest input that is known."""

from __future__ import annotations

import importlib

import ml_dtypes
import numpy as np

import exactref as er
from docs.examples.finding import Case, array, complex_array, covered_by, finding

INF = float("inf")


@finding(
    "`np.sum(x, axis=0)`, float16",
    "columns `[2048, 1, 1]` and `[0, 0, 0]`",
    "2048",
    "sums of columns are stored in float16 (sums of rows are not)",
)
def numpy_sum_of_columns() -> Case:
    x = array([[2048, 0], [1, 0], [1, 0]], "float16")
    return Case(lambda: np.sum(x, axis=0), er.sum(x, axis=0))


@finding("`np.sum` of ml_dtypes, bfloat16", "`[256, 1, 1]`", "256", "sums are stored in bfloat16")
def numpy_sum_of_bfloat16() -> Case:
    x = array([256, 1, 1], "bfloat16")
    return Case(lambda: np.sum(x), er.sum(x))


@finding("`np.mean` of ml_dtypes, bfloat16", "`[256, 1, 1, 1]`", "64", "the same")
def numpy_mean_of_bfloat16() -> Case:
    x = array([256, 1, 1, 1], "bfloat16")
    return Case(lambda: np.mean(x), er.mean(x))


@finding("`np.cumsum`, float16", "`[2048, 1, 1]`, element 2", "2048", "sums are stored in float16")
def numpy_cumulative_sum_of_float16() -> Case:
    x = array([2048, 1, 1], "float16")
    return Case(lambda: np.cumsum(x), er.cumulative_sum(x), 2)


@finding("`np.std`, `np.var`, float16", "`[0, 512]`", "inf", "squares are stored in float16")
def numpy_deviation_of_float16() -> Case:
    x = array([0, 512], "float16")
    return Case(lambda: np.std(x), er.std(x))


@finding("`np.linalg.vector_norm`, float16", "`[256]`", "inf", "the same")
def numpy_norm_of_float16() -> Case:
    x = array([256], "float16")
    return Case(lambda: np.linalg.vector_norm(x), er.vector_norm(x))


@finding(
    '`np.einsum("ik,kj->ij")`, float16',
    "`[[2048, 1, 1]]` times ones, 3 x 2",
    "2048",
    "products are added in float16; `np.matmul` does not do so",
)
def numpy_einsum_of_float16() -> Case:
    A, B = array([[2048, 1, 1]], "float16"), np.ones((3, 2), np.float16)
    return Case(lambda: np.einsum("ik,kj->ij", A, B), er.matmul(A, B))


@finding(
    "`x.astype(ml_dtypes.bfloat16)`, float64",
    "1 + 2^-8 + 2^-40",
    "1",
    "rounds to float32 first; ml_dtypes 0.7 is right",
    library="ml_dtypes",
)
def numpy_cast_to_bfloat16() -> Case:
    x = np.array([1 + 2.0**-8 + 2.0**-40])
    return Case(lambda: x.astype(ml_dtypes.bfloat16), er.astype(x, "bfloat16"))


@finding(
    "`np.divide`, complex64",
    "1e-40 / 1e-40",
    "inf + nan i",
    "multiplies by the divisor's reciprocal, which is infinite; covered with `flush_to_zero=True`",
)
def numpy_complex_divide() -> Case:
    x = complex_array([1e-40], [0])
    r = er.divide(x, x)
    return Case(lambda: np.divide(x, x), r, declared=covered_by(r, flush_to_zero=True))


@finding(
    "`np.mean`, complex64",
    "inf + i",
    "inf + nan i",
    'the sum is divided by n + 0i; covered with `complex_infinities="any"`',
)
def numpy_complex_mean() -> Case:
    x = complex_array([INF], [1])
    declared = er.mean(x, complex_infinities="any")
    return Case(lambda: np.mean(x), er.mean(x), declared=covered_by(declared))


@finding(
    "`np.matmul`, complex64",
    "2 x 2 filled with inf + i, times 2 x 2 filled with 1 + i",
    "nan + nan i",
    'the products are multiplied by alpha = 1 + 0i; covered with `complex_infinities="any"`',
)
def numpy_complex_matmul() -> Case:
    A, B = complex_array([[INF, INF]] * 2, [[1, 1]] * 2), complex_array([[1, 1]] * 2, [[1, 1]] * 2)
    declared = er.matmul(A, B, complex_infinities="any")
    return Case(lambda: np.matmul(A, B), er.matmul(A, B), declared=covered_by(declared))


@finding(
    "`np.log1p`, complex64",
    "0.0001",
    "0.000100011595 + 0i",
    "the modulus of 1 + z is rounded before its logarithm is taken; complex128 too",
)
def numpy_complex_log1p() -> Case:
    z = complex_array([1e-4], [0])
    return Case(lambda: np.log1p(z), er.log1p(z))


@finding(
    "`np.expm1`, complex64",
    "inf",
    "inf + nan i",
    "e^x is multiplied by sin 0 where cexp has a table; `torch.expm1` too; covered with "
    '`complex_infinities="any"`',
)
def numpy_complex_expm1() -> Case:
    z = complex_array([INF], [0])
    declared = er.expm1(z, complex_infinities="any")
    return Case(lambda: np.expm1(z), er.expm1(z), declared=covered_by(declared))


@finding(
    "`np.power`, complex64",
    "2^65 and -2",
    "nan + nan i",
    "an integer exponent is a product, which overflows, and its reciprocal",
)
def numpy_complex_power() -> Case:
    z, w = complex_array([2.0**65], [0]), complex_array([-2], [0])
    return Case(lambda: np.power(z, w), er.pow(z, w))


@finding(
    "`scipy.special.digamma`, float64",
    "-2 + 2^-30",
    "-1073741829.742097",
    "pi x is reduced to a whole turn, not to half of one, as in torch",
)
def scipy_digamma() -> Case:
    x = np.array([-2 + 2.0**-30])
    return Case(lambda: importlib.import_module("scipy.special").digamma(x), er.digamma(x))


@finding(
    "`scipy.special.gammaln`, float64",
    "1.9375",
    "-0.02514761940298882",
    "right to 1e-16 absolutely near 1 and 2, not relatively",
)
def scipy_gammaln() -> Case:
    x = np.array([1.9375])
    return Case(lambda: importlib.import_module("scipy.special").gammaln(x), er.lgamma(x))
