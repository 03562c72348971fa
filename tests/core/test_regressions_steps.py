"""Single steps and short chains that were once answered wrongly."""

from __future__ import annotations

import math
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest

import exactref as er
from exactref_core.arithmetic.brackets import Bracket
from exactref_core.compare import judge
from exactref_core.exact.block_sums import block_sums
from exactref_core.exact.interval import Arithmetic, rational
from exactref_core.exact.nonnegative import ScalarAlgebra
from exactref_core.exact.products import exact_products

TINY = np.array([1.1e-38], np.float32)
SMALLEST_NORMAL = 2.0**-126


def test_a_divisor_flushed_to_zero_is_itself_or_zero() -> None:
    result = er.divide(np.array([1.0], np.float32), TINY)
    expected = np.float32(1 / float(TINY[0]))
    low, high = (end.tolist() for end in result.finite_range(flush_to_zero=True))
    assert low == high == [float(expected)]
    assert result.may_be("+inf", flush_to_zero=True).all()
    assert not result.may_be("nan", flush_to_zero=True).any()
    assert not result.covers(np.array([1.0], np.float32), flush_to_zero=True).any()
    assert not result.may_be("+inf").any()


def test_zero_over_a_divisor_flushed_to_zero() -> None:
    result = er.divide(np.array([0.0, 1e-40], np.float32), np.repeat(TINY, 2))
    assert result.may_be("nan", flush_to_zero=True).tolist() == [True, True]
    assert np.isfinite(result.tolerance(flush_to_zero=True).values()).all()
    assert result.covers(np.array([0.0, 0.0], np.float32), flush_to_zero=True).all()


def test_the_root_of_a_flushed_number_is_its_own_or_zero() -> None:
    result = er.sqrt(np.array([-1e-40, 1e-40], np.float32))
    assert result.may_be("nan", flush_to_zero=True).tolist() == [True, False]
    assert result.covers(np.array([0.0, 0.0], np.float32), flush_to_zero=True).all()
    low, high = (end.tolist()[0] for end in result.finite_range(flush_to_zero=True))
    assert (low, high) == (-SMALLEST_NORMAL, SMALLEST_NORMAL)
    assert result.covers(np.array([np.nan, 1e-20], np.float32), flush_to_zero=True).all()
    assert not result.covers(np.array([0.0, 0.0], np.float32)).any()


def test_the_root_of_a_negative_sum_that_may_be_stored_as_positive() -> None:
    total = er.sum(np.array([[1e8, 1.0, -1e8, -1.1]], np.float32), axis=1)  # -0.1 and some
    result = er.sqrt(total)
    assert math.isnan(result.rounded.tolist()[0])
    largest = total.finite_range()[1].tolist()[0]
    assert result.covers(np.sqrt(np.array([largest], np.float32))).all()
    assert not result.covers(np.array([2 * math.sqrt(largest)], np.float32)).any()


@pytest.mark.parametrize("form", ["complex64", "complex128"])
def test_roots_of_complex_roots_on_the_real_axis(form: str) -> None:
    z = np.array([2 + 0j, complex(3, -0.0), 5 + 0j, 0j], form)
    part = np.float32 if form == "complex64" else np.float64
    rounded = er.sqrt(er.sqrt(z)).rounded.values()
    fourth = [float(part(x**0.25)) for x in (2.0, 3.0, 5.0, 0.0)]
    assert rounded.real.tolist() == fourth
    assert rounded.imag.tolist() == [0.0] * 4
    assert np.signbit(rounded.imag).tolist() == [False, True, False, False]
    turned = er.sqrt(er.sqrt(-z[:1] + 0j)).rounded.values()  # sqrt(i sqrt(2))
    assert turned.real.tolist() == turned.imag.tolist() == [float(part(2**0.25 / math.sqrt(2)))]


def test_a_root_of_a_flushed_quotient_is_decided() -> None:
    x = np.array([0.0001], ml_dtypes.float8_e5m2)
    quotient = er.divide(x, x * 0 + ml_dtypes.float8_e5m2(3))
    result = er.sqrt(er.abs(quotient), rounding="toward_zero")
    assert result.finite_range(flush_to_zero=True)[0].values().astype(float) <= 0


def test_how_far_roots_move_is_exact_where_it_can_be() -> None:
    algebra = ScalarAlgebra(64)
    for a, da, expected in (("2", "2", 0), ("2", "7", 3), ("5", "4", 1), ("2", "5", 0)):
        root = algebra.sqrt(rational(Fraction(a)))
        change = algebra.root_change(root, rational(Fraction(a)), rational(Fraction(da)))
        end = root + change if expected == 3 else root - change
        assert end == expected


def test_sums_of_integers_answer_every_question() -> None:
    total = er.sum(np.array([[2**24 + 1, 1], [3, 4]]), axis=1)
    exact = np.array([2**24 + 2, 7])
    for value in ("+inf", "-inf", "nan"):
        assert not total.may_be(value).any()
    assert total.tolerance().tolist() == [0.0, 0.0]
    assert [end.tolist() for end in total.finite_range()] == [exact.tolist()] * 2
    assert total.covers(exact).tolist() == [True, True]
    assert total.reshape(2, 1)[1].may_be("nan").tolist() == [False]
    assert judge(exact, total)[0].verdict == "normal"


