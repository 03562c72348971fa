"""exp and log of enclosures, and logarithms of sums of exponentials in plain float64."""

from __future__ import annotations

import numpy as np

from exactref_core.arithmetic import fast_steps as steps
from exactref_core.arithmetic.approx import Approx, Bools
from exactref_core.arithmetic.softmax_coarse import MARGIN, Powers, powers_of
from exactref_core.exact.double_double import Floats
from exactref_core.exact.exponentials import exp_pair, log_pair
from exactref_core.exact.precise_exponentials import precise_exp, precise_log
from exactref_core.exact.sums import UNIT

__all__ = ["coarse_log_sums", "coarse_log_weights", "exponential", "logarithm"]


def exponential(x: Approx, precise: bool) -> Approx:
    """exp(x) of finite values; exactly 1 at an exact 0."""
    high, low, radius = (precise_exp if precise else exp_pair)(x.high, x.low)
    if x.radius is not None:
        # |exp(x) - exp(m)| <= exp(m) (exp(r) - 1), and exp(r) - 1 <= r + r^2 for r <= 1.
        growth = np.where(x.radius <= 1, x.radius + x.radius * x.radius, np.inf)
        radius = (radius + (high + radius) * growth) * (1 + 2.0**-50)
        radius = np.where(np.isnan(radius), np.inf, radius)
    one = (x.high == 0) & (np.asarray(x.spread) == 0)
    return Approx(np.where(one, 1.0, high), np.where(one, 0.0, low), np.where(one, 0.0, radius))


def logarithm(x: Approx, precise: bool = False) -> Approx:
    """log(x) of positive values; exactly 0 at an exact 1."""
    low = np.zeros(x.high.shape) if x.low is None else x.low
    function = precise_log if precise else log_pair
    high, tail, radius = function(np.where(x.high > 0, x.high, 1.0), low)
    spread = np.zeros(x.high.shape) if x.radius is None else x.radius
    # |log x - log m| <= r / (m - r).
    radius = radius + np.where(spread < x.high, spread / (x.high - spread), np.inf) * (1 + 2.0**-40)
    one = (x.high == 1) & (low == 0) & (spread == 0)
    radius = np.where(one, 0.0, np.where(x.high > 0, radius, np.inf))
    return Approx(np.where(one, 0.0, high), np.where(one, 0.0, tail), radius)


def coarse_log_sums(scores: Approx, keep: Bools | None) -> Approx | None:
    """Return the log-sum-exps of rows (r, n) of scores; None where another reading has to."""
    found = powers_of(scores, keep)
    return None if found is None else steps.add(None, log_of(found), Approx(found.top))


def log_of(found: Powers) -> Approx:
    """Return the logarithms of the sums of exponentials, relative to the rows' largest scores.

    The sums err by no more than the weights do.
    """
    return logarithm(Approx(found.total, None, found.total * (MARGIN * found.error)))


def coarse_log_weights(scores: Approx) -> Approx | None:
    """Return the logarithms of the weights of rows (r, n) of scores; None where another reading
    has to.

    For gaps g = s - m and l = log L within d, fl(fl(g) - l): scores err by rho, g rounds by u |g|
    and the difference by u (|g| + |l|) at most. A row has one radius.
    """
    found = powers_of(scores, None)
    if found is None:
        return None
    logs = log_of(found)
    value = scores.high - found.top[:, None]
    value -= logs.high[:, None]
    size = -found.least
    radius: Floats = found.spread + logs.spread + UNIT * (2 * size + np.abs(logs.high))
    radius = radius * (1 + 2.0**-50)
    return Approx(value, None, np.broadcast_to(radius[:, None], value.shape))
