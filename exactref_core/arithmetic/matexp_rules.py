"""What every reading of matrix exponentials shares: matrices, perturbations, what they may be."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from exactref_core.arithmetic import states
from exactref_core.arithmetic.graph import Node
from exactref_core.exact.backward_errors import Perturbation
from exactref_core.exact.exponential_entries import Exponential, matrix_of
from exactref_core.exact.interval import Arithmetic, rational
from exactref_core.formats.format import Format

__all__ = ["compute_of", "entry_set", "exponential_of", "perturbation_of", "special_set"]

# Digits of A's norm, of its dimension and of steps where a flush to zero may hit an intermediate.
FLUSHES = 1 << 10


def compute_of(node: Node) -> Format:
    """Return the compute format."""
    if node.compute is None:
        raise ValueError("a matrix exponential has a compute format")
    return node.compute


def exponential_of(node: Node, numbers: list[list[Any]], arithmetic: Arithmetic) -> Exponential:
    """Return a matrix's exponential: one object for all readings that see the same numbers."""
    matrix = matrix_of(numbers, arithmetic)
    key = (tuple(x for row in matrix.rows for x in row), matrix.unit, matrix.radius)
    memo: dict[Any, Exponential] = node.attrs.memo
    if key not in memo:
        memo[key] = Exponential(matrix)
    return memo[key]


def perturbation_of(form: Format, n: int, moved: Any, flush: bool) -> Perturbation:
    """Return what a correct implementation may add to A, which ``moved`` (Frobenius) is added to.

    A flush to zero of an intermediate, scaled back, counts as one of A or of the result.
    """
    unit = form.unit_roundoff
    flushed = FLUSHES * n * form.smallest_normal if flush else Fraction(0)
    relative = 14 * n * unit + flushed
    return Perturbation(relative, moved + rational(flushed), 4 * unit, flushed)


def entry_set(exponential: Exponential, perturbation: Perturbation, form: Format) -> Any:
    """Return a table of what each entry's part may be, for the compute format.

    An entry within its bound of the overflow threshold may be stored as an infinity; products with
    it make NaN of any other entry.
    """
    key = ("sets", perturbation, form.name)
    if key not in exponential.memo:
        n = exponential.matrix.n
        threshold = rational(form.overflow_threshold)
        table = []
        for i in range(len(exponential.matrix.rows)):
            line = []
            for j in range(n):
                low, high = exponential.hull(perturbation, i, j)
                plus = states.PLUS if high >= threshold else 0
                minus = states.MINUS if low <= -threshold else 0
                line.append(states.FINITE | plus | minus)
            table.append(line)
        if any(s != states.FINITE for line in table for s in line):
            table = [[s | states.NAN for s in line] for line in table]
        exponential.memo[key] = table
    return exponential.memo[key]


def special_set(values: list[float]) -> int:
    """Return what entries may be where A holds an infinity or NaN: NaN, or an infinity from one."""
    if any(math.isnan(x) for x in values):
        return states.NAN
    return states.NAN | states.PLUS | states.MINUS
