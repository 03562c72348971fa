"""The error bound of a matrix exponential from its backward error, one number an entry.

A correct result is exp(A + D) with |D|_F <= r = 14 n u |A|_F + (what A itself is off by): its
entries are within r G_ij + r**2/2 min(e^(mu + r), K**3 e^(K r)) of those of exp(A), where G_ij is
the Frobenius norm of the gradient, mu the logarithmic norm (van Loan, The sensitivity of the matrix
exponential, SIAM J. Numer. Anal. 14, 1977; Kagstrom, Bounds and perturbation bounds for the matrix
exponential, BIT 17, 1977) and K the largest 2-norm of exp(tA). Both second terms bound the second
derivative of exp at A + sD.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import gmpy2

from exactref_core.exact import integer_matrices as matrices
from exactref_core.exact.exponential_gradients import Gradients
from exactref_core.exact.interval import Rational, rational
from exactref_core.exact.matrix_exponential import Ball, Matrix, Scaled, enclosures, stages
from exactref_core.exact.matrix_norms import largest_norm, logarithmic_norm
from exactref_core.exact.upper import Upper, below, exponential, upper

__all__ = ["Perturbation", "backward_errors"]

START, LAST = 160, 1 << 13
# Bounds are above the formula by less than this factor, where LAST bits reach it.
SHARP = 46


@dataclass(frozen=True)
class Perturbation:
    """What may be added to A, in the Frobenius norm: ``relative`` |A|_F + ``absolute``.

    ``rounding`` is 4u, of the entry itself; ``floor`` an absolute error that stages may have.
    """

    relative: Fraction
    absolute: Rational
    rounding: Fraction
    floor: Fraction = Fraction(0)


def exp_upper(value: Rational) -> Upper:
    """Return a bound on exp(value)."""
    _, high, exponent = exponential(value, 96)
    return upper(high).scaled(exponent)


class Formula:
    """The parts of the bound that all entries share."""

    def __init__(self, matrix: Matrix, perturbation: Perturbation) -> None:
        self.matrix = matrix
        frobenius = upper(matrices.square_sum(matrix.rows)).scaled(2 * matrix.unit).sqrt()
        # Once for what A + D is off by, once for A itself: the bound is about exp of the middle.
        off = upper(perturbation.absolute + 2 * matrix.radius)
        self.r = upper(rational(perturbation.relative)) * (frobenius + off) + off

    def remainder(self, largest: Upper, floor: Fraction) -> Upper:
        """Return r**2/2 min(e^(mu + r), K**3 e^(K r)) plus ``floor`` K**2, given |exp(A)|_max.

        K is looked for only where e^mu exceeds the cube of a number that K is not below.
        """
        if not self.r.mantissa and not floor:
            return self.r
        r = self.r.rational()
        growth = logarithmic_norm(self.matrix)
        found = exp_upper(growth + r)
        least = largest if upper(1) < largest else upper(1)
        if least * least * least < found or floor:
            k = largest_norm(self.matrix, growth)
            other = k * k * k * power(k, r)
            found = other if other < found else found
            return self.r * self.r * found.scaled(-1) + upper(rational(floor)) * k * k
        return self.r * self.r * found.scaled(-1)


def power(k: Upper, r: Rational) -> Upper:
    """Return e^(k r); as 2**top where k r is far beyond any format."""
    product = k * upper(r)
    if product.top > 200:
        return Upper(gmpy2.mpz(1), 1 << 210)
    return exp_upper(product.rational())


def backward_errors(
    matrix: Matrix,
    perturbation: Perturbation,
    magnitude: Callable[[int, int], Upper | None],
) -> list[list[Upper]]:
    """Return the bound of every entry, the precision raised till it is sharp.

    ``magnitude`` gives bounds on the entries that are known beforehand. For a complex matrix both
    parts of an entry have the same gradient's norm.
    """
    formula = Formula(matrix, perturbation)
    rounding = upper(rational(perturbation.rounding))
    bits, remainder = START, None
    while True:
        scaled = Scaled(matrix, bits)
        found = stages(scaled)
        entries = enclosures(matrix, scaled, found[-1])
        if remainder is None:
            remainder = formula.remainder(least_norm(entries), perturbation.floor)
        sizes = [
            [size(ends, magnitude(i, j)) for j, ends in enumerate(row)]
            for i, row in enumerate(entries)
        ]
        errors, sharp = assembled(formula, scaled, found, sizes, rounding, remainder)
        if sharp or bits >= LAST:
            return errors
        bits *= 2


def least_norm(entries: list[list[tuple[Any, Any, int]]]) -> Upper:
    """Return a number that the 2-norm of the matrix is not below: about its largest entry."""
    best = upper(0)
    for row in entries:
        for low, high, exponent in row:
            one = below(max(low, -high, 0), exponent)
            best = one if best < one else best
    return best


def size(ends: tuple[Any, Any, int], known: Upper | None) -> tuple[Upper, Upper]:
    """Return a bound on the magnitude of an entry, and how far above it that is."""
    if known is not None:
        return known, upper(0)
    low, high, exponent = ends
    return upper(max(high, -low)).scaled(exponent), upper(high - low).scaled(exponent)


def assembled(
    formula: Formula,
    scaled: Scaled,
    found: list[Ball],
    sizes: list[list[tuple[Upper, Upper]]],
    rounding: Upper,
    remainder: Upper,
) -> tuple[list[list[Upper]], bool]:
    """Return max(r G + remainder, rounding |entry|) of every entry, and whether all are sharp."""
    gradients = Gradients(scaled, found)
    squares, exponent, error = gradients.norms()
    factor = formula.r * exp_upper(formula.matrix.shift)
    loose = (factor * error).scaled(SHARP + 1)
    sharp, n = gradients.reliable, formula.matrix.n
    result = []
    for i, row in enumerate(sizes):
        line = []
        for j, (magnitude, width) in enumerate(row):
            norm = upper(squares[i % n][j]).scaled(exponent).sqrt() + error
            bound, own = factor * norm + remainder, magnitude * rounding
            best = bound if own < bound else own
            vague = (width * rounding).scaled(SHARP)
            sharp = sharp and not (best < loose or best < vague)
            line.append(best)
        result.append(line)
    return result, sharp
