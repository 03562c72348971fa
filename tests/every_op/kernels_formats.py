"""Formats as data for the simulated kernels, and the final store: one rounding of each value."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np


@dataclass(frozen=True)
class Spec:
    """A format: significand bits, exponent of the smallest normal number, largest value."""

    name: str
    bits: int
    emin: int
    largest: float
    infinity: bool = True

    @property
    def tiny(self) -> float:
        return 2.0**self.emin

    @property
    def eta(self) -> float:
        return 2.0 ** (self.emin - self.bits + 1)

    @property
    def compute(self) -> str:
        return "float64" if self.name in ("float64", "complex128") else "float32"


def binary(name: str, bits: int, emin: int) -> Spec:
    return Spec(name, bits, emin, (2 - 2.0 ** (1 - bits)) * 2.0 ** (1 - emin))


SPECS = {
    spec.name: spec
    for spec in (
        binary("float64", 53, -1022),
        binary("float32", 24, -126),
        binary("tfloat32", 11, -126),
        binary("bfloat16", 8, -126),
        binary("float16", 11, -14),
        binary("float8_e5m2", 3, -14),
        Spec("float8_e4m3fn", 4, -6, 448.0, infinity=False),
    )
}


def compute_name(given: str, output: str) -> str:
    """What a correct implementation works in."""
    return "float64" if "float64" in (given, output) else "float32"


def nearest(scaled: np.ndarray) -> np.ndarray:
    return np.rint(scaled)


def away(scaled: np.ndarray) -> np.ndarray:
    whole = np.trunc(scaled)
    return whole + np.where(np.abs(scaled - whole) >= 0.5, np.sign(scaled), 0.0)


MODES = {
    "nearest_even": nearest,
    "nearest_away": away,
    "toward_zero": np.trunc,
    "up": np.ceil,
    "down": np.floor,
}


def store(
    values: np.ndarray, spec: Spec, rounding: str = "nearest_even", overflow: str = "ieee"
) -> np.ndarray:
    """Values of the compute format (as float64) rounded into a format; float64 output."""
    values = np.asarray(values, np.float64)
    with np.errstate(all="ignore"):
        if spec.bits == 53:
            result = values
        else:
            exponent = np.maximum(np.frexp(values)[1] - 1, spec.emin) - (spec.bits - 1)
            # Scaling by a power of two is exact: the quotient has as many bits as the value.
            whole = MODES[rounding](np.ldexp(values, -exponent))
            result = np.where(np.isfinite(values), np.ldexp(whole, exponent), values)
        return overflowed(result, values, spec, rounding, overflow)


def store_exactly(
    exact: Fraction, spec: Spec, rounding: str = "nearest_even", overflow: str = "ieee"
) -> float:
    """One rational rounded once into a format."""
    size = abs(exact)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    exponent -= size < Fraction(2) ** exponent
    unit = Fraction(2) ** (max(exponent, spec.emin) - (spec.bits - 1))
    whole, rest = divmod(size / unit, 1)
    if rounding in ("up", "down"):
        whole += bool(rest) and (exact > 0) == (rounding == "up")
    elif rounding != "toward_zero":
        odd = rounding == "nearest_away" or whole % 2 == 1
        whole += rest > Fraction(1, 2) or (rest == Fraction(1, 2) and odd)
    if whole * unit <= Fraction(spec.largest):
        return float(np.copysign(float(whole * unit), float(exact > 0) - 0.5))
    sign = np.array(1.0 if exact > 0 else -1.0)
    return float(overflowed(sign * np.inf, sign, spec, rounding, overflow))


def overflowed(
    result: np.ndarray, values: np.ndarray, spec: Spec, rounding: str, overflow: str
) -> np.ndarray:
    """Results beyond the largest value: that value where the mode or the rule says so."""
    beyond = np.abs(result) > spec.largest
    inward = np.full(beyond.shape, overflow == "saturate")
    if rounding == "toward_zero":
        inward |= np.isfinite(values)
    if rounding in ("up", "down"):
        inward |= np.isfinite(values) & ((values < 0) == (rounding == "up"))
    outside = np.copysign(np.inf if spec.infinity else np.nan, result)
    capped = np.copysign(spec.largest, result)
    return np.where(beyond, np.where(inward, capped, outside), result)


def flush_store(values: np.ndarray, spec: Spec) -> np.ndarray:
    """Stored values with every subnormal flushed."""
    return np.where(np.abs(values) < spec.tiny, np.copysign(0.0, values), values)
