"""Which outputs of a matrix product certainly lie within its error bound, from some of its terms.

The bound grows with the sum of the terms' magnitudes, and some terms are no more than all: a
product of |A| and |B| of a part of the depth tells of most outputs that they are covered.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from exactref_core.arithmetic.approx import Approx
from exactref_core.arithmetic.bound import ALGEBRA
from exactref_core.arithmetic.brackets import Bracket
from exactref_core.arithmetic.graph import Node
from exactref_core.arithmetic.parts import Part
from exactref_core.arithmetic.prefixes import PrefixSums
from exactref_core.arithmetic.row_products import is_input
from exactref_core.exact.double_double import Floats
from exactref_core.exact.products import magnitude_matmul

__all__ = ["staged", "within_reach"]

Bools = npt.NDArray[np.bool_]

# Multiply-adds from which a part of the depth is cheaper than calls on arrays.
MANY = 1 << 21
# The least depth of a part: products of fewer terms cost as much.
LEAST = 16
# Parts of the depth, each from where the one before ends; half of few terms tells of too few.
SHARES, SHORT_SHARES, SHORT = (16, 2, 1), (16, 1), 512
# Of so many elements one may be left: all of them at once cost as much as these alone.
FEW = 1 << 9
# Elements whose arrays stay in the cache.
BLOCK = 1 << 15


def within_reach(values: Any, high: Any, spread: Any, least: Any) -> Bools:
    """Return where a value certainly lies within ``least`` of an exact one near ``high``."""
    with np.errstate(invalid="ignore", over="ignore"):
        far = np.abs(values - high)
        inside = far * (1 + 2.0**-50) + spread <= least * (1 - 2.0**-50)
    return np.asarray(inside & np.isfinite(least) & np.isfinite(values), bool)


def staged(part: Part, values: Floats, standard: Any) -> Bools | None:
    """Return where the values of all elements are certainly within the bound.

    None where a small part of the depth tells of less than half.
    """
    node = part.source
    if node.verb != "dot" or part.store.format.precision < part.compute.precision:
        return None
    depth = node.operands[0].shape[-1]
    if node.size * depth < MANY or depth < 2 * LEAST or not all(map(is_input, node.operands)):
        return None
    x = part.levels[0].whole(node)
    a, b = (part.levels[0].whole(operand) for operand in node.operands)
    if x.special is not None or any(y.low is not None or y.radius is not None for y in (a, b)):
        return None
    found = np.zeros(values.shape, bool)
    # More than the sum of all terms' magnitudes of any element.
    most = np.asarray(largest(a.high) * largest(b.high) * depth * (1 + 2.0**-40))
    for size in partial_sums(a.high, b.high):
        reached(found, values, x, Bracket(size, most), (standard, node))
        left = found.size - int(np.count_nonzero(found))
        if left <= found.size // FEW:
            break
        if 2 * left > found.size:
            return None
    return found


def largest(matrix: Floats) -> float:
    """Return the largest magnitude."""
    return float(max(matrix.max(), -matrix.min()))


def partial_sums(a: Floats, b: Floats) -> Iterator[Floats]:
    """Yield lower bounds on sums of the magnitudes of more and more terms, as flat arrays."""
    depth, start = a.shape[-1], 0
    total: Any = 0.0
    for share in SHARES if depth >= SHORT else SHORT_SHARES:
        end = max(depth // share, LEAST)
        more = magnitude_matmul(a[..., start:end], b[..., start:end, :])[0]
        # Adding two nonnegative numbers rounds by less than 2**-52 of the sum.
        total = more if start == 0 else (total + more) * (1 - 2.0**-51)
        yield total.reshape(-1)
        start = end


def reached(
    found: Bools, values: Floats, x: Approx, sizes: Bracket, rule: tuple[Any, Node]
) -> None:
    """Mark the values within the bound that any sums of magnitudes in ``sizes`` give."""
    standard, node = rule
    unit = node.compute.unit_roundoff  # type: ignore[union-attr]
    depth = node.operands[0].shape[-1]
    high, spread = x.high.reshape(-1), np.broadcast_to(x.spread, x.high.shape).reshape(-1)
    rest = np.flatnonzero(~found)
    for start in range(0, rest.size, BLOCK):
        here: Any = rest[start : start + BLOCK]
        if rest.size == found.size:
            here = slice(start, start + BLOCK)  # no copies
        sums = PrefixSums(Bracket(sizes.low[here], sizes.high))
        with np.errstate(all="ignore"):
            error = standard.bracket(ALGEBRA, unit, depth, sums)
        found[here] = within_reach(values[here], high[here], spread[here], error.low)
