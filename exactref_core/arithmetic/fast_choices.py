"""Elementwise steps that choose: by magnitude, by sign, and C99 Annex G's special answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from exactref_core.arithmetic import fast_steps as steps
from exactref_core.arithmetic.approx import Approx, Bools, signs
from exactref_core.arithmetic.infinities import ANNEX_G, Special
from exactref_core.exact.double_double import Floats

__all__ = ["STEPS", "annex_g", "answered"]


def choose(first: Any, unsure: Bools, x: Approx, y: Approx) -> Approx:
    """Return x where ``first`` else y; nothing is known where that is unsure."""
    low = radius = special = None
    if x.low is not None or y.low is not None:
        low = np.where(first, steps.zero(x.low), steps.zero(y.low))
    if x.radius is not None or y.radius is not None:
        radius = np.where(first, steps.zero(x.radius), steps.zero(y.radius))
    if x.special is not None or y.special is not None:
        special = np.where(first, steps.zero(x.special), steps.zero(y.special))
        special = np.where(unsure, 0.0, special)
    chosen = steps.finish(np.where(first, x.high, y.high), low, radius, special, unsure)
    return Approx(chosen.high, chosen.low, chosen.radius, chosen.special, x.short and y.short)


def larger(attrs: Any, c: Approx, d: Approx, x: Approx, y: Approx) -> Approx:
    """x where |c| >= |d| (or d is NaN), else y."""
    size, other = steps.absolute(None, c), steps.absolute(None, d)
    gap = steps.subtract(None, size, other)
    values, unsure = signs(gap)
    if c.special is not None or d.special is not None:
        values = np.where(np.isnan(values), signs(size)[0] - np.nan_to_num(signs(other)[0]), values)
    return choose(~(values < 0), unsure, x, y)


def by_sign(attrs: Any, a: Approx, x: Approx, y: Approx) -> Approx:
    """x where a >= 0 (sign bit clear) or a is NaN, whatever its sign bit, else y."""
    values, unsure = signs(a)
    return choose(~np.signbit(values) | np.isnan(values), unsure, x, y)


def with_sign(attrs: Any, x: Approx, b: Approx) -> Approx:
    """x (not negative) with the sign bit of b."""
    values, unsure = signs(b)
    return choose(~np.signbit(values) | np.isnan(values), unsure, x, steps.negative(None, x))


def hypot(attrs: Any, x: Approx, y: Approx) -> Approx:
    """sqrt(x^2 + y^2); an infinity beside anything, NaN included, gives inf."""
    square = steps.add(None, steps.multiply(None, x, x), steps.multiply(None, y, y))
    root = steps.sqrt(None, square)
    for part, other in ((x, y), (y, x)):
        zero = (part.high == 0) & (np.asarray(part.spread) == 0)
        if part.special is not None:
            zero = zero & (part.special == 0)
        if np.any(zero):
            root = choose(zero, np.zeros(zero.shape, bool), steps.absolute(None, other), root)
    if root.special is None:
        return root
    infinite = np.isinf(steps.zero(x.special)) | np.isinf(steps.zero(y.special))
    return Approx(root.high, root.low, root.radius, np.where(infinite, np.inf, root.special))


def annex_g(name: str, part: int, *operands: Floats) -> Floats:
    """Return one part of a complex function, with C99 Annex G's rules for infinities and NaN.

    A product or quotient whose parts are both NaN is recovered to an infinity (or a zero quotient)
    as G.5.1 says: infinite parts become +-1 and the others +-0, and the product of those decides.
    """
    with np.errstate(all="ignore"):
        values = []
        for real, imag in zip(operands[::2], operands[1::2], strict=True):
            z = np.empty(np.broadcast(real, imag).shape, np.complex128)
            z.real, z.imag = real, imag
            values.append(z)
        if name == "sqrt":
            # The root of -inf + NaN i has an infinite part of either sign: + whatever NaN's is.
            real, imag = (np.where(np.isnan(x), np.nan, x) for x in operands)
            values[0].real, values[0].imag = real, imag
            result = np.sqrt(values[0])
            return np.asarray(result.imag if part else result.real)
        return recovered(name, part, *values)


def recovered(name: str, part: int, x: Any, y: Any) -> Floats:
    """Return one part of Annex G's product or quotient."""
    a, b, c, d = x.real, x.imag, y.real, y.imag
    infinite_x, infinite_y = np.isinf(a) | np.isinf(b), np.isinf(c) | np.isinf(d)
    if name == "multiply":
        plain = (a * c - b * d, a * d + b * c)
        boxed = infinite_x | infinite_y
        p, q = box(a, infinite_x), box(b, infinite_x)
        r, s = box(c, infinite_y), box(d, infinite_y)
        top = (p * r - q * s, p * s + q * r)
        answer = np.inf * top[part]
        return np.asarray(
            np.where(np.isnan(plain[0]) & np.isnan(plain[1]) & boxed, answer, plain[part])
        )
    bottom = c * c + d * d
    plain = ((a * c + b * d) / bottom, (b * c - a * d) / bottom)
    lost = np.isnan(plain[0]) & np.isnan(plain[1])
    zero = (bottom == 0) & ~(np.isnan(a) & np.isnan(b))
    by_zero = (np.copysign(np.inf, c) * a, np.copysign(np.inf, c) * b)[part]
    finite_y, finite_x = np.isfinite(c) & np.isfinite(d), np.isfinite(a) & np.isfinite(b)
    p, q = box(a, infinite_x), box(b, infinite_x)
    over = np.inf * (p * c + q * d, q * c - p * d)[part]
    r, s = box(c, infinite_y), box(d, infinite_y)
    under = 0.0 * (a * r + b * s, b * r - a * s)[part]
    answer = np.where(
        infinite_x & finite_y, over, np.where(infinite_y & finite_x, under, plain[part])
    )
    return np.asarray(np.where(lost, np.where(zero, by_zero, answer), plain[part]))


