"""Elementary functions of complex numbers: definitions over real ones, part by part.

Branch cuts and signed zeros as C99 Annex G has them: signs of zeros tell the sides of a cut apart.
No definition cancels but where a value is near a zero of its own. A correct library function errs,
part by part, by the larger of what the GNU C library's table says (manual, Known Maximum Errors in
Math Functions, x86_64: clog 3 ulp, clog10 4, the others here 2 or less), of the rows of the real
functions that it is on the axes, and, where it is a product of real functions, of theirs and a
rounding. Those that no standard library has may also be
what real formulas give, step by step (`complex_formulas`).
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from exactref_core.arithmetic.complex_formulas import FORMULAS
from exactref_core.arithmetic.flush_choices import flushable
from exactref_core.arithmetic.graph import Node

if TYPE_CHECKING:
    from exactref_core.arithmetic.verbs import Complex, Verbs

__all__ = ["UNITS", "applied"]

Parts = tuple[Node, Node]
# Units of u of the real and the imaginary part.
UNITS = {
    "exp": (11, 11),  # exp and cos or sin: 5 + 5 + 1
    "exp2": (11, 11),
    "expm1": (10, 10),
    "log": (7, 7),  # glibc's 3 ulp; atan2
    "log1p": (7, 7),
    "log2": (9, 10),  # glibc's 4 ulp of clog10; atan2, a rounded constant and a quotient
    "log10": (9, 10),
    "sin": (11, 13),  # sin and cosh: 5 + 5 + 1; cos and sinh: 5 + 7 + 1
    "cos": (11, 13),
    "tan": (9, 5),  # tan; tanh
    "sinh": (13, 11),
    "cosh": (11, 13),
    "tanh": (5, 9),
    "asin": (5, 9),  # asin; acosh
    "acos": (5, 9),
    "atan": (7, 7),  # atan2; atanh
    "asinh": (9, 5),
    "acosh": (9, 5),
    "atanh": (7, 7),
}


def applied(v: Verbs, name: str, z: Complex) -> Complex:
    """Return a complex function as a library computes it."""
    from exactref_core.arithmetic.verbs import Complex, Verbs
    from exactref_core.errors import InputError

    if name not in UNITS:
        raise InputError(f"there is no complex function {name!r}; there are {[*UNITS]}")

    def define(x: Node, y: Node) -> Parts:
        steps = Steps(Verbs(None))
        parts = DEFINITIONS[name](steps, x, y)
        formula = FORMULAS[name](v, steps, x, y) if name in FORMULAS else (None, None)
        found = []
        for index, (part, computed) in enumerate(zip(parts, formula, strict=True)):
            units = UNITS[name][index]
            whole = Node("annex", (part, x, y), z.shape, (name, index), v.compute)
            near = v.within(whole, units, (units + 1) // 2)
            if computed is not None:
                other = Node("annex", (computed, x, y), z.shape, (name, index), v.compute)
                near = v.admit(whole, other, near)
            found.append(near)
        return found[0], found[1]

    return Complex(*flushable(define, (z.real, z.imag)))


class Steps:
    """Exact steps by short names."""

    def __init__(self, exact: Verbs) -> None:
        self.exact = exact

    def __getattr__(self, verb: str) -> Callable[..., Node]:
        def step(*operands: Node) -> Node:
            return self.exact.step(verb, *operands)

        return step

    def of(self, name: str, x: Node) -> Node:
        """Return a real function."""
        return self.exact.function(name, x)

    def angle(self, y: Node, x: Node) -> Node:
        """Return atan2(y, x)."""
        return self.exact.binary("atan2", y, x)

    def number(self, value: int | Fraction) -> Node:
        """Return a constant."""
        return self.exact.constant(value)

    def square(self, x: Node) -> Node:
        """Return x^2."""
        return self.multiply(x, x)

    def half(self, x: Node) -> Node:
        """Return x / 2."""
        return self.divide(x, self.number(2))


def exp(e: Any, x: Node, y: Node) -> Parts:
    """e^x cos y, e^x sin y."""
    size = e.of("exp", x)
    return e.multiply(size, e.of("cos", y)), e.multiply(size, e.of("sin", y))


def exp2(e: Any, x: Node, y: Node) -> Parts:
    """2^x cos(y log 2), 2^x sin(y log 2)."""
    size, turn = e.of("exp2", x), e.multiply(y, e.of("log", e.number(2)))
    return e.multiply(size, e.of("cos", turn)), e.multiply(size, e.of("sin", turn))


def expm1(e: Any, x: Node, y: Node) -> Parts:
    """expm1 x cos y - 2 sin^2(y / 2), e^x sin y."""
    square = e.multiply(e.number(2), e.square(e.of("sin", e.half(y))))
    real = e.subtract(e.multiply(e.of("expm1", x), e.of("cos", y)), square)
    return real, e.multiply(e.of("exp", x), e.of("sin", y))


def sinh(e: Any, x: Node, y: Node) -> Parts:
    """sinh x cos y, cosh x sin y."""
    real = e.multiply(e.of("sinh", x), e.of("cos", y))
    return real, e.multiply(e.of("cosh", x), e.of("sin", y))


def cosh(e: Any, x: Node, y: Node) -> Parts:
    """cosh x cos y, sinh x sin y."""
    real = e.multiply(e.of("cosh", x), e.of("cos", y))
    return real, e.multiply(e.of("sinh", x), e.of("sin", y))


def cos(e: Any, x: Node, y: Node) -> Parts:
    """cosh(y - ix)."""
    real, imag = cosh(e, y, x)
    return real, e.negative(imag)


def tan(e: Any, x: Node, y: Node) -> Parts:
    """(sin 2x + i sinh 2y) / (cos 2x + cosh 2y).

    For |y| < 1 over cos^2 x + sinh^2 y instead. Beyond, with w = e^(-2|y|), the parts are
    2 w sin 2x / d and 1 - 2 w (cos 2x + w) / d, d = 1 + 2 w cos 2x + w^2: nothing overflows, and an
    imaginary part that is near 1 is told from it.
    """
    one, two, size = e.number(1), e.number(2), e.absolute(y)
    sine, cosine = e.of("sin", x), e.of("cos", x)
    up, down = e.of("sinh", size), e.of("cosh", size)
    near = e.add(e.square(cosine), e.square(up))
    w = e.of("exp", e.negative(e.multiply(two, size)))
    twice, double = e.of("cos", e.multiply(two, x)), e.multiply(two, w)
    far = e.add(e.add(one, e.multiply(double, twice)), e.square(w))
    within = e.subtract(size, one)
    beyond = e.divide(e.multiply(double, e.of("sin", e.multiply(two, x))), far)
    real = e.by_sign(within, beyond, e.divide(e.multiply(sine, cosine), near))
    rest = e.subtract(one, e.divide(e.multiply(double, e.add(twice, w)), far))
    imag = e.by_sign(within, rest, e.divide(e.multiply(up, down), near))
    return real, e.with_sign(imag, y)


def log(e: Any, x: Node, y: Node) -> Parts:
    """log(x^2 + y^2) / 2, the angle."""
    return e.half(e.of("log", e.add(e.square(x), e.square(y)))), e.angle(y, x)


def log1p(e: Any, x: Node, y: Node) -> Parts:
    """log1p(x (x + 2) + y^2) / 2, the angle of 1 + z."""
    more = e.add(e.multiply(x, e.add(x, e.number(2))), e.square(y))
    return e.half(e.of("log1p", more)), e.angle(y, e.add(x, e.number(1)))


def log2(e: Any, x: Node, y: Node) -> Parts:
    """log2(x^2 + y^2) / 2, the angle over log 2."""
    real = e.half(e.of("log2", e.add(e.square(x), e.square(y))))
    return real, e.divide(e.angle(y, x), e.of("log", e.number(2)))


def log10(e: Any, x: Node, y: Node) -> Parts:
    """log10(x^2 + y^2) / 2, the angle over log 10."""
    real = e.half(e.of("log10", e.add(e.square(x), e.square(y))))
    return real, e.divide(e.angle(y, x), e.of("log", e.number(10)))


def root(e: Any, u: Node, size: Node) -> Parts:
    """The real part and the size of the imaginary part of the root of u +- i size.

    The larger is t = sqrt((|w| + |u|) / 2), the other size / (2 t), 0 where size is 0.
    """
    outer = e.exact.step("sqrt", e.half(e.add(e.hypot(u, size), e.absolute(u))))
    none = e.subtract(e.number(0), size)  # +0 for 0, else negative
    inner = e.by_sign(none, e.number(0), e.divide(size, e.multiply(e.number(2), outer)))
    return e.by_sign(u, outer, inner), e.by_sign(u, inner, outer)


def roots(e: Any, x: Node, y: Node) -> tuple[Parts, Parts]:
    """The parts of the roots of 1 - z and of 1 + z, without signs."""
    one, size = e.number(1), e.absolute(y)
    return root(e, e.subtract(one, x), size), root(e, e.add(one, x), size)


def beside(e: Any, x: Node, y: Node) -> Node:
    """The size of Im asin z: asinh of the size of Im (conj(root(1 - z)) root(1 + z))."""
    (p, q), (r, s) = roots(e, x, y)
    found: Node = e.of("asinh", e.add(e.multiply(p, s), e.multiply(q, r)))
    return found


def asin(e: Any, x: Node, y: Node) -> Parts:
    """Kahan's formulas, of which no sum cancels: atan(x / Re(root(1 - z) root(1 + z)))."""
    (p, q), (r, s) = roots(e, x, y)
    real = e.angle(x, e.add(e.multiply(p, r), e.multiply(q, s)))
    return real, e.with_sign(beside(e, x, y), y)


