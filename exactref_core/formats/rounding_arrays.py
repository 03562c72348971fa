"""Rounding arrays of float64 pairs into a format, each element once.

A pair (high, low) is the real number high + low with high == fl(high + low), the double-double
normal form. For formats narrower than float64 the pair is first rounded to odd: where it is not
a float64 value, it lies between two neighbouring ones, exactly one of which has an odd
significand, and that one is taken. The values of the format and the midpoints between them are
even there (the format is at least two bits narrower), so the odd value lies on the same side of
all of them as the pair, and rounding it gives what rounding the pair gives, in every mode.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from exactref_core.errors import DTypeError
from exactref_core.formats.format import FLOAT64_PRECISION, Format
from exactref_core.formats.rounding import Overflow, Rounding, overflow_value

__all__ = ["cast_to", "floor_to_grid", "integer_pair", "round_pair"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

# The passes over a block of this many elements stay in cache, and its temporaries are below the
# size that malloc maps afresh (128 KiB); shorter blocks lose to call costs.
BLOCK = 12288
SMALLEST_NORMAL = 2.0**-1022
ONE_HALF = 0.5

# numpy's casts to these round a float64 to nearest-even once, subnormals included.
CASTS: dict[tuple[int, int, int], type[np.floating[Any]]] = {
    (24, -126, 127): np.float32,
    (11, -14, 15): np.float16,
}


def cast_to(fmt: Format, rounding: Rounding) -> type[np.floating[Any]] | None:
    """The dtype of which a cast rounds float64 numbers into ``fmt`` once, where there is one."""
    found = CASTS.get((fmt.precision, fmt.emin, fmt.emax))
    return found if rounding is Rounding.NEAREST_EVEN else None


def round_pair(
    high: npt.ArrayLike,
    low: npt.ArrayLike | None,
    fmt: Format,
    rounding: Rounding = Rounding.NEAREST_EVEN,
    overflow: Overflow = Overflow.IEEE,
) -> Floats:
    """The real numbers high + low, each rounded once into the float format ``fmt``, as float64.

    ``high`` is float64 of any shape with high == fl(high + low) where it is finite; ``low``
    broadcasts to that shape, and None means 0. The answer is a new array of the shape of
    ``high``. Rounding beyond the largest finite value gives what ``overflow_value`` says. Where
    ``high`` is infinite or NaN, ``low`` is ignored and ``high`` is the answer, except that
    formats without infinity store NaN, and with SATURATE or without NaN too the largest finite
    value, for an infinity. A zero keeps its sign and a nonzero number that rounds to zero its
    own, where the format has signed zeros. For a complex format this rounds one part. DTypeError
    for integer formats.
    """
    if fmt.is_integer:
        raise DTypeError(f"{fmt.name} is not a floating-point format: nothing is rounded into it")
    values = np.asarray(high, dtype=np.float64)
    tails = None if low is None else np.broadcast_to(np.asarray(low, np.float64), values.shape)
    source = values.reshape(-1)
    tail = None if tails is None else tails.reshape(-1)
    with np.errstate(all="ignore"):
        if source.size <= BLOCK:
            alone = _round_block(source, tail, fmt, rounding, overflow).reshape(values.shape)
            return alone.copy() if np.may_share_memory(alone, values) else alone
        rounded = np.empty(values.shape, np.float64)
        target = rounded.reshape(-1)
        for start in range(0, source.size, BLOCK):
            part = slice(start, start + BLOCK)
            ends = None if tail is None else tail[part]
            target[part] = _round_block(source[part], ends, fmt, rounding, overflow)
    return rounded


def cast_of(fmt: Format, rounding: Rounding, overflow: Overflow) -> type[np.floating[Any]] | None:
    """The dtype that NumPy's cast of float64 rounds to as these say, or None."""
    if rounding is not Rounding.NEAREST_EVEN or overflow is not Overflow.IEEE:
        return None
    return CASTS.get((fmt.precision, fmt.emin, fmt.emax)) if fmt.infinity else None


def floor_to_grid(values: npt.ArrayLike, precision: int, eta_exponent: int) -> Floats:
    """The largest grid number at or below each value, as a new float64 array.

    The grid: numbers of at most ``precision`` (1 to 53) significand bits that are multiples of
    2**eta_exponent (from 2**-1074 to 1), without an upper end. Infinities and NaN stay; an end
    beyond the float64 numbers is an infinity.
    """
    return _to_grid(values, precision, eta_exponent, Rounding.DOWN)


