"""What libraries may compute for log |gamma| and its derivative, and where they lose digits.

Relative accuracy near the zeros at negative arguments, or near the zeros of digamma, is nobody's
promise: NVIDIA's table leaves lgamma out from -10 to -2.26 (-23 to -2.26 in double precision), and
Cephes states errors of lgam and psi as absolute ones where the value is below 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from exactref_core.arithmetic.graph import Node

if TYPE_CHECKING:
    from exactref_core.arithmetic.verbs import Verbs

__all__ = ["admitted"]

# Below it no float64 number is nearer to a zero of lgamma than half an ulp of the argument moves
# the value: 1 / 23! is far below the spacing of numbers there.
FAR = 24
# Cephes shifts arguments below 10 up by recurrence.
SHIFT = 10


def admitted(v: Verbs, value: Node, x: Node) -> Node:
    """Return a function with poles, with the computations of it that are admitted."""
    from exactref_core.arithmetic.verbs import Verbs

    if value.attrs.name == "trigamma":
        return by_terms(v, value)
    e = Verbs(None)
    plain = log_gamma if value.attrs.name == "lgamma" else digamma
    return v.admit(value, *plain(v, e, value, x))


def by_terms(v: Verbs, value: Node) -> Node:
    """trigamma within 24u of the value: no term of its recurrence is negative.

    Of 1 / (x + k)^2 up to 10, k roundings on the way to x + k count twice, the square and the
    quotient 3u, each addition 1u of what is added up so far: below 20u together, for the terms fall
    with k. The asymptotic series from 10 on has positive terms but for 1/30 z^-5 and beyond. By
    reflection pi^2 / sin^2(pi x) is above pi^2 and what is taken from it below 2: with a sine of
    an argument reduced to half a turn (7u, twice), two roundings of pi, a square, a quotient.
    """
    return v.within(value, value.attrs.units, value.attrs.etas)


def log_gamma(v: Verbs, e: Verbs, value: Node, x: Node) -> list[Node]:
    """log |gamma| within 15u, and for -24 < x < 0 by reflection, whose two terms cancel.

    Either log(pi / |sin(pi x)|) - lgamma(1 - x) or log(pi / |x sin(pi x)|) - lgamma(-x). What the
    logarithm is taken of carries 13u: 9u of the sine (2u of its argument, which is reduced exactly,
    and 5u of a library; with room), 2u of the quotient, a rounding of pi and one of x times it. The
    first logarithm is above 1 (log pi), the second may vanish: 4u of it and 13u are below 17u of
    the larger of it and 1. A rounding of z = 1 - x moves lgamma(z) by u z |digamma(z)|, below 3u of
    the larger of it and 1 for 1 < z < 25.
    """
    units, etas = value.attrs.units, value.attrs.etas
    plain = v.within(value, units, etas)
    found = [plain]
    for shifted in (e.step("subtract", e.constant(1), x), e.step("negative", x)):
        there = e.function("lgamma", shifted)
        both = v.within(e.step("add", value, there), 17, 2, 1)
        reflected = v.step("subtract", both, v.within(there, units + 3, etas, 1))
        near = e.step("by_sign", e.step("add", x, e.constant(FAR)), reflected, plain)
        found.append(e.step("by_sign", x, plain, near))
    return found


def digamma(v: Verbs, e: Verbs, value: Node, x: Node) -> list[Node]:
    """digamma as Cephes states its errors; by recurrence and, for x < 0, by reflection.

    With pi cot(pi x) = digamma(1 - x) - digamma(x) computed as a quotient of pi by a tangent of a
    product reduced to half a turn: 2u of the argument r move it by 2u pi^2 r / sin^2(pi r), 10u
    where it vanishes and 2u of it near the poles; the tangent errs by 9u, the quotient by 2u, pi by
    u. Together below 22u of the larger of it and 1. A rounding of z = 1 - x >= 1 moves digamma(z)
    by u z (1/z + 1/z^2), below 2u.
    """
    units, etas = value.attrs.units, value.attrs.etas
    plain = v.within(value, units, etas, 1)
    below = e.step("subtract", e.constant(0), x)  # +0 for both zeros
    raised = e.step("by_sign", below, plain, recurrence(v, e, value, (x, x)))
    beyond = e.step("subtract", e.constant(1), x)
    there = e.function("digamma", beyond)
    turned = v.within(e.step("subtract", there, value), 22, 2, 1)
    shifted = v.step("subtract", v.constant(1), x)
    upper = v.admit(
        there,
        v.within(there, units + 2, etas, 1),
        recurrence(v, e, there, (shifted, beyond)),
    )
    reflected = e.step("by_sign", x, plain, v.step("subtract", upper, turned))
    return [plain, raised, reflected]


def recurrence(v: Verbs, e: Verbs, value: Node, arguments: tuple[Node, Node]) -> Node:
    """Return digamma of positive arguments below 10 as digamma(x + 10) less the sum of 1/(x + k).

    All ten terms are there, whichever a library needs: more of them round more. What is rounded on
    the way to z = x + 10, ten times at most, moves digamma(z) by 10u z (1/z + 1/z^2), below 11u.
    ``arguments``: x as it is stored, and exactly.
    """
    totals = []
    for w, x in zip((v, e), arguments, strict=True):
        one = w.constant(1)
        total, raised = w.step("divide", one, x), x
        for _ in range(SHIFT - 1):
            raised = w.step("add", raised, one)
            total = w.step("add", total, w.step("divide", one, raised))
        totals.append(total)
    units, etas = value.attrs.units, value.attrs.etas
    far = v.within(e.step("add", value, totals[1]), units + 11, etas, 1)
    plain = v.within(value, units, etas, 1)
    small = e.step("subtract", arguments[1], e.constant(SHIFT))
    return e.step("by_sign", small, plain, v.step("subtract", far, totals[0]))
