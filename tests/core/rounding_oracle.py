"""Expected roundings, from lists of a format's values or by comparing rationals: no shared code."""

from __future__ import annotations

from fractions import Fraction

import ml_dtypes
import numpy as np

from exactref_core.formats.catalogue import FORMATS
from exactref_core.formats.format import Format

FLOATS = [fmt for fmt in FORMATS.values() if fmt.is_float]
SMALL = [fmt for fmt in FLOATS if fmt.storage not in ("float32", "float64")]


def dtype_of(fmt: Format) -> np.dtype:
    return np.dtype(getattr(ml_dtypes, fmt.storage, None) or fmt.storage)


def nonnegative_values(fmt: Format) -> np.ndarray:
    """Every finite value from +0 up, by bit pattern, so that the parity of an index is that of
    the significand."""
    dtype = dtype_of(fmt)
    bits = {"float16": 16, "bfloat16": 16, "float6_e2m3fn": 6, "float6_e3m2fn": 6}
    width = bits.get(fmt.name, 4 if fmt.name.startswith("float4") else 8)
    patterns = np.arange(1 << (width - 1), dtype=np.uint16 if dtype.itemsize == 2 else np.uint8)
    with np.errstate(invalid="ignore"):  # signalling NaNs
        values = patterns.view(dtype).astype(np.float64)
    return values[np.isfinite(values)]


def neighbours(fmt: Format) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Lower and upper ends of every gap between neighbouring nonnegative values, and whether the
    lower one is even. The last gap ends at the value that would follow the largest one."""
    values = nonnegative_values(fmt)
    after = 2 * values[-1] - values[-2]
    return values, np.append(values[1:], after), np.arange(values.size) % 2 == 0


def choose_upper(mode: str, side: int, lower_even: np.ndarray) -> np.ndarray:
    """Whether a positive number strictly inside a gap goes up: side is the sign of the number
    minus the midpoint of the gap."""
    everywhere = np.ones(lower_even.shape, bool)
    if mode == "up":
        return everywhere
    if mode in ("down", "toward_zero"):
        return ~everywhere
    if side != 0:
        return everywhere if side > 0 else ~everywhere
    return everywhere if mode == "nearest_away" else ~lower_even


def mirrored(mode: str) -> str:
    return {"up": "down", "down": "up"}.get(mode, mode)


def beyond(fmt: Format, mode: str) -> float:
    """What a positive finite number that rounds beyond the largest value becomes."""
    if mode in ("down", "toward_zero") or not (fmt.infinity or fmt.nan):
        return float(nonnegative_values(fmt)[-1])
    return np.inf if fmt.infinity else np.nan


def same(got: np.ndarray, expected: np.ndarray) -> bool:
    """Equal bit for bit, apart from NaN payloads and signs."""
    got, expected = np.asarray(got), np.asarray(expected)
    missing = np.isnan(expected)
    signs = (np.signbit(got) == np.signbit(expected)) | missing
    return bool(np.all((got == expected) | (np.isnan(got) & missing)) and np.all(signs))


def two_sum(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Knuth: a + b == high + low exactly, high the rounded sum; only pairs that do not overflow."""
    with np.errstate(all="ignore"):
        high = a + b
        part = high - a
        low = (a - (high - part)) + (b - part)
    finite = np.isfinite(high) & np.isfinite(low)
    return high[finite], low[finite]


def random_pairs(fmt: Format, count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Pairs over all float64 exponents and, mostly, around the format's own, many of them at or
    next to values and midpoints of the format."""
    rng = np.random.default_rng(seed)
    size = 2 * count
    near = rng.random(size) < 0.8
    inside = rng.integers(fmt.emin - fmt.precision - 3, fmt.emax + 3, size)
    exponents = np.where(near, inside, rng.integers(-1074, 1025, size))
    bits = rng.choice([fmt.precision, fmt.precision + 1, 53], size).clip(1, 53)
    significands = np.floor(rng.random(size) * np.ldexp(1.0, bits)) + np.ldexp(1.0, bits - 1)
    with np.errstate(all="ignore"):
        a = np.ldexp(rng.choice([-1.0, 1.0], size) * significands, exponents - bits)
        tails = rng.choice([0.0, 1.0, 0.5, 0.75, 2.0**-30, 2.0**-700], size)
        tails *= rng.choice([-1.0, 1.0], size) * rng.choice([1.0, 2.0**-53, 2.0**-54], size)
        b = np.where(rng.random(size) < 0.1, rng.choice([-5e-324, 5e-324], size), tails * a)
    high, low = two_sum(a[np.isfinite(a)], b[np.isfinite(a)])
    assert high.size >= count
    return high[:count], low[:count]


def exact(high: float, low: float) -> Fraction:
    return Fraction(high) + Fraction(low)
