"""Entries of exp(A) that the places of A's zeros make rational, or the exponential of one entry.

A's nonzero entries are the edges of a graph. An entry (i, j) depends on the vertices on paths from
i to j alone: it is 0 where there is no path, and a finite sum where none of them lies on a cycle.
"""

from __future__ import annotations

from typing import Any

import gmpy2

from exactref_core.exact import integer_matrices as matrices
from exactref_core.exact.matrix_exponential import Matrix, times_power

__all__ = ["Structure"]


class Structure:
    """What the graph of a matrix says about its exponential; for exact matrices."""

    def __init__(self, matrix: Matrix) -> None:
        self.matrix = matrix
        n, rows = matrix.n, matrix.rows
        edges = [
            sum(1 << j for j in range(n) if any(block[i][j] for block in self.blocks(rows)))
            for i in range(n)
        ]
        self.reach = closure(edges)  # along at least one edge
        self.cyclic = [bool(self.reach[i] >> i & 1) for i in range(n)]
        self.alone = [
            not any(self.reach[j] >> i & 1 for j in range(n) if j != i and self.reach[i] >> j & 1)
            for i in range(n)
        ]
        off = [rows[i][j] for i in range(n) for j in range(n) if i != j]
        self.nonnegative = len(rows) == n and all(x >= 0 for x in off)
        self.series = self.finite_series()

    def blocks(self, rows: matrices.Rows) -> list[matrices.Rows]:
        """Return the real part and, for a complex matrix, the imaginary one."""
        n = self.matrix.n
        return [rows[start : start + n] for start in range(0, len(rows), n)]

    def between(self, i: int, j: int) -> list[int]:
        """Return the vertices on paths from i to j, both included; none where there is no path."""
        n = self.matrix.n
        after = self.reach[i] | 1 << i
        if not after >> j & 1:
            return []
        return [k for k in range(n) if after >> k & 1 and (k == j or self.reach[k] >> j & 1)]

    def finite_series(self) -> matrices.Rows | None:
        """Return sum A**k / k! over the vertices on no cycle, as integers over ``denominator``."""
        n, unit = self.matrix.n, self.matrix.unit
        if all(self.cyclic):
            return None
        kept = [
            [gmpy2.mpz(0) if self.cyclic[i % n] or self.cyclic[j] else x for j, x in enumerate(row)]
            for i, row in enumerate(self.matrix.rows)
        ]
        # A = kept / base: sum A**k / k! over k < n by Horner's rule.
        kept = [[x << max(unit, 0) for x in row] for row in kept]
        base = gmpy2.mpz(1) << max(-unit, 0)
        complex_ = len(self.matrix.rows) > n
        total = matrices.identity(n, complex_)
        power = matrices.identity(n, complex_)
        for k in range(1, n):
            power = matrices.product(matrices.full(kept), power)
            weight = k * base
            total = [
                [t * weight + p for t, p in zip(row, other, strict=True)]
                for row, other in zip(total, power, strict=True)
            ]
        self.denominator = gmpy2.fac(n - 1) * base ** (n - 1)
        return total

    def value(self, i: int, j: int, part: int) -> Any:
        """Return an entry's part as a rational where the graph shows that it is one, else None."""
        through = self.between(i, j)
        if not through:
            return gmpy2.mpq(0)
        if self.series is None or any(self.cyclic[k] for k in through):
            return None
        return gmpy2.mpq(self.series[part * self.matrix.n + i][j], self.denominator)

    def component(self, i: int) -> list[int]:
        """Return the vertices that i reaches and is reached from, itself included, in order."""
        n = self.matrix.n
        return [k for k in range(n) if k == i or (self.reach[i] >> k & self.reach[k] >> i & 1)]

    def exponent(self, i: int, j: int) -> Any:
        """Return a with exp(A)_ij = exp(a), where A is block triangular with a block of its own."""
        if i != j or not self.alone[i]:
            return None
        if any(block[i][i] for block in self.blocks(self.matrix.rows)[1:]):
            return None
        return times_power(self.matrix.rows[i][i], self.matrix.unit)


def closure(edges: list[int]) -> list[int]:
    """Return the sets of vertices that are reached along one edge or more (Warshall)."""
    reach = list(edges)
    for k in range(len(reach)):
        for i in range(len(reach)):
            if reach[i] >> k & 1:
                reach[i] |= reach[k]
    return reach
