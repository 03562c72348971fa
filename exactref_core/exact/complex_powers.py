"""Powers of complex numbers that algebra decides: z^w for rational z and w, denominators 2^j.

For real w = k / 2^j in lowest terms both parts are rational exactly where z has j square roots that
are, one after the other: with ak + b 2^j = 1 the 2^j-th root of z is z^(wa) z^b. Else a part is 0
exactly where w times the angle of z is a multiple of pi/2: the angles of rational numbers that are
rational multiples of pi are those of pi/4 (Niven). For other w a part is 0 only if |z| = 1 (Baker:
log |z|, log of z over its conjugate and i pi are linearly dependent over the algebraic numbers only
if they are so over the rational ones).
"""

from __future__ import annotations

import gmpy2

from exactref_core.exact.rationals import Rational

__all__ = ["power_parts"]

Pair = tuple[Rational, Rational]
Parts = tuple[Rational | None, Rational | None]
# Powers with more bits stay enclosures: no format comes near them.
LARGEST = 1 << 18
UNKNOWN: Parts = (None, None)


def power_parts(x: Rational, y: Rational, c: Rational, d: Rational, below: bool) -> Parts:
    """Return the parts of (x + iy)^(c + id), not of 0, that are known exactly; None for the others.

    ``below``: a y of 0 has a minus sign, so that negative x have the angle -pi.
    """
    if c == 0 and d == 0:
        return gmpy2.mpq(1), gmpy2.mpq(0)
    if y == 0 and x < 0 and below and d == 0:
        real, imag = power_parts(x, y, c, d, False)
        return real, None if imag is None else -imag
    if d == 0:
        found = rational_power((x, y), c)
        if found is not None:
            return found
    elif x * x + y * y != 1:
        return UNKNOWN
    turns = eighths(x, y, below)
    return UNKNOWN if turns is None else on_axes(turns * c, d == 0 and x * x + y * y == 1)


def rational_power(z: Pair, c: Rational) -> Pair | None:
    """Return z^c where both parts are rational, and of few bits."""
    base: Pair | None = z
    for _ in range(int(c.denominator).bit_length() - 1):
        base = None if base is None else root(base)
        if base is None:
            return None
    if base is None:
        return None
    bits = max(int(v).bit_length() for part in base for v in (part.numerator, part.denominator))
    if abs(c.numerator) * bits > LARGEST:
        return None
    found = integer_power(base, abs(int(c.numerator)))
    return found if c > 0 else inverse(found)


def root(z: Pair) -> Pair | None:
    """Return the principal square root of a number where both parts are rational."""
    x, y = z
    size = rational_root(x * x + y * y)
    if size is None:
        return None
    real, imag = (rational_root((size + sign * x) / 2) for sign in (1, -1))
    if real is None or imag is None:
        return None
    return real, -imag if y < 0 else imag


def rational_root(value: Rational) -> Rational | None:
    """Return the square root of a number where it is rational."""
    value = gmpy2.mpq(value)
    if not (gmpy2.is_square(value.numerator) and gmpy2.is_square(value.denominator)):
        return None
    return gmpy2.mpq(gmpy2.isqrt(value.numerator), gmpy2.isqrt(value.denominator))


def integer_power(z: Pair, n: int) -> Pair:
    """Return z^n."""
    found: Pair = (gmpy2.mpq(1), gmpy2.mpq(0))
    while n:
        if n & 1:
            found = times(found, z)
        z, n = times(z, z), n >> 1
    return found


def times(z: Pair, w: Pair) -> Pair:
    """Return z w."""
    return z[0] * w[0] - z[1] * w[1], z[0] * w[1] + z[1] * w[0]


def inverse(z: Pair) -> Pair:
    """Return 1 / z."""
    square = z[0] * z[0] + z[1] * z[1]
    return z[0] / square, -z[1] / square


def eighths(x: Rational, y: Rational, below: bool) -> int | None:
    """Return the angle of a number in units of pi/4, where it is a multiple of that."""
    if y == 0:
        return 0 if x > 0 else (-4 if below else 4)
    if x == 0:
        return 2 if y > 0 else -2
    if abs(x) != abs(y):
        return None
    return (1 if x > 0 else 3) * (1 if y > 0 else -1)


def on_axes(turns: Rational, unit: bool) -> Parts:
    """Return the parts of a number of an angle in units of pi/4: 0 beside one on an axis.

    ``unit``: of modulus 1.
    """
    if turns.denominator != 1 or turns.numerator % 2:
        return UNKNOWN
    place = int(turns.numerator // 2 % 4)
    size = gmpy2.mpq(-1 if place > 1 else 1) if unit else None
    zero = gmpy2.mpq(0)
    return (zero, size) if place % 2 else (size, zero)
