"""Exponentials of integer matrices times a power of two, by scaling and squaring on integers.

exp(A) = exp(m) exp(tX)**(2**s): m near the mean of the eigenvalues, X = (A - m) / 2**g with a norm
of at most 1, t = 2**(g - s), exp(tX) by its Taylor series. Every matrix is one of integers times a
power of two with a bound on its distance from the exact one in the 2-norm (Moler & Van Loan,
Nineteen dubious ways to compute the exponential of a matrix, SIAM Review 45, 2003, method 3).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import gmpy2

from exactref_core.exact import integer_matrices as matrices
from exactref_core.exact.integer_matrices import Rows
from exactref_core.exact.interval import Rational, Unsure
from exactref_core.exact.upper import Upper, exponential, upper

# Bits by which an error may exceed what it belongs to before that is called unknown.
HOPELESS = 1 << 12
# Bits below the larger one of a value and its error that are not kept.
SPARE = 64
# A shift that leaves nothing of any integer here.
FARTHEST = 1 << 24

__all__ = ["Ball", "Matrix", "Scaled", "enclosures", "stages"]


@dataclass(frozen=True, eq=False)
class Matrix:
    """The matrix ``rows`` * 2**``unit``, give or take a matrix of 2-norm at most ``radius``."""

    rows: Rows
    unit: int
    radius: Rational

    @property
    def n(self) -> int:
        """The number of columns."""
        return len(self.rows[0])

    @cached_property
    def mean(self) -> Any:
        """The real part of the mean of the eigenvalues, in units, rounded down."""
        return matrices.trace(self.rows) // self.n

    @cached_property
    def centred(self) -> Rows:
        """The matrix less its mean, in units."""
        rows = [list(row) for row in self.rows]
        for i in range(self.n):
            rows[i][i] -= self.mean
        return rows

    @property
    def shift(self) -> Rational:
        """The mean as a rational."""
        return times_power(self.mean, self.unit)

    @cached_property
    def level(self) -> int:
        """The least g with a Frobenius norm of the centred matrix of at most 2**g."""
        norm = matrices.frobenius(self.centred)
        return self.unit + int((norm - 1).bit_length()) if norm else 0


def times_power(value: Any, exponent: int) -> Rational:
    """Return value * 2**exponent."""
    one = gmpy2.mpz(1)
    return gmpy2.mpq(value << exponent) if exponent >= 0 else gmpy2.mpq(value, one << -exponent)


@dataclass(frozen=True, eq=False)
class Ball:
    """Matrices within ``error`` (2-norm) of ``rows`` * 2**``exponent``."""

    rows: Rows
    exponent: int
    error: Upper

    @cached_property
    def norm(self) -> Upper:
        """A bound on the 2-norms of these matrices."""
        return upper(matrices.frobenius(self.rows)).scaled(self.exponent) + self.error

    def times(self, other: Ball, bits: int) -> Ball:
        """Return products, cut to entries of at most ``bits`` bits.

        |FG - EH| <= |F - E| |G| + |E| |G - H|, and cutting moves every entry by less than a unit.
        """
        rows = matrices.product(matrices.full(self.rows), other.rows)
        cut = max(matrices.largest_bits(rows) - bits, 0)
        exponent = self.exponent + other.exponent + cut
        error = self.error * other.norm + self.norm * other.error
        if cut:
            rows = matrices.shifted(rows, cut)
            error = error + Upper(gmpy2.mpz(len(rows)), exponent)
        return Ball(rows, exponent, error)


class Scaled:
    """X = centred / 2**level to ``bits`` bits (exactly), its powers, and Taylor coefficients."""

    def __init__(self, matrix: Matrix, bits: int) -> None:
        self.matrix = matrix
        # Entries of exp(A) off the diagonal may be as small as those of A.
        # Each squaring may double an error.
        self.bits = max(bits, matrix.level - matrix.unit) + max(-matrix.level, 2 * matrix.level)
        self.level = matrix.level
        shift = self.level - matrix.unit - self.bits
        self.rows = matrices.shifted(matrix.centred, shift)
        self.halvings = max(self.level + max(int(gmpy2.isqrt(self.bits)) // 2, 2), 0)
        self.start = self.level - self.halvings  # t = 2**start, at most 1/4
        self.powers = [matrices.identity(matrix.n, self.complex_, 1 << self.bits)]
        self.terms = self.count()

    @property
    def complex_(self) -> bool:
        """Whether the matrix is complex."""
        return len(self.matrix.rows) > self.matrix.n

    @property
    def size(self) -> int:
        """The number of rows: n, or 2n for a complex matrix."""
        return len(self.matrix.rows)

    def count(self) -> int:
        """Return K with 2 t**(K+1) / (K+1)! at most one unit."""
        k, factorial = 1, gmpy2.mpz(2)
        while factorial.bit_length() - 2 - self.start * (k + 1) < self.bits:
            k += 1
            factorial *= k + 1
        return k

    def power(self, k: int) -> Rows:
        """Return X**k, within k * size units in the 2-norm: |X| <= 1, and each step cuts once."""
        while len(self.powers) <= k:
            last = matrices.product(matrices.full(self.rows), self.powers[-1])
            self.powers.append(matrices.shifted(last, self.bits))
        return self.powers[k]

    def coefficient(self, k: int, over: int) -> Any:
        """Return t**k / over in units, rounded down."""
        shift = self.bits + self.start * k
        return (gmpy2.mpz(1) << shift) // over if shift >= 0 else gmpy2.mpz(0)

    def taylor(self) -> Ball:
        """Return exp(tX).

        Errors in units: 2 a coefficient (of the coefficient, of its power's norm), size for the
        powers together, as sum k t**k / k! <= 1, size for the cut, 1 for the remainder.
        """
        total = [[gmpy2.mpz(0)] * self.matrix.n for _ in range(self.size)]
        for k in range(self.terms + 1):
            c = self.coefficient(k, gmpy2.fac(k))
            rows = self.power(k)
            total = [
                [t + c * x for t, x in zip(row, other, strict=True)]
                for row, other in zip(total, rows, strict=True)
            ]
        units = 2 * (self.terms + 1) + 2 * self.size + 1
        return Ball(
            matrices.shifted(total, self.bits), -self.bits, Upper(gmpy2.mpz(units), -self.bits)
        )


def stages(scaled: Scaled) -> list[Ball]:
    """Return exp(tX), exp(2tX), ..., exp(A - m)."""
    found = [scaled.taylor()]
    for _ in range(scaled.halvings):
        found.append(found[-1].times(found[-1], scaled.bits))
    return found


def enclosures(matrix: Matrix, scaled: Scaled, last: Ball) -> list[list[tuple[Any, Any, int]]]:
    """Return integers low, high and an exponent around each entry of exp(A), row by row.

    For a complex matrix the imaginary parts follow the real ones. `Unsure` where the matrix is not
    known well enough to say anything.
    """
    error = last.error
    if matrix.radius:
        error = error + moved(matrix)
    if error.top > max(last.norm.top, 0) + HOPELESS:
        raise Unsure
    # The finer one of two grids, but no finer than matters beside the other.
    fine, coarse = sorted((last.exponent, error.exponent))
    exponent = max(fine, coarse - SPARE)
    lost = min(SPARE + exponent - error.exponent, FARTHEST)
    radius = 1 - (-error.mantissa << SPARE >> lost)
    rows = matrices.shifted(last.rows, min(exponent - last.exponent, FARTHEST))
    low, high, more = exponential(matrix.shift, scaled.bits)
    found = []
    for row in rows:
        ends = []
        for x in row:
            below, above = x - radius, x + radius
            below = below * (low if below >= 0 else high)
            above = above * (high if above >= 0 else low)
            ends.append((below, above, exponent + more))
        found.append(ends)
    return found


def moved(matrix: Matrix) -> Upper:
    """Return a crude bound on |exp(B + D) - exp(B)| for |D| <= radius: radius e^(|B| + radius)."""
    radius = upper(matrix.radius)
    norm = upper(matrices.frobenius(matrix.centred)).scaled(matrix.unit) + radius
    _, high, exponent = exponential(norm.rational(), 64)
    return radius * Upper(high, exponent)
