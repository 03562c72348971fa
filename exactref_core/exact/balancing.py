"""Diagonal scalings that bring rows and columns of a matrix to a common size.

exp(D**-1 A D) = D**-1 exp(A) D, and with powers of two in D both sides are exact (Osborne, On
preconditioning of matrices, J. ACM 7, 1960).
"""

from __future__ import annotations

from exactref_core.exact.matrix_exponential import Matrix

__all__ = ["balanced"]

SWEEPS = 64


def balanced(matrix: Matrix) -> tuple[Matrix, list[int]]:
    """Return D**-1 A D and the exponents d of D: entry (i, j) is that of A times 2**(d_j - d_i)."""
    n = matrix.n
    sizes = [[0] * n for _ in range(n)]
    for i, row in enumerate(matrix.rows):
        for j, x in enumerate(row):
            sizes[i % n][j] = max(sizes[i % n][j], int(x.bit_length()))
    d = exponents(sizes)
    if matrix.radius or not any(d):
        return matrix, [0] * n
    shifts = [[d[j] - d[i] for j in range(n)] for i in range(n)]
    least = min(
        shift
        for line, row in zip(shifts, sizes, strict=True)
        for shift, size in zip(line, row, strict=True)
        if size
    )
    rows = [
        [x << (shift - least) if x else x for x, shift in zip(row, shifts[i % n], strict=True)]
        for i, row in enumerate(matrix.rows)
    ]
    return Matrix(rows, matrix.unit + least, matrix.radius), d


def exponents(sizes: list[list[int]]) -> list[int]:
    """Return exponents that balance the largest entries of rows and columns off the diagonal."""
    n = len(sizes)
    d = [0] * n
    for _ in range(SWEEPS):
        moved = False
        for i in range(n):
            right = [sizes[i][j] + d[j] for j in range(n) if j != i and sizes[i][j]]
            down = [sizes[j][i] - d[j] for j in range(n) if j != i and sizes[j][i]]
            if not right or not down:
                continue
            step = ((max(right) - d[i]) - (max(down) + d[i])) // 2
            if abs(step) > 1:
                d[i] += step
                moved = True
        if not moved:
            break
    return d
