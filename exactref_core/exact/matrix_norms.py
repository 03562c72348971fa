"""Upper bounds on 2-norms, logarithmic norms, and the largest norm of exp(tA) for t in [0, 1].

All from integers, so that they are the same on every machine.
"""

from __future__ import annotations

import gmpy2

from exactref_core.exact import integer_matrices as matrices
from exactref_core.exact.integer_matrices import Rows
from exactref_core.exact.interval import Rational
from exactref_core.exact.matrix_exponential import Matrix, Scaled, stages
from exactref_core.exact.upper import Upper, exponential, upper

__all__ = ["largest_norm", "logarithmic_norm", "spectral_norm"]

BITS = 128
# |S| <= |S**(2**k)|_F ** (2**-k) is above by a factor of at most n ** (2**-(k+1)).
FINE, COARSE = 40, 7
# The grid on [0, 1] for the largest norm has at most this many steps.
STEPS = 64


def squarings(rows: Rows, count: int) -> Upper:
    """Return a bound on the 2-norm of a positive semidefinite matrix.

    S_(k+1) is S_k**2 cut to BITS bits; |S_k|**2 <= |S_(k+1)| + size units, from the last one back.
    """
    size, cuts = len(rows), []
    for _ in range(count):
        rows = matrices.product(matrices.full(rows), rows)
        cut = max(matrices.largest_bits(rows) - BITS, 0)
        rows = matrices.shifted(rows, cut)
        cuts.append(cut)
    found = upper(matrices.frobenius(rows))
    for cut in reversed(cuts):
        more = Upper(gmpy2.mpz(size if cut else 0))
        found = (found + more).scaled(cut).sqrt()
    return found


def spectral_norm(rows: Rows) -> Upper:
    """Return a bound on the 2-norm, above it by less than a percent."""
    excess = max(matrices.largest_bits(rows) - BITS, 0)
    rows = matrices.shifted(rows, excess)
    square = matrices.product(matrices.full(matrices.adjoint(rows)), rows)
    found = squarings(square, COARSE).sqrt()
    return (found + Upper(gmpy2.mpz(len(rows) if excess else 0))).scaled(excess)


def logarithmic_norm(matrix: Matrix) -> Rational:
    """Return a bound on the largest eigenvalue of (A + A*) / 2, the logarithmic norm of A.

    For exact entries; that of S = B + B* follows from the 2-norm of S + c >= 0 with c >= |S|.
    """
    rows = matrix.centred
    double = [
        [x + y for x, y in zip(row, other, strict=True)]
        for row, other in zip(rows, matrices.adjoint(rows), strict=True)
    ]
    excess = max(matrices.largest_bits(double) - BITS, 0)
    double = matrices.shifted(double, excess)
    lift = matrices.frobenius(double)
    for i in range(matrix.n):
        double[i][i] += lift
    top = squarings(double, FINE).rational() - lift
    top += len(double) if excess else 0
    half = top * (gmpy2.mpz(1) << excess) / 2
    unit = gmpy2.mpq(1, gmpy2.mpz(1) << -matrix.unit) if matrix.unit < 0 else 1 << matrix.unit
    return half * unit + matrix.shift


def largest_norm(matrix: Matrix, growth: Rational) -> Upper:
    """Return K at or above the 2-norm of exp(tA) for t in [0, 1], given A's logarithmic norm.

    Between two points of a grid of step h, exp(tA) is within h**2 |A**2 exp(sA)| / 8 of a mean of
    its values there, and a mean's norm is at most the larger one: K (1 - h**2 |A**2| / 8) is at
    most the largest norm on the grid. Never more than exp(max(growth, 0)).
    """
    _, high, exponent = exponential(max(growth, gmpy2.mpq(0)), BITS)
    crude = upper(high).scaled(exponent)
    square = matrices.product(matrices.full(matrix.rows), matrix.rows)
    bound = upper(matrices.square_sum(square)).sqrt().scaled(2 * matrix.unit - 3)
    steps = 0
    while steps < STEPS.bit_length() - 1 and not bound.scaled(-2 * steps) < Upper(gmpy2.mpz(1), -6):
        steps += 1
    bound = bound.scaled(-2 * steps)
    if not bound < Upper(gmpy2.mpz(1), -1):
        return crude
    part = Matrix(matrix.rows, matrix.unit - steps, gmpy2.mpq(0))
    step = stages(Scaled(part, BITS))[-1]
    _, factor, shift = exponential(part.shift, BITS)
    ball, best, scale = step, upper(1), upper(1)
    for _ in range(1 << steps):
        scale = scale * upper(factor).scaled(shift)
        norm = spectral_norm(ball.rows).scaled(ball.exponent) + ball.error
        norm = norm * scale
        best = norm if best < norm else best
        ball = ball.times(step, BITS)
    found = best * upper(1 / (1 - bound.rational()))
    return crude if crude < found else found
