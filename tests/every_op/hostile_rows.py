"""Rows of terms where sums break: cancellation, ties, overflow on the way, signed zeros."""

from __future__ import annotations

import numpy as np

from exactref_core.formats.format import Format
from tests.every_op.hostile import (
    PRECISIONS,
    Floats,
    elements,
    fit,
    magnitudes,
    signs,
)


def rows(rng: np.random.Generator, form: Format, count: int, n: int) -> Floats:
    """``count`` rows of ``n`` terms, each row by one of several recipes, its terms shuffled."""
    recipes = (anything, cancelling, tied, narrow, tall, few_bits, tiny, zeros)
    chosen = rng.integers(0, len(recipes), count)
    found = np.zeros((count, n))
    for place, recipe in enumerate(recipes):
        where = np.flatnonzero(chosen == place)
        found[where] = recipe(rng, form, where.size, n)
    return fit(rng.permuted(found, axis=1), form)


def grid(rng: np.random.Generator, form: Format, exponents: Floats, bits: Floats) -> Floats:
    """Signed numbers of a format with given leading exponents and numbers of bits."""
    flat = np.broadcast_to(bits, exponents.shape).reshape(-1)
    values = signs(rng, flat.size) * magnitudes(rng, exponents.reshape(-1), flat)
    return fit(values.reshape(exponents.shape), form)


def anything(rng: np.random.Generator, form: Format, count: int, n: int) -> Floats:
    share = rng.choice([0.0, 0.0, 0.03, 0.3])
    return elements(rng, form, count * n, share).reshape(count, n)


def cancelling(rng: np.random.Generator, form: Format, count: int, n: int) -> Floats:
    """Pairs that cancel exactly or nearly, and a rest of any size, often 0."""
    half = elements(rng, form, count * (n // 2), 0.0).reshape(count, n // 2)
    nudge = np.where(rng.random(half.shape) < 0.2, rng.integers(-2, 3, half.shape), 0)
    with np.errstate(all="ignore"):
        other = fit(-half + np.ldexp(half, 1 - form.precision) * nudge, form)
    rest = elements(rng, form, count * (n % 2), 0.1).reshape(count, n % 2)
    return np.concatenate([half, other, rest], axis=1)


def tied(rng: np.random.Generator, form: Format, count: int, n: int) -> Floats:
    """A value of some precision, half its ulp, and next to nothing (or nothing) beside pairs that
    cancel: ties of the sum, and numbers next to ties."""
    values = cancelling(rng, form, count, max(n - 4, 0))
    low, high = form.eta_exponent, form.emax
    head = rng.integers(low + min(form.precision, (high - low) // 2), high + 1, count)
    target = rng.choice([p for p in PRECISIONS if p <= form.precision], count)
    first = grid(rng, form, head, np.minimum(target, form.precision))
    with np.errstate(all="ignore"):
        second = fit(np.ldexp(signs(rng, count), head - target), form)
        far = rng.integers(low, np.maximum(head - target, low + 1))
        speck = fit(np.ldexp(signs(rng, count), np.where(rng.random(count) < 0.5, low, far)), form)
    speck = np.where(rng.random(count) < 0.4, 0.0, speck)
    more = np.where(rng.random(count) < 0.5, -speck, 0.0)
    four = np.stack([first, second, speck, more], axis=1)[:, :n]
    return np.concatenate([values, four], axis=1)[:, :n]


def narrow(rng: np.random.Generator, form: Format, count: int, n: int) -> Floats:
    """Terms of about one size."""
    low, high = form.eta_exponent, form.emax
    centre = rng.integers(low, high + 1, (count, 1))
    exponents = (centre + rng.integers(-4, 5, (count, n))).clip(low, high)
    return grid(rng, form, exponents, np.asarray(form.precision))


def tall(rng: np.random.Generator, form: Format, count: int, n: int) -> Floats:
    """Terms at the top of the range: sums that overflow, or only on their way."""
    exponents = form.emax - rng.integers(0, 4, (count, n))
    values = grid(rng, form, exponents, np.asarray(form.precision))
    return np.where(rng.random((count, n)) < 0.2, np.copysign(float(form.max), values), values)


def few_bits(rng: np.random.Generator, form: Format, count: int, n: int) -> Floats:
    """Terms of few bits: exact in any order, ties frequent."""
    low, high = form.eta_exponent, form.emax
    spread = int(rng.choice([2, form.precision, 3 * form.precision]))
    centre = rng.integers(low, high + 1, (count, 1))
    exponents = (centre + rng.integers(-spread, spread + 1, (count, n))).clip(low, high)
    return grid(rng, form, exponents, np.asarray(min(2, form.precision)))


def tiny(rng: np.random.Generator, form: Format, count: int, n: int) -> Floats:
    """Subnormals and numbers next to them."""
    low = form.eta_exponent
    exponents = rng.integers(low, low + form.precision + 2, (count, n)).clip(low, form.emax)
    return grid(rng, form, exponents, np.asarray(form.precision))


def zeros(rng: np.random.Generator, form: Format, count: int, n: int) -> Floats:
    """Zeros of both signs, sometimes with one other term."""
    values = np.where(rng.random((count, n)) < 0.5, 0.0, -0.0)
    other = elements(rng, form, count * n, 0.5).reshape(count, n)
    return np.where(rng.random((count, n)) < 0.1 / max(n, 1), other, values)


def factors(rng: np.random.Generator, form: Format, terms: Floats) -> tuple[Floats, Floats]:
    """Two arrays whose products are about ``terms``: exactly so where one factor is a power of two
    that the format has, otherwise with factors of few bits."""
    count = terms.shape
    with np.errstate(all="ignore"):
        exponent = np.where(np.isfinite(terms) & (terms != 0), np.frexp(terms)[1], 0)
        half = exponent // 2 + rng.integers(-2, 3, count)
        power = np.ldexp(1.0, half.clip(form.eta_exponent, form.emax))
        any_size = np.abs(elements(rng, form, terms.size, 0.02)).reshape(count)
        b = fit(np.where(rng.random(count) < 0.8, power, any_size), form)
        a = np.where(b == 0, terms, terms / np.where(b == 0, 1.0, b))
        odd = rng.random(count) < 0.2
        a = np.where(odd, a * (1 + rng.integers(-3, 4, count) / 8.0), a)
    swap = rng.random(count) < 0.5
    a = fit(a, form)
    return np.where(swap, a, b), np.where(swap, b, a)
