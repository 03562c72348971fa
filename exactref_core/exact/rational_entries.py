"""Entries of exp(A) that are rational, decided by algebra: ties that no enclosure can see.

A = S + N with S diagonalisable, N nilpotent, both polynomials in A over the rationals (the Jordan-
Chevalley decomposition, by Newton's iteration on the squarefree part of the characteristic
polynomial). Then exp(A) is the sum of e^l P_l U over the eigenvalues l of S, with U = exp(N) and
the projections P_l. By the Lindemann-Weierstrass theorem an entry is algebraic exactly where (P_l
U)_ij = 0 for all l != 0, which is where (S^k U)_ij = 0 for k = 1 ... n; as the projections add up
to 1, it is U_ij then.
"""

from __future__ import annotations

from operator import mul
from typing import Any

import gmpy2

from exactref_core.exact import integer_matrices as matrices
from exactref_core.exact.matrix_exponential import Matrix, times_power

__all__ = ["rational_entries"]

Poly = list[Any]  # coefficients (gmpy2.mpq), the constant first; no zero at the end

PRIME = (1 << 61) - 1


def trimmed(p: Poly) -> Poly:
    """Return a polynomial without leading zeros."""
    end = len(p)
    while end and p[end - 1] == 0:
        end -= 1
    return p[:end]


def divided(p: Poly, q: Poly) -> tuple[Poly, Poly]:
    """Return quotient and remainder."""
    rest, quotient = list(p), [gmpy2.mpq(0)] * max(len(p) - len(q) + 1, 0)
    for k in range(len(quotient) - 1, -1, -1):
        factor = rest[k + len(q) - 1] / q[-1]
        quotient[k] = factor
        if factor:
            for i, c in enumerate(q):
                rest[k + i] -= factor * c
    return trimmed(quotient), trimmed(rest[: len(q) - 1])


def times(p: Poly, q: Poly) -> Poly:
    """Return a product."""
    if not p or not q:
        return []
    found = [gmpy2.mpq(0)] * (len(p) + len(q) - 1)
    for i, a in enumerate(p):
        if a:
            for j, b in enumerate(q):
                found[i + j] += a * b
    return trimmed(found)


def minus(p: Poly, q: Poly) -> Poly:
    """Return a difference."""
    size = max(len(p), len(q))
    zero = gmpy2.mpq(0)
    pad = [list(x) + [zero] * (size - len(x)) for x in (p, q)]
    return trimmed([a - b for a, b in zip(*pad, strict=True)])


def derivative(p: Poly) -> Poly:
    """Return the derivative."""
    return trimmed([k * c for k, c in enumerate(p)][1:])


def inverse_and_divisor(p: Poly, q: Poly) -> tuple[Poly, Poly]:
    """Return v and the greatest common divisor g with v p = g modulo q."""
    a, b = q, divided(p, q)[1]
    v, w = [], [gmpy2.mpq(1)]
    while b:
        quotient, rest = divided(a, b)
        a, b = b, rest
        v, w = w, minus(v, times(quotient, w))
    lead = a[-1]
    return [c / lead for c in v], [c / lead for c in a]


def composed(p: Poly, inner: Poly, modulus: Poly) -> Poly:
    """Return p(inner) modulo a polynomial."""
    found: Poly = []
    for c in reversed(p):
        found = minus(divided(times(found, inner), modulus)[1], [-c] if c else [])
    return found


def characteristic(square: matrices.Rows) -> Poly:
    """Return the characteristic polynomial of a matrix of integers, by Newton's identities."""
    size = len(square)
    power, sums = square, []
    for k in range(size):
        sums.append(sum(power[i][i] for i in range(size)))
        if k < size - 1:
            power = matrices.product(square, power)
    found = [gmpy2.mpz(1)]  # the leading coefficient first
    for k in range(1, size + 1):
        found.append(-sum(map(mul, found, reversed(sums[:k]))) // k)
    return [gmpy2.mpq(c) for c in reversed(found)]


def squarefree(p: Poly) -> bool:
    """Return whether a monic polynomial of integers has no double root modulo a large prime.

    Then it has none over the rationals either.
    """
    a = [int(c) % PRIME for c in p]
    b = [k * c % PRIME for k, c in enumerate(a)][1:]
    while any(b):
        while b[-1] == 0:
            b.pop()
        inverse = pow(b[-1], -1, PRIME)
        while len(a) >= len(b):
            factor = a[-1] * inverse % PRIME
            start = len(a) - len(b)
            a = [(x - factor * b[i - start]) % PRIME if i >= start else x for i, x in enumerate(a)]
            a.pop()
        a, b = b, a
    return len(a) == 1


def semisimple(square: matrices.Rows) -> matrices.Rows | None:
    """Return S for a matrix of integers, or None where it is the matrix itself."""
    whole = characteristic(square)
    if squarefree(whole):
        return None
    _, common = inverse_and_divisor(derivative(whole), whole)
    part = divided(whole, common)[0]
    inverse, _ = inverse_and_divisor(derivative(part), part)
    s: Poly = [gmpy2.mpq(0), gmpy2.mpq(1)]
    while rest := composed(part, s, whole):
        step = divided(times(rest, composed(inverse, s, whole)), whole)[1]
        s = minus(s, step)
    size = len(square)
    zero = gmpy2.mpq(0)
    found = [[zero] * size for _ in range(size)]
    for c in reversed(s):
        found = matrices.product(square, found)
        for i in range(size):
            found[i][i] += c
    return found


def rational_entries(matrix: Matrix) -> list[list[Any]]:
    """Return the entries of exp(A) that are rational, and None for the others (row by row)."""
    square, n = matrices.full(matrix.rows), matrix.n
    size = len(square)
    s = semisimple(square)
    unipotent = matrices.identity(size, False)
    if s is None:
        s = square
    else:
        scale = times_power(gmpy2.mpz(1), matrix.unit)
        nilpotent = [
            [(x - y) * scale for x, y in zip(row, other, strict=True)]
            for row, other in zip(square, s, strict=True)
        ]
        power = unipotent
        for k in range(1, size):
            power = [[x / k for x in row] for row in matrices.product(nilpotent, power)]
            unipotent = [
                [x + y for x, y in zip(row, other, strict=True)]
                for row, other in zip(unipotent, power, strict=True)
            ]
    columns = [row[:n] for row in unipotent]
    zero = [[True] * n for _ in range(size)]
    power = columns
    for _ in range(size):
        power = matrices.product(s, power)
        zero = [
            [z and x == 0 for z, x in zip(row, other, strict=True)]
            for row, other in zip(zero, power, strict=True)
        ]
    return [
        [gmpy2.mpq(x) if z else None for x, z in zip(row, other, strict=True)]
        for row, other in zip(columns, zero, strict=True)
    ]
