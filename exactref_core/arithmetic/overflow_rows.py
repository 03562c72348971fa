"""Whether sums of rows of finite terms overflow, decided for many rows at once where it is clear.

Sums are compared with the threshold in float64, with their errors; a row that stands too close is
left to a certified walk. Rows of float64 numbers are scaled down first, so that nothing overflows.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from exactref_core.arithmetic import states
from exactref_core.arithmetic.bound import ALGEBRA
from exactref_core.arithmetic.brackets import Bracket
from exactref_core.arithmetic.prefixes import BLOCK, PrefixSums
from exactref_core.exact.double_double import Floats
from exactref_core.exact.exponentials import exp_high
from exactref_core.exact.interval import Arithmetic, rational
from exactref_core.exact.prefix_sums import magnitude_sums, prefix_sums
from exactref_core.exact.sums import relative_error
from exactref_core.formats.format import Format

__all__ = ["Rows", "Verdicts"]

Bools = npt.NDArray[np.bool_]

DOWN, UP = 1 - 2.0**-40, 1 + 2.0**-40
SCALE = -128  # of rows whose sums might leave float64
LARGEST_GROWTH = 64.0  # exponents up to it leave exp a relative error far below 2**-40


@lru_cache(maxsize=64)
def log_growth(unit: Fraction) -> float:
    """Return log(1 + unit), within 2**-53."""
    return float(Arithmetic(128).log(rational(1 + unit)).low)


@dataclass(frozen=True)
class Verdicts:
    """For each row: the set of its sum, and where that is not decided."""

    sets: states.States
    unsure: Bools


@dataclass(frozen=True, eq=False)
class Side:
    """Where sums of one sign surely reach the threshold, and where they surely do not."""

    surely: Bools
    never: Bools


class Rows:
    """Rows of exact terms t_k, each within ``spread`` of a float64 number, with their errors."""

    def __init__(
        self, form: Format, values: Floats, spread: Any, error: Bracket, standard: Any
    ) -> None:
        scale = SCALE if form.emax > 1000 else 0
        threshold = form.overflow_threshold * Fraction(2) ** scale
        near = float(threshold)
        self.least = near if near <= threshold else float(np.nextafter(near, 0.0))
        self.most = near if near >= threshold else float(np.nextafter(near, np.inf))
        self.unit, self.standard = form.unit_roundoff, standard
        spread, low, high = (
            np.broadcast_to(np.asarray(part, np.float64), values.shape)
            for part in (spread, error.low, error.high)
        )
        self.values, self.spread, self.low, self.high = values, spread, low, high
        if scale:
            self.values = np.ldexp(values, scale)
            # What is small loses bits when it is scaled.
            lost = np.where((np.abs(self.values) < 2.0**-1022) & (values != 0), 2.0**-1073, 0.0)
            self.spread = np.ldexp(spread, scale) + lost + np.where(spread > 0, 2.0**-1073, 0.0)
            self.low = np.maximum(np.ldexp(low, scale) - 2.0**-1073, 0.0)
            self.high = np.ldexp(high, scale) + np.where(high > 0, 2.0**-1073, 0.0)

    # -- any order -----------------------------------------------------------------------------

    def any_order(self) -> Verdicts:
        """Decide every tree and permutation: both signs may overflow, each for itself."""
        plus, minus = (self.all_of(sign) for sign in (1.0, -1.0))
        up, down = plus.surely, minus.surely
        sets: Any = states.FINITE | np.where(up, states.PLUS, 0) | np.where(down, states.MINUS, 0)
        sets = sets | np.where(up & down, states.NAN, 0)
        unsure = ~(plus.surely | plus.never) | ~(minus.surely | minus.never) | self.single()
        return Verdicts(sets.astype(np.uint8), unsure)

    def single(self) -> Bools:
        """Return rows in which one term alone might be an infinity."""
        size = (np.abs(self.values) + self.spread + self.high) * UP
        return np.asarray(np.any(~(size < self.least), axis=-1))

    def all_of(self, sign: float) -> Side:
        """Return whether m >= 2 terms of a sign, P their sum, have P (1+u)**(m-2) >= T."""
        value, wide = sign * self.values, self.spread + self.high
        # Sums of two or three numbers of very different sizes are rounded outward.
        slack = np.where(wide > 0, (np.abs(value) + wide) * 2.0**-50, 0.0)
        most = np.maximum(value + wide + slack, 0.0)
        least = np.maximum(value - self.spread + self.low - slack, 0.0)
        total = Bracket(magnitude_sums(least)[0] * DOWN, magnitude_sums(most)[1] * UP)
        return self.reach(total, np.count_nonzero(least, axis=-1), np.count_nonzero(most, axis=-1))

    def reach(self, total: Bracket, fewest: Any, most: Any) -> Side:
        """Compare sums of ``fewest`` to ``most`` terms, as they grow, with the threshold."""
        low = total.low * self.growth(fewest, -1)
        high = total.high * self.growth(most, 1)
        return Side((fewest >= 2) & (low >= self.most), (most < 2) | (high < self.least))

    def growth(self, count: Any, side: int) -> Floats:
        """Return a bound on (1 + u)**(count - 2): below it for side -1, above it for side 1.

        The exponent rounds by 2**-52 of itself, and `exp_high` errs by 2**-51: below 2**-45.
        """
        exponent = np.maximum(np.atleast_1d(count) - 2.0, 0.0) * log_growth(self.unit)
        power = exp_high(np.minimum(exponent, LARGEST_GROWTH))
        above = np.where(exponent <= LARGEST_GROWTH, power * UP, np.inf)
        found: Floats = (power * DOWN if side < 0 else above).reshape(np.shape(count))
        return found

    # -- in index order ------------------------------------------------------------------------

    def index_order(self) -> Verdicts:
        """Decide the loop and the blocks of 32, whose sums are added in any order."""
        anyhow, walk = self.any_order(), Walk(self)
        found = walk.loop(walk.running, walk.off, one=True)
        if walk.n > BLOCK:
            found = walk.with_blocks(found)
        finite = np.ones(anyhow.unsure.shape, bool)
        for sign in (1.0, -1.0):
            finite &= self.all_of(sign).never
        sets = np.where(finite, states.FINITE, found.sets & anyhow.sets)
        unsure = (found.unsure | anyhow.unsure) & ~finite
        return Verdicts(sets.astype(np.uint8), unsure | self.single())


class Walk:
    """Prefix sums of rows in index order, from the second on, and what they may be off by.

    The error of every running sum is at most that of the whole, and so is the sum of the errors of
    all blocks.
    """

    def __init__(self, rows: Rows) -> None:
        values = rows.values
        n = values.shape[-1]
        prefixes = np.cumsum(values, axis=-1)
        spread = rows.spread.sum(axis=-1) * UP
        # An addition errs by u of its own result, and so does the sum of these.
        self.off = np.abs(prefixes).sum(axis=-1) * relative_error(4) * UP + spread
        self.rows, self.n = rows, n
        sums = prefix_sums(values)
        extra = 2 * n * spread
        ends = [Bracket(low, high + extra) for low, high in (sums.running, sums.blocks)]
        total = PrefixSums(Bracket(sums.magnitudes[0], sums.magnitudes[1] + spread), *ends)
        carried = magnitude_sums(rows.high)[1] * ALGEBRA.power(rows.unit, n).high
        own = rows.standard.error(ALGEBRA, rows.unit, n, total).high
        self.error = (own + carried) * UP
        self.running = prefixes[:, 1:]
        self.local, self.sums = blocks_of(prefixes)

    def loop(self, running: Floats, off: Floats, one: bool) -> Verdicts:
        """Decide loops whose prefix sums are given, where one sign alone comes near the threshold.

        Prefix sum and error together reach the threshold where a loop may overflow; the prefix sum
        alone does where it surely may; the prefix sum less the error where it surely does. What
        comes after that does not count, if it is ``one`` loop a row.
        """
        least, most = self.rows.least, self.rows.most
        wide, off = ((off + self.error) * UP)[:, None], (off * UP)[:, None]
        size = np.abs(running)
        ends = (size - wide) * DOWN >= most
        may = (size + wide) * UP >= least
        if one:
            may &= np.cumsum(ends, axis=-1) - ends == 0  # up to the first sure overflow
        plus, minus = (np.any(may & side, axis=-1) for side in (running > 0, running < 0))
        surely = np.any(may & ((size - off) * DOWN >= most), axis=-1)
        kept = ~np.any(may & ((size + off) * UP >= least), axis=-1)
        lost = np.any(ends, axis=-1)
        bits = np.where(plus, states.PLUS, 0) | np.where(minus, states.MINUS, 0)
        sets = np.where(lost, bits, bits | states.FINITE).astype(np.uint8)
        never = ~plus & ~minus
        return Verdicts(sets, ~(never | ((plus != minus) & surely & (kept | lost))))

    def with_blocks(self, found: Verdicts) -> Verdicts:
        """Add what the sums of blocks give in any order, each within the error of all of them."""
        inside = self.loop(self.local, 3 * self.off, one=False)
        count = self.sums.shape[-1]
        off = (3 * self.off * UP)[:, None]
        sides = []
        for sign in (1.0, -1.0):
            least = np.maximum(sign * self.sums - off, 0.0)
            most = np.maximum(sign * self.sums, 0.0).sum(axis=-1) + count * off[:, 0] + self.error
            total = Bracket(least.sum(axis=-1) * DOWN, most * UP)
            sides.append(self.rows.reach(total, np.count_nonzero(least, axis=-1), count))
        plus, minus = sides
        up, down = (
            side.surely | ((inside.sets & bit) != 0)
            for side, bit in ((plus, states.PLUS), (minus, states.MINUS))
        )
        # With a block that surely overflows, no sum of the others counts but of its sign.
        positive = (inside.sets & states.PLUS) != 0
        clear = (inside.sets == states.FINITE) | np.where(positive, minus.never, plus.never)
        settled = (up | plus.never) & (down | minus.never) & ~inside.unsure & clear
        sets = found.sets | (inside.sets & states.FINITE)
        sets = sets | np.where(up, states.PLUS, 0) | np.where(down, states.MINUS, 0)
        both = (sets & states.PLUS != 0) & (sets & states.MINUS != 0)
        sets = np.where(both, sets | states.NAN, sets)
        return Verdicts(sets.astype(np.uint8), found.unsure | ~settled)


def blocks_of(prefixes: Floats) -> tuple[Floats, Floats]:
    """Return the prefix sums inside blocks of 32 from the second on, and the sums of the blocks."""
    n = prefixes.shape[-1]
    starts = np.zeros((len(prefixes), -(-n // BLOCK)))
    starts[:, 1:] = prefixes[:, BLOCK - 1 : n - 1 : BLOCK]
    local = prefixes - np.repeat(starts, BLOCK, axis=-1)[:, :n]
    inner = np.arange(n) % BLOCK > 0
    lasts = np.append(np.arange(BLOCK - 1, n - 1, BLOCK), n - 1)
    return local[:, inner], local[:, lasts]
