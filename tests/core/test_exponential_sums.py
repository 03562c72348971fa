"""Signs of sums of exponentials, against mpmath and by reasoning about the largest of them."""

from __future__ import annotations

import gmpy2
import mpmath
import numpy as np
import pytest

from exactref_core.exact.exponential_decisions import Decisions
from exactref_core.exact.exponential_sums import Deeper, ExponentialSum, Field

mpq = gmpy2.mpq
ZERO = mpq(0)


def total(field: Field, terms: list[tuple[object, object]]) -> ExponentialSum:
    """The sum of c e^x of pairs (c, x)."""
    return field.collected(((mpq(x), ZERO, 0), mpq(c)) for c, x in terms)


@pytest.mark.parametrize("seed", range(20))
def test_signs_of_near_cancellations(seed: int) -> None:
    """The first factor is set to a rational next to what makes the sum 0."""
    rng = np.random.default_rng(seed)
    exponents = [mpq(int(n), 8) for n in rng.permutation(np.arange(-40, 0))[:4]]
    factors = [mpq(int(n)) for n in rng.integers(-5, 6, 4)]
    bits = int(rng.choice([20, 100, 500]))
    with mpmath.workdps(600):
        powers = [mpmath.exp(mpmath.mpf(int(8 * x)) / 8) for x in exponents]
        rest = mpmath.fdot([int(c) for c in factors], powers)
        first = mpq(int(mpmath.nint(mpmath.ldexp(-rest, bits))), mpq(2) ** bits)
        value = rest + mpmath.mpf(int(first.numerator)) / int(first.denominator)
        wanted = int(mpmath.sign(value))
    field = Field(mpq(-2000))
    found = total(field, [(first, 0), *zip(factors, exponents, strict=True)])
    assert field.sign(found) == wanted
    assert field.sign(field.negative(found)) == -wanted


def test_what_cancels_is_zero() -> None:
    field = Field(mpq(-2000))
    one, e = field.monomial(mpq(1)), field.monomial(mpq(1), (mpq(-1, 3), ZERO))
    square = field.times(field.add(one, e), field.add(one, e))
    apart = field.add(one, field.times(field.monomial(mpq(2)), e), field.times(e, e))
    assert field.sign(field.add(square, field.negative(apart))) == 0


def test_the_largest_exponential_decides() -> None:
    huge = mpq(10) ** 38
    field = Field(-10 * huge)
    assert field.sign(total(field, [(mpq(1, 2**1000), -3 * huge), (-(2**1000), -4 * huge)])) == 1
    assert field.sign(total(field, [(-1, -3 * huge), (5, -3 * huge - 1)])) == 1
    assert field.sign(total(field, [(-1, -3 * huge), (2, -3 * huge - 1)])) == -1
    assert field.sign(total(field, [(1, -huge), (-1, -huge - mpq(1, 2**1074))])) == 1


def test_terms_below_the_cut_are_asked_for() -> None:
    field = Field(mpq(-100))
    assert field.sign(total(field, [(1, 0), (-5, -200)])) == 1
    for terms in ([(1, -200)], [(1, 0), (-1, 0), (1, -200)]):
        with pytest.raises(Deeper) as caught:
            field.sign(total(field, terms))
        assert caught.value.below <= -200


def test_exponents_and_factors_with_a_root() -> None:
    field = Field(mpq(-2000))
    root = field.root(mpq(1, 8))  # sqrt(8) / 8
    assert field.sign(field.add(field.times(root, root), field.monomial(mpq(-1, 8)))) == 0
    half = field.times(field.root(mpq(1, 2)), field.monomial(mpq(1, 2)))
    assert field.sign(field.add(root, field.negative(half))) == 0
    # sqrt(8) is above 2.82842712 and below 2.82842713.
    for q, sign in ((mpq(282842712, 10**8), 1), (mpq(282842713, 10**8), -1)):
        near = field.collected([((ZERO, mpq(1), 0), mpq(1)), ((q, ZERO, 0), mpq(-1))])
        assert field.sign(near) == sign
        assert field.side((-q, mpq(1))) == sign


def test_logarithms_of_sums() -> None:
    algebra = Decisions(Field(mpq(-2000)))
    place = algebra.place({(ZERO, ZERO): mpq(1), (mpq(-1), ZERO): mpq(1)})
    log = algebra.log_of_place(place)
    with mpmath.workdps(60):
        near = mpmath.nint(mpmath.ldexp(mpmath.log(1 + mpmath.exp(-1)), 150))
        above = int(mpmath.sign(mpmath.log(1 + mpmath.exp(-1)) - mpmath.ldexp(near, -150)))
    difference = algebra.total([log, algebra.constant(-mpq(int(near), mpq(2) ** 150))])
    assert algebra.sign(difference) == above
    assert algebra.sign(algebra.total([algebra.log(algebra.exp(log)), algebra.negative(log)])) == 0
    third = algebra.multiply(difference, algebra.constant(mpq(1, 3)))
    assert algebra.sign(third) == above
