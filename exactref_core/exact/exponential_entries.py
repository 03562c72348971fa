"""One matrix exponential: its entries as rationals or enclosures, and the bounds of its entries."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property
from typing import Any

import gmpy2

from exactref_core.exact.backward_errors import Perturbation, backward_errors
from exactref_core.exact.balancing import balanced
from exactref_core.exact.interval import Arithmetic, Interval, Number
from exactref_core.exact.matrix_exponential import Matrix, Scaled, enclosures, stages
from exactref_core.exact.rational_entries import rational_entries
from exactref_core.exact.structural_entries import Structure
from exactref_core.exact.upper import Upper, below, exponential, root_above, upper

__all__ = ["LIMIT", "Exponential", "matrix_of"]

# Magnitudes beyond 2**LIMIT stand for any such, as no format comes near (and below 2**-LEAST).
LIMIT, LEAST = 4000, 1 << 16
# Entries are read on a grid no finer than this power of two.
FINEST = -6000
# Bits that tell how large entries are.
SIZES = 160
# Tables of fewer bits are followed by one of four times as many for entries that they leave vague.
FINE = 1 << 12
# Bits from which an entry that is still undecided may be rational.
DOUBTFUL = 384

Ends = tuple[Any, Any, int]  # low * 2**e and high * 2**e around a number


class Exponential:
    """exp of one matrix, evaluated once a precision."""

    def __init__(self, matrix: Matrix) -> None:
        self.matrix = matrix
        self.structure = None if matrix.radius else Structure(matrix)
        self.tables: dict[int, list[list[Ends]]] = {}
        self.blocks: dict[int, tuple[Exponential, dict[int, int]] | None] = {}
        self.parts: dict[tuple[int, ...], Exponential] = {}
        self.bounds: dict[Perturbation, list[list[Upper]]] = {}
        self.memo: dict[Any, Any] = {}  # what the caller derives from them

    @cached_property
    def rationals(self) -> list[list[Any]]:
        """The entries that algebra shows to be rational; None for the others."""
        return rational_entries(self.matrix)

    def table(self, bits: int) -> list[list[Ends]]:
        """Return enclosures of all entries: rows of real parts, then those of imaginary parts."""
        if bits not in self.tables:
            inner, d = balanced(self.matrix)
            scaled = Scaled(inner, bits)
            found = enclosures(inner, scaled, stages(scaled)[-1])
            self.tables[bits] = [
                [(a, b, e + d[i % len(d)] - d[j]) for j, (a, b, e) in enumerate(row)]
                for i, row in enumerate(found)
            ]
        return self.tables[bits]

    def exact(self, i: int, j: int, part: int) -> Any:
        """Return a part of an entry as a rational, or None where it is not seen to be one."""
        return None if self.structure is None else self.structure.value(i, j, part)

    def block(self, i: int, j: int) -> tuple[Exponential, dict[int, int]] | None:
        """Return the exponential of a diagonal block that has the entry, and the block's rows.

        Of a block triangular matrix: each block has a scale of its own.
        """
        if self.structure is None:
            return None
        if i not in self.blocks:
            kept = self.structure.component(i)
            self.blocks[i] = None
            if len(kept) < self.matrix.n:
                found = self.part_of(kept), {k: place for place, k in enumerate(kept)}
                for k in kept:
                    self.blocks[k] = found
        block = self.blocks[i]
        return block if block is not None and j in block[1] else None

    def between(self, i: int, j: int) -> tuple[Exponential, int, int] | None:
        """Return the exponential of the rows on paths from i to j, and their places; None of all.

        (A^k)_ij is a sum over walks from i to j, so that others do not count, however large.
        """
        kept = [] if self.structure is None else self.structure.between(i, j)
        if not kept or len(kept) == self.matrix.n:
            return None
        key = tuple(kept)
        if key not in self.parts:
            self.parts[key] = self.part_of(kept)
        return self.parts[key], kept.index(i), kept.index(j)

    def part_of(self, kept: list[int]) -> Exponential:
        """Return the exponential of some rows and columns alone."""
        n, lines = self.matrix.n, self.matrix.rows
        rows = [
            [lines[start + k][m] for m in kept] for start in range(0, len(lines), n) for k in kept
        ]
        return Exponential(Matrix(rows, self.matrix.unit, gmpy2.mpq(0)))

    def ends(self, i: int, j: int, part: int, bits: int) -> Ends:
        """Return integers and an exponent around a part of an entry."""
        block = self.block(i, j)
        if block is not None:
            inner, places = block
            return inner.ends(places[i], places[j], part, bits)
        if self.structure is not None:
            value = self.structure.exponent(i, j)
            if value is not None:
                return exponential(value, bits) if part == 0 else (gmpy2.mpz(0), gmpy2.mpz(0), 0)
        low, high, exponent = self.table(bits)[part * self.matrix.n + i][j]
        if is_vague(low, high, bits) and (least := self.between(i, j)) is not None:
            alone, first, last = least
            return alone.ends(first, last, part, bits)
        if is_vague(low, high, bits) and bits < FINE:
            # Far smaller than what it comes from, or 0.
            low, high, exponent = self.table(4 * bits)[part * self.matrix.n + i][j]
        if low < 0 < high and self.structure is not None and self.structure.nonnegative:
            low = gmpy2.mpz(0)  # exp(A) = exp(-c) exp(A + c) with A + c >= 0
        return low, high, exponent

    def number(self, arithmetic: Arithmetic, i: int, j: int, part: int) -> Number:
        """Return a part of an entry at the precision of an arithmetic."""
        value = self.exact(i, j, part)
        if value is None and arithmetic.precision >= DOUBTFUL and not self.matrix.radius:
            value = self.rationals[part * self.matrix.n + i][j]
        if value is not None:
            return value
        low, high, exponent = self.ends(i, j, part, arithmetic.precision + 32)
        if low == high == 0:
            return gmpy2.mpq(0)
        exponent -= self.excess(i, j, part)
        least, most = end(arithmetic.down, low, exponent), end(arithmetic.up, high, exponent)
        positive = low > 0 or (self.structure is not None and self.structure.nonnegative)
        opens = (least == 0 and positive, most == 0 and high < 0)
        return Interval(least, most, arithmetic, open_low=opens[0], open_high=opens[1])

    def excess(self, i: int, j: int, part: int) -> int:
        """Return by how many powers of two an entry is beyond 2**LIMIT; its numbers are scaled.

        One that may be small is not: scaled by what it might be, it would vanish.
        """
        low, high, exponent = self.ends(i, j, part, SIZES)
        if low <= 0 <= high:
            return 0
        return max(int(max(abs(low), abs(high)).bit_length()) + exponent - LIMIT, 0)

    def floats(self, i: int, j: int, part: int, bits: int) -> tuple[float, float, float]:
        """Return a double-double number and a radius around a part of an entry."""
        value = self.exact(i, j, part)
        if value is None:
            low, high, exponent = self.ends(i, j, part, bits)
            if max(abs(low), abs(high)).bit_length() + exponent > 1023:
                return 0.0, 0.0, math.inf
            if exponent < FINEST:
                low, high = low >> (FINEST - exponent), -(-high >> (FINEST - exponent))
                exponent = FINEST
            ends = [Fraction(int(x)) * Fraction(2) ** exponent for x in (low, high)]
        else:
            ends = [Fraction(int(value.numerator), int(value.denominator))] * 2
            if abs(ends[0]) >= Fraction(2) ** 1023:
                return 0.0, 0.0, math.inf
        middle = (ends[0] + ends[1]) / 2
        first = float(middle)
        second = float(middle - Fraction(first))
        gap = abs(middle - Fraction(first) - Fraction(second)) + ends[1] - middle
        radius = 0.0 if gap == 0 else math.nextafter(float(gap), math.inf)
        return first, second, radius

    def errors(self, perturbation: Perturbation) -> list[list[Upper]]:
        """Return the bounds of all entries."""
        if perturbation not in self.bounds:
            self.bounds[perturbation] = backward_errors(self.matrix, perturbation, self.magnitude)
        return self.bounds[perturbation]

    def magnitude(self, i: int, j: int) -> Upper | None:
        """Return a bound on an entry where it is known better than from all of exp(A)."""
        part, row = divmod(i, self.matrix.n)
        value = self.exact(row, j, part)
        if value is not None:
            return upper(abs(value))
        if self.block(row, j) is None:
            return None
        low, high, exponent = self.ends(row, j, part, SIZES)
        return upper(max(high, -low)).scaled(exponent)

    def error(self, perturbation: Perturbation, i: int, j: int) -> Any:
        """Return the bound of an entry as a rational.

        Where the entry is beyond 2**LIMIT the bound is scaled as the entry is; one beyond all
        formats is cut to one that is, and a tiny one raised. Where both are tiny, all that counts
        is which one is the larger.
        """
        found = self.errors(perturbation)[i][j]
        part, row = divmod(i, self.matrix.n)
        low, high, exponent = self.ends(row, j, part, SIZES)
        top = int(max(abs(low), abs(high)).bit_length()) + exponent
        found = found.scaled(-self.excess(row, j, part))
        if not found.mantissa:
            return gmpy2.mpq(0)
        if found.top > LIMIT + 4:
            # No number of a format, so that adding a tiny one decides nothing.
            return gmpy2.mpq(((gmpy2.mpz(1) << SIZES) + 1) << (LIMIT + 4 - SIZES))
        if found.top >= -LEAST:
            return found.rational()
        if top < -LEAST and found < below(max(low, -high, 0), exponent):
            return gmpy2.mpq(0)
        return gmpy2.mpq(1, gmpy2.mpz(1) << (LEAST - 4))

    def error_floats(self, perturbation: Perturbation, i: int, j: int) -> tuple[float, float]:
        """Return float64 numbers below and above the bound of an entry; inf beyond all of them."""
        value = self.error(perturbation, i, j)
        if value >= gmpy2.mpz(1) << 1023:
            return 2.0**1023, math.inf
        exact = Fraction(int(value.numerator), int(value.denominator))
        near = float(exact)
        if Fraction(near) == exact:
            return near, near
        return math.nextafter(near, 0.0), math.nextafter(near, math.inf)

    def hull(self, perturbation: Perturbation, i: int, j: int) -> tuple[Any, Any]:
        """Return the least and the largest stored value that an entry's bound allows."""
        part, row = divmod(i, self.matrix.n)
        error = self.error(perturbation, i, j)
        value = self.exact(row, j, part)
        if value is not None:
            return value - error, value + error
        low, high, exponent = self.ends(row, j, part, SIZES)
        arithmetic = Arithmetic(SIZES)
        exponent -= self.excess(row, j, part)
        least = gmpy2.mpq(end(arithmetic.down, low, exponent))
        return least - error, gmpy2.mpq(end(arithmetic.up, high, exponent)) + error


