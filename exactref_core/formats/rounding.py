"""Rounding one exact rational into a format, once."""

from __future__ import annotations

import math
from enum import Enum
from typing import Any

from exactref_core.errors import DTypeError, InputError
from exactref_core.formats.format import Format

__all__ = [
    "STOCHASTIC",
    "Overflow",
    "Rounding",
    "overflow_value",
    "parse_overflow",
    "parse_rounding",
    "parse_store_rounding",
    "round_ratio",
]


# Of a store either neighbour is correct, whatever the odds.
STOCHASTIC = "stochastic"


class Rounding(Enum):
    """How a real number between two neighbouring values of a format is rounded."""

    NEAREST_EVEN = "nearest_even"
    NEAREST_AWAY = "nearest_away"
    TOWARD_ZERO = "toward_zero"
    UP = "up"
    DOWN = "down"


class Overflow(Enum):
    """What a rounding beyond the largest finite value stores: IEEE's answer, or that value."""

    IEEE = "ieee"
    SATURATE = "saturate"


def parse_rounding(value: object) -> Rounding:
    """The Rounding that ``value`` (a member or its string) names; InputError otherwise."""
    try:
        return Rounding(value)
    except ValueError:
        raise InputError(_refusal("rounding", value, Rounding)) from None


def parse_store_rounding(value: object) -> Rounding | str:
    """The rule of a call's store: a Rounding, or STOCHASTIC; InputError otherwise."""
    if isinstance(value, str) and value == STOCHASTIC:
        return STOCHASTIC
    try:
        return parse_rounding(value)
    except InputError as error:
        raise InputError(f"{error}, {STOCHASTIC!r}") from None


def parse_overflow(value: object) -> Overflow:
    """The Overflow that ``value`` (a member or its string) names; InputError otherwise."""
    try:
        return Overflow(value)
    except ValueError:
        raise InputError(_refusal("overflow", value, Overflow)) from None


def _refusal(argument: str, value: object, choices: type[Enum]) -> str:
    return f"{argument}={value!r} is not one of {', '.join(repr(c.value) for c in choices)}"


def round_ratio(
    numerator: Any,
    denominator: Any,
    fmt: Format,
    rounding: Rounding = Rounding.NEAREST_EVEN,
    overflow: Overflow = Overflow.IEEE,
    negative_zero: bool = False,
) -> float:
    """numerator / denominator rounded once into the float format ``fmt``, as a Python float.

    The operands are integers of any integer type. A result beyond the largest finite value is
    what ``overflow_value`` says. A nonzero ratio that rounds to zero keeps its sign, and a zero
    ratio has the sign that ``negative_zero`` asks for, where the format has signed zeros. For a
    complex format this rounds one part. DTypeError for integer formats, InputError for a zero
    denominator.
    """
    if fmt.is_integer:
        raise DTypeError(f"{fmt.name} is not a floating-point format: nothing is rounded into it")
    if denominator == 0:
        raise InputError("denominator is 0")
    if numerator == 0:
        return -0.0 if negative_zero and fmt.signed_zero else 0.0
    negative = (numerator < 0) != (denominator < 0)
    numerator, denominator = abs(numerator), abs(denominator)
    exponent = _floor_log2(numerator, denominator)
    if exponent > fmt.emax:
        return overflow_value(negative, fmt, rounding, overflow)
    unit = max(exponent, fmt.emin) - (fmt.precision - 1)
    if unit >= 0:
        denominator = denominator << unit
    else:
        numerator = numerator << -unit
    quotient, remainder = divmod(numerator, denominator)
    if remainder and _rounds_away(quotient, 2 * remainder, denominator, rounding, negative):
        quotient += 1
    if exponent == fmt.emax and quotient > fmt.top_significand:
        return overflow_value(negative, fmt, rounding, overflow)
    magnitude = math.ldexp(float(quotient), unit)  # exact: a value of fmt is a float64 value
    return -magnitude if negative and (quotient or fmt.signed_zero) else magnitude


def overflow_value(negative: bool, fmt: Format, rounding: Rounding, overflow: Overflow) -> float:
    """What ``fmt`` stores for a finite number that rounds beyond its largest finite value.

    Roundings away from the number's side of infinity, and SATURATE, give the largest finite
    value; the others infinity, where the format has none NaN, and where it has neither the
    largest finite value.
    """
    inward = (
        rounding is Rounding.TOWARD_ZERO
        or (rounding is Rounding.UP and negative)
        or (rounding is Rounding.DOWN and not negative)
    )
    if inward or overflow is Overflow.SATURATE or not (fmt.infinity or fmt.nan):
        magnitude = float(fmt.max)
    else:
        magnitude = math.inf if fmt.infinity else math.nan
    return -magnitude if negative else magnitude


def _floor_log2(numerator: Any, denominator: Any) -> int:
    # n has a bits and d has b, so n/d lies between 2**(a-b-1) and 2**(a-b+1), ends excluded.
    exponent = int(numerator.bit_length()) - int(denominator.bit_length())
    if exponent >= 0:
        below = numerator < denominator << exponent
    else:
        below = numerator << -exponent < denominator
    return exponent - 1 if below else exponent


def _rounds_away(
    quotient: Any, twice_remainder: Any, denominator: Any, rounding: Rounding, negative: bool
) -> bool:
    if rounding is Rounding.NEAREST_EVEN:
        return bool(
            twice_remainder > denominator or (twice_remainder == denominator and quotient & 1)
        )
    if rounding is Rounding.NEAREST_AWAY:
        return bool(twice_remainder >= denominator)
    if rounding is Rounding.TOWARD_ZERO:
        return False
    return (rounding is Rounding.DOWN) == negative
