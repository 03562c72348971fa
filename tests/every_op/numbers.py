"""Expected roundings: real numbers as 64 leading bits and "something follows", rounded by integers.

A rounding into a format of at most 53 bits depends on no more than that, so that one integer
computation of a value gives what every format, mode and overflow rule makes of it. Nothing here is
shared with the code under test; `test_numbers.py` compares it with lists of values and Fractions.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from exactref_core.formats.format import Format

MODES = ("nearest_even", "nearest_away", "toward_zero", "up", "down")
OVERFLOWS = ("ieee", "saturate")
BITS = 64

# What an exact value is: an infinity, NaN or a zero with its sign; or (negative, s, e, more): the
# magnitude is s * 2**e, or lies strictly between that and (s + 1) * 2**e where more.
Number = float | tuple[bool, int, int, bool]


def dyadic(n: int, e: int, more: bool = False) -> Number:
    """n * 2**e, or a number beyond it in magnitude by less than 2**e; n == 0 gives +0."""
    if n == 0:
        if more:
            raise ValueError("too few bits to tell the number from 0")
        return 0.0
    s = abs(n)
    drop = s.bit_length() - BITS
    if drop <= 0:
        if more:
            raise ValueError(f"{s.bit_length()} leading bits are too few")
        return n < 0, s << -drop, e + drop, False
    top = s >> drop
    return n < 0, top, e + drop, more or top << drop != s


def ratio(n: int, d: int, e: int = 0) -> Number:
    """n / d * 2**e for a nonzero d."""
    if d < 0:
        n, d = -n, -d
    shift = max(0, BITS + 1 + d.bit_length() - n.bit_length())
    q, rest = divmod(abs(n) << shift, d)
    return dyadic(-q if n < 0 else q, e - shift, rest != 0)


def of_fraction(x: Fraction) -> Number:
    """A rational number."""
    return ratio(x.numerator, x.denominator)


@dataclass(frozen=True)
class Numbers:
    """Many exact values, as arrays; where ``special`` is not 1 it is the value."""

    negative: np.ndarray
    significand: np.ndarray
    exponent: np.ndarray
    more: np.ndarray
    special: np.ndarray

    @staticmethod
    def of(values: Sequence[Number]) -> Numbers:
        """Collect values."""
        filler = (False, 1 << (BITS - 1), 0, False)
        rows = [filler if isinstance(x, float) else x for x in values]
        special = [x if isinstance(x, float) else 1.0 for x in values]
        negative, significand, exponent, more = zip(*rows, strict=True) if rows else ((),) * 4
        return Numbers(
            np.array(negative, bool),
            np.array(significand, np.uint64),
            np.array(exponent, np.int64),
            np.array(more, bool),
            np.array(special, np.float64),
        )

    def take(self, places: np.ndarray | slice) -> Numbers:
        """Some of the values."""
        parts = (self.negative, self.significand, self.exponent, self.more, self.special)
        return Numbers(*(part[places] for part in parts))

    def round(self, form: Format, mode: str, overflow: str) -> np.ndarray:
        """Every value rounded once, as float64."""
        with np.errstate(all="ignore"):
            return round_numbers(self, form, mode, overflow)


def position(x: Numbers, form: Format) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The format's value at or below each magnitude as (q, unit): q * 2**unit; and where in the
    gap above it the magnitude lies: 0 at its foot, 1 below the middle, 2 in the middle, 3 above."""
    leading = x.exponent + (BITS - 1)
    unit = np.maximum(leading, form.emin) - (form.precision - 1)
    drop = unit - x.exponent
    part = np.clip(drop, 1, BITS - 1).astype(np.uint64)
    q = x.significand >> part
    rest = x.significand & ((np.uint64(1) << part) - np.uint64(1))
    half = np.uint64(1) << (part - np.uint64(1))
    # At 64 dropped bits the leading one is worth half a unit; beyond, less than half.
    q = np.where(drop >= BITS, np.uint64(0), q)
    rest = np.where(drop == BITS, x.significand, rest)
    half = np.where(drop == BITS, np.uint64(1 << (BITS - 1)), half)
    inside = np.where(rest > half, 3, np.where(rest < half, 1, np.where(x.more, 3, 2)))
    inside = np.where((rest == 0) & ~x.more & (drop < BITS), 0, inside)
    return q.astype(np.int64), unit, np.where(drop > BITS, 1, inside)


def round_numbers(x: Numbers, form: Format, mode: str, overflow: str) -> np.ndarray:
    """Every value rounded once, as float64."""
    q, unit, place = position(x, form)
    up = {
        "nearest_even": (place == 3) | ((place == 2) & (q % 2 == 1)),
        "nearest_away": place >= 2,
        "toward_zero": np.zeros(q.shape, bool),
        "up": (place > 0) & ~x.negative,
        "down": (place > 0) & x.negative,
    }[mode]
    magnitude = np.ldexp((q + up).astype(np.float64), unit)
    outward = {"toward_zero": False, "up": ~x.negative, "down": x.negative}.get(mode, True)
    beyond = largest(form) if overflow == "saturate" else after_largest(form)
    magnitude = np.where(
        magnitude > largest(form), np.where(outward, beyond, largest(form)), magnitude
    )
    rounded = np.where(x.negative, -magnitude, magnitude)
    rounded = np.where(x.special == 1.0, rounded, stored_special(x.special, form, overflow))
    return rounded if form.signed_zero else np.where(rounded == 0, 0.0, rounded)


def largest(form: Format) -> float:
    """The largest finite value."""
    top = (1 << form.precision) - 1
    if form.largest_significand is not None:
        top = form.largest_significand
    return math.ldexp(float(top), form.emax - form.precision + 1)


def after_largest(form: Format) -> float:
    """What stands for numbers beyond the largest value."""
    return math.inf if form.infinity else math.nan if form.nan else largest(form)


def stored_special(special: np.ndarray, form: Format, overflow: str) -> np.ndarray:
    """Infinities, NaN and zeros as a format stores them."""
    if form.infinity:
        return special
    beyond = largest(form) if overflow == "saturate" else after_largest(form)
    return np.where(np.isinf(special), np.copysign(beyond, special), special)
