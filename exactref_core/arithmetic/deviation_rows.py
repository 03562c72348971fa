"""Rows of numbers as the bounds of squared deviations read them: arrays or single elements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from exactref_core.arithmetic.approx import Approx
from exactref_core.arithmetic.bound import magnitude
from exactref_core.arithmetic.brackets import SMALL, TINY, Bracket
from exactref_core.arithmetic.deviation_rules import Row
from exactref_core.arithmetic.fast import add_up
from exactref_core.arithmetic.fast_choices import STEPS
from exactref_core.arithmetic.prefixes import BLOCK
from exactref_core.arithmetic.row_algebra import Vector
from exactref_core.exact.prefix_sums import from_block_starts

__all__ = ["float_rows", "scalar_row"]

# One float64 rounding of a result, with room for those of the bound itself.
ROUNDING = 2.0**-52


def float_rows(x: Approx, errors: Bracket, total: Bracket) -> Row:
    """Return the magnitudes of rows of numbers, shape (rows, n).

    The prefix sums are float64 ones: each addition errs by at most u times its own result, so that
    the k-th prefix sum is off by u times the sum of the magnitudes of those up to it, and by the
    spreads of the terms. A difference or quotient of them errs by u of itself besides.
    """
    n = x.high.shape[-1]
    mean = STEPS["divide"](None, add_up(x, True), Approx(np.asarray(float(n))))
    mean = mean.map(lambda part: part[..., None])
    deviations = magnitude(STEPS["subtract"](None, x, mean))
    prefixes = np.cumsum(x.high, axis=-1)
    spread = np.cumsum(np.broadcast_to(x.spread, x.high.shape), axis=-1) * (1 + n * ROUNDING)
    off = (np.cumsum(np.abs(prefixes), axis=-1) * ROUNDING + spread) * (1 + n * ROUNDING)
    counts = np.arange(1.0, n)
    means = prefixes[:, :-1] / counts
    steps = x.high.copy()
    steps[:, 1:] -= means
    slack = np.broadcast_to(x.spread, steps.shape) + np.abs(steps) * ROUNDING
    slack[:, 1:] += off[:, :-1] / counts + np.abs(means) * ROUNDING
    slack[:, 1:] += np.where((prefixes[:, :-1] != 0) & (np.abs(means) < SMALL), TINY, 0.0)
    # A block's start is off by no more than its end.
    local = from_block_starts(prefixes.copy()) if n > BLOCK else prefixes
    return Row(
        n,
        magnitude(x),
        errors,
        around(prefixes, off),
        around(local, 2 * off + np.abs(local) * ROUNDING),
        deviations * deviations,
        around(steps, slack),
        total,
    )


def around(values: Any, slack: Any) -> Bracket:
    """Return the bracket of the magnitudes of numbers within ``slack`` of ``values``."""
    size = np.abs(values)
    # What underflows while a slack is computed is less than four of the smallest numbers.
    slack = np.where(slack > 0, slack * (1 + 4 * ROUNDING) + 4 * TINY, 0.0)
    low, high = (size - slack) * (1 - ROUNDING), (size + slack) * (1 + ROUNDING)
    known = np.isfinite(high)
    return Bracket(np.where(known, np.maximum(low, 0.0), 0.0), np.where(known, high, np.inf))


def scalar_row(
    step: Callable[[str, Any, Any], Any],
    number: Callable[[int], Any],
    magnitude: Callable[[Any], Any],
    values: Sequence[Any],
    errors: Sequence[Any],
    total: Any,
) -> Row:
    """Return the magnitudes of one row of certified numbers.

    ``step(verb, x, y)`` evaluates a step on exact values, ``number`` makes one of an integer, and
    ``magnitude`` its magnitude for the rules; ``total`` is that of S.
    """
    n = len(values)
    prefixes, local, steps = [values[0]], [values[0]], [values[0]]
    start = None
    for k in range(1, n):
        mean = step("divide", prefixes[-1], number(k))
        steps.append(step("subtract", values[k], mean))
        if k % BLOCK == 0:
            start = prefixes[-1]
        prefixes.append(step("add", prefixes[-1], values[k]))
        local.append(prefixes[-1] if start is None else step("subtract", prefixes[-1], start))
    mean = step("divide", prefixes[-1], number(n))
    deviations = Vector(magnitude(step("subtract", x, mean)) for x in values)
    parts = (Vector(magnitude(x) for x in part) for part in (values, prefixes, local, steps))
    terms, sums, inside, moves = parts
    return Row(n, terms, Vector(errors), sums, inside, deviations * deviations, moves, total)
