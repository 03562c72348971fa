"""Cases that were once answered wrongly, each with its answer computed independently."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

import exactref as er
from exactref_core.exact.interval import Arithmetic, rational
from exactref_core.exact.products import filtered_matmul


def test_negation_keeps_the_precision_of_an_interval() -> None:
    arithmetic = Arithmetic(192)
    low, high = arithmetic.bounds(arithmetic.sqrt(rational(2)))
    negated = arithmetic.bounds(-arithmetic.sqrt(rational(2)))
    assert negated == (-high, -low)
    magnitude = arithmetic.absolute(-arithmetic.sqrt(rational(2)))
    below, above = (Fraction(str(end)) for end in arithmetic.bounds(magnitude))
    assert below**2 < 2 < above**2
    assert above - below < Fraction(1, 2**180)


def test_what_underflows_inside_a_step_still_counts() -> None:
    tail = er.sum(np.array([[1.0, 5e-324]]), axis=1)  # exactly 1 + 2**-1074
    above = math.nextafter(0.5, 1.0)
    assert er.mean(np.array([[1.0, 5e-324]]), axis=1, rounding="up").rounded.tolist() == [above]
    half = np.array([0.5])
    assert er.multiply(tail, half, rounding="up").rounded.tolist() == [above]
    assert er.sqrt(tail, rounding="up").rounded.tolist() == [math.nextafter(1.0, 2.0)]


def test_the_root_of_a_negative_number_below_the_first_precision_is_nan() -> None:
    # sqrt(1 + 2**-52) - 1 - 2**-53 is -2**-107 and some.
    root = er.sqrt(np.array([1 + 2.0**-52]))
    rest = er.subtract(er.subtract(root, np.array([1.0])), np.array([2.0**-53]))
    assert rest.rounded.tolist()[0] < 0
    assert math.isnan(er.sqrt(rest).rounded.tolist()[0])
    assert math.isnan(er.sqrt(rest, dtype="float16").rounded.tolist()[0])


def test_products_that_float64_holds_add_nothing() -> None:
    a = np.array([[1.5, 2.5, 3.25]], np.float32)  # the exact sum is 19.0625, two additions round
    result = er.matmul(a, a.T, dtype="float64")
    low, high = (end.tolist()[0][0] for end in result.finite_range())
    # u (1+u)**2 (2.25 + 8.5 + 19.0625) is 1.8 units of 2**-49: outward, one grid step a side.
    assert (low, high) == (19.0625 - 2.0**-48, 19.0625 + 2.0**-48)


def test_a_product_that_may_be_zero_has_no_rounding_of_its_own() -> None:
    ones = er.sum(np.array([[1.0], [0.0]], np.float32), axis=1)
    zeros = er.sum(np.array([[0.0]], np.float32), axis=1)
    product = er.matmul(ones.reshape(2, 1), zeros)
    assert product.tolerance().tolist() == [0.0, 0.0]


def test_a_lone_square_root_under_flush_to_zero_is_decided() -> None:
    tiny = np.array([5e-324, 3e-320])
    result = er.sqrt(tiny)
    low, high = (end.tolist() for end in result.finite_range(flush_to_zero=True))
    assert [x <= 0 for x in low] == [True, True]
    assert [h >= math.sqrt(x) for h, x in zip(high, tiny.tolist(), strict=True)] == [True, True]
    assert er.sqrt(np.array([2.0])).tolerance().tolist() == [0.0]


def test_a_quotient_by_a_sum_that_cancels_to_zero_may_be_anything() -> None:
    zero = er.sum(np.array([[1e8, 1.0, -1e8, -1.0]], np.float32), axis=1)
    result = er.divide(np.array([1.0], np.float32), zero)
    # In index order the sum is -1.
    assert zero.normal().tolist() == [-1.0]
    assert result.rounded.tolist() == [math.inf]
    assert result.covers(np.array([-1.0], np.float32)).all()


def test_a_quotient_by_an_infinite_input_is_zero() -> None:
    rounded = er.sum(np.array([[0.1, 0.2, 0.3]], np.float32), axis=1)
    result = er.divide(rounded, np.array([np.inf], np.float32))
    assert result.tolerance().tolist() == [0.0]
    assert not result.may_be("nan").any()


def test_the_radius_of_products_with_subnormal_factors() -> None:
    rng = np.random.default_rng(0)
    a = rng.integers(1, 40, (4, 50)) * 5e-324
    b = rng.standard_normal((50, 4)) * 1e300
    values, radius = filtered_matmul(a, b)
    for i, j in np.ndindex(4, 4):
        exact = sum(Fraction(x) * Fraction(y) for x, y in zip(a[i], b[:, j], strict=True))
        assert abs(exact - Fraction(values[i, j])) <= Fraction(radius[i, j])


def test_bounds_of_sums_without_terms_and_of_many_rows() -> None:
    for shape in ((3, 0), (0, 3), (0, 0)):
        result = er.sum(np.zeros(shape, np.float32), axis=1)
        assert result.tolerance().tolist() == [0.0] * shape[0]
    assert not er.sum(np.ones(((1 << 20) + 1, 1), np.float32), axis=1).tolerance().values().any()


def test_chains_of_irrational_values_are_decided_on_the_grid() -> None:
    # sqrt(x) is stored as one number s: -s is one end of what -sqrt(x) may be, exactly.
    x = np.array([2.0, 3.0, 5.0], np.float32)
    root = er.sqrt(x)
    stored = root.rounded.values()
    for result, scale in ((er.negative(root), -1.0), (er.multiply(root, x * 0 + 2), 2.0)):
        low, high = (end.values() for end in result.finite_range())
        expected = scale * stored
        assert np.all((expected == low) | (expected == high))
        assert result.covers(expected.astype(np.float32)).all()


def test_an_ordinary_chain_stores_in_the_compute_format() -> None:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((3, 400)).astype(np.float32)
    expected = [float(np.add.accumulate(row)[-1]) for row in x]
    assert er.sum(er.multiply(x, x * 0 + 1), axis=1).normal().tolist() == expected


def test_an_ordinary_complex_root_does_not_cancel() -> None:
    z = np.array([1 + 1e-9j, -2 + 1e-12j, 3 - 1e-5j, np.inf + 1j, -0.0 - 0.0j])
    result = er.sqrt(z)
    assert np.array_equal(result.normal().values(), np.sqrt(z))
    assert result.covers(result.normal()).all()


def test_a_complex_root_of_a_stored_value_is_never_nan() -> None:
    # The definition's inner root is of |z| - |re z|, never below zero whatever is stored.
    total = er.sum(np.array([[1 + 0j, 2 + 0j]], np.complex64), axis=1)
    assert not er.sqrt(total).may_be("nan").any()