def test_sums_of_integers_go_on_exactly() -> None:
    odd = er.sum(np.array([[2**24, 1], [3, 4]]), axis=1)
    result = er.add(odd, odd, dtype="float32")
    assert result.rounded.tolist() == [float(np.float32(2**25 + 2)), 14.0]
    # 2**24 + 1 is no float32 number: loading it errs by up to u |x|, which is 1.
    assert result.covers(np.array([2**25, 14], np.float32)).all()
    assert result.tolerance().tolist()[1] == 0.0
    exact = Fraction((2**24 + 1) ** 2 + 49)
    square = er.matmul(odd.reshape(1, 2), odd, dtype="float64")
    assert Fraction(square.rounded.tolist()[0]) == Fraction(float(exact))
    assert 0 < square.tolerance().tolist()[0] <= 4 * float(exact) * 2.0**-53


def test_products_of_stored_bfloat16_numbers_round_nothing() -> None:
    form = ml_dtypes.bfloat16
    third = er.divide(np.ones((1, 1), form), np.full((1, 1), 3, form))
    (stored,) = third.rounded.values()[0].tolist()  # above 1/3, with 8 bits
    product = er.matmul(third, np.full((1, 1), 5, form), dtype="float32")
    low, high = (end.values().item() for end in product.finite_range())
    assert high == np.nextafter(np.float32(5 * stored), np.float32(2))  # 5 * error * (1 + u)
    mirrored = Fraction(10, 3) - 5 * Fraction(stored)
    assert mirrored - Fraction(1, 2**22) < Fraction(low) < mirrored


def test_a_wrong_infinity_has_an_infinite_ratio() -> None:
    result = er.sum(np.ones((2, 3), np.float32), axis=1)
    for value in (np.nan, np.inf):
        (judged,) = judge(np.array([3.0, value], np.float32), result)
        assert judged.wrong == 1
        assert judged.worst_ratio == math.inf
    allowed = er.sum(np.array([[3e38, 3e38, -3e38]], np.float32), axis=1)
    (judged,) = judge(np.array([np.inf], np.float32), allowed)
    assert judged.verdict == "normal"
    assert judged.worst_ratio == 0.0


def test_lower_ends_of_products_and_quotients_stay_finite() -> None:
    big, small = Bracket(np.array([1e200]), np.array([1e200])), Bracket(1e-200, 1e-200)
    with np.errstate(all="ignore"):
        largest = Bracket(1.7e308, 1.7e308)
        for found in (big * big, big / small, largest + largest):
            assert np.isfinite(found.low).all()
            assert np.isinf(found.high).all()
        assert np.isinf((Bracket(np.inf, np.inf) * big).low).all()


def test_ranges_beyond_formats_without_infinities() -> None:
    form = ml_dtypes.float8_e4m3fn
    big = er.add(np.array([448.0, -448.0], form), np.array([448.0, -448.0], form))
    low, high = (end.values() for end in big.finite_range())
    assert np.isnan(low).all()
    assert np.isnan(high).all()
    less = er.subtract(big, np.array([448.0, -448.0], form))
    assert less.rounded.tolist() == [448.0, -448.0]
    assert less.may_be("nan").all()


def test_products_near_the_smallest_numbers_have_a_finite_radius() -> None:
    rng = np.random.default_rng(3)
    a = np.ldexp(rng.standard_normal(200), rng.integers(-600, -400, 200))
    b = np.ldexp(rng.standard_normal(200), rng.integers(-600, -400, 200))
    p, e, radius = exact_products(a, b, False)
    assert e is not None
    assert radius is not None
    for x, y, high, low, r in zip(a, b, p, e, radius, strict=True):
        gap = Fraction(x) * Fraction(y) - Fraction(high) - Fraction(low)
        assert abs(gap) <= Fraction(r) <= abs(Fraction(high)) / 2**53 + Fraction(1, 2**1073)


def test_rows_of_zeros_are_exact() -> None:
    rows = np.zeros((3, 5000))
    rows[1] = np.random.default_rng(0).standard_normal(5000)
    for extract in (False, True):
        for part in (rows, rows[:, :50]):
            high, _, radius = block_sums(part, extract)
            assert high[0] == high[2] == radius[0] == radius[2] == 0.0


def test_the_sign_of_zero_times_a_number_of_unknown_sign() -> None:
    x = np.array([complex(3 * 5e-324, 0.0)])
    y = np.array([complex(-(2.0**-1025), -0.0)])
    product = er.multiply(x, y)  # a negative number that underflows, and -0
    square = er.multiply(product, product).rounded.values()
    assert (square.imag == 0).all()
    assert not np.signbit(square.imag).any()


def test_enclosures_that_straddle_zero_decide_nothing() -> None:
    # (sqrt(2) - 1)(sqrt(2) + 1) - 1 is 0, which no enclosure tells; 2**-60 more is told.
    root = er.sqrt(np.array([2.0]))
    one = np.array([1.0])
    product = er.multiply(er.subtract(root, one), er.add(root, one))
    gap = er.subtract(product, np.array([1 - 2.0**-50]))
    assert gap.rounded.tolist() == [2.0**-50]
    assert Arithmetic(96).bounds(rational(1)) == (1, 1)
