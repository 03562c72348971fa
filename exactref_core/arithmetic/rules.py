"""How errors pass through one step, written once for arrays and for certified numbers.

Each rule bounds |stored value - exact value| of a step from the bounds of its operands. ``algebra``
is `FloatAlgebra` (arrays of brackets) or `ScalarAlgebra` (one certified number); magnitudes and
errors are nonnegative quantities of that algebra. All orders are kept, and correlations between
steps are not exploited.

A correctly rounded step errs by at most u / (1 + u) of its exact result in relative terms (Higham,
Accuracy and Stability, problem 2.2), so that two of them, a reciprocal and a product, stay below
2u.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from exactref_core.formats.format import Format

__all__ = [
    "NEARLY",
    "ROUNDINGS",
    "SEVERAL",
    "at_least",
    "before_last",
    "flushed_product",
    "flushed_sum",
    "from_zero",
    "grown",
    "inherited",
    "over_least",
    "own_rounding",
    "product_error",
    "rounded_step",
]

HALF = Fraction(1, 2)
# Steps of several operands of which one may decide alone that the result is no number.
SEVERAL = ("add", "subtract", "hypot", "larger", "by_sign")
# So that an error of exactly the magnitude counts: what is stored may then be 0.
NEARLY = 1 + Fraction(1, 2**40)

# Roundings of a step stored in the compute format: units of u, and of eta where it may underflow
# (sums that underflow are exact).
ROUNDINGS: dict[str, tuple[int, Fraction]] = {
    "add": (1, Fraction(0)),
    "subtract": (1, Fraction(0)),
    "multiply": (1, HALF),
    "divide": (2, HALF),
    "sqrt": (1, Fraction(0)),
}


def rounded_step(
    algebra: Any, form: Format, size: Any, error: Any, units: int, etas: Fraction, flush: bool
) -> Any:
    """Return the error of a stored step: ``error`` of the step on its operands, then its rounding.

    The rounding is relative to the step's result on the stored operands, at most size + error. A
    flush to zero moves a subnormal result by less than the smallest normal number. A result that
    is exactly 0 is stored as it is.
    """
    total = error + (size + error) * algebra.constant(units * form.unit_roundoff)
    absolute = etas * form.eta + (form.smallest_normal if flush else 0)
    return total + algebra.gate(total, algebra.constant(absolute)) if absolute else total


def own_rounding(
    algebra: Any, form: Format, size: Any, error: Any, units: int, etas: Fraction, flush: bool
) -> Any:
    """Return what the rounding of a step adds to its error, as `rounded_step` has it."""
    found = (size + error) * algebra.constant(units * form.unit_roundoff)
    absolute = etas * form.eta + (form.smallest_normal if flush else 0)
    return found + algebra.gate(error + found, algebra.constant(absolute)) if absolute else found


def at_least(algebra: Any, size: Any, least: int = 0) -> Any:
    """Return the size that a rounding is relative to: absolute below ``least``."""
    return algebra.maximum(size, algebra.constant(least)) if least else size


def before_last(
    algebra: Any, form: Format, size: Any, error: Any, units: int, etas: Fraction, flush: bool
) -> Any:
    """Return the error of a step before its last rounding, which is the one that may overflow."""
    if units <= 1:
        return error
    return rounded_step(algebra, form, size, error, units - 1, etas, flush)


def product_error(algebra: Any, a: Any, b: Any, da: Any, db: Any) -> Any:
    """Return a bound on |a' b' - a b| for |a' - a| <= da and |b' - b| <= db."""
    return a * db + b * da + da * db


def grown(
    algebra: Any, form: Format, size: Any, terms: list[tuple[Any, Any, Any]]
) -> tuple[Any, Any]:
    """Return the error of a sum that `GROWS` where flushes spare the sum itself, and its least
    size; ``terms`` are both terms' errors, unflushed errors and least sizes.

    Rounding is monotone: a sum of numbers of one sign is stored as a number no smaller than either
    of them, or flushed to 0, and a quotient by 0 is a matter of sets. What the rules say of its
    roundings is not sharpened by that, so that flushes only ever widen a range.
    """
    (first, one, low), (second, other, high) = terms
    error, rounded = (
        rounded_step(algebra, form, size, moved, 1, Fraction(0), False)
        for moved in (first + second, one + other)
    )
    least = algebra.minimum(algebra.maximum(low, high), algebra.monus(size, rounded))
    return error, least


def flushed_sum(algebra: Any, form: Format, error: Any, least: Any) -> Any:
    """Return the error of a sum that `GROWS`, given `grown`: flushed only where it may be tiny."""
    normal = algebra.constant(form.smallest_normal)
    return error + algebra.gate(algebra.monus(normal, least), normal)


def flushed_product(algebra: Any, form: Format, size: Any, error: Any) -> tuple[Any, Any, Any]:
    """Return the error, unflushed error and least size of a stored product that may be flushed,
    given ``error`` of the product of the stored factors.

    A flush moves a number below the smallest normal one, and by no more than its size. Where it
    is possible the least size is 0.
    """
    kept = rounded_step(algebra, form, size, error, 1, HALF, False)
    least, normal = algebra.monus(size, kept), algebra.constant(form.smallest_normal)
    lost = algebra.gate(algebra.monus(normal, least), algebra.minimum(size + kept, normal))
    return kept + lost, kept, algebra.gate(algebra.monus(least, normal), least)


def over_least(algebra: Any, size: Any, sizes: list[Any], errors: list[Any], least: Any) -> Any:
    """Return the error that a quotient takes over, whose divisor b is stored as ``least`` or more.

    a'/b' is furthest above a/b where b' is smallest. Below it lies furthest where b' is largest:
    (a/b) - (a - da) / (b + db) = (da + (a/b) db) / (b + db). Where da > a, it is
    a'/b' < 0 over the smallest b', and no further away than above: a / b <= a / b'.
    """
    (_, b), (da, db) = sizes, errors
    fall = algebra.minimum(db, algebra.monus(b, least))
    above = algebra.quotient_change(size, *sizes, da, fall)
    return algebra.maximum(above, algebra.quotient(da + size * db, b + db))


def inherited(algebra: Any, verb: str, size: Any, sizes: list[Any], errors: list[Any]) -> Any:
    """Return the error a step takes over from its operands, before any rounding of its own.

    ``size`` is the magnitude of the step's exact result, ``sizes`` and ``errors`` those of its
    operands.
    """
    if verb in ("add", "subtract", "hypot"):
        # hypot is a norm: the triangle inequality bounds its change by the norm of the changes.
        return errors[0] + errors[1]
    if verb == "multiply":
        return algebra.product_change(size, *sizes, *errors)
    if verb == "divide":
        # a'/b' is furthest from a/b where |a'| is largest and |b'| smallest.
        return algebra.quotient_change(size, *sizes, *errors)
    if verb == "sqrt":
        # |sqrt(a') - sqrt(a)| for nonnegative a', evaluated at both ends.
        return algebra.root_change(size, sizes[0], errors[0])
    if verb in ("negative", "absolute", "within", "special", "view"):
        return errors[0]
    if verb in ("kept", "flushed"):
        return algebra.constant(0)
    if verb in ("larger", "by_sign", "with_sign"):
        return chosen_error(algebra, verb, sizes, errors)
    raise KeyError(verb)


def from_zero(
    algebra: Any, verb: str, sizes: list[Any], errors: list[Any], least: Any = None
) -> Any:
    """Return how large a number may be that a step of several operands stores for an infinity or
    NaN, before any rounding of its own.

    Nothing is told of its distance from such a result: it is measured from 0, by the sizes of the
    stored operands. The size of an operand that is an infinity or NaN itself is 0 here, and its
    error bounds what is stored for it in the same way. A divisor is stored as ``least`` or more.
    """
    first, second = (size + error for size, error in zip(sizes[-2:], errors[-2:], strict=True))
    if verb in ("add", "subtract", "hypot"):
        return first + second
    if verb == "divide":
        bottom = algebra.monus(sizes[1], errors[1])
        return algebra.quotient(first, algebra.maximum(bottom, least))
    if verb in ("larger", "by_sign"):
        return algebra.maximum(first, second)
    raise KeyError(verb)


def chosen_error(algebra: Any, verb: str, sizes: list[Any], errors: list[Any]) -> Any:
    """Return the error of a choice: of either candidate, and their difference where it may flip.

    The difference of the candidates is at most the sum of their magnitudes (for which callers that
    know it may give the difference itself, and 0). Callers know whether a choice by sign may flip,
    be it by an error, an infinity or NaN, and give 0 twice where it does not.
    """
    if verb == "with_sign":
        # Where the error is below the magnitude, the sign is what it is.
        depends = algebra.monus(errors[1] * algebra.constant(NEARLY), sizes[1])
        return errors[0] + algebra.gate(depends, sizes[0] + sizes[0])
    either, gap = algebra.maximum(errors[-2], errors[-1]), sizes[-2] + sizes[-1]
    return either + (gap if verb == "by_sign" else algebra.gate(errors[0] + errors[1], gap))
