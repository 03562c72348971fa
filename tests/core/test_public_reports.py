"""Publicly reported results of real kernels, judged; each test names the report."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import exactref as er
from exactref_core.compare import judge

INF, NAN = math.inf, math.nan
H = 1.7976931348623157e308


def covers(result: Any, output: Any, standard: str = "any_order") -> bool:
    """Whether every element (both parts of a complex one) is covered."""
    return bool(result.covers(er.asarray(output, result.dtype), standard).all())


def f16(values: list[float]) -> er.Array:
    return er.asarray(values, "float16")


def f32(values: Any) -> er.Array:
    return er.asarray(values, "float32")


def c64(value: complex) -> er.Array:
    return er.asarray([value], "complex64")


def c128(real: float, imag: float) -> np.ndarray:
    z = np.empty(1, np.complex128)
    z.real, z.imag = real, imag
    return z


def test_mean_of_float16_whose_sum_it_does_not_hold() -> None:  # pytorch#44350
    result = er.mean(f16([40000.0] * 3))
    assert result.rounded.tolist() == 40000.0
    assert not covers(result, INF)
    ones = er.mean(f16([1.0] * 65520))
    assert ones.rounded.tolist() == 1.0
    assert not covers(ones, NAN)


def test_sum_of_float16_that_cancels() -> None:  # pytorch#2391
    result = er.sum(f16([32000.0] * 4 + [-32000.0] * 4))
    assert result.rounded.tolist() == 0.0
    assert not covers(result, INF)


def test_sum_that_loses_every_one() -> None:  # numpy#8869
    result = er.sum(f32([16777216.0, 1.0, 1.0, 1.0, 1.0]))
    assert result.rounded.tolist() == 16777220.0
    # An index-order loop returns it, so that it is normal by definition.
    assert result.normal().tolist() == 16777216.0
    assert covers(result, 16777216.0, "normal")
    assert not covers(result, 16777212.0, "any_order")


@pytest.mark.parametrize("axis", [None, 1])
def test_a_mean_of_so_many_ones_that_nothing_is_guaranteed(axis: int | None) -> None:
    # numpy#8869 at full size: a float32 loop stops at 2^24, and a mean of 0.5 is normal.
    ones = np.broadcast_to(np.float32(1), (1, 1 << 25))
    result = er.mean(ones, axis=axis)
    half = np.full(result.shape, 0.5, np.float32)
    (judged,) = judge(half, result)
    assert result.rounded.values().reshape(-1).tolist() == [1.0]
    assert judged.verdict == "normal"
    assert judged.vacuous == 1  # and is said aloud


def test_mean_of_a_constant_by_a_loop() -> None:  # pandas#22385
    x = np.full(60000, 1e6, np.float32)
    total = np.add.accumulate(x)[-1]
    assert total / np.float32(60000) == 999645.0
    result = er.mean(x)
    assert result.rounded.tolist() == 1e6
    assert covers(result, 999645.0, "normal")
    assert not covers(result, 990000.0, "any_order")


def test_both_orders_of_eight_numbers_are_normal() -> None:  # numpy#7368
    x = [-462914.25, -4450888.0, -3546839.0, 7919.85400391]
    x += [-3874966.25, -1358369.625, -420256.46875, -336801.9375]
    result = er.sum(f32(x))
    assert result.rounded.tolist() == -14443116.0
    assert covers(result, -14443116.0, "normal")
    assert covers(result, -14443115.0, "normal")


def test_mean_of_integers_that_wrapped() -> None:  # tensorflow#125978
    result = er.mean(np.array([2147483647, 2147483647], np.int32), dtype="float64")
    assert result.rounded.tolist() == 2147483647.0
    assert not covers(result, -1.0)


def test_sum_of_negative_zeros() -> None:  # numpy#21218
    result = er.sum([-0.0, -0.0, -0.0])
    assert covers(result, 0.0, "normal")
    assert covers(result, -0.0, "normal")


def test_modulus_of_a_small_complex_number() -> None:  # dlang/phobos#10491
    result = er.abs(c64(-5.016558e-20))
    assert result.rounded.tolist() == [float(np.float32(5.016558e-20))]
    assert not covers(result, [6.2102e7])


def test_modulus_of_an_infinity_beside_nan() -> None:  # jax#37817
    result = er.abs(c128(INF, NAN))
    assert result.rounded.tolist() == [INF]
    assert not covers(result, [NAN])


def test_modulus_at_the_edge() -> None:  # ccmath#152
    result = er.abs(c64(complex(3.40282347e38, 9.18e34)))
    assert result.rounded.tolist() == [INF]
    assert covers(result, [INF], "normal")
    assert covers(result, [3.4028234663852886e38], "normal")


def test_products_in_tfloat32() -> None:  # pytorch: TF32 matmul on by default
    result = er.matmul(f32([1024.5]), f32([[1.0]]))
    assert result.rounded.tolist() == [1024.5]
    assert not covers(result, [1025.0])
    z = f32([0.0, 3.14])
    square = er.matmul(z, z)
    assert square.rounded.tolist() == float(np.float32(9.859600658798))
    assert not covers(square, 9.8616)


def test_partial_sums_in_bfloat16() -> None:
    a, b = (er.asarray(x, "bfloat16") for x in ([1000.0, 1.0, -1000.0, 0.0], [1.0] * 4))
    result = er.matmul(a, b)
    assert result.rounded.tolist() == 1.0
    assert not covers(result, 0.0)


def test_saturating_integer_products() -> None:
    a, b = np.array([255, 255], np.int32), np.array([127, 127], np.int32)
    result = er.matmul(a, b, dtype="float32")
    assert result.rounded.tolist() == 64770.0
    assert not covers(result, 32767.0)


def test_integer_matmul_with_zero_points() -> None:
    a = np.array([[238, 115, 94], [245, 111, 102], [158, 225, 48]]) - 42
    b = np.array([[25, 36, 125], [42, -123, 76], [-81, -86, 35]]) + 26
    result = er.matmul(a, b, dtype="float32")
    wanted = [[12100.0, 1951.0, 40214.0], [11745.0, 2293.0, 41351.0], [18030.0, -10919.0, 36548.0]]
    assert result.rounded.tolist() == wanted
    assert covers(result, wanted, "normal")


def test_complex_quotients_whose_divisor_squared_underflows() -> None:  # pytorch#92043, #94894
    result = er.divide(c64(0j), c64(1e-36))
    assert result.rounded.tolist() == [0j]
    assert not covers(result, c128(NAN, NAN))
    result = er.divide(c64(complex(-8.3889e-24, -6.1218e-24)), c64(1.0385e-23))
    found = result.rounded.tolist()[0]
    assert found == pytest.approx(complex(-0.8078, -0.58948), rel=1e-4)
    assert not covers(result, c128(NAN, NAN))


def test_complex_reciprocals_of_large_and_small_numbers() -> None:  # rust-num/num-complex#23
    result = er.divide(c128(1, 0), c128(1e300, 1e300))
    assert result.rounded.tolist()[0] == pytest.approx(complex(5e-301, -5e-301), rel=1e-15)
    assert not covers(result, c128(0.0, 0.0))
    result = er.divide(c128(1, 0), c128(1e-301, 1e-301))
    assert result.rounded.tolist()[0] == pytest.approx(complex(5e300, -5e300), rel=1e-15)
    assert not covers(result, c128(INF, -INF))


def test_complex_quotients_of_the_largest_number() -> None:  # llvm-project#76324
    result = er.divide(c128(H, -H), c128(2, 2))
    assert result.rounded.tolist() == [complex(0, -H / 2)]
    assert not covers(result, c128(INF, -H / 2), "normal")
    assert er.divide(c128(H, H), c128(H, H)).rounded.tolist() == [1 + 0j]


def test_complex_infinities_add_by_parts() -> None:  # pytorch#82510
    result = er.add(c128(INF, 0), c128(INF, 0))
    assert result.rounded.tolist() == [complex(INF, 0)]
    assert not covers(result, c128(INF, NAN))


def test_complex_quotients_by_infinity_and_zero() -> None:  # pytorch#52332
    result = er.divide(c128(1, 1), c128(INF, INF))
    assert covers(result, c128(0, 0), "normal")
    result = er.divide(c128(1, 1), c128(0, 0))
    for infinity in (c128(INF, INF), c128(-INF, -INF), c128(NAN, NAN)):
        assert covers(result, infinity, "normal")
    assert not covers(result, c128(1, 1))


def test_a_quotient_that_is_exact() -> None:
    result = er.divide(f32([4.6875]), f32([0.9375]))
    assert result.rounded.tolist() == [5.0]
    assert not covers(result, [5.000000476837158])


def test_bfloat16_products_and_quotients_off_by_one() -> None:
    a, b = (er.asarray([x], "bfloat16") for x in (508.0, 748.0))
    product, quotient = er.multiply(a, b), er.divide(a, b)
    assert product.rounded.tolist() == [380928.0]
    assert not covers(product, [378880.0])
    assert quotient.rounded.tolist() == [0.6796875]
    assert not covers(quotient, [0.67578125])


def test_counts_that_float16_does_not_hold() -> None:  # tensorflow#30230
    result = er.divide(np.array([70000]), np.array([69999]), dtype="float16")
    assert result.rounded.tolist() == [1.0]
    assert not covers(result, [NAN])


def test_integer_products_that_wrapped() -> None:  # pytorch#183901
    result = er.multiply(np.arange(3), np.array([1500000000] * 3), dtype="float64")
    assert result.rounded.tolist() == [0.0, 1.5e9, 3e9]
    assert not covers(result, [0.0, 1.5e9, -1294967296.0])
