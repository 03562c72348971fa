"""Which output values a part covers: cheap brackets first, the full range for the rest."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from exactref_core.arithmetic import states
from exactref_core.arithmetic.approx import Approx
from exactref_core.arithmetic.bound import Bound
from exactref_core.arithmetic.bounds import FloatBounds
from exactref_core.arithmetic.estimates import output_ends
from exactref_core.arithmetic.graph import Indices, Node, sum_terms
from exactref_core.arithmetic.least_errors import well_within
from exactref_core.arithmetic.parts import Part
from exactref_core.arithmetic.ranges import Range, within
from exactref_core.arithmetic.rounded_blocks import flatten
from exactref_core.arithmetic.staged_products import staged, within_reach
from exactref_core.arithmetic.stores import clip_of
from exactref_core.exact.double_double import Floats
from exactref_core.formats.rounding import Overflow

__all__ = ["covered"]

Bools = npt.NDArray[np.bool_]

# All means of values at once cost as much as one in so many alone.
WORTH = 16
# Elements whose bounds take no room worth sparing.
KEPT = 1 << 11


def covered(
    part: Part, values: Floats, flat: Indices | None, standard: Any, flush: bool, signed_zeros: bool
) -> Bools:
    """Return whether each value is covered; ``flat`` says which elements they are for (None: all).

    ``values`` are flat float64 numbers of the output format.
    """
    result = np.zeros(values.shape, bool)
    rest = np.arange(values.size)
    known = part.store.format.is_integer or part.knows_range(standard, flush)
    if not known:
        if part.store.lone or has_roundings(part):
            result = correctly_rounded(part, values, flat)
        elif not flush and (well := well_within(part, values, flat)) is not None:
            result = well
        if not part.store.lone and not result.all():
            result |= quick(part, values, flat, standard, flush)
        rest = np.flatnonzero(~result)
    if rest.size:
        chosen = rest if flat is None else flat[rest]
        if known:
            result[rest] = within(range_for(part, chosen, standard, flush), values[rest])
        elif flat is None and not few(part, rest.size):
            result = part.within_range(values, standard, flush, None)
        else:
            result[rest] = part.within_range(values[rest], standard, flush, chosen)
    if signed_zeros:
        zeros = np.flatnonzero(result & (values == 0))
        if zeros.size:
            chosen = zeros if flat is None else flat[zeros]
            ranges = range_for(part, chosen, standard, flush)
            result[zeros] = zero_signs(part, chosen, ranges, np.signbit(values[zeros]))
    return result


def has_roundings(part: Part) -> bool:
    """Return whether ``rounded`` is known, and finite where the exact value is a number alone."""
    return part.roundings is not None and part.store.overflow is Overflow.IEEE


def correctly_rounded(part: Part, values: Floats, flat: Indices | None) -> Bools:
    """Return where a value is finite and ``rounded``, which every range has in it."""
    if flat is not None and part.roundings is None and flat.size < part.node.size:
        return np.zeros(values.shape, bool)
    rounded = part.rounded() if flat is None else part.rounded()[flat]
    same: Bools = np.isfinite(values) & (values == rounded)
    return same


def quick(part: Part, values: Floats, flat: Indices | None, standard: Any, flush: bool) -> Bools:
    """Return where a value certainly lies within the error bound of the exact value.

    Such a value lies between exact - bound and exact + bound, and being a number of the output
    format it stays between them when they are rounded outward and stored.
    """
    early = staged(part, values, standard) if flat is None else None
    if early is not None:
        return early
    x: Approx = part.coarse.whole(part.source)
    bound = bound_near(part, standard, flush)
    x = flatten(x)
    least, spread, high = bound.error.low, np.asarray(x.spread), x.high
    if flat is not None:
        spread = np.broadcast_to(spread, high.shape)[flat]
        least, high = least[flat], high[flat]
    inside = within_reach(values, high, spread, least)
    if bound.clip is not None:
        least, most = (
            end if flat is None else end[flat] for end in (bound.clip.low[1], bound.clip.high[1])
        )
        inside &= (values >= least) & (values <= most)
    if x.special is not None:
        special = x.special if flat is None else x.special[flat]
        inside &= special == 0
    if part.store.format.precision < part.compute.precision:
        rest = np.flatnonzero(~inside & np.isfinite(values))
        chosen = rest if flat is None else flat[rest]
        inside[rest] = between_inner_ends(part, x, bound, chosen, values[rest])
    certain = certainly_numbers(bound)
    if certain is not None:
        inside &= certain if flat is None else certain[flat]
    return np.asarray(inside, bool)


def bound_near(part: Part, standard: Any, flush: bool) -> Bound:
    """Return what the cheapest level knows of the bounds of all elements, flat.

    Of few elements it is kept: a kernel after the other may be judged, and each asks again.
    """
    key = (standard.name, flush)
    if key in part.nearest:
        return part.nearest[key]
    # Few prefix sums cost no more than the ranges of elements that magnitudes leave.
    precise = part.small and part.source.verb in ("sum", "dot")
    bounds = FloatBounds(part.coarse, standard, flush, precise)
    bounds.least = frozenset() if precise else lower_ends_suffice(part.source)
    bound: Bound = bounds.whole(part.source)
    bound = replace(bound, clip=clip_of(part.source, bound, flush))
    bound = bound.map(np.ravel, part.node.shape)
    if part.node.size <= KEPT:
        part.nearest[key] = bound
    return bound


def lower_ends_suffice(node: Node) -> frozenset[Node]:
    """Return the nodes of which a lower end tells that of the output: the source, and operands of
    views, sums and products with inputs.

    These grow with the bound of the operand, and nothing else in the graph sees it. A choice, a
    quotient or a function may be read otherwise where an operand has no upper end.
    """
    found = {node}
    while node.verb in ("view", "add", "subtract", "multiply"):
        inner = [x for x in node.operands if not is_given(x)]
        if len(inner) != 1:
            break
        node = inner[0]
        found.add(node)
    return frozenset(found)


def is_given(node: Node) -> bool:
    """Return whether a node is an input or a constant, viewed or not."""
    while node.verb == "view":
        node = node.operands[0]
    return node.verb in ("load", "constant")


def certainly_numbers(bound: Bound) -> Bools | None:
    """Return where numbers may be stored for certain; None for everywhere. Elsewhere steps that
    never give one may leave no room around the exact value."""
    numbers: Any = True if bound.states is None else (bound.states & states.FINITE) != 0
    if bound.unsure is not None:
        return np.asarray(numbers & ~bound.unsure, bool)
    return None if bound.states is None else np.asarray(numbers, bool)


def between_inner_ends(part: Part, x: Approx, bound: Bound, flat: Indices, values: Floats) -> Bools:
    """Return where finite values certainly lie in their range, of some elements: between the inner
    estimates of its stored ends, which a narrow store may move by more than the bound."""
    if not flat.size:
        return np.zeros(0, bool)
    x = x.take(flat)
    bound = bound.map(lambda array: array[flat], (part.node.size,))
    with np.errstate(all="ignore"):
        ends = output_ends(x, bound, part.compute, part.store)
        found = (values >= ends.low[1]) & (values <= ends.high[1])
    found &= np.isfinite(np.asarray(bound.error.low))
    return found if x.special is None else found & (x.special == 0)


def few(part: Part, elements: int) -> bool:
    """Return whether so few elements are cheaper one by one than all at once."""
    return (WORTH if part.source.verb == "attend" else 2) * elements < part.node.size


def range_for(part: Part, flat: Indices, standard: Any, flush: bool) -> Range:
    """Return ranges of some elements, from the full arrays where those are known or worth it."""
    if not part.knows_range(standard, flush) and few(part, flat.size):
        return part.range_at(standard, flush, flat)
    return Range(*(array[flat] for array in part.range(standard, flush).arrays))


def zero_signs(part: Part, flat: Indices, ranges: Range, negative: Bools) -> Bools:
    """Return whether zeros of these signs are covered where the sign of zero counts.

    A zero of either sign may be a rounded number of that sign; an exact zero has the sign of
    ``rounded``, a sum of negative zeros may keep theirs, and a maximum of both may be either.
    """
    rounded = part.rounded()[flat]
    below, above = ranges.low < 0, ranges.high > 0
    exact = rounded == 0
    minus = below | (exact & np.signbit(rounded)) | only_negative_zeros(part, flat)
    plus = above | (exact & ~np.signbit(rounded))
    both = exact & of_either_sign(part, flat)
    minus, plus = minus | both, plus | both
    return np.asarray(np.where(negative, minus, plus), bool)


def only_negative_zeros(part: Part, flat: Indices) -> Bools:
    """Return where a sum adds nothing but negative zeros."""
    node = part.source
    if node.verb not in ("sum", "dot"):
        return np.zeros(flat.shape, bool)
    found = []
    for index in flat.tolist():
        terms = part.raise_precision(index, lambda reading, i=index: reading.terms(node, i))  # type: ignore[misc]
        found.append(bool(terms) and all(isinstance(t, float) and t == 0 for t in terms))
    return np.asarray(found, bool)


def of_either_sign(part: Part, flat: Indices) -> Bools:
    """Return where a maximum or minimum has zeros of both signs to choose from."""
    node, places = part.source, flat
    while node.verb in ("view", "negative"):
        places = node.attrs.gather(places) if node.verb == "view" else places
        node = node.operands[0]
    found = np.zeros(flat.shape, bool)
    if node.verb != "largest":
        return found
    for spot, index in enumerate(sum_terms(node, places).tolist()):
        values = [
            part.raise_precision(int(flat[spot]), lambda r, i=i: r.value(node.operands[0], i))  # type: ignore[misc]
            for i in index
        ]
        signs = {bool(np.signbit(x)) if isinstance(x, float) else False for x in values if x == 0}
        found[spot] = len(signs) > 1
    return found
