"""The certified reading: one element at a time, exact rationals while they last, else intervals.

A value is a number (``gmpy2.mpq`` or `Interval`) or, where the exact value is an infinity, NaN or a
negative zero, that Python float. It judges the fast reading, and decides what that one leaves open.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from exactref_core.arithmetic.alike import each_alike
from exactref_core.arithmetic.certified_sources import loaded
from exactref_core.arithmetic.families import FAMILIES, family
from exactref_core.arithmetic.fast_choices import annex_g
from exactref_core.arithmetic.graph import NONNEGATIVE, Indices, Node, dot_terms, sum_terms
from exactref_core.arithmetic.scalars import Scalar, finite, number, settle, sign, unsure_sign
from exactref_core.arithmetic.traversal import FIRST, Layered, element_layers
from exactref_core.exact.interval import Interval, rational
from exactref_core.exact.nonnegative import ScalarAlgebra

__all__ = ["CertifiedReading", "Scalar", "answered", "finite", "number", "sign", "unsure_sign"]


class CertifiedReading(Layered):
    """Exact values of single elements; intervals of one precision where they are irrational."""

    def __init__(self, precision: int) -> None:
        self.arithmetic = ScalarAlgebra(precision)
        self.memo: dict[tuple[Node, int], Scalar] = {}
        self.rows: dict[Any, Any] = {}  # rows of scores that several elements share
        self.algebraic: dict[Any, Any] = {}  # algebraic readings by their cuts

    def value(self, node: Node, flat: int) -> Scalar:
        """Return one exact value; `Unsure` where this precision cannot tell a case."""
        key = (node, flat)
        if key not in self.memo:
            below = partial(element_layers, key, self.memo, exact=True)
            self.descend(node, below, lambda lower: self.value(*lower))
            self.memo[key] = self.compute(node, flat)
        return self.memo[key]

    def compute(self, node: Node, flat: int) -> Scalar:
        """Evaluate one element from its operands."""
        verb = node.verb
        if verb == "load":
            return loaded(node, flat)
        if verb == "constant":
            return rational(node.attrs)
        if verb == "view":
            return self.value(node.operands[0], int(node.attrs.gather(np.asarray([flat]))[0]))
        if verb == "stack":
            source, which = divmod(flat, len(node.operands))
            return self.value(node.operands[which], source)
        if verb in FIRST:
            return self.value(node.operands[verb == "restated"], flat)
        if verb in ("sum", "dot", "paired_dot"):
            return self.total(self.terms(node, flat))
        if verb in FAMILIES:
            return family(verb).certified.exact(self, node, flat)
        if verb == "by_sign":
            a, x, y = node.operands
            return self.value(y if is_negative(self.value(a, flat)) else x, flat)
        operands = [self.value(x, flat) for x in node.operands]
        if verb == "scaled":
            return family(verb).certified.scaled(self.arithmetic, node.attrs, *operands)
        return STEPS[verb](self.arithmetic, node.attrs, *operands)

    def terms(self, node: Node, flat: int) -> list[Scalar]:
        """Return the terms that a sum or a product adds up, in index order."""
        place = np.asarray([flat])
        if node.verb == "sum":
            return self.values(node.operands[0], sum_terms(node, place)[0])
        left, right = (
            self.values(x, places[0])
            for x, places in zip(node.operands, dot_terms(node, place), strict=True)
        )
        return [multiply(self.arithmetic, None, x, y) for x, y in zip(left, right, strict=True)]

    def values(self, node: Node, flat: Indices) -> list[Scalar]:
        """Return the values of several elements; views are followed for all of them at once."""
        if node.verb == "view":
            return self.values(node.operands[0], node.attrs.gather(flat))
        if node.verb == "load":
            return [loaded(node, i) for i in flat.tolist()]
        if node.verb != "stack":
            return each_alike(node, flat, self.value)
        source, which = np.divmod(flat, len(node.operands))
        found: list[Scalar] = [None] * flat.size
        for place, operand in enumerate(node.operands):
            where = np.flatnonzero(which == place)
            values = self.values(operand, source[where])
            for i, value in zip(where.tolist(), values, strict=True):
                found[i] = value
        return found

    def total(self, terms: list[Scalar]) -> Scalar:
        """Return a sum by IEEE rules on the exact sum; an exact zero is +0."""
        specials = [x for x in terms if not finite(x)]
        if specials:
            return sum(specials)
        return self.arithmetic.total([number(x) for x in terms])


def ieee(function: Callable[..., float], *values: Scalar) -> Scalar:
    """Return a step's answer on the classes and signs of its operands, by IEEE rules."""
    with np.errstate(all="ignore"):
        return settle(float(function(*(np.float64(sign(x)) for x in values))))


def add(arithmetic: ScalarAlgebra, attrs: Any, x: Scalar, y: Scalar) -> Scalar:
    """x + y."""
    if isinstance(x, float) and isinstance(y, float):
        return settle(x + y)
    if not (finite(x) and finite(y)):
        return x if not finite(x) else y
    return arithmetic.add(number(x), number(y))


def subtract(arithmetic: ScalarAlgebra, attrs: Any, x: Scalar, y: Scalar) -> Scalar:
    """x - y."""
    return add(arithmetic, None, x, negative(arithmetic, None, y))


def negative(arithmetic: ScalarAlgebra, attrs: Any, x: Scalar) -> Scalar:
    """-x; the zero that a rational is has a plus sign."""
    if isinstance(x, float):
        return settle(-x)
    return -0.0 if not isinstance(x, Interval) and x == 0 else -x