def acos(e: Any, x: Node, y: Node) -> Parts:
    """2 atan(Re root(1 - z) / Re root(1 + z)), - Im asin z."""
    (p, _), (r, _) = roots(e, x, y)
    real = e.multiply(e.number(2), e.angle(p, r))
    return real, e.with_sign(beside(e, x, y), e.negative(y))


def acosh(e: Any, x: Node, y: Node) -> Parts:
    """|Im acos z|, Re acos z with the sign of y."""
    return beside(e, x, y), e.with_sign(acos(e, x, y)[0], y)


def atan(e: Any, x: Node, y: Node) -> Parts:
    """The angle of (1 - x^2 - y^2) + 2ix over 2; log1p(4 |y| / (x^2 + (1 - |y|)^2)) / 4."""
    one, size = e.number(1), e.absolute(y)
    square = e.square(x)
    rest = e.subtract(e.multiply(e.subtract(one, y), e.add(one, y)), square)
    real = e.half(e.angle(e.multiply(e.number(2), x), rest))
    below = e.add(square, e.square(e.subtract(one, size)))
    ratio = e.divide(e.multiply(e.number(4), size), below)
    imag = e.divide(e.of("log1p", ratio), e.number(4))
    return real, e.with_sign(imag, y)


def turned(function: Callable[[Any, Node, Node], Parts]) -> Callable[[Any, Node, Node], Parts]:
    """Return -i g(iz) of an odd function g: its parts at y + ix exchanged."""

    def parts(e: Any, x: Node, y: Node) -> Parts:
        real, imag = function(e, y, x)
        return imag, real

    return parts


DEFINITIONS: dict[str, Callable[[Any, Node, Node], Parts]] = {
    "exp": exp,
    "exp2": exp2,
    "expm1": expm1,
    "log": log,
    "log1p": log1p,
    "log2": log2,
    "log10": log10,
    "sinh": sinh,
    "cosh": cosh,
    "tan": tan,
    "sin": turned(sinh),
    "cos": cos,
    "tanh": turned(tan),
    "asin": asin,
    "acos": acos,
    "acosh": acosh,
    "atan": atan,
    "asinh": turned(asin),
    "atanh": turned(atan),
}
