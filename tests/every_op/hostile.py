"""Inputs where kernels and references break: elements, and second operands made for the first.

All values are float64 arrays of values of a format. Every exponent occurs, subnormals included;
few significant bits make exact results and ties; the targets of a second operand are chosen from
the precisions and the edges of all formats, so that ties, near-ties, overflow and underflow of
every output format occur, and of the error-free transformations inside the fast reading.
"""

from __future__ import annotations

import numpy as np

from exactref_core.formats.catalogue import FORMATS
from exactref_core.formats.format import Format

Floats = np.ndarray
PRECISIONS = (53, 24, 11, 8, 5, 4, 3, 2)
SPECIALS = (0.0, -0.0, np.inf, -np.inf, np.nan)
# Exponents at which something begins or ends: formats' ranges, TwoProd's, the quotient's.
EDGES = (-1074, -1022, -969, -916, -900, -149, -126, -24, -14, 0, 15, 127, 128, 990, 996, 1023)


def fit(values: Floats, form: Format) -> Floats:
    """Values cut to the format's grid and clipped to its range; specials stay."""
    with np.errstate(all="ignore"):
        top = float(form.max)
        mantissa, exponent = np.frexp(values)
        unit = np.maximum(exponent - form.precision, form.eta_exponent)
        cut = np.ldexp(np.trunc(np.ldexp(mantissa, exponent - unit)), unit)
        # ldexp by less than -1074 or more than 1023 in one step is as exact as the result allows.
        cut = np.where(np.isfinite(values), np.clip(cut, -top, top), values)
    cut = np.copysign(cut, values)
    if not form.infinity:
        cut = np.where(np.isinf(cut), np.copysign(top, cut), cut)
    if not form.nan:
        cut = np.where(np.isnan(cut), top, cut)
    return cut if form.signed_zero else cut + 0.0


def magnitudes(rng: np.random.Generator, exponents: Floats, bits: Floats) -> Floats:
    """Random numbers of at most ``bits`` significant bits with leading bits worth 2**exponent."""
    significand = np.floor(rng.random(bits.shape) * np.ldexp(1.0, bits - 1))
    significand += np.ldexp(1.0, bits - 1)
    with np.errstate(all="ignore"):
        return np.ldexp(significand, np.asarray(exponents, np.int64) - (bits - 1))


def signs(rng: np.random.Generator, count: int) -> Floats:
    return rng.choice([-1.0, 1.0], count)


