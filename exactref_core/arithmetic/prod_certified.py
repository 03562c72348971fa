"""The certified reading of products."""

from __future__ import annotations

from functools import partial, reduce
from typing import TYPE_CHECKING

from exactref_core.arithmetic.certified import STEPS, Scalar
from exactref_core.arithmetic.graph import Node
from exactref_core.arithmetic.largest_certified import row_places

if TYPE_CHECKING:
    from exactref_core.arithmetic.certified import CertifiedReading

__all__ = ["exact"]


def exact(reading: CertifiedReading, node: Node, flat: int) -> Scalar:
    """Return one product."""
    values = [reading.value(node.operands[0], i) for i in row_places(node, flat)]
    return reduce(partial(STEPS["multiply"], reading.arithmetic, None), values)
