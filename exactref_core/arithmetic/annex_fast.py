"""The fast reading of complex functions at infinities and NaN."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from exactref_core.arithmetic.approx import Approx, signs
from exactref_core.exact.annex import answer

if TYPE_CHECKING:
    from exactref_core.arithmetic.fast import FastReading
    from exactref_core.arithmetic.graph import Indices, Node

__all__ = ["exact"]

# pi / 4 as a pair, within 2^-107.
QUARTER = (0.7853981633974483, 3.061616997868383e-17)


def exact(reading: FastReading, node: Node, flat: Indices | None) -> Approx:
    """Return the definition's values, or Annex G's."""
    part, x, y = (reading.whole(z) if flat is None else reading.at(z, flat) for z in node.operands)
    if x.special is None and y.special is None:
        return part
    shape = part.high.shape
    high, low, radius, special = (
        np.array(np.broadcast_to(0.0 if array is None else array, shape))
        for array in (part.high, part.low, part.radius, part.special)
    )
    (a, vague), (b, unsure) = signs(x), signs(y)
    given = ~np.isfinite(a) | ~np.isfinite(b)
    for i in np.flatnonzero(given).tolist():
        at = np.unravel_index(i, shape)
        if vague[at] or unsure[at]:
            high[at], low[at], radius[at], special[at] = 0.0, 0.0, np.inf, 0.0
            continue
        found = answer(node.attrs, float(a[at]), float(b[at]))
        if found is None:
            continue
        high[at] = found.value if np.isfinite(found.value) else 0.0
        special[at] = 0.0 if np.isfinite(found.value) else found.value
        low[at] = radius[at] = 0.0
        if found.quarters:
            high[at], low[at] = (found.quarters * word for word in QUARTER)
            radius[at] = 2.0**-100
    return Approx(high, low, radius, special)
