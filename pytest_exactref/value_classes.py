"""Classes of values where kernels break: ADD A CLASS HERE, a function and a row of the table."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from pytest_exactref.source import Numbers, Source

__all__ = ["VALUE_CLASSES", "Facts", "ValueClass"]

Shape = tuple[int, ...]
Generator = np.random.Generator


@dataclass(frozen=True)
class Facts:
    """What a class needs to know of the format, the output format and the operation.

    ``precision`` significand bits, normal exponents ``emin`` to ``emax``, subnormals from
    2**``eta_exponent``, largest finite value ``largest``, of the tensor's format (of its parts, if
    complex). ``stored`` are the significand bits of the output, ``computed`` those of the format
    that it is computed in; ``terms`` bounds the number of terms of an element; ``axis`` is the
    axis along which the operation adds, None for an elementwise one.
    """

    precision: int
    emin: int
    emax: int
    eta_exponent: int
    largest: float
    infinity: bool
    nan: bool
    signed_zero: bool
    stored: int
    computed: int
    terms: int
    axis: int | None


def _significands(rng: Generator, size: int, bits: int) -> Numbers:
    """Signed significands of ``bits`` bits, magnitudes in [1, 2)."""
    fraction = rng.integers(0, 2 ** (bits - 1), size).astype(np.float64) / 2.0 ** (bits - 1)
    return rng.choice([-1.0, 1.0], size) * (1.0 + fraction)


def _scaled(rng: Generator, size: int, facts: Facts, low: int, high: int) -> Numbers:
    """Values of either sign with exponents evenly in [low, high]."""
    exponents = rng.integers(low, high + 1, size)
    values = np.ldexp(_significands(rng, size, facts.precision), exponents)
    return np.clip(values, -facts.largest, facts.largest)


def _plain(source: Source, shape: Shape, palette: list[float]) -> Numbers:
    """Normally distributed values with palette entries among them."""
    return source.values(source.own.standard_normal(math.prod(shape)), palette).reshape(shape)


def integers(source: Source, shape: Shape, facts: Facts) -> Numbers:
    """Integers so small that every order of adding their products is exact."""
    exact = math.isqrt(2**facts.computed // max(1, facts.terms))
    bound = max(1, min(2 ** (facts.precision - 1), exact))
    stream = source.own.integers(-bound, bound + 1, math.prod(shape)).astype(np.float64)
    small = [v for v in (0.0, 1.0, -1.0, 2.0, -2.0, 3.0, 5.0, -7.0) if abs(v) <= bound]
    return source.values(stream, small).reshape(shape)


def well_scaled(source: Source, shape: Shape, facts: Facts) -> Numbers:
    """Normally distributed around zero."""
    return _plain(source, shape, [0.0, 1.0, -1.0, 2.0, 0.5, -3.0])


def one_sign(source: Source, shape: Shape, facts: Facts) -> Numbers:
    """All positive or all negative, so that nothing cancels and rounding errors add up."""
    sign = source.common().choice([1.0, -1.0])
    values: Numbers = sign * np.abs(_plain(source, shape, [1.0, 2.0, 0.5, 3.0]))
    return values


def cancellation(source: Source, shape: Shape, facts: Facts) -> Numbers:
    """Large terms that nearly cancel: in pairs along the axis, or against the other tensor."""
    ulp = 2.0 ** (1 - facts.precision)
    nudge = 1.0 + ulp * source.own.integers(-2, 3, shape)
    if facts.axis is None or not shape:
        size = math.prod(shape)
        shared = source.common().standard_normal(size)
        signs = source.own.choice([-1.0, 1.0], size)
        values = source.values(shared * signs, [1.0, -1.0, 0.0]).reshape(shape)
        nudged: Numbers = values * nudge
        return nudged
    length = shape[facts.axis]
    leading = list(shape)
    leading[facts.axis] = (length + 1) // 2
    half = _plain(source, tuple(leading), [1.0, -1.0, 0.0, 2.0])
    # The first tensor changes sign from partner to partner, the others repeat: products cancel.
    partner = half if source.role else -half
    pairs = np.concatenate([half, partner], axis=facts.axis)
    order = source.common().permutation(length)
    return np.asarray(np.take(pairs, order, axis=facts.axis) * nudge)


def offset(source: Source, shape: Shape, facts: Facts) -> Numbers:
    """Around one number that is far larger than their distances: squares less squares cancel."""
    common = source.common()
    bits = max(1, facts.precision - 6)
    size = 2.0 ** common.integers(bits // 3, max(bits // 3 + 1, bits))
    palette = [0.0, 1.0, -1.0, 2.0]
    around: Numbers = common.choice([-1.0, 1.0]) * size + _plain(source, shape, palette)
    return np.clip(around, -facts.largest, facts.largest)


def wide_exponents(source: Source, shape: Shape, facts: Facts) -> Numbers:
    """Exponents evenly over the whole range, subnormals included."""
    stream = _scaled(source.own, math.prod(shape), facts, facts.eta_exponent, facts.emax)
    return source.values(stream, [0.0, 1.0, -1.0, 2.0**facts.emin]).reshape(shape)


def near_overflow(source: Source, shape: Shape, facts: Facts) -> Numbers:
    """At the top of the range, or so that products of two reach it."""
    top = facts.emax if source.common().random() < 0.5 else facts.emax // 2 + 1
    stream = _scaled(source.own, math.prod(shape), facts, max(facts.emin, top - 2), top)
    palette = [1.0, facts.largest, -facts.largest, facts.largest / 2, 0.0]
    return source.values(stream, palette).reshape(shape)


def subnormal(source: Source, shape: Shape, facts: Facts) -> Numbers:
    """At the bottom of the range, or so that products of two reach it."""
    lowest, highest = facts.eta_exponent, facts.emin + 1
    if source.common().random() < 0.5:
        lowest, highest = lowest // 2 - 2, highest // 2 + 2
    stream = _scaled(source.own, math.prod(shape), facts, lowest, max(lowest, highest))
    palette = [2.0**facts.eta_exponent, -(2.0**facts.eta_exponent), 2.0**facts.emin, 0.0]
    return source.values(stream, palette).reshape(shape)


def ties(source: Source, shape: Shape, facts: Facts) -> Numbers:
    """Values whose sums or products often lie midway between two output values."""
    size = math.prod(shape)
    if source.common().random() < 0.5:  # odd factors whose product has one bit too many
        bits = max(1, min(facts.precision, (facts.stored + 2) // 2))
        stream = source.own.integers(0, 2 ** (bits - 1), size) * 2.0 + 1.0
    else:  # integers that fill the output's significand, and halves of its last place
        bits = min(facts.precision, facts.stored)
        full = source.own.integers(2 ** (bits - 1), 2**bits, size).astype(np.float64)
        stream = np.where(source.own.random(size) < 0.5, full * 2.0 ** (facts.stored - bits), 0.5)
    signs = source.own.choice([-1.0, 1.0], size)
    palette = [1.0, -1.0, 0.5, 2.0 ** (facts.stored - 1), 3.0]
    values = source.values(signs * stream, palette).reshape(shape)
    return np.clip(values, -facts.largest, facts.largest)


def constant_rows(source: Source, shape: Shape, facts: Facts) -> Numbers:
    """Rows of one value each (along the axis, if the operation adds along one)."""
    axis = (-1 if facts.axis is None else facts.axis) if shape else 0
    heads = list(shape)
    if shape:
        heads[axis] = min(1, heads[axis])
    rows = _plain(source, tuple(heads), [1.0, 0.0, -1.0, 0.1, 3.0])
    spread: Numbers = np.broadcast_to(rows, shape).copy()
    return spread


def signed_zeros(source: Source, shape: Shape, facts: Facts) -> Numbers:
    """Zeros of both signs, and a few ones."""
    stream = source.own.choice([0.0, -0.0, 0.0, -0.0, 1.0, -1.0], math.prod(shape))
    return source.values(stream, [0.0, -0.0, 1.0]).reshape(shape)


def infinities_and_nan(source: Source, shape: Shape, facts: Facts) -> Numbers:
    """Infinities and NaN among well-scaled values."""
    special = [math.inf, -math.inf] if facts.infinity else []
    special += [math.nan] if facts.nan else []
    stream = source.own.standard_normal(math.prod(shape))
    stream[source.own.random(stream.size) < 0.1] = source.own.choice(special)
    return source.values(stream, [1.0, *special, 0.0]).reshape(shape)


@dataclass(frozen=True)
class ValueClass:
    """A class of values: how they are made, and the formats that have any."""

    make: Callable[[Source, Shape, Facts], Numbers]
    applies: Callable[[Facts], bool] = lambda facts: True


# The first is what hypothesis shrinks towards.
VALUE_CLASSES: Final[Mapping[str, ValueClass]] = {
    "integers": ValueClass(integers),
    "well_scaled": ValueClass(well_scaled),
    "one_sign": ValueClass(one_sign),
    "cancellation": ValueClass(cancellation),
    "offset": ValueClass(offset),
    "wide_exponents": ValueClass(wide_exponents),
    "near_overflow": ValueClass(near_overflow),
    "subnormal": ValueClass(subnormal),
    "ties": ValueClass(ties),
    "constant_rows": ValueClass(constant_rows),
    "signed_zeros": ValueClass(signed_zeros, lambda facts: facts.signed_zero),
    "infinities_and_nan": ValueClass(infinities_and_nan, lambda facts: facts.infinity or facts.nan),
}
