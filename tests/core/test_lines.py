"""What is small beside a rational number is kept: sums, products, quotients and roots of such."""

from __future__ import annotations

import random

import gmpy2
import numpy as np
import pytest

import exactref as er
from exactref_core.exact.interval import Interval, Unsure
from exactref_core.exact.lines import LineArithmetic, apart

mpq = gmpy2.mpq
# More bits than products of the smallest rests below have.
WIDE = {"precision": 4000}
MODES = {
    "nearest_even": gmpy2.RoundToNearest,
    "toward_zero": gmpy2.RoundToZero,
    "up": gmpy2.RoundUp,
    "down": gmpy2.RoundDown,
}


def rounded(value: gmpy2.mpfr, mode: str) -> float:
    """Return a number of far more bits as float64, subnormal or an infinity too."""
    form = {"precision": 53, "emax": 1024, "emin": -1073, "subnormalize": True}
    return float(gmpy2.context(round=MODES[mode], **form).plus(value))


def wrapped(a: LineArithmetic, rest: mpq, offset: int) -> Interval:
    """Return an interval of which all that is known is a rest near ``rest`` beside an offset."""
    step = abs(rest) / 2**70
    low, high = a.ends(rest - step)[0], a.ends(rest + step)[1]
    return a.add(Interval(low, high, a), mpq(offset))


def drawn(rng: random.Random, a: LineArithmetic) -> tuple[Interval, mpq]:
    """Return such an interval and the number that it stands for."""
    offset = rng.choice([-3, -1, 0, 1, 2, 4])
    rest = mpq(rng.choice([-1, 1]) * rng.randint(1, 1 << 30), 1 << rng.choice([29, 60, 400, 900]))
    return wrapped(a, rest, offset), rest + offset


def holds(found: Interval, value: mpq) -> bool:
    """Return whether an enclosure contains a number, and its rest that less the offset."""
    low, high = mpq(found.low), mpq(found.high)
    inside = low <= value <= high
    inside &= not (found.open_low and value == low) and not (found.open_high and value == high)
    if found.base is None:
        return inside
    rest = (value - found.offset) / mpq(found.slope)
    return inside and mpq(found.base.low) <= rest <= mpq(found.base.high)


@pytest.mark.parametrize("seed", range(2))
def test_what_is_found_holds_the_exact_value(seed: int) -> None:
    rng, a, told = random.Random(seed), LineArithmetic(192), 0
    for _ in range(300):
        (x, v), (y, w) = drawn(rng, a), drawn(rng, a)
        pairs = [(a.add(x, y), v + w), (a.subtract(x, y), v - w), (a.multiply(x, y), v * w)]
        pairs += [(a.multiply(x, x), v * v), (a.add(a.multiply(x, y), x), v * w + v)]
        try:
            pairs += [(a.divide(x, y), v / w), (a.divide(mpq(5), y), 5 / w)]
            pairs += [(a.divide(x, a.multiply(y, y)), v / w**2)]
        except Unsure:
            pass  # a rest may be its offset's opposite
        for found, value in pairs:
            assert holds(found, value) if isinstance(found, Interval) else found == value
            told += isinstance(found, Interval) and apart(found) is not None
        if v > 0:
            # v^2 + rest has a root that no rational is: its square is compared.
            root = a.sqrt(x)
            assert mpq(root.low) ** 2 <= v <= mpq(root.high) ** 2
            if root.base is not None:
                ends = [mpq(e) * root.slope + root.offset for e in (root.base.low, root.base.high)]
                assert min(ends) ** 2 <= v <= max(ends) ** 2
    assert told > 600


def test_differences_keep_their_digits() -> None:
    a = LineArithmetic(192)
    one, other = wrapped(a, mpq(3, 1 << 900), 1), wrapped(a, mpq(1, 1 << 900), 1)
    gap = a.subtract(one, other)
    assert (
        abs(mpq(gap.low) * (1 << 900) - 2) < mpq(1, 1 << 60) > abs(mpq(gap.high) * (1 << 900) - 2)
    )
    ratio = a.subtract(a.divide(one, other), mpq(1))
    assert abs(mpq(ratio.low) * (1 << 900) - 2) < mpq(1, 1 << 60)


