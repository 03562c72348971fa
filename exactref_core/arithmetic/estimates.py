"""What one level of evaluation knows of ranges: enough to judge most values.

An end of a range that is not known yet lies between two numbers of the output format. A value outside
both is judged as well as by the end itself, so that ends are told to the last digit only where a
value lies next to them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from exactref_core.arithmetic.graph import Indices
from exactref_core.arithmetic.ranges import Bools, Range, within
from exactref_core.exact.double_double import Floats

__all__ = ["Estimate", "estimated", "known"]


@dataclass(frozen=True, eq=False)
class Estimate:
    """Ranges as one level knows them: ``found``, but for the elements at ``left``.

    The low and the high ends of those are given as (outer, inner), numbers of the output format
    between which they lie; infinite where this level does not tell. ``sets``: where it tells what
    else they may be.
    """

    found: Range
    left: Indices
    low: tuple[Floats, Floats]
    high: tuple[Floats, Floats]
    sets: Bools

    def judge(self, values: Floats) -> tuple[Bools, Indices]:
        """Return which values are covered, and the places where this level does not tell."""
        result = within(self.found, values)
        if not self.left.size:
            return result, self.left
        rest = values[self.left]
        finite = np.isfinite(rest)
        inside = finite & (rest >= self.low[1]) & (rest <= self.high[1])
        outside = finite & ((rest < self.low[0]) | (rest > self.high[0]))
        told = np.where(finite, inside | outside, self.sets)
        result[self.left] = np.where(finite, inside, result[self.left] & self.sets)
        return result, self.left[~told]


def estimated(
    found: Range, inner: tuple[Floats, Floats], undecided: Bools, vague: Bools, unsure: Bools
) -> Estimate:
    """Return an estimate from outer ends (``found``) and inner ones.

    ``undecided``: where something is not known; ``vague``: of the ends, nothing; ``unsure``: what
    else outputs may be.
    """
    left = np.flatnonzero(undecided)
    nothing = vague[left]
    low = np.where(nothing, -np.inf, found.low[left]), np.where(nothing, np.inf, inner[0][left])
    high = np.where(nothing, np.inf, found.high[left]), np.where(nothing, -np.inf, inner[1][left])
    return Estimate(found, left, low, high, ~unsure[left])


def known(found: Range) -> Estimate:
    """Return ranges of which all is known."""
    none = np.zeros(0)
    return Estimate(found, np.zeros(0, np.intp), (none, none), (none, none), np.zeros(0, bool))
