"""How errors pass through the softmax family, written once for arrays and for certified numbers.

``algebra`` works on rows: quantities of a key (vectors) and of a row; ``algebra.over(x)`` makes a
row's quantity one of each of its keys, ``algebra.sum`` and ``algebra.largest`` go back. All
orders are kept: a quotient divides by the smallest denominator, exp(x +- r) is evaluated at an end.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

from exactref_core.arithmetic.prefixes import PrefixSums
from exactref_core.arithmetic.rules import HALF, product_error, rounded_step
from exactref_core.formats.format import Format

__all__ = [
    "RowErrors",
    "is_narrow",
    "is_wide",
    "log_error",
    "log_weight_error",
    "lse_error",
    "power_share",
    "rescale_etas",
    "row_errors",
    "scaled_inputs_error",
    "summed",
    "sums_overflow_at",
    "term_errors",
    "weight_errors",
]

Accumulate: TypeAlias = Callable[[Any, Fraction, int, PrefixSums], Any]

# exp is a library function (2 ulp), and each of its arguments x - m costs 3u |x - m|, base 2 or
# not.
FUNCTION = 4
GAP = 3
# Relative errors up to this one are called small.
SMALL = Fraction(1, 8)


@dataclass(frozen=True, eq=False)
class RowErrors:
    """Errors of a row's exponentials: relative, absolute, with underflow; and of their sum.

    ``scores`` is the largest error of a score, ``settled`` the relative error of the sum of the
    exponentials of stored scores, whatever they are (None: no useful bound).
    """

    relative: Any
    moved: Any
    powers: Any
    accumulation: Any
    total: Any
    scores: Any
    settled: Any


def is_narrow(form: Format, sums: Format) -> bool:
    """Return whether sums are kept in a format that does not hold all numbers of ``form``."""
    return sums.precision < form.precision or sums.eta > form.eta


def power_share(form: Format, sums: Format, rescales: int) -> Fraction:
    """Return the relative error of an exponential: the function's, and for each rescaling that of
    an exp of its own and a product, which is stored as the sums are."""
    function = FUNCTION * form.unit_roundoff
    return function + rescales * (function + max(form.unit_roundoff, sums.unit_roundoff))


def rescale_etas(form: Format, sums: Format, rescales: int) -> Fraction:
    """Return in units of eta what rescalings and a last division lose that underflow."""
    return HALF * (1 + rescales * max(form.eta, sums.eta) / form.eta)


def sums_overflow_at(form: Format, sums: Format) -> Fraction:
    """Return the threshold from which a term or a sum of terms overflows."""
    return min(form.overflow_threshold, sums.overflow_threshold)


def is_wide(form: Format, sums: Format) -> bool:
    """Return whether sums are kept in a wider format, from which they are loaded with a rounding.

    A kernel may divide in the wider format as well.
    """
    return sums.precision > form.precision


def summed(
    algebra: Any,
    form: Format,
    sum_form: Format,
    n: int,
    accumulate: Accumulate,
    sums: PrefixSums,
    carried: Any,
    flush: bool,
) -> tuple[Any, Any]:
    """Return the errors of a sum of n terms: of adding them up, and with what the terms carry.

    ``accumulate`` is the standard's bound. In a narrow format each term is also rounded into it,
    as if it were added to a 0 ahead of them all, where it may underflow by eta/2.
    """
    unit, narrow = sum_form.unit_roundoff, is_narrow(form, sum_form)
    count = n + narrow
    found = accumulate(algebra, unit, count, sums)
    lost = n * HALF * sum_form.eta if narrow else Fraction(0)
    if flush:
        lost += (count - 1 + (n - 1 if narrow else 0)) * sum_form.smallest_normal
    if lost:
        found = found + algebra.constant(lost) * algebra.power(unit, count - 1)
    return found, carried * algebra.power(unit, n) + found


def row_errors(
    algebra: Any,
    form: Format,
    powers: Any,
    gaps: Any,
    score_errors: Any,
    kept: Any,
    standard: Any,
    accumulate: Accumulate,
    sums: PrefixSums,
    n: int,
    flush: bool,
    sum_form: Format,
) -> RowErrors:
    """Return the errors of e_i = exp(s_i - m) and of L = sum e_i over a row of n keys.

    The argument errs by error(s_i) + 3u |s_i - m| (the shift itself cancels), the function by 4u,
    and each of R later maxima by 5u more (4u and the u of narrow sums); a function may underflow by
    2 eta, a rescaling by eta/2. ``kept`` is 1 for the keys that take part, whose exponentials alone
    err; ``accumulate`` is the standard's bound on a sum, which is added up in ``sum_form``.
    """
    unit = form.unit_roundoff
    rescales = standard.rescales(n)
    argument = score_errors + gaps * algebra.constant(GAP * unit)
    growth, grown = algebra.expm1(argument), algebra.grown(powers, gaps, argument)
    factor = algebra.constant(power_share(form, sum_form, rescales))
    relative = growth + (growth + algebra.constant(1)) * factor
    lost = 2 * form.eta + (form.smallest_normal if flush else 0)
    moved = grown + (grown + powers) * factor
    errors = moved + kept * algebra.constant(lost)
    accumulation, total = summed(
        algebra, form, sum_form, n, accumulate, sums, algebra.sum(errors), flush
    )
    total = total + algebra.constant(rescales * HALF * max(form.eta, sum_form.eta))
    if is_wide(form, sum_form):
        loaded = (sums.magnitudes + total) * algebra.constant(unit)  # sums of at least about 1
        accumulation, total = accumulation + loaded, total + loaded
    settled = settled_share(algebra, form, sum_form, n, rescales, flush)
    largest = algebra.largest(score_errors)
    return RowErrors(relative, moved, errors, accumulation, total, largest, settled)


def settled_share(
    algebra: Any, form: Format, sum_form: Format, n: int, rescales: int, flush: bool
) -> Any:
    """Return the relative error of the sum of the exponentials of any n stored scores; None where
    it is not small.

    Relative to their own maximum the sum is at least 1; g exp(-g (1 - 3u)) is at most 1/2, so that
    errors 3u g of the arguments add at most 2u each; the rest is as in `row_errors`.
    """
    unit, wide = form.unit_roundoff, sum_form.unit_roundoff
    narrow = is_narrow(form, sum_form)
    lost = n * 2 * form.eta + rescales * HALF * max(form.eta, sum_form.eta)
    lost += n * HALF * sum_form.eta if narrow else 0
    if flush:
        lost += n * form.smallest_normal + 2 * n * sum_form.smallest_normal
    grown = (1 + power_share(form, sum_form, rescales)) * (1 + 2 * n * unit) - 1 + lost
    grown += (1 + grown) * unit if is_wide(form, sum_form) else 0
    if max(grown, (n + 1) * wide) > SMALL:
        return None
    return algebra.constant(grown) + algebra.constant(1 + grown) * algebra.power_minus_one(
        wide, n + 1
    )


def scaled_inputs_error(
    algebra: Any, form: Format, scale: Any, sums: tuple[Any, Any, Any], flush: bool
) -> Any:
    """Return the error that scaling the factors of a dot product adds to scale * sum a b.

    ``sums`` are sum |a b|, sum |a| and sum |b|. Both factors may be scaled by sqrt(scale), each
    within 2u, or one of them by the scale: a factor that underflows there errs by eta/2 (is flushed
    by less than the smallest normal number), times the other one, scaled by sqrt(scale) or as is.
    """
    products, left, right = sums
    lost = algebra.constant(HALF * form.eta + (form.smallest_normal if flush else 0))
    reach = algebra.maximum((left + right) * algebra.sqrt(scale), algebra.maximum(left, right))
    return products * scale * algebra.constant(4 * form.unit_roundoff) + reach * lost


def weight_errors(
    algebra: Any,
    form: Format,
    weights: Any,
    total: Any,
    errors: RowErrors,
    stored: Format | None,
    flush: bool,
) -> Any:
    """Return the errors of stored weights e_i / L: (E_i + w_i E_L) / (L - E_L), a division, and the
    rounding to a declared format."""
    top = errors.powers + weights * algebra.over(errors.total)
    moved = algebra.quotient(top, algebra.over(algebra.monus(total, errors.total)))
    error = rounded_step(algebra, form, weights, moved, 2, HALF, flush)
    if stored is not None:
        error = rounded_step(algebra, stored, weights, error, 1, HALF, flush)
    return error


def log_error(algebra: Any, form: Format, total: Any, log: Any, errors: RowErrors) -> Any:
    """Return the error of a stored log L, |log L| = ``log``.

    The relative error r of L moves its logarithm by at most -log(1 - r), and by at most what the
    largest relative error of a term and the accumulation move it; log errs by 4u, or 2 eta. Where r
    is 1 or more that says little: errors of the scores move a log-sum-exp by no more than the
    largest of them, and what is left is the error of the sum for the scores as they are stored.
    """
    ratio = algebra.quotient(errors.total, total)
    other = algebra.largest(errors.relative) + algebra.quotient(errors.accumulation, total)
    beyond = other
    if errors.settled is not None:
        beyond = errors.scores + algebra.minus_log1m(errors.settled)
    moved = algebra.log_change(ratio, other, beyond)
    return rounded_step(algebra, form, log, moved, FUNCTION, Fraction(2), False)


def lse_error(algebra: Any, form: Format, size: Any, log: Any) -> Any:
    """Return the error of a stored m + log L of magnitude ``size``, given that of log L."""
    return rounded_step(algebra, form, size, log, 1, Fraction(0), False)


def log_weight_error(
    algebra: Any, form: Format, size: Any, gaps: Any, scores: Any, log: Any, lse: Any
) -> Any:
    """Return the error of a stored s_i - m - log L, or s_i - (m + log L), of magnitude ``size``.

    ``scores`` are the errors of the scores, ``log`` and ``lse`` those of log L and of m + log L.
    """
    shifted = rounded_step(algebra, form, gaps, scores, 1, Fraction(0), False)
    first = rounded_step(algebra, form, size, shifted + algebra.over(log), 1, Fraction(0), False)
    whole = scores + algebra.over(lse)
    return algebra.maximum(first, rounded_step(algebra, form, size, whole, 1, Fraction(0), False))


def term_errors(
    algebra: Any, form: Format, weights: Any, values: Any, dw: Any, dv: Any, flush: bool
) -> Any:
    """Return the errors of stored products w_i v_i; those that are exactly 0 count here too."""
    moved = product_error(algebra, weights, values, dw, dv)
    return rounded_step(algebra, form, weights * values, moved, 1, HALF, flush)
