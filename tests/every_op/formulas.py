"""Exact values of every operation, element by element, in integers.

A scalar is an int n (the number n * 2**unit, the unit known to the caller) or a float: an
infinity, NaN or -0.0. Zeros, infinities and NaN follow IEEE 754 on the exact steps; a sum that is
exactly zero is +0 unless it is the sum of two negative zeros.
"""

from __future__ import annotations

import cmath
import math
from fractions import Fraction

from tests.every_op.numbers import BITS, Number, dyadic, ratio

Scalar = int | float
Pair = tuple[Scalar, Scalar]


def kind(x: Scalar) -> float:
    """A float of the class and sign of x."""
    return x if isinstance(x, float) else float((x > 0) - (x < 0))


def finite(*values: Scalar) -> bool:
    return all(isinstance(x, int) or x == 0 for x in values)


def whole(x: Scalar) -> int:
    return 0 if isinstance(x, float) else x


def settled(x: float) -> Scalar:
    """A float answer as a scalar; +0 is the int 0. Finite ones are zeros here."""
    return 0 if x == 0 and math.copysign(1.0, x) > 0 else x


def plus(x: Scalar, y: Scalar) -> Scalar:
    if finite(x, y) and not (isinstance(x, float) and isinstance(y, float)):
        return whole(x) + whole(y)
    return settled(kind(x) + kind(y))


def minus(x: Scalar) -> Scalar:
    if isinstance(x, float):
        return settled(-x)
    return -x if x else -0.0


def times(x: Scalar, y: Scalar) -> Scalar:
    if isinstance(x, int) and isinstance(y, int) and x and y:
        return x * y
    return settled(kind(x) * kind(y))


def over(x: Scalar, y: Scalar, e: int) -> Number:
    """x / y * 2**e."""
    if finite(x, y) and whole(x) and whole(y):
        return ratio(whole(x), whole(y), e)
    a, b = kind(x), kind(y)
    if b == 0:
        if a == 0 or a != a:
            return math.nan
        return math.copysign(math.inf, math.copysign(1.0, a) * math.copysign(1.0, b))
    return a / b


def total(terms: list[Scalar]) -> Scalar:
    """A sum of any number of terms, as exact arithmetic has it: zero is +0."""
    special = [x for x in terms if not finite(x)]
    if special:
        return float(sum(kind(x) for x in special))
    return sum(whole(x) for x in terms)


def give(x: Scalar, e: int) -> Number:
    """x * 2**e."""
    return x if isinstance(x, float) else dyadic(x, e)