def integer_pair(values: npt.NDArray[Any]) -> tuple[Floats, Floats]:
    """Integers of any numpy integer or bool dtype as pairs: high + low is each one exactly."""
    if values.dtype.kind == "b" or values.dtype.itemsize < 8:
        return values.astype(np.float64), np.zeros(values.shape)
    # Both halves are exact, and the upper one is 0 or larger than the lower one in magnitude,
    # so the error of their sum is the difference below (Dekker's fast two-sum).
    upper = (values >> 32).astype(np.float64) * 2.0**32
    lower = (values & np.asarray(0xFFFFFFFF, values.dtype)).astype(np.float64)
    high = upper + lower
    return high, lower - (high - upper)


def _to_grid(
    values: npt.ArrayLike, precision: int, eta_exponent: int, rounding: Rounding
) -> Floats:
    source = np.asarray(values, dtype=np.float64)
    rounded = np.empty(source.shape, np.float64)
    target, flat = rounded.reshape(-1), source.reshape(-1)
    with np.errstate(all="ignore"):
        for start in range(0, flat.size, BLOCK):
            part = slice(start, start + BLOCK)
            target[part] = _round_values(flat[part], precision, eta_exponent, rounding)
    return rounded


def _round_block(
    high: Floats, low: Floats | None, fmt: Format, rounding: Rounding, overflow: Overflow
) -> Floats:
    if fmt.precision == FLOAT64_PRECISION:
        rounded = high if low is None else _round_pair_to_float64(high, low, rounding)
    else:
        high = high if low is None else _absorb_low(high, low, fmt, rounding)
        cast = CASTS.get((fmt.precision, fmt.emin, fmt.emax))
        if cast is not None and rounding is Rounding.NEAREST_EVEN:
            rounded = high.astype(cast).astype(np.float64)
        else:
            rounded = _round_values(high, fmt.precision, fmt.eta_exponent, rounding)
    if fmt.infinity and overflow is Overflow.IEEE and rounding is Rounding.NEAREST_EVEN:
        rounded = _overflow_to_infinity(rounded, fmt)
    else:
        rounded = _overflow_to_rule(rounded, high, fmt, rounding, overflow)
    return rounded if fmt.signed_zero else rounded + 0.0  # -0.0 + 0.0 is 0.0


def _overflow_to_infinity(rounded: Floats, fmt: Format) -> Floats:
    if (fmt.precision, fmt.emin, fmt.emax) in CASTS or fmt.precision == FLOAT64_PRECISION:
        return rounded  # the cast itself, or float64's own range, has done it
    beyond = np.abs(rounded) > float(fmt.max)
    if beyond.any():
        rounded[beyond] = np.copysign(np.inf, rounded[beyond])
    return rounded


def _overflow_to_rule(
    rounded: Floats, exact: Floats, fmt: Format, rounding: Rounding, overflow: Overflow
) -> Floats:
    beyond = np.abs(rounded) > float(fmt.max)
    if not beyond.any():
        return rounded
    rounded = np.array(rounded)
    for negative in (False, True):
        side = beyond & (np.signbit(rounded) == negative)
        given = np.isinf(exact) & side
        rounded[side] = overflow_value(negative, fmt, rounding, overflow)
        if fmt.infinity:
            rounded[given] = exact[given]
        else:  # the mode says nothing about an infinity that was there before
            rounded[given] = overflow_value(negative, fmt, Rounding.NEAREST_EVEN, overflow)
    return rounded


def _round_pair_to_float64(high: Floats, low: Floats, rounding: Rounding) -> Floats:
    """The neighbour of ``high`` or ``high`` itself: low is at most half an ulp."""
    if rounding is Rounding.NEAREST_EVEN:
        return high
    outward = (low < 0) == (high < 0)  # high is 0 only where low is
    if rounding is Rounding.NEAREST_AWAY:
        # fl(high + low) == high already, so only a tie that went to the even value inward moves.
        magnitude = np.abs(high)
        gap = np.nextafter(magnitude, np.inf) - magnitude
        return _step(high, outward & (2.0 * np.abs(low) == gap), 1)
    if rounding is Rounding.TOWARD_ZERO:
        return _step(high, ~outward & (low != 0.0), -1)
    if rounding is Rounding.UP:
        return _step(high, low > 0.0, np.where(outward, 1, -1))
    return _step(high, low < 0.0, np.where(outward, 1, -1))


