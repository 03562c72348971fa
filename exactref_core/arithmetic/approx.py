"""An array of enclosures: double-double midpoints with float64 radii, and IEEE specials beside."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from exactref_core.exact.double_double import Floats, two_sum

__all__ = ["Approx", "signs"]

Bools = npt.NDArray[np.bool_]

# One rounding of a float64 operation, with room for the rounding of the bound itself.
SLACK = 2.0**-52


@dataclass(frozen=True, eq=False)
class Approx:
    """Exact real values x with |x - (high + low)| <= radius, elementwise, high == fl(high + low).

    ``low`` and ``radius`` are None where they are 0 everywhere; a radius of inf says nothing. Where
    the exact value is an infinity or NaN (IEEE rules on exact values), ``special`` holds it and
    high is 0; ``special`` is 0 at the finite elements, and None where all are finite. ``short``:
    the values have at most 26 significant bits and exponents from -500 to 500.
    """

    high: Floats
    low: Floats | None = None
    radius: Floats | None = None
    special: Floats | None = None
    short: bool = False

    def map(self, function: Callable[[npt.NDArray[Any]], npt.NDArray[Any]]) -> Approx:
        """Return the same rearrangement of every array."""
        low, radius, special = (
            None if part is None else function(part)
            for part in (self.low, self.radius, self.special)
        )
        return Approx(function(self.high), low, radius, special, self.short)

    def take(self, flat: npt.NDArray[np.intp]) -> Approx:
        """Return the elements at flat indices."""
        return self.map(lambda array: array.reshape(-1)[flat])

    @property
    def spread(self) -> Floats | float:
        """An upper bound on |x - high|."""
        if self.low is None:
            return 0.0 if self.radius is None else self.radius
        spread = np.abs(self.low)
        return spread if self.radius is None else (spread + self.radius) * (1 + SLACK)

    def ends(self) -> tuple[tuple[Floats, Floats], tuple[Floats, Floats]]:
        """Return double-double numbers at or below, and at or above, every exact value."""
        if self.low is None and self.radius is None:
            exact = self.high, np.zeros(self.high.shape)
            return exact, exact
        with np.errstate(invalid="ignore", over="ignore"):
            below, above = (two_sum(self.high, low) for low in self.low_ends())
        # TwoSum of -0.0 and +0 is +0, but an exact zero keeps its sign.
        sure = True if self.radius is None else self.radius == 0
        zero = (self.high == 0) & np.signbit(self.high) & sure
        if np.any(zero):
            below = np.where(zero, self.high, below[0]), below[1]
            above = np.where(zero, self.high, above[0]), above[1]
        return below, above

    def low_ends(self) -> tuple[Any, Any]:
        """Return low words at or below, and at or above, those that every exact value may have."""
        low: Any = 0.0 if self.low is None else self.low
        radius: Any = 0.0 if self.radius is None else self.radius
        # low +- radius rounds once: one float64 rounding to make room for.
        wide = radius + np.where(np.asarray(radius) > 0, (np.abs(low) + radius) * SLACK, 0.0)
        with np.errstate(invalid="ignore", over="ignore"):
            return low - wide, low + wide

    def known(self) -> Bools:
        """Return where the radius says something."""
        if self.radius is None:
            return np.ones(self.high.shape, bool)
        known: Bools = np.isfinite(self.radius)
        return known


def signs(x: Approx) -> tuple[Floats, Bools]:
    """Return a number of the class and sign of each value, and where that is not certain.

    Finite values give -1, -0, 0 or 1; specials give themselves.
    """
    values = np.where(x.high == 0, x.high, np.sign(x.high))
    unsure = np.zeros(x.high.shape, bool)
    if x.radius is not None:
        unsure = (x.radius > 0) & (np.abs(x.high) <= np.asarray(x.spread))
    if x.special is not None:
        given = x.special != 0  # true for NaN
        values, unsure = np.where(given, x.special, values), unsure & ~given
    return values, unsure
