"""Hard cases of sums, products and elementwise steps; expectations worked out by hand."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import exactref as er

ETA = 2.0**-149  # the smallest float32
FLT_MAX = 3.4028234663852886e38


def ends(result: Any, standard: str = "normal") -> list[Any]:
    return [end.tolist() for end in result.finite_range(standard)]


def test_a_float32_sum_stored_as_bfloat16_may_round_twice() -> None:
    x = [er.asarray([v], "float32") for v in (1 + 2.0**-8, 2.0**-40)]
    result = er.add(*x, dtype="bfloat16")
    # Exactly the sum is above the middle of 1 and 1 + 2^-7; in float32 it is that middle.
    assert result.rounded.tolist() == [1.0078125]
    assert ends(result) == [[1.0], [1.0078125]]
    assert result.tolerance().tolist() == [2.0**-7]
    assert not result.covers(er.asarray([1.015625], "bfloat16")).any()


def test_blocks_of_32_lose_what_the_loop_keeps() -> None:
    x = [0.0] * 31 + [1e16, -1e16] + [1.0] * 31
    result = er.sum(x)
    # The second block is -1e16 + 1 + ... + 1: each 1 is half a spacing and lost to the even side.
    second = -1e16
    for one in x[33:]:
        second += one
    assert 1e16 + second == 0.0
    assert result.rounded.tolist() == 31.0
    assert result.covers(np.float64(0.0)).all()


def test_products_below_the_smallest_number() -> None:
    a = er.asarray([float.fromhex("0x1.4p-75")] * 4, "bfloat16")
    b = er.asarray([2.0**-75] * 4, "bfloat16")
    result = er.matmul(a, b, dtype="float32")
    # Four times 0.625 eta is 2.5 eta. Rounded one by one, or added by fused steps, it is 4 eta.
    assert result.rounded.tolist() == 2 * ETA
    assert result.covers(np.float32(4 * ETA)).all()
    # 2 eta and a little more: half an eta for each product, and their relative parts.
    assert ends(result) == [0.0, 5 * ETA]
    assert er.matmul(a, b).rounded.tolist() == 0.0


def test_products_that_are_no_multiple_of_the_smallest_number() -> None:
    a, b = (
        [float.fromhex(f"0x{x}p-74") for x in pair] for pair in (("1.38", "1.14"), ("1.c6", "1.08"))
    )
    exact = sum(Fraction(x) * Fraction(y) for x, y in zip(a, b, strict=True)) / Fraction(ETA)
    assert 6.5 < exact < 6.6  # 4.3 + 2.2 eta, stored as 4 + 2
    result = er.matmul(er.asarray(a, "bfloat16"), er.asarray(b, "bfloat16"), dtype="float32")
    assert result.rounded.tolist() == 7 * ETA
    assert result.covers(np.float32(6 * ETA)).all()
    # Half an eta for each product, and a little more.
    assert ends(result) == [5 * ETA, 8 * ETA]


def test_the_real_part_of_a_complex_product_cancels() -> None:
    z = np.array([complex(1 + 2.0**-23, 1)], np.complex64)
    w = np.array([complex(1 + 2.0**-23, 1 + 2.0**-22)], np.complex64)
    result = er.multiply(z, w)
    # (1 + 2^-23)^2 - (1 + 2^-22) = 2^-46: a fused step keeps it, rounded products lose it.
    assert result.rounded.tolist()[0].real == 2.0**-46
    imag = result.rounded.tolist()[0].imag
    for real in (0.0, 2.0**-46):
        assert result.covers(np.array([complex(real, imag)], np.complex64)).all()
    u = Fraction(1, 2**24)
    products = u * (Fraction(1 + 2.0**-23) ** 2 + Fraction(1 + 2.0**-22)) + Fraction(ETA)
    bound = products + u * (Fraction(2.0**-46) + products)
    low, high = (end[0].real for end in ends(result))
    assert Fraction(low) <= Fraction(2.0**-46) - bound < bound + Fraction(2.0**-46) <= high
    assert high <= 1.001 * float(bound)
    assert not result.covers(np.array([complex(1e-6, imag)], np.complex64)).scalars()[0]


def test_blocks_of_32_overflow_where_the_loop_does_not() -> None:
    x = er.asarray([-3e38] + [0.0] * 31 + [3e38, 3e38], "float32")
    result = er.sum(x)
    assert result.rounded.tolist() == float(np.float32(3e38))
    assert [result.may_be(s).tolist() for s in ("+inf", "-inf", "nan")] == [True, False, False]
    assert result.covers(np.float32(np.inf)).all()
    # In the loop alone, 32 terms and fewer, only what comes before the cancellation counts.
    assert not er.sum(er.asarray([-3e38, 0.0, 3e38, 3e38], "float32")).may_be("+inf").any()


def test_an_intermediate_infinity_saturates() -> None:
    x = er.asarray([3e38, 3e38, -3e38], "float32")
    stored = er.sum(x, overflow="saturate")
    assert stored.rounded.tolist() == float(np.float32(3e38))
    assert stored.covers(np.float32(FLT_MAX)).all()
    assert stored.finite_range()[1].tolist() == FLT_MAX
    assert er.sum(x).may_be("+inf").all()
    assert not er.sum(x).covers(np.float32(FLT_MAX)).any()
    # In an order that cancels first nothing overflows.
    calm = er.sum(er.asarray([3e38, -3e38, 3e38], "float32"), overflow="saturate")
    assert not calm.covers(np.float32(FLT_MAX)).any()
    assert calm.covers(np.float32(FLT_MAX), "any_order").all()


@pytest.mark.parametrize("value", [math.inf, -math.inf])
@pytest.mark.parametrize(("form", "largest"), [("float16", 65504.0), ("float8_e4m3fn", 448.0)])
def test_an_infinite_input_saturates(form: str, largest: float, value: float) -> None:
    result = er.sum(er.asarray([value, 1.0], "float32"), dtype=form, overflow="saturate")
    assert ends(result) == [math.copysign(largest, value)] * 2
    assert er.sum(er.asarray([value], "float32"), dtype="float8_e4m3fn").may_be("nan").all()
    assert not er.sum(er.asarray([value], "float32"), dtype="float8_e4m3fn").may_be("+inf").any()


def test_integers_that_float32_does_not_hold() -> None:
    result = er.sum(np.array([16777217, -16777219]), dtype="float32")
    assert result.rounded.tolist() == -2.0
    # Loaded as 16777216 and -16777220.
    assert result.covers(np.float32(-4.0)).all()
    assert ends(result)[0] <= -4.0
    assert er.sum(np.array([16777217, -16777219])).rounded.tolist() == -2


def test_a_float64_number_stored_as_float16_through_float32_is_outside() -> None:
    result = er.sum([[1 + 2.0**-11 + 2.0**-40]], axis=1, dtype="float16")
    assert result.rounded.tolist() == [1.0009765625]
    assert result.tolerance(standard="any_order").tolist() == [0.0]
    torch = pytest.importorskip("torch")
    returned = torch.tensor([1 + 2.0**-11 + 2.0**-40], dtype=torch.float64).to(torch.float16)
    assert not result.covers(returned, "any_order").any()
