"""Where a standard guarantees nothing: an output of zero is covered, or any output at all."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from exactref_core.arithmetic.accumulation import magnitudes
from exactref_core.arithmetic.bounds import FloatBounds
from exactref_core.arithmetic.floors import floor_of
from exactref_core.arithmetic.graph import GROWS, Node, is_float_input
from exactref_core.arithmetic.parts import Part
from exactref_core.arithmetic.remembered import remembered, under
from exactref_core.arithmetic.traversal import bounded

__all__ = ["without_guarantee"]

Bools = npt.NDArray[np.bool_]

# Functions of which a number in the domain, or its end, is a pole.
POLES = ("log", "log2", "log10", "log1p", "atanh", "erfinv", "lgamma", "digamma", "tan", "pow")


def without_guarantee(part: Part, standard: Any, flush: bool) -> Bools:
    """Return where a standard guarantees nothing, flat, remembered."""
    name = under("no guarantee", standard, flush)

    def find() -> tuple[Bools]:
        return (covers_zero(part, standard, flush) | unbounded(part, standard, flush),)

    (found,) = remembered(part.node, name, find)
    return found


def covers_zero(part: Part, standard: Any, flush: bool) -> Bools:
    """Return where the bound of a sum surely reaches the sum of its terms' magnitudes, flat.

    There an output of zero is covered whatever the terms are. A definition that ends in something
    else than a sum, or its division by a constant, has no such elements.
    """
    none = np.zeros(part.node.size, bool)
    node = part.source
    while node.verb in ("view", "divide", "admit"):
        if node.verb == "divide" and not is_constant(node.operands[1]):
            break
        node = node.operands[1 if node.verb == "admit" else 0]
    if node.verb not in ("sum", "dot") or node.compute is None or node.size != part.node.size:
        return none
    reading = FloatBounds(part.levels[0], standard, flush, precise=False)
    if not np.any(reading.whole(node).error.high >= magnitudes(reading, node).low):
        return none
    reading = FloatBounds(part.levels[0], standard, flush, precise=True)
    sizes = magnitudes(reading, node)
    found = (reading.whole(node).error.low >= sizes.high) & (np.asarray(sizes.low) > 0)
    return np.asarray(np.broadcast_to(found, node.shape).reshape(-1), bool)


def unbounded(part: Part, standard: Any, flush: bool) -> Bools:
    """Return where there surely is no bound, flat: the tolerance is infinite."""
    steps = () if part.store.format.is_integer else below(part.source)
    if not any(may_lack_bound(x, flush) for x in steps):
        return np.zeros(part.node.size, bool)
    reading = FloatBounds(part.levels[0], standard, flush, precise=False)
    found = np.isinf(reading.whole(part.source).error.low)
    return np.asarray(np.broadcast_to(found, part.node.shape).reshape(-1), bool)


def below(node: Node) -> set[Node]:
    """Return a node and all that its bound is made of, each once."""
    seen, waiting = {node}, [node]
    while waiting:
        for operand in bounded(waiting.pop()):
            if operand not in seen:
                seen.add(operand)
                waiting.append(operand)
    return seen


def may_lack_bound(node: Node, flush: bool) -> bool:
    """Return whether a step may have no bound where its operands have one.

    Quotients do where a divisor may be 0, functions where an operand may be a pole, what an earlier
    call stored where it may be an infinity. Inputs carry no error but that of a flush.
    """
    if node.verb == "divide":
        divisor = node.operands[1]
        if is_float_input(divisor) or is_constant(divisor) or floor_of(divisor, flush):
            return False
        return flush or not (divisor.attrs == GROWS or is_exact(divisor))
    if node.verb in ("function", "pair"):
        return node.attrs.name in POLES and not all(is_float_input(x) for x in node.operands)
    return node.verb == "store"


def is_exact(node: Node) -> bool:
    """Return whether no step to a value rounds: inputs and what exact steps make of them."""
    steps = below(node)
    return all(x.compute is None or is_float_input(x) or x.verb == "view" for x in steps)


def is_constant(node: Node) -> bool:
    """Return whether a node is a constant, viewed or not."""
    while node.verb == "view":
        node = node.operands[0]
    return node.verb == "constant"
