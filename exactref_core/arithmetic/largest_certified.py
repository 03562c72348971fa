"""The certified reading of maxima: comparisons of exact numbers, or of intervals."""

from __future__ import annotations

import math
from functools import reduce
from typing import TYPE_CHECKING

from exactref_core.arithmetic.certified import Scalar, finite, number
from exactref_core.arithmetic.graph import Node, sum_terms
from exactref_core.arithmetic.largest_rules import PROPAGATE
from exactref_core.exact.interval import Interval

if TYPE_CHECKING:
    from exactref_core.arithmetic.certified import CertifiedReading

__all__ = ["exact", "row_places"]


def row_places(node: Node, flat: int) -> list[int]:
    """Return the flat indices of the numbers that one element is made of."""
    import numpy as np

    places: list[int] = sum_terms(node, np.asarray([flat]))[0].tolist()
    return places


def exact(reading: CertifiedReading, node: Node, flat: int) -> Scalar:
    """Return one maximum."""
    values = [reading.value(node.operands[0], i) for i in row_places(node, flat)]
    kept = [x for x in values if not (isinstance(x, float) and math.isnan(x))]
    if len(kept) < len(values) and (node.attrs == PROPAGATE or not kept):
        return math.nan
    specials = [x for x in kept if not finite(x)]
    if math.inf in specials:
        return math.inf
    numbers = [x for x in kept if finite(x)]
    if not numbers:
        return -math.inf
    top = reduce(reading.arithmetic.maximum, [number(x) for x in numbers])
    if not isinstance(top, Interval) and top == 0:
        # The maximum of -0.0 and 0.0 is 0.0; an enclosed number is not known to be -0.0.
        only = all(isinstance(x, float) for x in numbers if isinstance(x, float) or x == 0)
        return -0.0 if only else top
    return top