def box(part: Floats, infinite: Bools) -> Floats:
    """Return +-1 for infinite parts of an infinite number, +-0 for its others and for NaN."""
    boxed = np.where(np.isinf(part), np.copysign(1.0, part), np.copysign(0.0, part))
    filled = np.where(np.isnan(part), np.copysign(0.0, part), part)
    return np.where(infinite, boxed, filled)


def answered(step: Special, operands: Sequence[Approx], errors: Sequence[Any] = ()) -> Any:
    """Return where Annex G gives the value of a step: at specials, and of x / 0.

    Products keep the answers of their parts, unless the rule says otherwise. With ``errors`` of the
    operands, a divisor of 0 that carries one does not count.
    """
    given: Any = np.zeros(np.broadcast_shapes(*(x.high.shape for x in operands)), bool)
    if not step.by_annex and step.name != "divide":
        return given
    for x in operands if step.by_annex else ():
        if x.special is not None:
            given = given | (x.special != 0)
    if step.name == "divide":
        zero = (signs(operands[2])[0] == 0) & (signs(operands[3])[0] == 0)
        for error in errors[2:]:
            zero = zero & (error == 0)
        given = given | zero
    return given


def special(step: Special, x: Approx, *operands: Approx) -> Approx:
    """x: the parts' own answers, except where Annex G gives the value."""
    if step.name == "dot":
        if step.rule != ANNEX_G or x.special is None:
            return x
        return choose(x.special == 0, np.zeros(x.high.shape, bool), x, operands[0])
    given = answered(step, operands)
    if not np.any(given):
        return x
    pairs = [signs(v) for v in operands]
    unsure = np.any([vague for _, vague in pairs], axis=0)
    answer = annex_g(step.name, step.part, *(value for value, _ in pairs))
    finite = np.isfinite(answer)
    high = np.where(given, np.where(finite, answer, 0.0), x.high)
    low = None if x.low is None else np.where(given, 0.0, x.low)
    radius = None if x.radius is None else np.where(given, 0.0, x.radius)
    base = np.zeros(high.shape) if x.special is None else x.special
    base = np.where(given, np.where(finite, 0.0, answer), base)
    vague = given & unsure
    return steps.finish(high, low, radius, np.where(vague, 0.0, base), vague)


def first(attrs: Any, x: Approx, *others: Approx) -> Approx:
    """The definition's value, where a step differs in its roundings only."""
    return x


def flushed(attrs: Fraction, x: Approx) -> Approx:
    """x, or 0 where an input is smaller than ``attrs``."""
    tiny = np.abs(x.high) < float(attrs)
    return x.map(lambda part: part if part is x.special else np.where(tiny, part * 0.0, part))


def scaled(attrs: Any, *operands: Approx) -> Approx:
    """scale * product + bias."""
    from exactref_core.arithmetic import score_fast

    return score_fast.scaled(attrs, *operands)


STEPS: dict[str, Callable[..., Approx]] = {
    "add": steps.add,
    "subtract": steps.subtract,
    "negative": steps.negative,
    "absolute": steps.absolute,
    "multiply": steps.multiply,
    "divide": steps.divide,
    "sqrt": steps.sqrt,
    "larger": larger,
    "by_sign": by_sign,
    "with_sign": with_sign,
    "hypot": hypot,
    "scaled": scaled,
    "special": special,
    "within": first,
    "inside": first,
    "flushable": first,
    "kept": first,
    "flushed": flushed,
    "store": first,
}
