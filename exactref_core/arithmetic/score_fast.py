"""The fast reading of scores: a product times a scale, exactly where that is a power of two."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from exactref_core.arithmetic import fast_steps as steps
from exactref_core.arithmetic.approx import Approx
from exactref_core.arithmetic.softmax_verbs import Scale

__all__ = ["constant", "scaled"]

# Magnitudes from it to its reciprocal stay in the normal range, their low words too.
SAFE = 2.0**-400


def scaled(attrs: Scale, product: Approx, bias: Approx | None = None) -> Approx:
    """scale * product + bias."""
    factor = constant(attrs)
    result = doubled(product, float(factor.high)) if is_power(factor) else None
    if result is None:
        result = steps.multiply(None, product, factor)
    return result if bias is None else steps.add(None, result, bias)


def is_power(factor: Approx) -> bool:
    """Return whether a number is a power of two, exactly."""
    parts = (factor.low, factor.radius)
    exact = all(part is None or not np.any(part) for part in parts)
    return exact and abs(math.frexp(float(factor.high))[0]) == 0.5


def doubled(x: Approx, factor: float) -> Approx | None:
    """Return x times a power of two; None where something may leave the normal range."""
    size = np.abs(x.high)
    least = np.min(size, initial=np.inf, where=size > 0)
    if not (float(least) > SAFE and float(np.max(size, initial=0.0)) < 1 / SAFE):
        return None
    if not SAFE < abs(factor) < 1 / SAFE:
        return None
    low = None if x.low is None else x.low * factor
    radius = None if x.radius is None else x.radius * abs(factor)
    if radius is not None:
        radius = radius + np.where(radius < SAFE, 2.0**-1074, 0.0)
    special = x.special if x.special is None or factor > 0 else -x.special
    return Approx(x.high * factor, low, radius, special)


def constant(scale: Scale) -> Approx:
    """Return a scale as an enclosure."""
    from exactref_core.arithmetic.fast import constant as exact_constant

    value = exact_constant(Fraction(abs(scale.value)))
    value = steps.sqrt(None, value) if scale.root else value
    return steps.negative(None, value) if scale.value < 0 else value
