"""Elementwise steps on arrays of enclosures (double-double with proven radii).

Radii are upper bounds computed in float64: each formula is written with its true value in mind and
then widened by a factor that covers its own few roundings.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np

from exactref_core.arithmetic.approx import Approx, Bools, signs
from exactref_core.exact.double_double import Floats, fast_two_sum, safe_product, two_prod, two_sum
from exactref_core.exact.products import rounding

__all__ = [
    "absolute",
    "add",
    "divide",
    "finish",
    "multiply",
    "negative",
    "plus",
    "sqrt",
    "subtract",
    "zero",
]

# Two float64 roundings of a low word, with room for the bound's own arithmetic.
EPS = 2.0**-51
WIDE = 1 + 2.0**-48
# What a step and its bound may lose to underflow.
UNDERFLOW = 2.0**-1070


def finish(
    high: Any,
    low: Any,
    radius: Any,
    special: Floats | None,
    unknown: Any = None,
    short: bool = False,
) -> Approx:
    """Return an enclosure; where overflow or ``unknown`` took the bound away the radius is inf."""
    bad = ~np.isfinite(high)
    if low is not None:
        bad = bad | ~np.isfinite(low)
    if radius is not None:
        bad = bad | np.isnan(radius)
    if unknown is not None:
        bad = bad | unknown
    if special is not None:
        given = special != 0
        bad = bad & ~given
        high = np.where(given, 0.0, high)
        low = None if low is None else np.where(given, 0.0, low)
        radius = None if radius is None else np.where(given, 0.0, radius)
    if bad.any():
        high = np.where(bad, 0.0, high)
        low = None if low is None else np.where(bad, 0.0, low)
        radius = np.where(bad, np.inf, 0.0 if radius is None else radius)
    return Approx(high, low, radius, special, short)


def either(*values: Approx) -> bool:
    """Return whether any operand has elements that are not finite."""
    return any(x.special is not None for x in values)


def any_of(masks: list[Any]) -> Any:
    """Return where any of some masks holds; their shapes broadcast."""
    return reduce(np.logical_or, masks)


def ieee(function: Callable[..., Any], *values: Approx) -> tuple[Floats | None, Bools | None]:
    """Return the special results of a step and where they are not certain."""
    if not either(*values):
        return None, None
    pairs = [signs(x) for x in values]
    result = np.asarray(function(*(value for value, _ in pairs)), np.float64)
    given = any_of([x.special != 0 for x in values if x.special is not None])
    unsure = given & any_of([unsure for _, unsure in pairs])
    return np.where(given & ~unsure & ~np.isfinite(result), result, 0.0), unsure


def settle(x: Approx, y: Approx | None, function: Callable[..., Any], result: Approx) -> Approx:
    """Return ``result`` with the finite answers that a special operand gives (1/inf = 0)."""
    values = (x,) if y is None else (x, y)
    if not either(*values):
        return result
    pairs = [signs(v) for v in values]
    numbers = np.asarray(function(*(value for value, _ in pairs)), np.float64)
    given = any_of([v.special != 0 for v in values if v.special is not None])
    # An operand about which nothing is known may be an infinity or NaN itself.
    flat = given & np.isfinite(numbers) & ~any_of([unsure for _, unsure in pairs])
    if not flat.any():
        return result
    low = None if result.low is None else np.where(flat, 0.0, result.low)
    radius = None if result.radius is None else np.where(flat, 0.0, result.radius)
    return Approx(np.where(flat, numbers, result.high), low, radius, result.special)


def add(attrs: Any, x: Approx, y: Approx) -> Approx:
    """x + y: TwoSum of the high words; exact where neither operand has a low word or a radius."""
    s, e = two_sum(x.high, y.high)
    special, unsure = ieee(np.add, x, y)
    if x.low is None and y.low is None:
        radius = plus(x.radius, y.radius)
        return finish(s, e, radius, special, unsure)
    lows = np.asarray(zero(x.low) + zero(y.low))
    tail = e + lows
    high, low = two_sum(s, tail)
    high = np.where((s == 0) & (tail == 0), s, high)  # the sum of two zeros -0.0 is one
    lost = np.where((lows != 0) & (e != 0) | (zero(x.low) != 0) & (zero(y.low) != 0), EPS, 0.0)
    radius = (zero(x.radius) + zero(y.radius) + lost * (np.abs(lows) + np.abs(tail))) * WIDE
    return finish(high, low, radius, special, unsure)


def zero(part: Floats | None) -> Any:
    """Return the array, or 0.0 for None."""
    return 0.0 if part is None else part


def plus(a: Floats | None, b: Floats | None) -> Floats | None:
    """Return an upper bound on the sum of two radii."""
    if a is None or b is None:
        return b if a is None else a
    return (a + b) * WIDE


def subtract(attrs: Any, x: Approx, y: Approx) -> Approx:
    """x - y."""
    return add(None, x, negative(None, y))


def negative(attrs: Any, x: Approx) -> Approx:
    """-x, exact."""
    low = None if x.low is None else -x.low
    special = None if x.special is None else -x.special
    return Approx(-x.high, low, x.radius, special, x.short)


def absolute(attrs: Any, x: Approx) -> Approx:
    """|x|: the sign of the midpoint decides; ||x| - |m|| <= |x - m|."""
    flip = np.signbit(x.high)
    low = None if x.low is None else np.where(flip, -x.low, x.low)
    special = None if x.special is None else np.abs(x.special)
    return Approx(np.abs(x.high), low, x.radius, special, x.short)


def multiply(attrs: Any, x: Approx, y: Approx) -> Approx:
    """x * y: exact without low words and radii, where TwoProd is."""
    special, unsure = ieee(np.multiply, x, y)
    plain = x.low is None and y.low is None and x.radius is None and y.radius is None
    if plain and x.short and y.short:
        return finish(x.high * y.high, None, None, special, unsure)
    p, e = two_prod(x.high, y.high)
    unsafe = ~safe_product(x.high, y.high, p)
    lost = None
    if unsafe.any():
        # TwoProd would lose bits: float64's own rounding is left, of which products by 0 have none.
        inexact = unsafe & (x.high != 0) & (y.high != 0)
        lost = np.where(inexact, rounding(p), 0.0) if inexact.any() else None
        e = np.where(unsafe, 0.0, e)
    if plain:
        return finish(p, e, lost, special, unsure)
    a, b, dx, dy = np.abs(x.high), np.abs(y.high), np.asarray(x.spread), np.asarray(y.spread)
    cross = x.high * zero(y.low) + zero(x.low) * y.high
    tail = e + cross
    high, low = two_sum(p, tail)
    high = np.where(p == 0, p, high)  # TwoSum adds +0
    radius = a * zero(y.radius) + b * zero(x.radius) + dx * dy + zero(lost)
    radius = radius + 4 * EPS * (np.abs(e) + a * np.abs(zero(y.low)) + b * np.abs(zero(x.low)))
    zeros = ((a == 0) & (dx == 0)) | ((b == 0) & (dy == 0))
    # A zero whose sign is that of an unknown sign must not look exact.
    told = zeros & ((dx == 0) | (a > dx)) & ((dy == 0) | (b > dy))
    radius = radius * WIDE + np.where(told, 0.0, UNDERFLOW)
    return finish(high, low, radius, special, unsure)


def divide(attrs: Any, x: Approx, y: Approx) -> Approx:
    """x / y, exact where the float64 quotient is.

    The remainder x - q y of the float64 quotient q is a float64 number (Dekker): zero shows an
    exact quotient, else its quotient by y is the low word, within 4u of what is missing.
    """
    special, unsure = ieee(np.divide, x, y)
    by_zero = (y.high == 0) & (np.asarray(y.spread) == 0)
    if y.special is not None:
        by_zero &= y.special == 0
    q = x.high / np.where(by_zero, 1.0, y.high)
    p, e = two_prod(q, y.high)
    tail = (x.high - p) - e
    exact = (tail == 0) & (zero(x.low) == 0) & ((zero(y.low) == 0) | (q == 0))
    extra = zero(x.low) - q * zero(y.low)
    low = (tail + extra) / np.where(by_zero, 1.0, y.high)
    size = np.abs(y.high)
    least = size - np.asarray(y.spread) * WIDE
    radius = (zero(x.radius) + np.abs(q) * zero(y.radius)) / least
    radius = radius + np.abs(low) * (np.asarray(y.spread) / least)
    rounding = np.abs(tail) + np.abs(zero(x.low)) + 2 * np.abs(q * zero(y.low))
    lost = ~exact | (zero(x.radius) > 0) | ((zero(y.radius) > 0) & (q != 0))
    radius = radius + np.where(exact, 0.0, 4 * EPS * rounding / least)
    radius = radius + np.where(lost, UNDERFLOW / least + UNDERFLOW, 0.0)
    unknown = ~(safe_quotient(x.high, q, p) & (least > 0))
    high, low = fast_two_sum(q, low)
    high = np.where(q == 0, q, high)  # TwoSum adds +0
    if by_zero.any():
        ratio = signs(x)[0] / np.where(by_zero, y.high, 1.0)
        base = np.zeros(q.shape) if special is None else special
        special = np.where(by_zero, ratio, base)
        unsure = by_zero & signs(x)[1] if unsure is None else unsure | (by_zero & signs(x)[1])
    if unsure is not None:
        unknown = unknown | unsure
        special = None if special is None else np.where(unsure, 0.0, special)
    return settle(x, y, np.divide, finish(high, low, radius * WIDE, special, unknown))


def safe_quotient(x: Floats, q: Floats, p: Floats) -> Bools:
    """Return where the remainder of x / q is exact: no step of it over- or underflows.

    |x|, |p| >= 2**-916 leave 2**-1022 or more to every bit of the remainder.
    """
    size = np.minimum(np.abs(x), np.abs(p))
    big = np.maximum(np.maximum(np.abs(x), np.abs(p)), np.abs(q))
    safe: Bools = (x == 0) | ((size >= 2.0**-916) & (big <= 2.0**990) & (np.abs(q) >= 2.0**-916))
    return safe


def sqrt(attrs: Any, x: Approx) -> Approx:
    """sqrt(x), exact where the float64 root is.

    With h = fl(sqrt(x)), rem = x - h^2 is a float64 number and sqrt(x) = h + rem / (2h) - ...; the
    next term is below rem^2 / (8 h^3) <= u |low|.
    """
    values, unsure = signs(x)
    below = (values < 0) & ~unsure
    root = np.sqrt(np.where(below | (x.high <= 0), 0.0, x.high))
    p, e = two_prod(root, root)
    tail = (x.high - p) - e
    rest = tail + zero(x.low)
    divisor = np.where(root == 0, 1.0, 2 * root)
    low = rest / divisor
    spread = np.asarray(x.spread)
    # |sqrt(a) - sqrt(b)| <= |a - b| / sqrt(max(a, b)), and second order as above.
    radius = 2 * zero(x.radius) / divisor + 4 * EPS * np.abs(low) + low * low * 2 / divisor
    radius = np.where((rest == 0) & (spread == 0), 0.0, radius + UNDERFLOW)
    high, low = fast_two_sum(root, low)
    zeros = (x.high == 0) & (spread == 0)
    small = ~zeros & ((np.abs(x.high) < 2.0**-900) | (spread * 4 > np.abs(x.high)))
    unknown = unsure | (small & ~below)
    high = np.where(zeros, x.high, high)  # the root of -0.0 is -0.0
    special = x.special
    if special is not None or below.any():
        base = np.zeros(x.high.shape) if special is None else special
        special = np.where(below | (base < 0) | np.isnan(base), np.nan, base)
        unknown = unknown & (special == 0)
    return finish(high, low, radius * WIDE, special, unknown)
