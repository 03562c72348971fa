"""Simulated complex arithmetic: products, quotients, moduli and roots as libraries write them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from tests.every_op.kernels import Machine

Parts = tuple[np.ndarray, np.ndarray]


def products(m: Machine, a: Parts, b: Parts) -> Iterator[tuple[str, Parts]]:
    """(a + bi)(c + di), each part a product that is added to another, fused or not."""
    (ar, ai), (br, bi) = a, b
    rr, ii, ri, ir = (m.multiply(*p) for p in ((ar, br), (ai, bi), (ar, bi), (ai, br)))
    plain = m.subtract(rr, ii), m.add(ri, ir)
    yield "unfused", plain
    yield "fused first", (m.fma(ar, br, -ii), m.fma(ar, bi, ir))
    yield "fused second", (m.fma(-ai, bi, rr), m.fma(ai, br, ri))
    yield "Annex G", product_of_infinities(m, a, b, plain)


def boxed(x: np.ndarray) -> np.ndarray:
    """1 for an infinity, 0 for the rest, with the sign."""
    return np.copysign(np.where(np.isinf(x), 1.0, 0.0), x).astype(x.dtype)


def product_of_infinities(m: Machine, a: Parts, b: Parts, plain: Parts) -> Parts:
    """C99 G.5.1: a product of an infinity that came out as NaN is an infinity again."""
    (ar, ai), (br, bi) = a, b
    one, other = np.isinf(ar) | np.isinf(ai), np.isinf(br) | np.isinf(bi)
    again = np.isnan(plain[0]) & np.isnan(plain[1]) & (one | other)

    def known(x: np.ndarray, own: np.ndarray, across: np.ndarray) -> np.ndarray:
        x = np.where(own, boxed(x), x)
        return np.where(across & np.isnan(x), np.copysign(0.0, x), x).astype(x.dtype)

    ar, ai = known(ar, one, other), known(ai, one, other)
    br, bi = known(br, other, one), known(bi, other, one)
    real, imag = np.inf * (ar * br - ai * bi), np.inf * (ar * bi + ai * br)
    return np.where(again, real, plain[0]), np.where(again, imag, plain[1])


def quotients(m: Machine, a: Parts, b: Parts) -> Iterator[tuple[str, Parts]]:
    """(a + bi) / (c + di) by Smith's method and by a scaled textbook formula."""
    for fused in (False, True):
        label = ", fused" if fused else ""
        for how in (divided, reciprocal):
            yield f"Smith, {how.__name__}{label}", smith(m, a, b, how, fused)
        size = np.maximum(np.abs(b[0]), np.abs(b[1]))
        yield f"scaled{label}", textbook(m, *scaled(m, a, b, size), divided, fused)
        yield f"scaled by a power of two{label}", scaled_exactly(m, a, b, fused)
    yield "Annex G", quotient_of_infinities(a, b, smith(m, a, b, divided, False))