def test_a_divisor_that_is_no_zero_has_a_reciprocal() -> None:
    a = LineArithmetic(192)
    tiny = Interval(gmpy2.mpfr(0), gmpy2.mpfr(0.25), a, open_low=True)
    for found in (a.divide(mpq(3), tiny), -a.divide(mpq(3), -tiny), a.divide(mpq(-3), -tiny)):
        assert found.low == 12
        assert gmpy2.is_infinite(found.high)
    with pytest.raises(Unsure):
        a.divide(mpq(3), Interval(gmpy2.mpfr(0), gmpy2.mpfr(0.25), a))


def wide(name: str, x: object) -> object:
    """Return a function at 4000 bits."""
    c = gmpy2.context(**WIDE)
    one = gmpy2.mpfr(1)
    ours = {
        "sigmoid": lambda x: c.div(one, c.add(one, c.exp(-x))),
        "gelu": lambda x: c.mul(c.div(x, 2), c.erfc(c.div(-x, c.sqrt(gmpy2.mpfr(2))))),
        "lgamma": lambda x: c.lgamma(x)[0],
        "reciprocal": lambda x: c.div(one, x),
    }
    return ours[name](x) if name in ours else getattr(c, name)(x)


@pytest.mark.parametrize("mode", MODES)
def test_functions_of_saturated_values(mode: str) -> None:
    """Against MPFR at 4000 bits, which see the distance of every one of them from its limit."""
    saturated = [("tanh", 400.0), ("tanh", -90.5), ("erf", 30.0), ("erf", -12.25)]
    saturated += [("erfc", -20.0), ("erfc", 31.0), ("sigmoid", 800.0), ("sigmoid", -700.0)]
    saturated += [("expm1", -900.0), ("gelu", -40.0), ("cos", 2.0**-400), ("exp", -800.0)]
    ends = {"atanh": (-1, 1), "acos": (-1, 1), "acosh": (1, 99), "log1p": (-1, 99)}
    ends |= dict.fromkeys(("log", "log2", "log10"), (0, 99))
    outers = [*ends, "sin", "cos", "cosh", "sinh", "exp", "exp2", "expm1", "tanh", "reciprocal"]
    asked = 0
    for inner, x in saturated:
        value = wide(inner, gmpy2.mpfr(x))
        middle = getattr(er, inner)(np.array([x]))
        for outer in outers:
            low, high = ends.get(outer, (-99, 99))
            if not low < value < high:
                continue
            if outer == "a" + inner or (outer, inner) in (("log", "exp"), ("log1p", "expm1")):
                continue  # a number again: MPFR's rounding of it is none
            found = getattr(er, outer)(middle, rounding=mode).rounded.tolist()[0]
            assert found == rounded(wide(outer, value), mode), (outer, inner, x)
            asked += 1
    assert asked > 120


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ["tanh", "erf", "erfc", "sigmoid", "expm1"])
def test_combinations_of_saturated_values(name: str, mode: str) -> None:
    c, sign = gmpy2.context(**WIDE), 1 if name in ("tanh", "erf", "sigmoid") else -1
    for x, y in ((20.0, 19.0), (19.0, 20.0), (31.5, 27.0), (25.0, 25.0), (-18.0, 22.0)):
        values = [wide(name, gmpy2.mpfr(sign * z)) for z in (x, y)]
        given = [getattr(er, name)(np.array([sign * z])) for z in (x, y)]
        for verb, method in (("add", c.add), ("subtract", c.sub), ("multiply", c.mul)):
            found = getattr(er, verb)(*given, rounding=mode).rounded.tolist()[0]
            assert found == rounded(method(*values), mode), (verb, x, y)
        found = er.divide(*given, rounding=mode).rounded.tolist()[0]
        assert found == rounded(c.div(*values), mode), (x, y)


@pytest.mark.parametrize("mode", MODES)
def test_gamma_functions_near_their_poles(mode: str) -> None:
    for inner, x in (("tanh", -30.0), ("erf", -9.0), ("expm1", -70.0), ("gelu", -12.0)):
        value = wide(inner, gmpy2.mpfr(x))
        middle = getattr(er, inner)(np.array([x]))
        few = gmpy2.context(precision=600)
        near = few.plus(value)
        for outer, exact in (("lgamma", few.lgamma(near)[0]), ("digamma", few.digamma(near))):
            found = getattr(er, outer)(middle, rounding=mode).rounded.tolist()[0]
            assert found == rounded(exact, mode), (outer, inner, x)