def root(n: int, e: int) -> Number:
    """sqrt(n * 2**e) for n > 0."""
    shift = max(0, 2 * BITS + 4 - n.bit_length())
    shift += (e - shift) % 2
    found = math.isqrt(n << shift)
    return dyadic(found, (e - shift) // 2, found * found != n << shift)


def root_of_fraction(x: Fraction) -> Number:
    """sqrt(x) for x >= 0."""
    if x == 0:
        return 0.0
    # The floor of the root of a real number is the root of its floor.
    n, d = x.numerator, x.denominator
    k = max(0, BITS + 4 + (d.bit_length() - n.bit_length()) // 2)
    scaled, rest = divmod(n << 2 * k, d)
    found = math.isqrt(scaled)
    return dyadic(found, -k, rest != 0 or found * found != scaled)


def real_sqrt(x: Scalar, unit: int) -> Number:
    if isinstance(x, int) and x > 0:
        return root(x, unit)
    value = kind(x)
    return math.nan if value < 0 or value != value else value  # -0.0 < 0 is false


def modulus(z: Pair, unit: int) -> Number:
    a, b = z
    if any(math.isinf(kind(part)) for part in z):
        return math.inf
    if not finite(a, b):
        return math.nan
    square = whole(a) ** 2 + whole(b) ** 2
    return root(square, 2 * unit) if square else 0.0


def complex_sqrt(z: Pair, unit: int) -> tuple[Number, Number]:
    """The principal root; at infinities and NaN the table of C99 Annex G, which cmath follows."""
    a, b = z
    if not finite(a, b):
        found = cmath.sqrt(complex(kind(a), kind(b)))
        return found.real, found.imag
    sign = math.copysign(1.0, kind(b))
    n, m = whole(a), whole(b)
    if n == m == 0:
        return 0.0, math.copysign(0.0, sign)
    outer, inner = half_root(abs(n), m, unit, 1), half_root(abs(n), m, unit, -1)
    real, imag = (outer, inner) if n >= 0 else (inner, outer)
    return real, signed(imag, sign)


def signed(x: Number, sign: float) -> Number:
    """A number that is not negative, with a sign."""
    if isinstance(x, float):
        return math.copysign(x, sign)
    return (sign < 0, *x[1:])


def half_root(n: int, m: int, unit: int, sign: int) -> Number:
    """sqrt((h + sign * n) / 2) * 2**(unit / 2) with h = sqrt(n^2 + m^2), n >= 0.

    floor commutes with adding an integer, with halving the floor, and with the root of the floor:
    with k more bits, isqrt((isqrt(4^k (n^2 + m^2)) + sign 2^k n) // 2) is the floor of the root.
    """
    square = n * n + m * m
    if m == 0 and sign < 0:
        return 0.0
    # The root of (h - n)/2 is |m| / (2 sqrt((h + n)/2)), above |m| / (2 sqrt(h)).
    size = square.bit_length() if sign > 0 else 2 * (2 * abs(m).bit_length()) - square.bit_length()
    k = max(0, 2 * BITS + 12 - size // 2)
    k += (unit - k) % 2
    h = math.isqrt(square << 2 * k)
    inside = h + sign * (n << k)
    found = math.isqrt(inside // 2)
    exact = h * h == square << 2 * k and inside % 2 == 0 and found * found == inside // 2
    return dyadic(found, (unit - k) // 2, not exact)


def complex_times(x: Pair, y: Pair) -> Pair:
    (a, b), (c, d) = x, y
    return plus(times(a, c), minus(times(b, d))), plus(times(a, d), times(b, c))


def complex_over(x: Pair, y: Pair) -> tuple[Number, Number]:
    (a, b), (c, d) = x, y
    if not finite(a, b, c, d) or (kind(c) == 0 and kind(d) == 0):
        return special_over(*(kind(part) for part in (a, b, c, d)))
    bottom = plus(times(c, c), times(d, d))
    real = over(plus(times(a, c), times(b, d)), bottom, 0)
    return real, over(plus(times(b, c), minus(times(a, d))), bottom, 0)


def special_over(a: float, b: float, c: float, d: float) -> tuple[float, float]:
    """The quotient of infinities, NaN, or by zero: C99 G.5.1, which signs and classes decide."""
    tops = lambda p, q, r, s: (p * r + q * s, q * r - p * s)  # noqa: E731
    found = [over(top, c * c + d * d, 0) for top in tops(a, b, c, d)]
    if not all(math.isnan(part) for part in found):
        return found[0], found[1]
    if c == d == 0 and not (math.isnan(a) and math.isnan(b)):
        return math.copysign(math.inf, c) * a, math.copysign(math.inf, c) * b
    unit = lambda v: math.copysign(1.0 if math.isinf(v) else 0.0, v)  # noqa: E731
    if (math.isinf(a) or math.isinf(b)) and math.isfinite(c) and math.isfinite(d):
        real, imag = tops(unit(a), unit(b), c, d)
        return math.inf * real, math.inf * imag
    if (math.isinf(c) or math.isinf(d)) and math.isfinite(a) and math.isfinite(b):
        real, imag = tops(a, b, unit(c), unit(d))
        return 0.0 * real, 0.0 * imag
    return math.nan, math.nan