def divided(m: Machine, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return m.divide(x, y)


def reciprocal(m: Machine, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """x * (1 / y), which stands for a division where 1 / y is a normal number."""
    inverse = m.divide(np.ones_like(y), y)
    normal = (np.abs(inverse) >= np.finfo(m.dtype).tiny) & np.isfinite(inverse)
    return np.where(normal, m.multiply(x, inverse), m.divide(x, y))


def multiply_add(
    m: Machine, x: np.ndarray, y: np.ndarray, z: np.ndarray, fused: bool
) -> np.ndarray:
    return m.fma(x, y, z) if fused else m.add(m.multiply(x, y), z)


def smith(m: Machine, a: Parts, b: Parts, divide: Callable[..., np.ndarray], fused: bool) -> Parts:
    """R. L. Smith, "Algorithm 116: Complex division", 1962."""
    first = np.abs(b[0]) >= np.abs(b[1])
    big, small = np.where(first, b[0], b[1]), np.where(first, b[1], b[0])
    x, y = np.where(first, a[0], a[1]), np.where(first, a[1], a[0])
    ratio = m.divide(small, big)
    bottom = multiply_add(m, small, ratio, big, fused)
    real = divide(m, multiply_add(m, y, ratio, x, fused), bottom)
    straight, turned = multiply_add(m, -x, ratio, y, fused), multiply_add(m, x, ratio, -y, fused)
    return real, divide(m, np.where(first, straight, turned), bottom)


def scaled(m: Machine, a: Parts, b: Parts, size: np.ndarray) -> tuple[Parts, Parts]:
    return (
        (m.divide(a[0], size), m.divide(a[1], size)),
        (m.divide(b[0], size), m.divide(b[1], size)),
    )


def textbook(
    m: Machine, a: Parts, b: Parts, divide: Callable[..., np.ndarray], fused: bool
) -> Parts:
    """((ac + bd) + (bc - ad)i) / (c^2 + d^2)."""
    bottom = multiply_add(m, b[0], b[0], m.multiply(b[1], b[1]), fused)
    real = multiply_add(m, a[0], b[0], m.multiply(a[1], b[1]), fused)
    imag = multiply_add(m, a[1], b[0], -m.multiply(a[0], b[1]), fused)
    return divide(m, real, bottom), divide(m, imag, bottom)


def scaled_exactly(m: Machine, a: Parts, b: Parts, fused: bool) -> Parts:
    """C99 G.5.1: the divisor is scaled by a power of two, and the quotient again; Smith's where a
    product of the dividend might overflow."""
    size = np.maximum(np.abs(b[0]), np.abs(b[1]))
    top = np.maximum(np.abs(a[0]), np.abs(a[1]))
    usual = (size > 0) & np.isfinite(size) & (top < m.largest / 8)
    shift = np.where(usual, np.frexp(size)[1] - 1, 0)
    unit = tuple(m.flushed(np.ldexp(x, -shift).astype(x.dtype)) for x in b)
    found = textbook(m, a, unit, divided, fused)
    back = (m.flushed(np.ldexp(x, -shift).astype(x.dtype)) for x in found)
    other = smith(m, a, b, divided, fused)
    return tuple(np.where(usual, x, y) for x, y in zip(back, other, strict=True))


def in_range(m: Machine, a: Parts, b: Parts, largest: float, tiny: float) -> np.ndarray:
    """Where no intermediate of the textbook formula is near overflow, nor its divisor near zero."""
    size = [np.abs(x.astype(np.longdouble)) for x in (*a, *b)]
    bottom = size[2] ** 2 + size[3] ** 2
    top = np.maximum(size[0], size[1]) * np.maximum(size[2], size[3])
    return (bottom < largest / 8) & (bottom > 8 * tiny) & (top < largest / 8)


def quotient_of_infinities(a: Parts, b: Parts, plain: Parts) -> Parts:
    """C99 G.5.1: quotients by zero, of infinities and by infinities, where both parts are NaN."""
    (ar, ai), (br, bi) = a, b
    again = np.isnan(plain[0]) & np.isnan(plain[1])
    zero = again & (br == 0) & (bi == 0) & (~np.isnan(ar) | ~np.isnan(ai))
    infinite_a, infinite_b = np.isinf(ar) | np.isinf(ai), np.isinf(br) | np.isinf(bi)
    finite_a, finite_b = np.isfinite(ar) & np.isfinite(ai), np.isfinite(br) & np.isfinite(bi)
    up, down = again & infinite_a & finite_b & ~zero, again & infinite_b & finite_a

    def pick(top: Callable[[np.ndarray, ...], np.ndarray], part: int) -> np.ndarray:
        result = np.where(zero, np.copysign(np.inf, br) * (ar, ai)[part], plain[part])
        result = np.where(up, np.inf * top(boxed(ar), boxed(ai), br, bi), result)
        return np.where(down, 0.0 * top(ar, ai, boxed(br), boxed(bi)), result)

    real = pick(lambda p, q, r, s: p * r + q * s, 0)
    return real, pick(lambda p, q, r, s: q * r - p * s, 1)


def moduli(m: Machine, a: Parts) -> Iterator[tuple[str, np.ndarray]]:
    """|a + bi|, scaled by the larger part."""
    for fused in (False, True):
        yield f"scaled{', fused' if fused else ''}", hypot(m, a, fused)


def hypot(m: Machine, a: Parts, fused: bool) -> np.ndarray:
    """big * sqrt(1 + (small / big)^2): 1.25u below the root for an exact quotient, 3.25u in all."""
    big = np.maximum(np.abs(a[0]), np.abs(a[1]))
    small = np.minimum(np.abs(a[0]), np.abs(a[1]))
    one = np.ones_like(big)
    ratio = m.divide(small, np.where(big == 0, one, big))
    root = m.sqrt(multiply_add(m, ratio, ratio, one, fused))
    infinite = np.isinf(a[0]) | np.isinf(a[1])
    return np.where(infinite, np.inf, m.multiply(big, root)).astype(big.dtype)


def roots(m: Machine, a: Parts) -> Iterator[tuple[str, Parts]]:
    """The principal square root from t = sqrt((|a| + |a + bi|) / 2) and |b| / (2t).

    Large and small arguments are scaled by a power of 4 first: the sum might overflow, and half of
    a subnormal number loses bits.
    """
    half, two = m.load(np.asarray(0.5)), m.load(np.asarray(2.0))
    big = np.maximum(np.abs(a[0]), np.abs(a[1]))
    limits = np.finfo(m.dtype)
    shift = np.where(big > limits.max / 16, 2, np.where(big < limits.tiny * 2.0**60, -60, 0))
    real, imag = (np.ldexp(x, -2 * shift).astype(x.dtype) for x in a)
    for fused in (False, True):
        t = m.sqrt(m.multiply(half, m.add(np.abs(real), hypot(m, (real, imag), fused))))
        other = m.divide(np.abs(imag), m.multiply(two, t))
        other = np.where((t == 0) | (imag == 0), np.zeros_like(t), other)
        left = real < 0
        found = np.where(left, other, t), np.copysign(np.where(left, t, other), imag)
        back = (np.ldexp(x, shift).astype(x.dtype) for x in found)
        yield f"root{', fused' if fused else ''}", special_roots(a, *back)


def special_roots(a: Parts, real: np.ndarray, imag: np.ndarray) -> Parts:
    """C99 G.6.4.2: roots of arguments that are not finite."""
    x, y = a
    nan, inf = np.full_like(x, np.nan), np.full_like(x, np.inf)
    rules = [
        (np.isinf(y), inf, y),
        ((x == -np.inf) & np.isnan(y), nan, inf),
        (x == -np.inf, np.zeros_like(x), np.copysign(inf, y)),
        ((x == np.inf) & np.isnan(y), inf, nan),
        (x == np.inf, inf, np.copysign(np.zeros_like(x), y)),
        (np.isnan(x) | np.isnan(y), nan, nan),
    ]
    where = [rule for rule, _, _ in rules]
    return (
        np.select(where, [value for _, value, _ in rules], real),
        np.select(where, [value for _, _, value in rules], imag),
    )
