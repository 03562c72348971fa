"""Powers z^w of complex numbers: exp(w log z), and for integers w = n products of n factors z.

C99 (G.6.4.1) leaves the accuracy and the values at infinities and NaN to exp(w log z), so that no
standard says what these are. The formula's logarithm errs by 7u a part, its exponential by 10u.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from exactref_core.arithmetic.complex_functions import Steps
from exactref_core.arithmetic.graph import Node, float_input

if TYPE_CHECKING:
    from exactref_core.arithmetic.verbs import Complex, Verbs
    from exactref_core.formats.format import Format

__all__ = ["power"]

# Exponents up to which libraries multiply (NumPy and Python: 100); by `complex_prod_rules`.
MOST = 100


def power(v: Verbs, z: Complex, w: Complex) -> Complex:
    """Return z^w of operands of one shape, as a library computes it."""
    from exactref_core.arithmetic.verbs import Complex, Verbs

    e: Any = Steps(Verbs(None))
    x, y, c, d = operands = (z.real, z.imag, w.real, w.imag)
    log = e.half(e.of("log", e.add(e.square(x), e.square(y)))), e.angle(y, x)
    exponent = times(e, (c, d), log)
    size = e.of("exp", exponent[0])
    parts = [e.multiply(size, e.of(name, exponent[1])) for name in ("cos", "sin")]
    stored = times(Steps(v), (c, d), (v.within(log[0], 7, 4), v.within(log[1], 7, 4)))
    grown = e.of("exp", stored[0])
    found = []
    for index, (part, name) in enumerate(zip(parts, ("cos", "sin"), strict=True)):
        whole = Node("complex_power", (part, *operands), z.shape, Power(index, True), v.compute)
        computed = v.within(e.multiply(grown, e.of(name, stored[1])), 10, 5)
        if all(float_input(x) is not None for x in operands):
            computed = with_products(v, e, computed, whole, operands)
        other = (computed, *operands)
        found.append(
            v.admit(whole, Node("complex_power", other, z.shape, Power(index, False), v.compute))
        )
    return Complex(*found)


@dataclass(frozen=True)
class Power:
    """Which part of a power, and whether the first operand is its definition, without roundings."""

    part: int
    exact: bool


def times(e: Any, x: tuple[Node, Node], y: tuple[Node, Node]) -> tuple[Node, Node]:
    """Return (ac - bd) + (ad + bc)i."""
    (a, b), (c, d) = x, y
    real = e.subtract(e.multiply(a, c), e.multiply(b, d))
    return real, e.add(e.multiply(a, d), e.multiply(b, c))


def with_products(
    v: Verbs, e: Any, formula: Node, part: Node, operands: tuple[Node, Node, Node, Node]
) -> Node:
    """Return a part by the formula, and by products where the exponent is an integer up to `MOST`.

    Products of n factors, in any order, err by (1+29u/12)^(n-1) - 1 < e^(3nu) - 1 of the modulus,
    and by `lost`. Of a negative n the reciprocal follows, where no product overflows and the last
    is at least 1/u smallest normal numbers, so that a flush costs u of it: its quotient errs by
    less than 12u.
    """
    x, y, c, d = operands
    one, count, square = e.number(1), e.absolute(c), e.add(e.square(x), e.square(y))
    # The moduli of the power and of its reciprocal, decided by algebra where they are rational.
    size, below = (e.exact.binary("pow", square, e.half(n)) for n in (c, e.negative(c)))
    direct = v.admit(formula, formula, product(v, e, part, size, count))
    inverse = v.admit(formula, formula, reciprocal(v, e, part, (size, below), count), guarded=True)
    both = e.by_sign(c, direct, inverse)
    few = e.by_sign(e.subtract(e.number(MOST), count), both, formula)
    # (-1)^c is NaN for no integer.
    odd = e.negative(e.square(e.exact.binary("pow", e.negative(one), c)))
    none = e.subtract(e.number(0), e.absolute(d))  # +0 for 0, else negative
    found: Node = e.by_sign(none, e.by_sign(odd, formula, few), formula)
    return found


def form_of(v: Verbs) -> Format:
    """Return the format that steps are stored in."""
    if v.compute is None:
        raise ValueError("a power has a compute format")
    return v.compute


def lost(v: Verbs, e: Any, count: Node) -> Node:
    """Return 0, off by what products lose to underflow: 3/2 eta each, flushed 9/2 smallest normal.

    A smallest normal number is stored within eta/2, or flushed.
    """
    least = e.number(form_of(v).smallest_normal)
    off = e.subtract(v.within(least, 1, 0), least)
    found: Node = e.multiply(off, e.multiply(count, e.number(Fraction(9, 2))))
    return found


def relative(v: Verbs, e: Any, part: Node, size: Node, count: Node, more: Node) -> Node:
    """Return a part off by (e^(3 count u + more) - 1) of the modulus: times e^0, with an error."""
    off = e.multiply(e.subtract(v.within(e.number(1), 3, 0), e.number(1)), count)
    found: Node = e.add(part, e.multiply(size, e.of("expm1", e.add(off, more))))
    return found


def product(v: Verbs, e: Any, part: Node, size: Node, count: Node) -> Node:
    """Return a part of a product; where twice the modulus overflows it may be anything.

    As 2m - (2m - part), of which either or both overflow then.
    """
    value = e.add(relative(v, e, part, size, count, e.number(0)), lost(v, e, count))
    double = e.multiply(e.number(2), size)
    rest = v.within(e.subtract(double, v.within(value, 0, 1)), 0, 0)
    found: Node = e.subtract(v.within(double, 0, 0), rest)
    return found


def reciprocal(v: Verbs, e: Any, part: Node, sizes: tuple[Node, Node], count: Node) -> Node:
    """Return a part of the reciprocal of a product of modulus ``sizes[1]``, as it is guarded."""
    size, below = sizes
    more = e.divide(lost(v, e, count), below)
    value = relative(v, e, part, size, e.add(count, e.number(4)), more)
    # 0 times what may overflow.
    held = e.multiply(e.number(0), v.within(e.multiply(e.number(2), below), 0, 0))
    form = form_of(v)
    least = e.multiply(below, e.number(form.unit_roundoff))
    return Node("inside", (v.within(e.add(value, held), 0, 2), least), part.shape, form)
