"""The ladder that decides how the elements of one real output round.

Float64 enclosures answer for all elements, double-double ones for those left, certified numbers for
the last; an element that the highest precision leaves open is an error, never a pass.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import zip_longest
from typing import Any, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from exactref_core.arithmetic.alike import alike
from exactref_core.arithmetic.boxes import local_parts
from exactref_core.arithmetic.certified import CertifiedReading, Scalar
from exactref_core.arithmetic.certified_stores import rounded_exact
from exactref_core.arithmetic.fast import FastReading
from exactref_core.arithmetic.graph import Indices, Node, Store
from exactref_core.arithmetic.level_choices import is_sliced, is_small
from exactref_core.arithmetic.plain_programs import Program, program_of
from exactref_core.arithmetic.plain_rounding import round_program
from exactref_core.arithmetic.remembered import remembered
from exactref_core.arithmetic.rounded_blocks import flatten, round_in_blocks
from exactref_core.arithmetic.softmax_rounded import rounded_rows
from exactref_core.errors import UndecidedError
from exactref_core.exact.double_double import Floats
from exactref_core.exact.interval import Unsure
from exactref_core.formats.format import Format

__all__ = ["MANY", "Ladder"]

# The part of all elements from which on NumPy is asked for those of different kinds alone.
MANY = 4
# Cells of a graph whose float64 arrays stay in the cache together.
CACHED = 1 << 16
# Bits of the formats that plain float64 decides nearly always.
NARROW = 24
PRECISIONS = tuple(96 << i for i in range(9))

T = TypeVar("T")
# Numbers of the output format, in float64 or in NumPy's own dtype for the format.
Rounded: TypeAlias = npt.NDArray[np.floating[Any]]


class Ladder:
    """The roundings of a real output (or of one part of a complex one), given its store."""

    def __init__(self, node: Node, label: str) -> None:
        self.node = node
        self.source = node.operands[0]
        self.store: Store = node.attrs
        self.label = label
        precise = FastReading(True)
        self.small = is_small(self.source)
        self.levels: tuple[FastReading, ...]
        alone = self.small or is_sliced(self.source, self.store.format)
        self.levels = (precise,) if alone else (self.filter(), precise)
        self.pairs, self.finest = FastReading(False), FastReading(True, split=False)
        self.certified: dict[int, CertifiedReading] = {}
        self.roundings: Rounded | None = None
        self.start: tuple[int, ...] = ()  # where a block begins in the whole

    @property
    def compute(self) -> Format:
        """The compute format (the output's own where nothing is computed)."""
        return self.node.compute or self.store.format

    @property
    def narrow(self) -> bool:
        """Whether all that is stored has few enough bits for plain float64 to decide."""
        return max(self.compute.precision, self.store.format.precision) <= NARROW

    def filter(self) -> FastReading:
        """Return a reading of the cheapest level."""
        return FastReading(False, narrow=self.narrow)

    @cached_property
    def coarse(self) -> FastReading:
        """The reading from which a bound is told that most outputs keep: no digits are needed."""
        return self.filter() if self.small and self.narrow else self.levels[0]

    def readings(self) -> Iterator[FastReading]:
        """Yield the fast readings in the order of their cost, as far as each knows more."""
        yield self.levels[0]
        if self.levels[0].has_plain:
            yield self.pairs
        yield from self.levels[1:]
        if self.levels[-1].has_split:
            yield self.finest

    # -- the exact value -----------------------------------------------------------------------

    def raise_precision(self, flat: int, ask: Callable[[CertifiedReading], T]) -> T:
        """Return the answer of a certified reading, at the lowest precision that has one."""
        for precision in PRECISIONS:
            reading = self.certified.setdefault(precision, CertifiedReading(precision))
            try:
                return ask(reading)
            except Unsure:
                continue
        raise UndecidedError(
            f"{self.label}: element {self.index(flat)} is not decided at {PRECISIONS[-1]} bits; "
            "its exact value seems to lie on a tie that enclosures cannot see"
        )

    def index(self, flat: int) -> tuple[int, ...]:
        """Return the index of an element, in the whole where this is a block of it."""
        inside = np.unravel_index(flat, self.node.shape)
        return tuple(int(i) + first for i, first in zip_longest(inside, self.start, fillvalue=0))

    def scalar(self, flat: int, precision: int = PRECISIONS[1]) -> Scalar:
        """Return one element's certified value, to at least this precision."""
        for bits in (p for p in PRECISIONS if p >= precision):
            reading = self.certified.setdefault(bits, CertifiedReading(bits))
            try:
                return reading.value(self.source, flat)
            except Unsure:
                continue
        return self.raise_precision(flat, lambda reading: reading.value(self.source, flat))

    def rounded(self) -> Floats:
        """Return the exact values rounded once, flat, as float64 (specials as they are stored)."""
        return self.stored().astype(np.float64, copy=False)

    def stored(self) -> Rounded:
        """Return what `rounded` does, as they are kept; read-only."""
        if self.roundings is None:
            (self.roundings,) = remembered(self.node, "rounded", lambda: (self.round_all(),))
        self.roundings.flags.writeable = False
        return self.roundings

    def round_all(self) -> Rounded:
        """Decide every rounding, level by level."""
        result, left = self.round_plainly() or self.round_levels()
        if left.size:
            kinds, back = alike(self.source, left)
            result[left] = np.asarray([self.round_one(flat) for flat in kinds.tolist()])[back]
        return result

    def round_plainly(self) -> tuple[Rounded, Indices] | None:
        """Return what `round_levels` does, in plain float64 first; None where that cannot be.

        The levels then see the elements that it leaves, and no others.
        """
        program = self.program()
        if program is None:
            return None
        result, left = round_program(program, self.store)
        rest = []
        for start in range(0, left.size, CACHED):
            flat = left[start : start + CACHED]
            stored = (program.gather(flat),), flat.shape, self.store, self.node.compute
            part = Ladder(Node("store", *stored), self.label)
            part.levels = (self.filter(), FastReading(True))  # however few they are
            result[flat], undecided = part.round_levels()
            rest.append(flat[undecided])
        return result, np.concatenate(rest) if rest else left

    def program(self) -> Program | None:
        """Return how plain float64 evaluates the exact value; None where it does not."""
        if not self.levels[0].narrow or self.store.format.is_integer:
            return None
        return program_of(self.source)

    def round_levels(self) -> tuple[Floats, Indices]:
        """Return the values that the fast readings decide, and where none does."""
        readings = self.readings()
        result, undecided = self.round_whole(next(readings))
        left = np.flatnonzero(undecided)
        for reading in readings:
            if left.size == 0:
                break
            kinds, back = alike(self.source, left, self.node.size // MANY)
            x = reading.at(self.source, kinds)
            values, undecided = round_in_blocks(flatten(x), self.store)
            result[left] = values[back]
            left = left[undecided[back]]
        return result, left

    def round_whole(self, reading: FastReading) -> tuple[Floats, Any]:
        """Return the rounded values that one level decides, and where it does not.

        Elements with terms of their own are evaluated in parts that stay in the cache.
        """
        whole = reading.precise or reading.knows(self.source)
        if not whole and (rows := rounded_rows(reading, self.source, self.store)) is not None:
            return rows
        parts = [] if whole else local_parts(self.source, CACHED)
        if not parts:
            return round_in_blocks(flatten(reading.whole(self.source)), self.store)
        value, undecided = np.empty(self.node.size), np.empty(self.node.size, bool)
        for run, node in parts:
            local = self.filter()
            x = local.whole(node)
            reading.has_plain |= local.has_plain
            value[run], undecided[run] = round_in_blocks(flatten(x), self.store)
        return value, undecided

    def round_one(self, flat: int) -> float:
        """Return one element's certified rounding."""
        found = self.raise_precision(
            flat, lambda reading: rounded_exact(reading, self.source, flat, self.store)
        )
        return found if found == found else math.nan
