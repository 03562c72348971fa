"""Complex functions that libraries compute by real formulas, step by step: what these guarantee.

No standard library has them. The formulas are NumPy's (npy_math_complex, loops of exp2, expm1) and
PyTorch's (c10/util/complex_math.h); their steps may round, overflow and underflow.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from exactref_core.arithmetic.graph import Node

if TYPE_CHECKING:
    from exactref_core.arithmetic.verbs import Verbs

__all__ = ["FORMULAS"]

Parts = tuple[Node, Node]
# Kernels compute log(1 + z) from |1 + z|^2 - 1 where |z| < 1/2, and from |1 + z| beyond: both count
# between these |z|^2.
FAR, NEAR = Fraction(1, 5), Fraction(1, 3)


def exp2(v: Verbs, e: Any, x: Node, y: Node) -> Parts:
    """e^(z log 2): the argument is rounded, and moves the value by u |z|."""
    ln = v.within(e.of("log", e.number(2)), 1, 0)
    a, b = v.step("multiply", x, ln), v.step("multiply", y, ln)
    size = e.of("exp", a)
    # As exp: 4 + 5 + 1.
    real, imag = (e.multiply(size, e.of(name, b)) for name in ("cos", "sin"))
    return v.within(real, 10, 5), v.within(imag, 10, 5)


def expm1(v: Verbs, e: Any, x: Node, y: Node) -> Parts:
    """expm1 x cos y - 2 sin^2(y / 2), which cancels near e^x cos y = 1 alone; e^x sin y."""
    size, cosine = v.apply("expm1", x), v.apply("cos", y)
    sine = v.apply("sin", v.within(e.half(y), 0, 1))  # the half of a subnormal number may round
    square = e.multiply(e.number(2), v.step("multiply", sine, sine))
    real = v.step("subtract", v.step("multiply", size, cosine), square)
    return real, v.step("multiply", v.apply("exp", x), v.apply("sin", y))


def log1p(v: Verbs, e: Any, x: Node, y: Node) -> Parts:
    """log1p(x (x + 2) + y^2) / 2, from |z| of about 1/2 on log(hypot(1 + x, y)); atan2(y, 1 + x).

    Two roundings of x (x + 2), one of y^2 and one of their sum move the argument by at most
    3u (|x (x + 2)| + y^2); so do those of 2x + (x^2 + y^2), for 2|x| + 3x^2 <= 3|x| (2 - |x|).
    """
    terms = e.multiply(x, e.add(x, e.number(2))), e.square(y)
    found = e.of("log1p", e.add(*(v.within(term, 3, 1) for term in terms)))
    near = v.within(e.half(found), 4, 2)
    raised = v.step("add", x, v.constant(1))
    far = v.apply("log", v.within(e.hypot(raised, y), 7, 4))
    size = e.add(e.square(x), e.square(y))
    outside, beyond = (e.subtract(size, e.number(end)) for end in (NEAR, FAR))
    real = e.by_sign(beyond, e.by_sign(outside, far, v.admit(near, near, far)), near)
    return real, v.apply_binary("atan2", y, raised)


FORMULAS: dict[str, Callable[[Verbs, Any, Node, Node], Parts]] = {
    "exp2": exp2,
    "expm1": expm1,
    "log1p": log1p,
}