def elements(rng: np.random.Generator, form: Format, count: int, specials: float = 0.03) -> Floats:
    """Values over all exponents, many near the edges of the range, some special."""
    low, high = form.eta_exponent, form.emax
    p = form.precision
    edges = np.array([e for e in EDGES if low <= e <= high] or [0])
    exponents = rng.integers(low, high + 1, count)
    choice = rng.integers(0, 8, count)
    exponents = np.where(
        choice == 0, rng.choice(edges, count) + rng.integers(-3, 4, count), exponents
    )
    exponents = np.where(choice == 1, high - rng.integers(0, 3, count), exponents)
    exponents = np.where(choice == 2, rng.integers(low, low + p + 2, count), exponents)
    exponents = np.where(choice == 3, rng.integers(-3, 4, count), exponents)
    bits = np.where(rng.random(count) < 0.5, p, rng.choice([1, 2, 3, (p + 1) // 2, p], count))
    bits = np.minimum(np.maximum(bits, 1), p)
    values = signs(rng, count) * magnitudes(rng, exponents.clip(low, high), bits)
    values = np.where(rng.random(count) < 0.02, signs(rng, count) * float(form.max), values)
    return fit(sprinkled(rng, fit(values, form), specials), form)


def sprinkled(rng: np.random.Generator, values: Floats, share: float) -> Floats:
    """Values with a share of them replaced by zeros, infinities and NaN."""
    where = rng.random(values.shape) < share
    return np.where(where, rng.choice(SPECIALS, values.shape), values)


def partners(rng: np.random.Generator, x: Floats, form: Format) -> Floats:
    """Second operands for ``x``, each made by one of several recipes."""
    count = x.size
    with np.errstate(all="ignore"):
        exponent = np.where(np.isfinite(x) & (x != 0), np.frexp(x)[1] - 1, 0)
        target = rng.choice(PRECISIONS, count)
        ulp = np.ldexp(signs(rng, count), exponent - form.precision + 1)
        recipes = [
            elements(rng, form, count, 0.0),
            elements(rng, form, count, 0.3),
            -x,
            -x + ulp * rng.integers(1, 4, count),
            # About half an ulp of x in some format: ties of a sum, and one step off them.
            signs(rng, count) * magnitudes(rng, exponent - target, rng.choice([1, 2, 3], count)),
            np.ldexp(signs(rng, count), exponent - target)
            * (1 + signs(rng, count) * np.ldexp(1.0, -rng.integers(1, form.precision + 1, count))),
            signs(rng, count)
            * magnitudes(
                rng, exponent + rng.integers(-3, 4, count), np.full(count, form.precision)
            ),
            # A product near an edge, of few bits or all.
            signs(rng, count)
            * magnitudes(
                rng,
                rng.choice(EDGES, count) + rng.integers(-2, 3, count) - exponent,
                rng.choice([1, 2, 4, form.precision], count).clip(1, form.precision),
            ),
            # A quotient near an edge.
            np.ldexp(
                signs(rng, count) * (1 + rng.integers(0, 4, count) / 4.0),
                exponent - rng.choice(EDGES, count),
            ),
            divisors(rng, x, target),
        ]
    choice = rng.integers(0, len(recipes), count)
    return fit(np.choose(choice, recipes), form)


def divisors(rng: np.random.Generator, x: Floats, target: Floats) -> Floats:
    """Numbers y with x / y near the middle between two values of a precision."""
    middle = magnitudes(rng, rng.integers(-3, 4, x.size), target + 1).astype(np.longdouble)
    return (x.astype(np.longdouble) / middle).astype(np.float64)


def squares(rng: np.random.Generator, form: Format, count: int) -> Floats:
    """Squares and sums next to squares: exact roots, and roots next to values and midpoints."""
    target = np.minimum(rng.choice(PRECISIONS, count) + 1, 26)
    low, high = form.eta_exponent // 2, form.emax // 2
    root = magnitudes(rng, rng.integers(low, high + 1, count), target)
    with np.errstate(all="ignore"):
        square = root * root
        square += np.ldexp(square, -form.precision + 1) * rng.integers(-1, 2, count)
    return fit(square, form)


def operands(rng: np.random.Generator, form: Format, count: int) -> tuple[Floats, Floats]:
    """Pairs of values of a real format."""
    x = elements(rng, form, count)
    y = partners(rng, x, form)
    swap = rng.random(count) < 0.3
    return np.where(swap, y, x), np.where(swap, x, y)


def complex_of(real: Floats, imag: Floats) -> np.ndarray:
    whole = np.empty(real.shape, np.complex128)
    whole.real, whole.imag = real, imag
    return whole


def complex_operands(
    rng: np.random.Generator, part: Format, count: int
) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of complex values: parts made for each other, products that cancel among them."""
    a, b = operands(rng, part, count)
    c, d = operands(rng, part, count)
    crossed, related = rng.random(count) < 0.2, rng.random(count) < 0.3
    c = np.where(related, partners(rng, a, part), c)
    d = np.where(related, partners(rng, b, part), d)
    c, d = np.where(crossed, b, c), np.where(crossed, np.where(rng.random(count) < 0.5, a, -a), d)
    near = rng.random(count) < 0.1
    with np.errstate(all="ignore"):
        c = np.where(near, fit(np.nextafter(np.nextafter(c, 0), np.inf), part), c)
    return complex_of(a, b), complex_of(c, d)


def integers(rng: np.random.Generator, form: Format, shape: tuple[int, ...]) -> np.ndarray:
    """Integers over the whole range of an integer format, small ones and the ends among them."""
    width = form.high.bit_length()
    size = int(np.prod(shape))
    bits = rng.integers(0, width + 1, size)
    values = [int(rng.integers(0, 1 << 62)) * 3 % (1 << int(b)) for b in bits]
    turned = rng.random(size) < (0.5 if form.low < 0 else 0.0)
    ends, ended = [form.low, form.high, 0, 1], rng.random(size) < 0.05
    values = [-v if turn else v for v, turn in zip(values, turned, strict=True)]
    values = [ends[v % 4] if end else v for v, end in zip(values, ended, strict=True)]
    return np.array(values, dtype=form.storage).reshape(shape)


def real_formats() -> list[Format]:
    return [form for form in FORMATS.values() if form.is_float]
