"""Which levels of the fast reading are worth their cost for an output."""

from __future__ import annotations

from exactref_core.arithmetic.boxes import cells, every, work
from exactref_core.arithmetic.graph import Node
from exactref_core.arithmetic.row_products import MANY, is_input
from exactref_core.exact.elementary_quick import is_quick
from exactref_core.formats.format import FLOAT64_PRECISION, Format

__all__ = ["first_suffices", "is_sliced", "is_small"]

SMALL, FEW = 1 << 11, 1 << 5
# How many times the work of the first computation that is admitted makes others dear.
DEAR = 16


def is_small(node: Node) -> bool:
    """Return whether a node has so few terms that the precise level costs no more."""
    n = node.operands[0].shape[-1] if node.verb in ("sum", "dot", "attend") else 1
    return node.size * n <= (FEW if is_slow(node) else SMALL) and cells(node) <= 8 * SMALL


def is_slow(node: Node) -> bool:
    """Return whether the precise level evaluates functions number by number, by MPFR."""
    return any(
        one.verb == "pair" or (one.verb == "function" and not is_quick(one.attrs.name))
        for one in every(node)
    )


def is_sliced(node: Node, form: Format) -> bool:
    """Return whether a format is as fine as float64 and slices are worth it for whole products.

    One float64 product with a radius then decides no element: it rounds as the format does.
    """
    if node.verb != "dot" or form.precision < FLOAT64_PRECISION:
        return False
    return node.size * node.operands[0].shape[-1] >= MANY and all(map(is_input, node.operands))


def first_suffices(node: Node) -> bool:
    """Return whether the elements that the first of several computations leaves open cost no more
    than the others of all."""
    if len(node.operands) <= 2:
        return False
    if node.size <= SMALL:
        return True
    first, *others = (work(x) for x in node.operands[1:])
    return max(others) > DEAR * first
