"""Which outputs are certainly within their error bounds, from roundings that the verbs alone tell.

The rules of a library function, of a softmax weight and of a log-sum-exp begin with roundings in
units of u, to which errors of operands, sums and underflow are only added: a bound is no smaller.
Most outputs lie within these roundings, and no bound has to be evaluated for them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from exactref_core.arithmetic.approx import Approx
from exactref_core.arithmetic.graph import Indices, Node
from exactref_core.arithmetic.parts import Part
from exactref_core.arithmetic.range_ends import store_value
from exactref_core.arithmetic.rounded_blocks import flatten
from exactref_core.arithmetic.softmax_rules import FUNCTION
from exactref_core.arithmetic.staged_products import within_reach
from exactref_core.exact.double_double import Floats

__all__ = ["Least", "least", "well_within"]

Bools = npt.NDArray[np.bool_]

# Of a weight e_i / L (`softmax_rules.weight_errors`): the exponential errs by 4u, so does their
# sum, which is none but theirs at the least, and the division by 2u. A clip does not count: it is
# (2n + 8) u beyond the largest weight, 1, and 0 is no nearer than the weight itself.
WEIGHT = FUNCTION + FUNCTION + 2


@dataclass(frozen=True)
class Least:
    """A bound is at least ``share`` |x| + ``fixed``."""

    share: float
    fixed: float = 0.0


def least(node: Node) -> Least | None:
    """Return what a node's bound is at least, where nothing is flushed; None if that is unknown."""
    node = unviewed(node)
    if node.compute is None:
        return None
    unit = float(node.compute.unit_roundoff)  # a power of two, as its small multiples are exact
    source = unviewed(node.operands[0]) if node.operands else node
    if node.verb == "within" and source.verb == "function" and is_input(source.operands[0]):
        return Least(node.attrs[0] * unit)
    if node.verb == "weights" and is_input(source):
        return Least(WEIGHT * unit)
    if node.verb == "logsumexp" and is_input(source):
        # m + log L: log L moves by the relative error of L, or the largest of an exponential.
        return Least(unit, FUNCTION * unit)
    return None


def unviewed(node: Node) -> Node:
    """Return what a node is a view of."""
    while node.verb == "view":
        node = node.operands[0]
    return node


def is_input(node: Node) -> bool:
    """Return whether a node is an input, viewed or not: no infinity is stored for its numbers."""
    return unviewed(node).verb == "load"


def well_within(part: Part, values: Floats, flat: Indices | None) -> Bools | None:
    """Return where a value is certainly within its bound, where nothing is flushed; None if that is
    known of no element.

    Numbers near the end of the range are left out: what is certainly stored as an infinity has no
    bound around it.
    """
    rule = least(part.source)
    if rule is None:
        return None
    x = flatten(part.coarse.whole(part.source))
    x = x if flat is None else x.take(flat)
    spread, size = np.asarray(x.spread), np.abs(x.high)
    with np.errstate(all="ignore"):
        error = (rule.share * (size - spread) + rule.fixed) * (1 - 2.0**-50)
    if part.store.format.precision < part.compute.precision:
        inside = between_ends(part, values, x, error)
    else:
        inside = within_reach(values, x.high, spread, error)
    inside &= size < float(min(part.compute.max, part.store.format.max) / 2)
    return inside if x.special is None else inside & (x.special == 0)


def between_ends(part: Part, values: Floats, x: Approx, error: Floats) -> Bools:
    """Return where values lie between what exact -+ error is stored as, in a narrower format."""
    with np.errstate(all="ignore"):
        # Both differences round once, by less than 2**-52 |high| as the error is smaller.
        off = error * (1 - 2.0**-50) - x.spread - np.abs(x.high) * 2.0**-52
        off = np.where(off > 0, off, np.nan)
        low, high = (store_value(x.high + side, part.store) for side in (-off, off))
        return np.asarray((values >= low) & (values <= high), bool)
