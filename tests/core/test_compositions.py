"""Functions of their inverses: the exact value is a number, a tie perhaps, or a square root."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import exactref as er

X = [3.0, 0.75, 0.5, 1.25, 0.1, 7.0, 2.0**-9, 1e-200, 1.5, 0.9999999999999999]
OF_ANGLES = ("sin", "cos", "tan")
MODES = ("nearest_even", "toward_zero", "up", "down")


def holds(value: Fraction, mode: str, found: float) -> bool:
    """Return whether a float64 number is a positive rational rounded as it should be."""
    if mode == "nearest_even":
        return value.numerator / value.denominator == found  # Python rounds correctly
    stored = Fraction(found)
    beyond = Fraction(math.nextafter(found, math.inf if mode != "up" else -math.inf))
    return beyond < value <= stored if mode == "up" else stored <= value < beyond


def ask(outer: str, inner: str, x: float, mode: str) -> float:
    """Return a function of a function, rounded once."""
    middle = getattr(er, inner)(np.array([x]))
    return float(getattr(er, outer)(middle, rounding=mode).rounded.tolist()[0])


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("outer", "inner"),
    [
        *((f, g) for f, g in (("exp", "log"), ("expm1", "log1p"), ("exp2", "log2"))),
        *((g, f) for f, g in (("exp", "log"), ("expm1", "log1p"), ("exp2", "log2"))),
        *((f, "a" + f) for f in ("sin", "cos", "tan", "sinh", "cosh", "tanh")),
        *(("a" + f, f) for f in ("sin", "cos", "tan", "sinh", "cosh", "tanh")),
        ("erf", "erfinv"),
        ("erfinv", "erf"),
    ],
)
def test_a_function_undoes_its_inverse(outer: str, inner: str, mode: str) -> None:
    limits = {"asin": (0, 1), "acos": (0, 1), "atanh": (0, 0.99), "acosh": (1, 9), "erfinv": (0, 1)}
    low, high = limits.get(inner, (0, 9))
    high = {"asin": 1.57, "atan": 1.57, "acos": 3.14}.get(outer, high)
    given = [x for x in X if low <= x <= high]
    assert [ask(outer, inner, x, mode) for x in given] == given


@pytest.mark.parametrize("mode", MODES)
def test_exponentials_of_logarithms_are_rational(mode: str) -> None:
    for x in X:
        u = Fraction(x)
        assert holds(((1 + u) - 1 / (1 + u)) / 2, mode, ask("sinh", "log1p", x, mode))
        assert holds((u + 1 / u) / 2, mode, ask("cosh", "log", x, mode))
        assert holds(u / (1 + u), mode, ask("sigmoid", "log", x, mode))
        assert holds(1 + u, mode, ask("exp", "log1p", x, mode))
        assert holds((u * u + 2 * u) / (u * u + 2 * u + 2), mode, ask("tanh", "log1p", x, mode))
        angle = er.multiply(er.atan(np.array([x])), np.array([2.0]))
        assert holds(2 * u / (1 + u * u), mode, er.sin(angle, rounding=mode).rounded.tolist()[0])
        cube = er.exp(er.multiply(er.log(np.array([x])), np.array([3.0])), rounding=mode)
        if x > 1e-3:
            assert holds(u**3, mode, cube.rounded.tolist()[0])


@pytest.mark.parametrize("mode", MODES)
def test_exponentials_of_other_logarithms_are_square_roots(mode: str) -> None:
    squares = {
        ("cosh", "asinh"): lambda u: 1 + u * u,
        ("tanh", "asinh"): lambda u: u * u / (1 + u * u),
        ("sin", "atan"): lambda u: u * u / (1 + u * u),
        ("cos", "atan"): lambda u: 1 / (1 + u * u),
        ("cos", "asin"): lambda u: 1 - u * u,
        ("sin", "acos"): lambda u: 1 - u * u,
        ("tan", "asin"): lambda u: u * u / (1 - u * u),
        ("exp", "atanh"): lambda u: (1 + u) / (1 - u),
        ("sinh", "atanh"): lambda u: u * u / (1 - u * u),
        ("sinh", "acosh"): lambda u: u * u - 1,
        ("tanh", "acosh"): lambda u: 1 - 1 / (u * u),
    }
    roots = 0
    for (outer, inner), square in squares.items():
        for x in (*X, 0.6, 0.28, 2.4, 1.25):
            u = Fraction(x)
            if (inner in ("asin", "acos", "atanh") and u > 1) or (inner == "acosh" and u < 1):
                continue
            if x < 1e-100:
                continue  # nothing but u tells there
            found, value = ask(outer, inner, x, mode), square(u)
            middle = (Fraction(math.nextafter(found, 0)), Fraction(math.nextafter(found, math.inf)))
            low, high = ((end + Fraction(found)) / 2 for end in middle)
            if mode != "nearest_even":
                low, high = (middle[0], Fraction(found)) if mode == "up" else (found, middle[1])
            assert Fraction(low) ** 2 <= value <= Fraction(high) ** 2, (outer, inner, x)
            roots += 1
    assert roots > 70


def test_the_branch_decides() -> None:
    two = np.array([2.0, -3.0, 1.5])
    pi = Fraction("3.14159265358979323846264338327950288")
    beyond, below, same = er.asin(er.sin(two), rounding="toward_zero").rounded.tolist()
    assert holds(pi - 2, "toward_zero", beyond)
    assert holds(pi - 3, "toward_zero", -below)
    assert same == 1.5
    assert er.acos(er.cos(two), rounding="up").rounded.tolist() == [2.0, 3.0, 1.5]
    assert er.acosh(er.cosh(two), rounding="down").rounded.tolist() == [2.0, 3.0, 1.5]


@pytest.mark.parametrize("mode", MODES)
def test_a_quarter_turn_is_its_own_angle(mode: str) -> None:
    """Whether an angle is beyond pi / 2, or pi, is not told there, and does not matter."""
    quarter, half = (np.array([x]) for x in (1.0, -1.0))
    for outer, wave, arc, x in (("asin", "sin", "asin", quarter), ("acos", "cos", "acos", half)):
        angle = getattr(er, arc)(x)
        undone = getattr(er, outer)(getattr(er, wave)(angle), rounding=mode)
        alone = getattr(er, arc)(x, rounding=mode)
        assert undone.rounded.tolist() == alone.rounded.tolist()


@pytest.mark.parametrize("mode", ["toward_zero", "up"])
def test_directions_of_infinities_and_zeros_are_exact(mode: str) -> None:
    inf = math.inf
    y = np.array([inf, -inf, 3.0, -2.0, 0.0, -0.0, 0.0, 0.0])
    x = np.array([1.0, 2.0, inf, -inf, -0.0, -0.0, 0.0, 5.0])
    angle = er.atan2(y, x)
    assert er.sin(angle, rounding=mode).rounded.tolist() == [1.0, -1.0, *[0.0] * 6]
    cosine = er.cos(angle, rounding=mode).rounded.tolist()
    assert cosine == [0.0, 0.0, 1.0, -1.0, -1.0, -1.0, 1.0, 1.0]
    vast = er.atan(np.array([inf, -inf]))
    assert er.sin(vast, rounding=mode).rounded.tolist() == [1.0, -1.0]
    assert er.cos(vast, rounding=mode).rounded.tolist() == [0.0, 0.0]
    corner = float(er.cos(er.atan2(np.array([-inf]), np.array([-inf]))).rounded.tolist()[0])
    assert corner == -math.sqrt(0.5)


@pytest.mark.parametrize("mode", MODES)
def test_powers_of_sums_of_logarithms_are_rational(mode: str) -> None:
    two, ten = np.array([2.0, 2.0]), np.array([10.0, 10.0])
    double = er.multiply(er.log2(np.array([0.75, 3.0])), np.array([2.0, -1.0]))
    found = er.pow(two, double, rounding=mode).rounded.tolist()
    assert found[0] == 0.5625
    assert holds(Fraction(1, 3), mode, found[1])
    gap = er.subtract(er.log10(np.array([16.0, 3.0])), er.log10(np.array([4.0, 0.5])))
    assert er.pow(ten, gap, rounding=mode).rounded.tolist() == [4.0, 6.0]
    ends = er.pow(np.full(3, 2.0), er.log2(np.array([0.0, math.inf, -1.0])))
    assert np.array_equal(ends.rounded, [0.0, math.inf, math.nan], equal_nan=True)


def test_powers_beside_a_whole_exponent_are_told_from_it() -> None:
    """x^(n - t) for 0 < t < 2^-1e5 is below x^n where x > 1, and above it where x < 1."""
    x, exponent = np.array([3.0, 0.5, 5.0]), er.tanh(np.array([1e5, 1e5, 1e5]))
    up = er.pow(x, exponent, rounding="up").rounded.tolist()
    down = er.pow(x, exponent, rounding="down").rounded.tolist()
    assert up == [3.0, math.nextafter(0.5, 1), 5.0]
    assert down == [math.nextafter(3, 0), 0.5, math.nextafter(5, 0)]
    square = er.pow(x, er.add(exponent, np.ones(3)), rounding="down").rounded.tolist()
    assert square == [math.nextafter(9, 0), 0.25, math.nextafter(25, 0)]


def test_functions_of_one_irrational_number_cancel() -> None:
    x = np.array([1.0, -3.0])
    first, second = (er.sin(er.exp(x)) for _ in range(2))
    assert er.subtract(first, second).rounded.tolist() == [0.0, 0.0]
    assert er.divide(first, second, rounding="up").rounded.tolist() == [1.0, 1.0]
    four = (er.tan(er.erf(np.array([-4.0]))) for _ in range(2))
    assert er.subtract(*four).rounded.tolist() == [0.0]


@pytest.mark.parametrize("mode", MODES)
def test_ends_of_domains_are_seen_among_square_roots(mode: str) -> None:
    """tan(-atan(1)) is -1, as a quotient of two square roots."""
    tangent = er.tan(er.negative(er.atan(np.array([1.0]))))
    one = np.array([-1.0])
    for name in ("acos", "asin", "log1p", "atanh"):
        f = getattr(er, name)
        found = f(tangent, rounding=mode).rounded.tolist()
        assert found == f(one, rounding=mode).rounded.tolist(), name


@pytest.mark.parametrize("mode", ["nearest_even", "toward_zero"])
def test_directions_are_quotients(mode: str) -> None:
    y, x = [3, 3, -5, 0], [4, -4, 12, -2]
    angle = er.atan2(np.array(y, float), np.array(x, float))
    waves = {name: getattr(er, name)(angle, rounding=mode).rounded.tolist() for name in OF_ANGLES}
    for i, (b, a) in enumerate(zip(y, x, strict=True)):
        size = Fraction(math.isqrt(a * a + b * b))
        for name, value in (("sin", b / size), ("cos", a / size), ("tan", Fraction(b, a))):
            found = waves[name][i]
            assert holds(abs(value), mode, abs(found)) if value else found == 0
            assert found * value >= 0


@pytest.mark.parametrize("form", ["float16", "bfloat16", "float32"])
def test_numbers_that_no_format_holds_are_undone(form: str) -> None:
    """cosh(3e4) is beyond each of these formats, and as a power of two it has 43,281 bits."""
    x = er.asarray([3e4, 6e4], form)
    for outer, inner in (("acosh", "cosh"), ("asinh", "sinh"), ("log", "exp"), ("log2", "exp2")):
        found = getattr(er, outer)(getattr(er, inner)(x), rounding="toward_zero")
        assert found.rounded.tolist() == x.tolist(), (outer, inner)


def test_saturated_values_differ_as_their_exponentials_do() -> None:
    """tanh a - tanh b = 2 / (e^2b + 1) - 2 / (e^2a + 1) has the sign of a - b."""
    x, y = np.array([3e5, 2e5, 1e30, 1e300]), np.array([2e5, 3e5, 2e30, 1e300])
    least = 5e-324
    for name in ("tanh", "sigmoid"):
        f = getattr(er, name)
        up = er.subtract(f(x), f(y), rounding="up").rounded.tolist()
        assert up == [least, -0.0, -0.0, 0.0], name
        down = er.subtract(f(x), f(y), rounding="down").rounded.tolist()
        assert down == [0.0, -least, -least, 0.0], name
        assert np.asarray(er.subtract(f(x), f(y)).finite_range()[1]).max() < 3e-15


@pytest.mark.parametrize("mode", MODES)
def test_powers_undo_logarithms_and_have_roots(mode: str) -> None:
    x = np.array([3.0, 0.3, 1e-200, 7.5e300])
    for base, log in ((2.0, "log2"), (10.0, "log10")):
        bases = np.full(4, base)
        found = er.pow(bases, getattr(er, log)(x), rounding=mode).rounded.tolist()
        assert found == x.tolist()
        exponents = np.array([0.3, -7.1, 1e5, 3.0])
        found = getattr(er, log)(er.pow(bases, exponents), rounding=mode).rounded.tolist()
        assert found == exponents.tolist()
    two = er.exp2(np.array([1.5])), er.exp2(np.array([0.0]))
    assert er.hypot(*two, rounding=mode).rounded.tolist() == [3.0]
    three = er.pow(np.array([3.0]), np.array([0.5])), er.pow(np.array([3.0]), np.array([1.5]))
    assert er.multiply(*three, rounding=mode).rounded.tolist() == [9.0]
