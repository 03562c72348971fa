"""Matrices of integers: real ones, and complex ones as their real parts above their imaginary ones.

A complex n-by-n matrix stands for the real 2n-by-2n matrix [[Re, -Im], [Im, Re]], whose first n
columns are kept; products, powers and norms are those of the complex matrix.
"""

from __future__ import annotations

from operator import mul
from typing import Any, TypeAlias

import gmpy2

__all__ = [
    "Rows",
    "adjoint",
    "frobenius",
    "full",
    "identity",
    "largest_bits",
    "product",
    "shifted",
    "square_sum",
    "trace",
]

Rows: TypeAlias = list[list[Any]]  # n rows, or 2n for a complex matrix, of n gmpy2.mpz each


def full(rows: Rows) -> Rows:
    """Return the square real matrix that acts as this one."""
    n = len(rows[0])
    if len(rows) == n:
        return rows
    real, imag = rows[:n], rows[n:]
    top = [r + [-x for x in i] for r, i in zip(real, imag, strict=True)]
    return top + [i + r for r, i in zip(real, imag, strict=True)]


def product(left: Rows, right: Rows) -> Rows:
    """Return left @ right; ``left`` is square and real, as `full` returns it."""
    columns = list(zip(*right, strict=True))
    return [[sum(map(mul, row, column)) for column in columns] for row in left]


def identity(n: int, complex_: bool, one: Any = 1) -> Rows:
    """Return ``one`` times the identity."""
    zero = gmpy2.mpz(0)
    rows = [[gmpy2.mpz(one) if i == j else zero for j in range(n)] for i in range(n)]
    return rows + [[zero] * n for _ in range(n)] if complex_ else rows


def shifted(rows: Rows, bits: int) -> Rows:
    """Return the entries times 2**-bits, rounded down."""
    if bits <= 0:
        return [[x << -bits for x in row] for row in rows]
    return [[x >> bits for x in row] for row in rows]


def adjoint(rows: Rows) -> Rows:
    """Return the conjugate transpose."""
    n = len(rows[0])
    real = [list(row) for row in zip(*rows[:n], strict=True)]
    return real + [[-x for x in row] for row in zip(*rows[n:], strict=True)]


def square_sum(rows: Rows) -> Any:
    """Return the square of the Frobenius norm."""
    return gmpy2.mpz(sum(sum(map(mul, row, row)) for row in rows))


def frobenius(rows: Rows) -> Any:
    """Return an integer at or above the Frobenius norm (equal where that is an integer)."""
    square = square_sum(rows)
    root = gmpy2.isqrt(square)
    return root if root * root == square else root + 1


def largest_bits(rows: Rows) -> int:
    """Return the bit length of the largest entry."""
    return max((int(x.bit_length()) for row in rows for x in row), default=0)


def trace(rows: Rows) -> Any:
    """Return the real part of the trace."""
    return sum(rows[i][i] for i in range(len(rows[0])))
