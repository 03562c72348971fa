"""Frobenius norms of the gradients of every entry of exp(A), from polynomials in A.

The derivative of exp(A)_ij in the direction E is sum_kl G_kl E_kl with G_kl = int_0^1
(e^((1-s)A))_ik (e^(sA))_lj ds (Van Loan, Computing integrals involving the matrix exponential, IEEE
Trans. Automatic Control 23, 1978; Al-Mohy & Higham, Computing the Frechet derivative of the matrix
exponential, SIAM J. Matrix Anal. Appl. 30, 2009). As a polynomial in X (x on the left factor, y on
the right one) modulo a polynomial that X solves,

    Phi_t = int_0^1 e^((1-s)tx) e^(sty) ds = sum_pq t^(p+q) x^p y^q / (p+q+1)!,
    Phi_2t = (e^(tx) + e^(ty)) Phi_t / 2,

so that n**2 coefficients and as many doublings as exp itself takes give all n**4 derivatives,
whatever the norm of A. Coefficients are integers times a power of two, and errors are bounds on the
2-norm of the operator that the polynomials stand for, where |X| <= 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from operator import mul
from typing import Any

import gmpy2

from exactref_core.exact import integer_matrices as matrices
from exactref_core.exact.integer_matrices import Rows
from exactref_core.exact.matrix_exponential import Ball, Scaled
from exactref_core.exact.upper import Upper, upper

__all__ = ["Gradients"]


@dataclass(frozen=True, eq=False)
class Polynomial:
    """A polynomial in x of degree below ``size``, or in x and y: coefficients * 2**``exponent``.

    ``error`` bounds its distance from what it approximates, as operators.
    """

    rows: Rows
    exponent: int
    error: Upper

    @property
    def sum(self) -> Upper:
        """The sum of the magnitudes of the coefficients."""
        total = sum(abs(x) for row in self.rows for x in row)
        return upper(gmpy2.mpz(total)).scaled(self.exponent)


class Gradients:
    """Norms of the gradients of exp(A - m), given X and the stages of its exponential."""

    def __init__(self, scaled: Scaled, stages: list[Ball]) -> None:
        self.scaled = scaled
        self.bits = scaled.bits
        self.size = scaled.size
        self.unit = Upper(gmpy2.mpz(1), -self.bits)
        self.relation, self.residual = self.solve()
        self.vectors, self.vector_error = self.reduced(scaled.terms)
        # Estimates take polynomials of norm at most 1 to have approximations of norm at most 2.
        self.reliable = self.vector_error < Upper(gmpy2.mpz(1), -3)
        self.phi = self.doubled(stages)

    def units(self, count: int) -> Upper:
        """Return a number of units of the fixed point."""
        return Upper(gmpy2.mpz(count), -self.bits)

    def solve(self) -> tuple[list[Any], Upper]:
        """Return c with X**size + sum c_k X**k = 0 nearly, and a bound on what is left.

        Newton's identities on the traces of powers give the characteristic polynomial; the rest is
        bounded by evaluating it, so that their errors do not matter.
        """
        powers = [self.scaled.power(k) for k in range(self.size + 1)]
        factor = self.size // self.scaled.matrix.n
        traces = [factor * matrices.trace(rows) for rows in powers]
        relation = [gmpy2.mpz(0)] * self.size
        for k in range(1, self.size + 1):
            total = traces[k] << self.bits
            total += sum(relation[self.size - i] * traces[k - i] for i in range(1, k))
            relation[self.size - k] = -total // (k << self.bits)
        rest = [[x << self.bits for x in row] for row in powers[self.size]]
        weight = 1 << self.bits
        for c, rows in zip(relation, powers, strict=False):
            weight += abs(c)
            rest = [
                [t + c * x for t, x in zip(row, other, strict=True)]
                for row, other in zip(rest, rows, strict=True)
            ]
        left = upper(matrices.frobenius(rest)).scaled(-2 * self.bits)
        errors = upper(gmpy2.mpz(weight)).scaled(-self.bits) * self.units(self.size**2)
        return relation, left + errors

    def raised(self, vector: list[Any]) -> tuple[list[Any], Any]:
        """Return x times a polynomial, reduced, and the size of the coefficient folded back."""
        top = vector[-1]
        moved = [gmpy2.mpz(0), *vector[:-1]]
        if top:
            moved = [x - (top * c >> self.bits) for x, c in zip(moved, self.relation, strict=True)]
        return moved, abs(top)

    def reduced(self, count: int) -> tuple[Rows, Upper]:
        """Return x**0 ... x**count reduced, in units, and a bound on the error of each."""
        vector = [gmpy2.mpz(0)] * self.size
        vector[0] = gmpy2.mpz(1) << self.bits
        return self.multiples(vector, -self.bits, count)

    def multiples(self, vector: list[Any], exponent: int, count: int) -> tuple[Rows, Upper]:
        """Return x**k times a polynomial for k = 0 ... count, and a bound on the error they add."""
        rows, folded, cuts = [vector], gmpy2.mpz(0), 0
        for _ in range(count):
            following, top = self.raised(rows[-1])
            rows.append(following)
            folded += top
            cuts += self.size if top else 0
        error = upper(folded).scaled(exponent) * self.residual
        return rows, error + Upper(gmpy2.mpz(cuts), exponent)

    def start(self) -> tuple[Polynomial, Polynomial]:
        """Return e^(tx) and Phi_t for the t that the Taylor series is for.

        The weights of all powers sum to e^t <= 2 in both. Every coefficient errs by a unit, and so
        does every cut; the remainders are below two units.
        """
        scaled, terms = self.scaled, self.scaled.terms
        columns = list(zip(*self.vectors, strict=True))
        weights = [scaled.coefficient(k, gmpy2.fac(k)) for k in range(terms + 1)]
        single = [sum(map(mul, weights, column)) >> self.bits for column in columns]
        more = self.vector_error.scaled(3)
        power = Polynomial([single], -self.bits, self.units(2 * (terms + 1) + self.size + 2) + more)
        weights = [scaled.coefficient(k, gmpy2.fac(k + 1)) for k in range(2 * terms + 1)]
        half = [
            [sum(map(mul, weights[p : p + terms + 1], column)) for column in columns]
            for p in range(terms + 1)
        ]
        pairs = [[sum(map(mul, column, h)) for h in zip(*half, strict=True)] for column in columns]
        phi = Polynomial(
            matrices.shifted(pairs, 2 * self.bits),
            -self.bits,
            self.units(4 * (terms + 1) ** 2 + self.size**2 + 2) + more,
        )
        return power, phi

    def doubled(self, stages: list[Ball]) -> Polynomial:
        """Return Phi for A - m.

        With e the exponential that the polynomial p approximates, (e + e') Phi - (p + p') phi is
        e (Phi - phi) + (e - p) phi and the same for the other factor. |Phi_2t| <= |e^(tX)| |Phi_t|.
        """
        power, phi = self.start()
        norm = upper(2)
        for stage in stages[:-1]:
            table, table_error = self.multiples(power.rows[0], power.exponent, self.size - 1)
            whole = table_error + power.error
            columns = list(zip(*table, strict=True))
            rows = [[sum(map(mul, row, column)) for column in columns] for row in phi.rows]
            rows = [
                [x + y for x, y in zip(row, column, strict=True)]
                for row, column in zip(rows, zip(*rows, strict=True), strict=True)
            ]
            error = stage.norm * phi.error + power.error * (norm + phi.error)
            error = error + phi.sum * table_error
            phi = self.cut(rows, power.exponent + phi.exponent - 1, error)
            square = [[sum(map(mul, power.rows[0], column)) for column in columns]]
            error = power.error * (stage.norm + stage.norm + whole) + power.sum * table_error
            power = self.cut(square, 2 * power.exponent, error)
            norm = norm * stage.norm
        return phi

    def cut(self, rows: Rows, exponent: int, error: Upper) -> Polynomial:
        """Return a polynomial with coefficients of at most ``bits`` bits."""
        excess = max(matrices.largest_bits(rows) - self.bits, 0)
        count = len(rows) * self.size
        return Polynomial(
            matrices.shifted(rows, excess),
            exponent + excess,
            error + Upper(gmpy2.mpz(count if excess else 0), exponent + excess),
        )

    def norms(self) -> tuple[list[list[Any]], int, Upper]:
        """Return the squares of the norms as integers, their exponent, and an error of the norms.

        G_kl = sum_d Z_d[i,k] (X^d)[l,j] with Z_d = sum_c phi_cd X^c, whose square is a sum over
        pairs (d, e) of a factor of i and a factor of j.
        """
        n, size = self.scaled.matrix.n, self.size
        flat = [[x for row in self.scaled.power(k) for x in row] for k in range(size)]
        places = list(zip(*flat, strict=True))
        lefts = [
            [sum(map(mul, row, place)) >> self.bits for place in places]
            for row in zip(*self.phi.rows, strict=True)
        ]
        complex_ = self.scaled.complex_

        def parts(entries: list[list[Any]], start: int, step: int) -> list[list[Any]]:
            stop = start + (n if step == 1 else n * n)
            found = [row[start:stop:step] for row in entries]
            if not complex_:
                return found
            return [
                x + row[n * n + start : n * n + stop : step]
                for x, row in zip(found, entries, strict=True)
            ]

        left = [grams(parts(lefts, i * n, 1), n, True) for i in range(n)]
        right = [grams(parts(flat, j, n), n, False) for j in range(n)]
        squares = [[sum(map(mul, one, other)) for other in right] for one in left]
        exponent = 2 * (self.phi.exponent - self.bits)
        return squares, exponent, self.phi.error + self.assembly_error()

    def assembly_error(self) -> Upper:
        """Return the error of sum Z_d X^d from the powers' errors and from cutting the Z_d.

        Powers err by at most size**2 units, so that both factors of a term with the weight |phi_cd|
        do; the cuts move a Z_d by fewer than size units, for size factors X^d of norm at most 2.
        """
        weight = self.phi.sum
        powers = weight * self.units(3 * self.size**2)
        return powers + Upper(gmpy2.mpz(2 * self.size**2), self.phi.exponent)


def grams(vectors: list[list[Any]], n: int, first: bool) -> list[Any]:
    """Return the inner products of vectors, real parts for d <= e and imaginary ones for d < e.

    Pairs count twice on the side that is ``first``; imaginary parts multiply to a real -1.
    """
    found = []
    for d, one in enumerate(vectors):
        for e in range(d, len(vectors)):
            real = sum(map(mul, one, vectors[e]))
            found.append(real << 1 if first and e > d else real)
    if len(vectors[0]) == n:
        return found
    for d, one in enumerate(vectors):
        turned = one[n:] + [-x for x in one[:n]]
        for e in range(d + 1, len(vectors)):
            imag = sum(map(mul, turned, vectors[e]))
            found.append(-(imag << 1) if first else imag)
    return found
