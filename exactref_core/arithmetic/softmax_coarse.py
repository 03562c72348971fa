"""Weights and means of whole rows in plain float64, which decides most of a narrow output.

For a kept key with gap g = s - m, m the row's largest float64 score, u = 2**-53, relative errors:

- scores are within rho of their float64 numbers (m is one of these, and any shift cancels),
  fl(s - m) errs by u |g| more, and `exponentiate` by 2 u |g| in the exponent: t = rho + 3 u |g|
  together moves exp(g) by less than t + t^2 for t <= 1, |g| <= 690; smaller exponentials are below
  2**-990 and are taken as 0;
- `exponentiate` errs by 2**-51 more;
- a float64 sum of nonnegative numbers errs by (1+u)**k - 1 where each goes through k additions, and
  by the 2**-990 of each key that was taken as 0: the sum is at least exp(0) = 1, so that n 2**-990
  covers them;
- a product of matrices errs by (1+u)**(n+1) - 1 of that of the magnitudes (Higham, section 3.5);
- the quotient rounds by u; a product with the reciprocal, in its place, by 2 u.

With T the largest t of a row, weights err by less than 2 (T + T^2 + 2**-51) + k u + 2 u, and means
by that and n u more, of the mean of the magnitudes; half as much again covers all products of
errors, as long as they are below 2**-3. What was taken as 0 is below 2**-990.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from exactref_core.arithmetic.approx import Approx, Bools
from exactref_core.arithmetic.fast_steps import finish
from exactref_core.exact.double_double import Floats
from exactref_core.exact.exponentials import LEAST, VANISHED
from exactref_core.exact.float_products import product
from exactref_core.exact.products import TINY, magnitude_matmul, underflow
from exactref_core.exact.row_exponentials import exponentiate, row_sums, scratch
from exactref_core.exact.sums import UNIT, relative_error

__all__ = [
    "EXP",
    "MARGIN",
    "MOST",
    "Powers",
    "coarse_means",
    "coarse_weights",
    "moved_by",
    "powers_of",
]

EXP = 2.0**-51
# Errors above it are not told from the numbers.
MOST = 2.0**-4
# Room for all products of errors.
MARGIN = 1.5


@dataclass(frozen=True, eq=False)
class Powers:
    """Exponentials of rows (r, n), relative to the largest scores ``top``, and their sums.

    ``error`` is that of both together, ``spread`` that of the scores, ``least`` the least of the
    scores less ``top``, a row each.
    """

    values: Floats
    total: Floats
    error: Floats
    vanished: bool
    top: Floats
    spread: Floats
    least: Floats


def powers_of(scores: Approx, keep: Bools | None) -> Powers | None:
    """Return the exponentials of rows of finite scores; None where another reading has to."""
    if scores.special is not None or not scores.high.size:
        return None
    x = scores.high
    spread = np.asarray(scores.spread)
    if spread.ndim:
        spread = np.broadcast_to(spread, x.shape)
        spread = np.max(spread if keep is None else np.where(keep, spread, 0.0), axis=-1)
    values = np.empty(x.shape)
    total, tops, least = np.empty((3, len(x)))
    given, additions = scratch(*x.shape), 0
    for start in range(0, len(x), given.height):
        some = slice(start, start + given.height)
        part = given.cut(len(x[some]))
        np.copyto(part.main, x[some])
        if keep is not None:
            np.copyto(part.main, -np.inf, where=~keep[some])
        top = np.max(part.main, axis=-1, keepdims=True)
        if keep is not None and np.any(np.isinf(top)):
            return None  # a row without keys
        part.main -= top
        tops[some] = top[:, 0]
        least[some] = np.min(part.main, axis=-1)
        exponentiate(part, float(np.min(least[some])))
        values[some] = part.main
        total[some], additions = row_sums(part.main)
    moved = moved_by(spread, np.minimum(-least, -LEAST))
    error = 2 * (moved + moved * moved + EXP) + relative_error(additions + 2)
    if not np.all(error < MOST):
        return None
    vanished = bool(np.min(least) < LEAST)
    return Powers(values, total, error, vanished, tops, np.broadcast_to(spread, least.shape), least)


def moved_by(spread: Floats | float, gap: Floats) -> Floats:
    """Return how far the exponents of a row may be off, the largest gap given."""
    return np.asarray(spread + 3 * UNIT * gap)


def coarse_weights(scores: Approx, keep: Bools | None = None) -> Approx | None:
    """Return the weights of rows (r, n) of scores; None where another reading has to."""
    found = powers_of(scores, keep)
    if found is None:
        return None
    weights = found.values
    weights /= found.total[:, None]
    radius = weights * (MARGIN * found.error)[:, None]
    if found.vanished:
        gone = 2 * VANISHED if keep is None else np.where(keep, 2 * VANISHED, 0.0)
        radius += gone
    return Approx(weights, None, radius)


def coarse_means(
    scores: Approx, keep: Bools | None, values: Approx, shape: tuple[int, ...]
) -> tuple[Approx, Floats] | None:
    """Return means of exact finite values, (r, d), and numbers below those of their magnitudes.

    ``shape`` is that of the scores in batches.
    """
    if values.low is not None or values.radius is not None or values.special is not None:
        return None
    found = powers_of(scores, keep)
    if found is None:
        return None
    powers = found.values.reshape(shape)
    n, d = values.high.shape[-2:]
    top = product(powers, values.high).reshape(-1, d)
    size = magnitude_matmul(powers, values.high)[1].reshape(-1, d)
    error = MARGIN * (found.error + relative_error(n + 8))
    lost = n * underflow(powers, values.high)
    if found.vanished:
        lost += 2 * n * VANISHED * float(np.max(np.abs(values.high), initial=0.0)) + TINY
    total = found.total[:, None]
    radius = (size * error[:, None] + 2 * lost) / total * (1 + 2.0**-50) + TINY
    # Two relative errors and what may be lost lie between a bound from above and one from below.
    sizes = np.maximum(size * (1 - 2 * error[:, None]) - 4 * lost, 0.0) / total * (1 - 2.0**-50)
    sizes = np.where(np.isfinite(sizes), sizes, 0.0)
    return finish(top / total + 0.0, None, radius, None), sizes