def is_vague(low: Any, high: Any, bits: int) -> bool:
    """Return whether an enclosure has lost half of its bits."""
    return bool((high - low) << (bits // 2) > max(abs(low), abs(high)))


def end(context: Any, value: Any, exponent: int) -> Any:
    """Return value * 2**exponent rounded as the context does; only the sign of a huge one counts.

    Below 2**-LEAST it is 0 or the least such number, outward.
    """
    top = int(value.bit_length()) + exponent
    if top > LIMIT + 1:
        grown = gmpy2.mpfr(1 if value > 0 else -1, 0, context)
        outward = (context.round == gmpy2.RoundUp) == (value > 0)
        return context.mul_2exp(grown, LIMIT + 1 + outward)
    if top < -LEAST:
        outward = (context.round == gmpy2.RoundUp) == (value > 0)
        tiny = gmpy2.mpfr(1 if value > 0 else -1, 0, context)
        return context.div_2exp(tiny, LEAST) if outward and value else gmpy2.mpfr(0, 0, context)
    exact = gmpy2.mpfr(value, 0, context)
    return (
        context.mul_2exp(exact, exponent) if exponent >= 0 else context.div_2exp(exact, -exponent)
    )


def matrix_of(numbers: list[list[Number]], arithmetic: Arithmetic) -> Matrix:
    """Return a matrix of certified numbers: exact where all are binary fractions."""
    middles, square = [], gmpy2.mpq(0)
    least = gmpy2.mpz(1) << -FINEST
    for row in numbers:
        line = []
        for number in row:
            low, high = arithmetic.bounds(number)
            if low == high and not is_binary(low):
                low, high = (gmpy2.mpq(x) for x in arithmetic.ends(number))
            middle = (low + high) / 2
            if middle.denominator > least:
                middle = gmpy2.mpq(middle.numerator * least // middle.denominator, least)
            off = max(high - middle, middle - low)
            square += off * off
            line.append(middle)
        middles.append(line)
    unit = max((x.denominator for row in middles for x in row), default=gmpy2.mpz(1))
    rows = [[gmpy2.mpz(x * unit) for x in row] for row in middles]
    return Matrix(rows, 1 - int(unit.bit_length()), root_above(square))


def is_binary(value: Any) -> bool:
    """Return whether a rational is an integer over a power of two."""
    return bool(value.denominator & (value.denominator - 1) == 0)
