"""What judging torch's CPU kernels of float32, float64 and complex numbers found."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

import exactref as er
from docs.examples.finding import Case, array, complex_array, covered_by, finding, on_torch, tensor

INF, NAN = float("inf"), float("nan")
DIVIDED = 'the sum is divided by n + 0i; covered with `complex_infinities="any"`'


def root(value: float, dtype: str) -> Case:
    """A square root of one number."""
    x = array([value], dtype)
    return Case(on_torch(lambda torch, x: torch.sqrt(x), x), er.sqrt(x))


@finding(
    "`torch.sqrt`, float64",
    "2",
    "1.414213562373095",
    "the vector library's root is not correctly rounded: 6 of 1000 random arguments are an ulp off",
    on="AMX",
)
def torch_sqrt_float64() -> Case:
    return root(2.0, "float64")


@finding("`torch.sqrt`, float32", "267", "16.340134", "the same", on="AMX")
def torch_sqrt_float32() -> Case:
    return root(267.0, "float32")


@finding(
    "`torch.sqrt`, float64",
    "51",
    "7.1414284285428495",
    "the same: of the integers up to 2000, 34 are an ulp off",
    on="AMD",
)
def torch_sqrt_float64_amd() -> Case:
    return root(51.0, "float64")


@finding("`torch.sqrt`, float32", "19", "4.3588986", "the same: 282 of those are", on="AMD")
def torch_sqrt_float32_amd() -> Case:
    return root(19.0, "float32")


@finding(
    "`torch.add`, `torch.sub`, complex64",
    "1 + i and 1 + inf i",
    "nan + inf i",
    "the second operand is multiplied with 1 + 0i, and 0 times an infinity is NaN; covered with "
    '`complex_infinities="any"`',
)
def torch_complex_add() -> Case:
    x1, x2 = complex_array([1], [1]), complex_array([1], [INF])
    declared = covered_by(er.add(x1, x2, complex_infinities="any"))
    run = on_torch(lambda torch, a, b: torch.add(a, b), x1, x2)
    return Case(run, er.add(x1, x2), declared=declared)


@finding(
    "`torch.div`, complex64",
    "1e-40 / 1e-40",
    "inf + nan i",
    "multiplies by the divisor's reciprocal, which is infinite; covered with `flush_to_zero=True`",
)
def torch_complex_divide() -> Case:
    x = complex_array([1e-40], [0])
    r = er.divide(x, x)
    return Case(on_torch(lambda _, x: x / x, x), r, declared=covered_by(r, flush_to_zero=True))


@finding("`torch.mean`, complex64", "inf + i", "inf + nan i", DIVIDED)
def torch_complex_mean() -> Case:
    x = complex_array([INF], [1])
    declared = covered_by(er.mean(x, complex_infinities="any"))
    return Case(on_torch(lambda _, x: x.mean(), x), er.mean(x), declared=declared)


@finding(
    "`torch.matmul`, complex64",
    "2 x 2 filled with inf + i, times 2 x 2 filled with 1 + i",
    "nan + nan i",
    'the products are multiplied by alpha = 1 + 0i; covered with `complex_infinities="any"`',
)
def torch_complex_matmul() -> Case:
    A, B = complex_array([[INF, INF]] * 2, [[1, 1]] * 2), complex_array([[1, 1]] * 2, [[1, 1]] * 2)
    declared = covered_by(er.matmul(A, B, complex_infinities="any"))
    return Case(on_torch(lambda _, A, B: A @ B, A, B), er.matmul(A, B), declared=declared)


@finding(
    "`torch.sinh`, float32",
    "88.7236328125, in an array of 2048",
    "inf",
    "the vector library's e^x overflows before its half is taken; short arrays are right; "
    "`torch.cosh`, float64 and bfloat16 too",
)
def torch_sinh() -> Case:
    x = np.full(2048, 88.7236328125, np.float32)
    return Case(on_torch(lambda torch, x: torch.sinh(x), x), er.sinh(x))


@finding(
    "`gelu` of torch, float32",
    "-3, in an array of 16",
    "-0.004050225",
    "its vectorised erf errs by up to 6u near -1, where a library's function may err by 5u",
)
def torch_gelu_float32() -> Case:
    x = np.full(16, -3, np.float32)
    return Case(on_torch(lambda torch, x: torch.nn.functional.gelu(x), x), er.gelu(x))


@finding(
    "`layer_norm` of torch, float32",
    "`[2^64]`",
    "nan",
    "squares overflow, which the variance does not",
)
def torch_layer_norm_overflows() -> Case:
    x = array([2.0**64], "float32")
    return Case(
        on_torch(lambda torch, x: torch.nn.functional.layer_norm(x, (1,)), x), er.layer_norm(x)
    )


@finding(
    "`group_norm` of torch, float32",
    "`[0, 2^65]`, one group",
    "nan",
    "the same, from `[0, 2^65]` on",
)
def torch_group_norm_overflows() -> Case:
    x = array([[[0, 2.0**65]]], "float32")
    run = on_torch(lambda torch, x: torch.nn.functional.group_norm(x, 1), x)
    return Case(run, er.group_norm(x, 1))


@finding(
    "`torch.digamma`, float64",
    "-2 + 2^-30",
    "-1073741829.742097",
    "pi x is reduced to a whole turn, not to half of one: digits are lost above every negative "
    "integer; float32 is computed in float64",
)
def torch_digamma() -> Case:
    x = np.array([-2 + 2.0**-30])
    return Case(on_torch(lambda torch, x: torch.digamma(x), x), er.digamma(x))


@finding(
    "`torch.pow(x, -2)`, float32",
    "2^66",
    "0",
    "an exponent that is the number -2 is 1 / (x x), whose product overflows; tensors are right",
)
def torch_inverse_square() -> Case:
    x = array([2.0**66], "float32")
    return Case(on_torch(lambda torch, x: torch.pow(x, -2.0), x), er.pow(x, array([-2], "float32")))


@finding(
    "`torch.acos`, complex128",
    "1 + 0.001i",
    "0.03162014077754982 - 0.0316254112399638i",
    "the real part is a difference from pi/2",
)
def torch_complex_acos() -> Case:
    z = np.array([1 + 0.001j])
    return Case(on_torch(lambda torch, z: torch.acos(z), z), er.acos(z))


@finding(
    "`torch.log1p`, complex64",
    "1e-30 + 1e-40i",
    "nan + nan i",
    "divides by a subnormal number through its reciprocal, which is infinite; complex128 too",
)
def torch_complex_log1p_divides() -> Case:
    z = complex_array([1e-30], [1e-40])
    return Case(on_torch(lambda torch, z: torch.log1p(z), z), er.log1p(z))


@finding(
    "`torch.log1p`, complex64",
    "2^24 + i",
    "16.635534 + 5.9604535e-08i",
    "log(1 + z) is corrected by a quotient, whose imaginary part's rounding it multiplies",
)
def torch_complex_log1p() -> Case:
    z = complex_array([2.0**24], [1])
    return Case(on_torch(lambda torch, z: torch.log1p(z), z), er.log1p(z))


def attention(dtype: str, q: Any, k: Any, v: Any, **declared: Any) -> Case:
    """Torch's flash kernel with one query of one feature."""
    arrays = [array(x, dtype).reshape(1, 1, -1, 1) for x in (q, k, v)]

    def output() -> Any:
        nn = importlib.import_module("torch").nn
        with nn.attention.sdpa_kernel(nn.attention.SDPBackend.FLASH_ATTENTION):
            return nn.functional.scaled_dot_product_attention(*map(tensor, arrays))

    plain = er.scaled_dot_product_attention(*arrays)["output"]
    if not declared:
        return Case(output, plain)
    if "weights" in declared:
        algorithm = er.nn.attention.AttentionAlgorithm(**declared)
        wider = er.scaled_dot_product_attention(*arrays, algorithm=algorithm)["output"]
        return Case(output, plain, declared=covered_by(wider))
    return Case(output, plain, declared=covered_by(plain, **declared))