@pytest.mark.parametrize("mode", MODES)
def test_powers_near_one_and_tails_of_tails(mode: str) -> None:
    c = gmpy2.context(**WIDE)
    for outer, x, inner, y in (
        ("erf", 22.0, "erf", 2.0),
        ("tanh", 60.0, "exp", -80.5),
        ("exp", 0.5, "erfc", 19.0),
        ("exp", -0.5, "expm1", 3.0),
        ("cosh", 300.0, "exp", -400.0),
    ):
        values = wide(outer, gmpy2.mpfr(x)), wide(inner, gmpy2.mpfr(y))
        given = getattr(er, outer)(np.array([x])), getattr(er, inner)(np.array([y]))
        found = er.pow(*given, rounding=mode).rounded.tolist()[0]
        assert found == rounded(c.pow(*values), mode), (outer, inner)
        found = er.atan2(given[1], given[0], rounding=mode).rounded.tolist()[0]
        assert found == rounded(c.atan2(values[1], values[0]), mode), (outer, inner)
        found = er.atan2(*given, rounding=mode).rounded.tolist()[0]
        assert found == rounded(c.atan2(*values), mode), (outer, inner)
    tail = er.erfc(er.erfc(np.array([30.0])), rounding=mode).rounded.tolist()[0]
    assert tail == rounded(c.sub(gmpy2.mpfr(1), c.erf(c.erfc(gmpy2.mpfr(30)))), mode)


@pytest.mark.parametrize("name", ["sin", "tanh", "cbrt", "erf"])
def test_multiples_of_one_number_have_a_rational_quotient(name: str) -> None:
    x = np.array([3.0, 0.3, 20.0])
    once, negated = getattr(er, name)(x), er.negative(getattr(er, name)(x))
    for mode in MODES:
        assert er.divide(once, once, rounding=mode).rounded.tolist() == [1.0] * 3
        assert er.divide(once, negated, rounding=mode).rounded.tolist() == [-1.0] * 3
        thrice = er.multiply(once, np.full(3, 3.0))
        assert er.divide(thrice, negated, rounding=mode).rounded.tolist() == [-3.0] * 3


@pytest.mark.parametrize("mode", ["up", "down"])
def test_the_inverse_error_function_next_to_one(mode: str) -> None:
    """erfc falls: the numbers beside the y with erfc y = t have tails on both sides of t."""
    c = gmpy2.context(**WIDE)
    for name, x in (("tanh", 2.5), ("tanh", 30.0), ("sigmoid", 745.0), ("tanh", 9e2)):
        tail = c.sub(gmpy2.mpfr(1), wide(name, gmpy2.mpfr(x)))
        for side in (1.0, -1.0):
            middle = er.multiply(getattr(er, name)(np.array([x])), np.array([side]))
            found = side * er.erfinv(middle, rounding=mode).rounded.tolist()[0]
            away = np.inf if (mode == "down") == (side > 0) else 0.0
            other = float(np.nextafter(found, away))
            low, high = sorted((found, other))
            assert c.erfc(gmpy2.mpfr(high)) < tail < c.erfc(gmpy2.mpfr(low))
    # Below all exponents: y^2 = -log t - log(y sqrt(pi)) + less than 1 / y^2.
    y = er.erfinv(er.tanh(np.array([3e9]))).rounded.tolist()[0]
    log = 6e9 - float(np.log(2)) - float(np.log(y * np.sqrt(np.pi)))
    assert abs(y - np.sqrt(log)) < 1e-9 * y


def test_what_is_beside_an_integer_is_none() -> None:
    """Powers of negative numbers are NaN there, and not undecided."""
    base, near = np.array([-2.0, -0.5, -3.0]), np.array([2e5, 300.0, 1e30])
    for exponent in (er.tanh(near), er.gelu(-near), er.erfc(-near), er.sigmoid(near)):
        assert np.isnan(np.asarray(er.pow(base, exponent).rounded)).all()


def test_the_gamma_function_is_told_from_one_at_one_and_two() -> None:
    """lgamma(1 - t) is near g t, lgamma(2 - t) near (g - 1) t, g = 0.577... Euler's constant."""
    x = np.array([2.0, 6.0, 25.0, 300.0])
    least, one, two = 5e-324, er.erf(x), er.erfc(-x)
    for mode, ends in (("up", (least, -0.0)), ("down", (0.0, -least))):
        c = gmpy2.context(precision=3000)
        for found, near, end in ((one, 1, ends[0]), (two, 2, ends[1])):
            values = [c.lgamma(c.sub(near, c.erfc(gmpy2.mpfr(v))))[0] for v in x.tolist()[:3]]
            wanted = [rounded(value, mode) for value in values] + [end]
            assert er.lgamma(found, rounding=mode).rounded.tolist() == wanted
