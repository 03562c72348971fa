"""maximum, minimum, max, min, clip: choices among numbers, decided exactly."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from exactref_core.errors import InputError
from exactref_core.op import Domain, Op, axes_of, without_axes
from exactref_core.ops.dtypes import FLOATS
from exactref_core.ops.masks import nothing_of

__all__ = ["OPS", "TIES", "shared"]

TIE_RULES = ("even", "first")


def maximum(v: Any, x1: Any, x2: Any, nan: str = "propagate") -> Any:
    """Larger of x1 and x2, broadcast against each other.

    A NaN in either gives NaN; with ``nan="ignore"`` the other number (IEEE 754 maximumNumber). The
    larger of -0.0 and 0.0 is 0.0. No tolerance but that of the store.
    """
    v.broadcast_shapes(x1.shape, x2.shape, "x1 and x2")
    return v.at_least(x1, x2, nan)


def minimum(v: Any, x1: Any, x2: Any, nan: str = "propagate") -> Any:
    """Smaller of x1 and x2, broadcast against each other.

    A NaN in either gives NaN; with ``nan="ignore"`` the other number (IEEE 754 minimumNumber). The
    smaller of -0.0 and 0.0 is -0.0. No tolerance but that of the store.
    """
    v.broadcast_shapes(x1.shape, x2.shape, "x1 and x2")
    return v.at_most(x1, x2, nan)


def reduction(name: str, verb: Any, x: Any, axis: Any, keepdims: bool, nan: str, last: Any) -> Any:
    """Return the largest or smallest numbers over some axes; InputError where there are none."""
    axes = axes_of(axis, len(x.shape))
    rows = last(x, axes)
    if rows.shape[-1] == 0:
        raise InputError(
            f"{name} over axis {axis!r} of x with shape {x.shape} has no elements; the {name} of "
            "nothing has no value"
        )
    return verb(rows, nan), without_axes(x.shape, axes, keepdims)


def largest(
    v: Any, x: Any, axis: Any = None, keepdims: bool = False, nan: str = "propagate"
) -> Any:
    """Largest element of ``x`` over ``axis``.

    Over one axis, several, or all (None). A NaN gives NaN; with ``nan="ignore"`` it counts as
    missing, and NaN is left only of NaN alone. Integers give an exact int64 unless ``dtype`` names
    a float format. Of no elements: an error.
    """
    return v.arrange(*reduction("max", v.largest, x, axis, keepdims, nan, v.last))


def smallest(
    v: Any, x: Any, axis: Any = None, keepdims: bool = False, nan: str = "propagate"
) -> Any:
    """Smallest element of ``x`` over ``axis``.

    Over one axis, several, or all (None). A NaN gives NaN; with ``nan="ignore"`` it counts as
    missing, and NaN is left only of NaN alone. Integers give an exact int64 unless ``dtype`` names
    a float format. Of no elements: an error.
    """
    return v.arrange(*reduction("min", v.smallest, x, axis, keepdims, nan, v.last))


def clip(v: Any, x: Any, min: Any = None, max: Any = None, nan: str = "propagate") -> Any:
    """Elements of ``x`` kept between ``min`` and ``max``, either of which may be None.

    minimum(maximum(x, min), max): where min is above max, that is max. Bounds broadcast; a Python
    number takes the dtype of ``x``, rounded to it. A NaN in ``x`` or in a bound gives NaN, with
    ``nan="ignore"`` it leaves the others.
    """
    for name, bound in (("min", min), ("max", max)):
        if bound is not None:
            v.broadcast_shapes(x.shape, bound.shape, f"x and {name}")
    raised = x if min is None else v.at_least(x, min, nan)
    return raised if max is None else v.at_most(raised, max, nan)


def pair_backward(
    v: Any, grad_output: Any, x: Any, other: Any, nan: str, equal: Any, both_missing: Any
) -> Any:
    """Return the gradient of the larger of x and another, at x."""
    zero = nothing_of(v, grad_output)
    found = v.by_order(v.order(x, other, 1), grad_output, equal, zero)
    if nan == "propagate":
        return found
    alone = v.if_number(x, grad_output, both_missing)
    return v.if_number(other, v.if_number(x, found, zero), alone)


def maximum_backward(
    v: Any, grad_output: Any, x1: Any, x2: Any, nan: str = "propagate", ties: str = "even"
) -> Any:
    """grad_output for the larger one, exactly 0 for the other, or grad_output times 0.

    Where both are equal, half of it for each, or with ``ties="first"`` all of it for x1. A NaN that
    propagates passes grad_output on to both; of NaN that is ignored x1 gets what both could.
    """
    return slopes(v, grad_output, (x1, x2), (x1, x2), nan, ties)


def minimum_backward(
    v: Any, grad_output: Any, x1: Any, x2: Any, nan: str = "propagate", ties: str = "even"
) -> Any:
    """grad_output for the smaller one, exactly 0 for the other, or grad_output times 0.

    Where both are equal, half of it for each, or with ``ties="first"`` all of it for x1. A NaN that
    propagates passes grad_output on to both; of NaN that is ignored x1 gets what both could.
    """
    flipped = tuple(v.exact.step("negative", x) for x in (x1, x2))
    return slopes(v, grad_output, (x1, x2), flipped, nan, ties)


def slopes(v: Any, grad_output: Any, pair: Any, compared: Any, nan: str, ties: str) -> Any:
    """Return the gradients of the larger one of a pair."""
    check_ties(ties)
    zero = v.exact.constant(0)
    equal = [grad_output, zero]
    if ties == "even":
        equal = [half_of(v, grad_output, x.shape == grad_output.shape) for x in pair]
    left, right = compared
    return {
        "x1": pair_backward(v, grad_output, left, right, nan, equal[0], grad_output),
        "x2": pair_backward(v, grad_output, right, left, nan, equal[1], zero),
    }


def half_of(v: Any, x: Any, alone: bool) -> Any:
    """Return half of x, which is exact but for subnormal numbers.

    What is stored next is that half rounded, unless sums undo a broadcast first: of rounded terms.
    """
    half = v.exact.step("multiply", x, v.exact.constant(Fraction(1, 2)))
    return half if alone else v.within(half, 0, Fraction(1, 2))


def check_ties(ties: Any) -> None:
    """Raise InputError for what is no rule of ties."""
    if ties not in TIE_RULES:
        raise InputError(f"ties is one of {TIE_RULES}, not {ties!r}")


def shared(v: Any, g: Any, rows: Any, nan: str, ties: str) -> Any:
    """Return the gradient of the largest of each row, for g the gradient of each maximum.

    One that is alone has g as it is; a share of g is a quotient by their number, which rounds twice
    at most. Where it is unsure how many there are, a share lies between 0 and g.
    """
    share, g = v.ties(rows, ties, nan), v.keep(g, rows.shape)
    one, zero = v.exact.constant(1), v.exact.constant(0)
    part = v.within(v.exact.step("multiply", g, share), 2, Fraction(1, 2))
    some = v.by_order(v.order(share, zero, 0), part, nothing_of(v, g), zero)
    found = v.by_order(v.order(share, one, 0), g, g, some)
    if nan != "propagate" or ties != "even":
        return found
    # Kernels count the elements that equal the maximum, and none equals NaN: 0 / 0.
    most = v.keep(v.largest(rows, nan), rows.shape)
    none = v.exact.step("multiply", most, zero)
    return v.if_number(most, found, v.admit(found, found, none))


def largest_backward(
    v: Any,
    grad_output: Any,
    x: Any,
    axis: Any = None,
    keepdims: bool = False,
    nan: str = "propagate",
    ties: str = "even",
) -> Any:
    """grad_output for the largest element, exactly 0 for the others, or grad_output times 0.

    Equal ones share it evenly, or with ``ties="first"`` the first has all of it. A NaN counts as
    the largest, or where it is ignored as the smallest; where the maximum is NaN, all that share
    evenly may have NaN, since none equals it.
    """
    return {"x": over_rows(v, grad_output, x, axis, nan, ties)}


def smallest_backward(
    v: Any,
    grad_output: Any,
    x: Any,
    axis: Any = None,
    keepdims: bool = False,
    nan: str = "propagate",
    ties: str = "even",
) -> Any:
    """grad_output for the smallest element, exactly 0 for the others, or grad_output times 0.

    Equal ones share it evenly, or with ``ties="first"`` the first has all of it. A NaN counts as
    the smallest, or where it is ignored as the largest; where the minimum is NaN, all that share
    evenly may have NaN, since none equals it.
    """
    return {"x": over_rows(v, grad_output, v.exact.step("negative", x), axis, nan, ties)}


def over_rows(v: Any, grad_output: Any, x: Any, axis: Any, nan: str, ties: str) -> Any:
    """Return the gradient of the largest elements over some axes."""
    axes = axes_of(axis, len(x.shape))
    kept = without_axes(x.shape, axes, False)
    found = shared(v, v.arrange(grad_output, kept), v.last(x, axes), nan, ties)
    return v.unlast(found, axes, x.shape)


def clip_backward(
    v: Any, grad_output: Any, x: Any, min: Any = None, max: Any = None, nan: str = "propagate"
) -> Any:
    """grad_output for x where min <= x <= max, at the bounds too; for min where x < min < max; for
    max where x > max, or where max < min. Exactly 0 elsewhere, or grad_output times 0.

    Comparisons with a NaN that propagates do not hold, those that x be within the bounds or those
    that it be beyond: x has 0 or grad_output. A NaN bound that is ignored is none, and such an x
    counts as below min, or without min as above max.
    """
    zero, ignores = nothing_of(v, grad_output), nan != "propagate"

    def above(one: Any, other: Any, yes: Any, no: Any, unordered: int = -1) -> Any:
        return v.by_order(v.order(one, other, unordered), yes, no, no)

    passed = grad_output
    for bound, order in ((min, -1), (max, 1)):
        if bound is not None:
            pair = (bound, x) if order < 0 else (x, bound)
            passed = above(*pair, zero, passed, -1 if ignores else 1)
    if ignores:
        found = {"x": v.if_number(x, passed, zero)}
    else:
        for one in (x, min, max):
            if one is not None:
                passed = v.if_number(one, passed, v.either(passed, grad_output))
        found = {"x": passed}
    if min is not None:
        low = above(min, x, grad_output, zero)
        if ignores:
            low = v.if_number(x, low, v.if_number(min, grad_output, zero))
        found["min"] = low if max is None else above(max, min, low, zero, 1 if ignores else -1)
    if max is not None:
        high = above(x, max, grad_output, zero)
        if ignores:
            alone = v.if_number(max, grad_output, zero)
            rest = alone if min is None else v.if_number(min, zero, alone)
            high = v.if_number(x, high, rest)
        found["max"] = high if min is None else above(min, max, grad_output, high)
    return found


PAIR, RULE = ("x1", "x2"), {"nan": "propagate"}
REDUCED = {"axis": None, "keepdims": False, **RULE}
TIES = {"ties": "even"}


def extreme(name: str, define: Any, backward: Any, reduces: bool) -> Op:
    """Return a row of the table: a maximum or minimum, of a pair or over axes."""
    domain = Domain("(n)->()" if reduces else "(),()->()", FLOATS, nonempty=reduces)
    return Op(
        name,
        define,
        ("x",) if reduces else PAIR,
        domain,
        REDUCED if reduces else RULE,
        integers=True,
        backward=backward,
        backward_defaults=TIES,
    )


OPS = (
    extreme("maximum", maximum, maximum_backward, False),
    extreme("minimum", minimum, minimum_backward, False),
    extreme("max", largest, largest_backward, True),
    extreme("min", smallest, smallest_backward, True),
    Op(
        "clip",
        clip,
        ("x",),
        Domain("()->()", FLOATS),
        {"min": None, "max": None, **RULE},
        integers=True,
        optional=("min", "max"),
        backward=clip_backward,
    ),
)