def _step(values: Floats, where: npt.NDArray[np.bool_], outward: Any) -> Floats:
    """The next value away from zero (outward 1) or toward it (-1) at the finite ones marked."""
    moved = values.view(np.int64) + outward * (where & np.isfinite(values)).astype(np.int64)
    return np.asarray(moved, np.int64).view(np.float64)


def _absorb_low(high: Floats, low: Floats, fmt: Format, rounding: Rounding) -> Floats:
    """Float64 values that round as the pairs do: ``high``, rounded to odd where low matters."""
    # From fmt's smallest normal number on, low only matters where high is itself a point at
    # which the mode switches: a midpoint for the nearest modes, a value of fmt for the others.
    dropped = FLOAT64_PRECISION - fmt.precision
    nearest = rounding in (Rounding.NEAREST_EVEN, Rounding.NEAREST_AWAY)
    switch = 1 << (dropped - 1) if nearest else 0
    matters = (high.view(np.int64) & ((1 << dropped) - 1)) == switch
    matters |= np.abs(high) < max(float(fmt.smallest_normal), SMALLEST_NORMAL)
    if not matters.any():
        return high
    matters &= (low != 0.0) & np.isfinite(high)
    where = np.flatnonzero(matters)
    if where.size == 0:
        return high
    absorbed = np.array(high)
    absorbed[where] = _round_to_odd(high[where], low[where])
    return absorbed


def _round_to_odd(high: Floats, low: Floats) -> Floats:
    """Round finite pairs with a nonzero low to odd."""
    bits = high.view(np.int64)
    # Bits count magnitudes: +1 goes away from zero, where the signs agree, and -1 toward it.
    outward = ((bits ^ low.view(np.int64)) >> 63) | 1
    return np.asarray(bits + outward * (~bits & 1), np.int64).view(np.float64)


def _round_values(values: Floats, precision: int, eta_exponent: int, rounding: Rounding) -> Floats:
    """Each float64 rounded to the grid of ``floor_to_grid`` in any mode; a new array."""
    bits = values.view(np.int64)
    rounded = _round_bits(bits, FLOAT64_PRECISION - precision, rounding).view(np.float64)
    # Rounding the bits is right from the smallest normal number of the grid and of float64 on.
    smallest_normal = max(math.ldexp(1.0, eta_exponent + precision - 1), SMALLEST_NORMAL)
    magnitudes = np.abs(values)
    tiny = magnitudes < smallest_normal
    if tiny.any():
        tiny &= magnitudes > 0.0
        rounded[tiny] = _round_tiny(values[tiny], precision, eta_exponent, rounding)
    missing = np.isnan(values)
    if missing.any():
        rounded[missing] = values[missing]
    return rounded


def _round_bits(bits: Ints, dropped: int, rounding: Rounding) -> Ints:
    """Round the significand in sign-magnitude bits; a carry moves into the exponent by itself."""
    if dropped == 0:
        return np.array(bits)
    rest = (1 << dropped) - 1
    half = 1 << (dropped - 1)
    if rounding is Rounding.NEAREST_EVEN:
        raised = bits + ((half - 1) + ((bits >> dropped) & 1))
    elif rounding is Rounding.NEAREST_AWAY:
        raised = bits + half
    elif rounding is Rounding.TOWARD_ZERO:
        raised = bits
    else:
        negative = bits >> 63  # -1 or 0
        raised = bits + (rest & (negative if rounding is Rounding.DOWN else ~negative))
    return np.asarray(raised & ~rest, np.int64)


def _round_tiny(values: Floats, precision: int, eta_exponent: int, rounding: Rounding) -> Floats:
    """Nonzero values below a smallest normal number, rounded to multiples of their own unit."""
    exponents = np.frexp(values)[1]
    units = np.maximum(exponents - precision, eta_exponent)
    scaled = np.ldexp(values, -units)  # exact: upward, and below 2**precision
    whole = np.trunc(scaled)
    if rounding is Rounding.NEAREST_EVEN:
        whole = np.rint(scaled)
    elif rounding is Rounding.NEAREST_AWAY:
        whole += np.where(np.abs(scaled - whole) >= ONE_HALF, np.copysign(1.0, values), 0.0)
    elif rounding is Rounding.UP:
        whole = np.ceil(scaled)
    elif rounding is Rounding.DOWN:
        whole = np.floor(scaled)
    return np.asarray(np.copysign(np.ldexp(whole, units), values), np.float64)
