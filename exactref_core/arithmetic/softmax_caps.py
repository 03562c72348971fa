"""How far means of values may leave the range of these values, by roundings and underflows."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from exactref_core.arithmetic.rules import HALF
from exactref_core.arithmetic.softmax_rules import is_narrow
from exactref_core.exact.interval import Arithmetic
from exactref_core.exact.rationals import exactly
from exactref_core.formats.format import Format

__all__ = ["Cap", "cap_of"]

# exp of it is beyond every ratio of two values that a format holds.
MOST = 709


@dataclass(frozen=True)
class Cap:
    """Means leave the values' range by at most ``share`` max |v| + ``lost``."""

    share: Fraction
    lost: Fraction


@lru_cache(maxsize=256)
def growth(unit: Fraction, count: int) -> Fraction:
    """Return a number at or above (1 + unit)^count - 1, e^MOST - 1 or so for any that is larger."""
    arithmetic = Arithmetic(64)
    count = min(count, int(MOST / unit))
    return exactly(arithmetic.bounds(arithmetic.power_minus_one(unit, count))[1])


def cap_of(
    form: Format, sums: Format, stored: Format | None, n: int, rescales: int, flush: bool
) -> Cap:
    """Return the cap of means of n values, whose sums are rescaled ``rescales`` times.

    The share is (2n + 8) u; sums in a declared narrow format have a u for which no higher order may
    be left out: (1 + u)^(2n + 8) - 1. Beside that the numerator sum p_i v_i may grow over max |v|
    sum p_i only by
    - weights stored in a declared format: by their u, and by eta/2 each where they are subnormal,
      in units of the largest one or of the sum, which are at least 1 and about 1;
    - products, rescalings and the last division that underflow: eta/2 each, carried through at most
      as many roundings as the share counts, and divided by a sum of at least about 1;
    - narrow sums, into which each term is rounded: eta/2 each, likewise.
    What is lost of the denominator counts as much: eta/2 for each term of a narrow sum, and what a
    flush takes from it. A flush, like every underflow to 0, draws the numerator towards 0, which
    the range holds. An end of 0 is not moved by ``lost``: no value has that sign.
    """
    share = (2 * n + 8) * form.unit_roundoff
    narrow = is_narrow(form, sums)
    if narrow:
        share = growth(max(sums.unit_roundoff, form.unit_roundoff), 2 * n + 8)
    lost = (n + rescales + 1) * HALF * form.eta
    if narrow:
        lost += (n + rescales) * HALF * sums.eta
        taken = HALF * sums.eta + (2 * sums.smallest_normal if flush else 0)
        share = share + (1 + share) * n * taken
    lost *= 1 + share
    if stored is not None:
        share = share + (1 + share) * (stored.unit_roundoff + n * HALF * stored.eta)
    return Cap(share, lost)
