"""How far sums of squared deviations S = sum (x_i - m)^2 may be, for arrays and single numbers.

m is the exact mean, a = sum |x_i|, n terms, u the unit roundoff; norms are Euclidean. Stored values
x_i + xi_i with |xi_i| <= r_i move S: sqrt S is a norm of the deviations, of which the projection
x -> x - m takes the errors' norm no further, so that |sqrt S' - sqrt S| <= R = |r|. The rest holds
for the stored values; each of its terms grows with their magnitudes and with sqrt S' <= sqrt S + R.

*Any order.* Subsets of the terms, each with its mean m_A and S_A, are merged in any tree (Chan,
Golub, LeVeque 1983; one element at a time: Youngs and Cramer 1971, Welford 1962), with d = m_B -
m_A, c = n_A n_B / n:

    m = m_A + d n_B / n,    S = S_A + S_B + c d^2.

The increment has four roundings (difference, quotient by n: 2, product) and the sum one. The mean
of a subset errs by e_A <= g_A a_A, g_A = (G^(n_A - 1) - 1) / (n_A - 1), G = (1+u)^9, 0 for one term
(and by what underflows): where n_B <= 2 n_A, so that n_B |d| <= 2 a_A + a_B, with H = (1+u)^7

    n e <= H (n_A e_A + n_B e_B) + (H - 1)(a_A + a_B),

and n g >= H n_A g_A + H - 1 for n > n_A, since n g = g + G^(n-1) - 1, g_A <= (G - 1) G^(n_A - 1)
and (H - 1)(G - 1) <= G - H for u <= 1/32. Where n_B > 2 n_A the same holds for a_B; n_A e_A / n is
below g a_A / 3, and all that a_A counts below g/3 + 4u (1 + g) <= g, g being 9u or more.

Since sum c d^2 = S over the tree, and sum c <= T = n/2 max(log2 n, 3), the exact sum of the
computed c d'^2, nonnegative terms, is at most (sqrt S + w)^2 with w = g a sqrt T (Cauchy-Schwarz).
The form (x_k - m_(k-1)) (x_k - m_k) of one element, c = (k-1)/k >= 1/2, is covered: of its factors,
off by e_(k-1) and e_k, the product is at most c (|d| + f)^2 with f = (c e_(k-1) + e_k) / 2c, and
c f^2 <= (1 + c)^2 / 4c (g a)^2 <= 9/8 (g a)^2, n - 1 times, is below T (g a)^2. At most seven
roundings make a term and two more at each of n - 1 merges pass on: (1+u)^(2n+5). The two passes,
with a mean from any order, lie within the same bound: their terms add up to S + n e^2.

*Normal.* Two passes, each in index order or in blocks of 32, with a stored mean that errs by E: the
terms (x_i - m - e)^2 add up to S + n e^2, their first k to at most (sqrt S_k + sqrt(k) E)^2, and
their prefix sums to at most (sqrt W + E sqrt K)^2, W = sum S_k, K = sum k. Deviations round by u,
squares by u (or not, fused), and nonnegative terms that add up as `standard` says. And one pass in
index order (Welford): with d_k = x_k - m_(k-1) and prefix sums s_k,

    e_k <= u (1+u)^(4n) / k * sum_(j <= k) (|s_j| + 4 |d_j|),
    |terms' sum - S| <= F = sum |d_k| f_k + f_k^2,   f_k = e_(k-1) + e_k,

from k e_k <= (k-1) e_(k-1) (1+u)(1 + t/(k-1)) + u |s_k| + (1+u) t |d_k| with t = (1+u)^3 - 1, whose
factors multiply to less than (1+u)^(4n). Its terms have seven roundings and are added in order.

*Overflow.* c d^2 may be made from d^2 on, or from n_A d^2. As Delta counts the roundings of the
increments, what comes before c d^2 is at most (S + Delta) / c, with c = (k-1)/k >= 1/2 for a single
element, or (S + Delta) n / n_B in a merge.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from exactref_core.arithmetic.prefixes import BLOCK, PrefixSums
from exactref_core.arithmetic.rules import HALF
from exactref_core.formats.format import Format

__all__ = ["Row", "error_of", "overshoot"]


@dataclass(frozen=True, eq=False)
class Row:
    """Magnitudes of a row of n numbers, or of many rows: of the terms, their errors, the prefix
    sums, those inside blocks of 32, the squared deviations from the mean, the d_k; and S.

    All but S are a row's quantities (`FloatRows`, `ScalarRows`).
    """

    n: int
    terms: Any
    errors: Any
    prefixes: Any
    local: Any
    squares: Any
    steps: Any
    total: Any


def error_of(algebra: Any, form: Format, flush: bool, standard: Any, row: Row) -> Any:
    """Return the bound on a computed S under a standard."""
    if row.n == 1:
        return moved(algebra, row)  # the deviation from itself
    anyhow = any_order(algebra, form, flush, row)
    if not standard.prefixes:
        return anyhow
    passes = algebra.maximum(
        two_passes(algebra, form, flush, standard, row), one_pass(algebra, form, flush, row)
    )
    return algebra.minimum(anyhow, passes)


def least_error(algebra: Any, form: Format, flush: bool, standard: Any, row: Row) -> Any:
    """Return the bracket of `error_of` from the terms, their errors and S alone.

    Two passes round deviations, squares and sums of S or more: each by u S at the least.
    """
    if row.n == 1:
        return moved(algebra, row)
    anyhow = any_order(algebra, form, flush, row)
    if not standard.prefixes:
        return anyhow
    passes = moved(algebra, row) + row.total * algebra.constant(3 * form.unit_roundoff)
    return algebra.between(algebra.minimum(anyhow, passes), anyhow)


def overshoot(standard: Any, n: int) -> int:
    """Return how often a squared difference, or a multiple of it, may exceed S."""
    return 2 if standard.prefixes else max(n, 2)


def norm(algebra: Any, row: Row) -> Any:
    """Return R, the norm of the errors that the terms carry."""
    return algebra.sqrt(algebra.sum(row.errors * row.errors))


def moved(algebra: Any, row: Row) -> Any:
    """Return how far S of the stored values is from S: (sqrt S + R)^2 - S."""
    reach = norm(algebra, row)
    return reach * (algebra.sqrt(row.total) * 2 + reach)


def lost(form: Format, flush: bool) -> Fraction:
    """Return what one result that underflows may be off by."""
    return HALF * form.eta + (form.smallest_normal if flush else 0)


def widened(algebra: Any, row: Row) -> tuple[Any, Any]:
    """Return a and sqrt S of the stored values, at most."""
    size = algebra.sum(row.terms) + algebra.sum(row.errors)
    return size, algebra.sqrt(row.total) + norm(algebra, row)


def beyond(algebra: Any, row: Row, root: Any, more: Any, growth: Any) -> Any:
    """Return (root + more)^2 (1 + growth) - S for root = sqrt S + R, without cancellation."""
    reach = norm(algebra, row)
    extra = more * (root * 2 + more) + reach * (algebra.sqrt(row.total) * 2 + reach)
    return extra + (row.total + extra) * growth


def any_order(algebra: Any, form: Format, flush: bool, row: Row) -> Any:
    """Return the bound of every tree of merges."""
    n, unit = row.n, form.unit_roundoff
    size, root = widened(algebra, row)
    off = algebra.constant(lost(form, flush))
    powers = algebra.power(unit, 9 * n)
    share = algebra.power_minus_one(unit, 9 * (n - 1)) * algebra.constant(Fraction(1, n - 1))
    # Five results of a merge may underflow, and the means of up to n merges pass it on.
    mean = share * size + off * (12 * n) * powers
    levels = max((n - 1).bit_length(), 3)
    more = mean * algebra.sqrt(algebra.constant(Fraction(n * levels, 2)))
    spread = algebra.power_minus_one(unit, 2 * n + 5)
    found = beyond(algebra, row, root, more, spread)
    return found + off * (4 * n * (n + 2)) * powers


def mean_error(algebra: Any, form: Format, flush: bool, standard: Any, row: Row) -> Any:
    """Return E, the bound on a stored mean: a sum under the standard, divided by n."""
    n, unit = row.n, form.unit_roundoff
    carried = algebra.sum(row.errors)
    sums = PrefixSums(*(algebra.sum(part) for part in (row.terms, row.prefixes, row.local)))
    error = standard.error(algebra, unit, n, sums) + carried * algebra.power_minus_one(unit, n)
    off = algebra.constant(lost(form, flush))
    if flush:
        error = error + off * (n - 1) * algebra.power(unit, n)
    share = algebra.constant(Fraction(1, n))
    rounding = (algebra.last(row.prefixes) + carried + error) * algebra.constant(2 * unit)
    return (error + rounding) * share + off


def walks(algebra: Any, form: Format, row: Row, mean: Any) -> list[Any]:
    """Return what the prefix sums of the stored squares add up to, in order and inside blocks.

    The k-th square is part of as many prefix sums as follow it, those of its block or all.
    """
    n = row.n
    off = mean + norm(algebra, row)
    found = []
    for counts in (
        [n - k for k in range(n)],
        [min(BLOCK - k % BLOCK, n - k) for k in range(n)],
    ):
        walk = algebra.sum(row.squares * algebra.numbers(counts))
        side = algebra.sqrt(walk) + off * algebra.sqrt(algebra.constant(sum(counts)))
        found.append(side * side * algebra.power(form.unit_roundoff, 2))
    return found


def two_passes(algebra: Any, form: Format, flush: bool, standard: Any, row: Row) -> Any:
    """Return the bound of the index-order loops over the terms and over the deviations."""
    n, unit = row.n, form.unit_roundoff
    mean = mean_error(algebra, form, flush, standard, row)
    off = algebra.constant(lost(form, flush))
    if flush:
        mean = mean + off  # deviations that are flushed
    _, root = widened(algebra, row)
    spread = algebra.sqrt(algebra.constant(n)) * mean
    base = beyond(algebra, row, root, spread, algebra.power_minus_one(unit, 2))
    terms = row.total + base
    sums = PrefixSums(terms, *walks(algebra, form, row, mean))
    error = standard.error(algebra, unit, n, sums)
    growth = algebra.power(unit, n)
    products = (terms * algebra.constant(unit) + off * n) * growth
    flushes = off * n * growth if flush else algebra.constant(0)
    return base + products + error + flushes


def one_pass(algebra: Any, form: Format, flush: bool, row: Row) -> Any:
    """Return the bound of Welford's loop, whose k-th step is the one to the k-th term."""
    n, unit = row.n, form.unit_roundoff
    factor = algebra.constant(unit) * algebra.power(unit, 4 * n)
    off = algebra.constant(lost(form, flush)) * (6 * n) * algebra.power(unit, 4 * n)
    carried = algebra.running(row.errors)
    errors, steps, prefixes, carried = (
        algebra.after_first(part) for part in (row.errors, row.steps, row.prefixes, carried)
    )
    terms = algebra.numbers(range(2, n + 1))
    step = steps + errors + carried
    sums = algebra.running(prefixes + carried + step * 4)
    error = algebra.quotient(sums * algebra.over(factor), terms) + algebra.over(off)
    both = algebra.delayed(error) + error
    moves = step * both + both * both
    exact = algebra.quotient(step * step * algebra.numbers(range(1, n)), terms)
    total = algebra.sum(exact) + algebra.sum(moves)
    # Each increment is part of the sums from its own on.
    walked = algebra.sum((exact + moves) * algebra.numbers(range(n - 1, 0, -1)))
    growth = algebra.power(unit, n + 7)
    rounding = total * algebra.power_minus_one(unit, 7) * growth
    adding = algebra.constant(unit) * growth * walked
    return moved(algebra, row) + algebra.sum(moves) + rounding + adding + off * n