@finding(
    "`scaled_dot_product_attention`, flash, float32",
    "15 scores of -90 with values 1e38, one of 0 with value 0",
    "0",
    "exponentials that would be subnormal are flushed to zero; covered with `flush_to_zero=True`",
)
def torch_flash_attention_float32() -> Case:
    keys, values = [-90.0] * 15 + [0.0], [1e38] * 15 + [0.0]
    return attention("float32", [1.0], keys, values, flush_to_zero=True)


@finding(
    "`scaled_dot_product_attention`, flash, bfloat16",
    "scores `[0, 1]`, values `[3, 0]`",
    "0.8046875",
    "weights are stored in 16 bits, three of four random calls are outside; covered by "
    '`AttentionAlgorithm(weights="bfloat16")`. The math kernel is inside',
)
def torch_flash_attention_bfloat16() -> Case:
    return attention("bfloat16", [1.0], [0.0, 1.0], [3.0, 0.0], weights="bfloat16")


@finding(
    "`scaled_dot_product_attention`, flash, float16",
    "the same",
    "0.80712890625",
    'the same; covered by `AttentionAlgorithm(weights="float16")`',
)
def torch_flash_attention_float16() -> Case:
    return attention("float16", [1.0], [0.0, 1.0], [3.0, 0.0], weights="float16")


@finding(
    "`scaled_dot_product_attention`, flash, float32",
    "query NaN, key 0, value 1",
    "0",
    "a query whose scores are all NaN gets zeros, as one whose keys are all masked; the math "
    "kernel is right",
)
def torch_flash_attention_loses_nan() -> Case:
    return attention("float32", [NAN], [0.0], [1.0])


def masked(key: float) -> Case:
    """Two keys, the second one masked by a bool mask."""
    q, k, v = (np.full((1, 1, n, 2), x, np.float32) for n, x in ((1, 1), (2, 0), (2, 1)))
    k[..., 1, :] = key
    keep = np.array([[True, False]])
    added = np.where(keep, np.float32(0), np.float32(-INF))

    def output() -> Any:
        functional = importlib.import_module("torch").nn.functional
        arrays = map(tensor, (q, k, v))
        return functional.scaled_dot_product_attention(*arrays, attn_mask=tensor(keep))

    r, wider = (er.scaled_dot_product_attention(q, k, v, attn_mask=m) for m in (keep, added))
    return Case(output, r["output"], declared=covered_by(wider["output"]))


@finding(
    "`scaled_dot_product_attention`, bool mask, float32",
    "keys 0 and NaN, the second one masked",
    "nan",
    "a bool mask becomes one of 0 and -inf, which is added, and NaN stays NaN; covered with such a "
    "float mask",
)
def torch_attention_masks_nan() -> Case:
    return masked(NAN)


@finding(
    "`scaled_dot_product_attention`, bool mask, float32",
    "keys 0 and 3e38, the second one masked",
    "nan",
    "the same, where the masked score overflows",
)
def torch_attention_masks_overflow() -> Case:
    return masked(3e38)