def absolute(arithmetic: ScalarAlgebra, attrs: Any, x: Scalar) -> Scalar:
    """|x|."""
    return settle(abs(x)) if isinstance(x, float) else arithmetic.absolute(x)


def multiply(arithmetic: ScalarAlgebra, attrs: Any, x: Scalar, y: Scalar) -> Scalar:
    """x * y."""
    if not (finite(x) and finite(y)):
        return ieee(np.multiply, x, y)
    product = arithmetic.multiply(number(x), number(y))
    if not isinstance(product, Interval) and product == 0:
        return zero_product(x, y)
    return product


def zero_product(x: Scalar, y: Scalar) -> Scalar:
    """Return a zero with the sign of a product or quotient."""
    if unsure_sign(x) or unsure_sign(y):
        return rational(0)
    signs = (math.copysign(1.0, sign(x)), math.copysign(1.0, sign(y)))
    return settle(0.0 * signs[0] * signs[1])


def divide(arithmetic: ScalarAlgebra, attrs: Any, x: Scalar, y: Scalar) -> Scalar:
    """x / y."""
    if not (finite(x) and finite(y)) or sign(y) == 0:
        return ieee(np.divide, x, y)
    top = number(x)
    if not isinstance(top, Interval) and top == 0:
        return zero_product(x, y)
    return arithmetic.divide(top, number(y))


def sqrt(arithmetic: ScalarAlgebra, attrs: Any, x: Scalar) -> Scalar:
    """sqrt(x); NaN below zero, which a definition may exclude (attrs)."""
    if isinstance(x, float):
        return x if x == 0 or x == math.inf else math.nan
    if isinstance(x, Interval):
        below = attrs != NONNEGATIVE and x.low < 0 and sign(x) < 0
        return math.nan if below else arithmetic.sqrt(x)
    return math.nan if x < 0 else arithmetic.sqrt(x)


def hypot(arithmetic: ScalarAlgebra, attrs: Any, x: Scalar, y: Scalar) -> Scalar:
    """sqrt(x^2 + y^2)."""
    for value, other in ((x, y), (y, x)):
        if isinstance(value, float) and math.isinf(value):
            return math.inf
        if finite(value) and not isinstance(value, Interval) and value == 0:
            # The same number as |other|, whatever enclosures know of it.
            return absolute(arithmetic, None, other)
    square = add(
        arithmetic, None, multiply(arithmetic, None, x, x), multiply(arithmetic, None, y, y)
    )
    return sqrt(arithmetic, NONNEGATIVE, square)


def larger(
    arithmetic: ScalarAlgebra, attrs: Any, c: Scalar, d: Scalar, x: Scalar, y: Scalar
) -> Scalar:
    """x where |c| >= |d| (or d is NaN), else y."""
    size, other = absolute(arithmetic, None, c), absolute(arithmetic, None, d)
    if finite(size) and finite(other):
        gap = sign(arithmetic.subtract(number(size), number(other)))
    else:
        gap = sign(size) - (0.0 if isinstance(other, float) and other != other else sign(other))
        gap = 0.0 if gap != gap else gap
    return y if gap < 0 else x


def is_negative(a: Scalar) -> bool:
    """Return whether a choice by sign takes a value for a negative one; NaN is none."""
    side = sign(a)
    return side == side and math.copysign(1.0, side) < 0


def by_sign(arithmetic: ScalarAlgebra, attrs: Any, a: Scalar, x: Scalar, y: Scalar) -> Scalar:
    """x where a >= 0 (sign bit clear) or a is NaN, whatever its sign bit, else y."""
    return y if is_negative(a) else x


def with_sign(arithmetic: ScalarAlgebra, attrs: Any, x: Scalar, b: Scalar) -> Scalar:
    """x (not negative) with the sign bit of b."""
    return by_sign(arithmetic, None, b, x, negative(arithmetic, None, x))


def answered(name: str, operands: Sequence[Scalar], errors: Sequence[Any] = ()) -> bool:
    """Return whether Annex G gives the value of a root or quotient: at specials, and of x / 0.

    With ``errors`` of the operands, a divisor of 0 that carries one does not count.
    """
    if name == "multiply":
        return False
    if not all(finite(v) for v in operands):
        return True
    if name != "divide" or not all(sign(v) == 0 for v in operands[2:]):
        return False
    return not any(isinstance(e, Interval) or e != 0 for e in errors[2:])


def special(
    arithmetic: ScalarAlgebra, attrs: tuple[str, int], x: Scalar, *operands: Scalar
) -> Scalar:
    """x: the parts' own answers, except where Annex G gives the value of a root or quotient."""
    if not answered(attrs[0], operands):
        return x
    values = [np.asarray(sign(v)) for v in operands]
    return settle(float(annex_g(attrs[0], attrs[1], *values)))


def flushed(arithmetic: ScalarAlgebra, attrs: Any, x: Scalar) -> Scalar:
    """x, or 0 where an input is smaller than ``attrs``."""
    tiny = not isinstance(x, float) and abs(x) < rational(attrs)
    return settle(math.copysign(0.0, sign(x))) if tiny else x


STEPS: dict[str, Callable[..., Scalar]] = {
    "add": add,
    "subtract": subtract,
    "negative": negative,
    "absolute": absolute,
    "multiply": multiply,
    "divide": divide,
    "sqrt": sqrt,
    "hypot": hypot,
    "larger": larger,
    "by_sign": by_sign,
    "with_sign": with_sign,
    "special": special,
    "flushed": flushed,
}
