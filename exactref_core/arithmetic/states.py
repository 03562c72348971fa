"""What a stored value may be beside a number: sets of {finite, +inf, -inf, NaN} as bit masks.

Steps on sets follow IEEE 754 over seven classes (infinities, NaN, and finite values by sign, zeros
included); overflow of finite results is decided by the caller, who knows their size.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = [
    "CARRIED",
    "FINITE",
    "MINUS",
    "NAN",
    "NEGATIVE",
    "PLUS",
    "STICKY",
    "WILD",
    "States",
    "classes",
    "either_infinity",
    "of_values",
    "step",
    "without_infinities",
]

States = npt.NDArray[np.uint8]

FINITE, PLUS, MINUS, NAN = 1, 2, 4, 8
# Sticky: an intermediate of this computation may have left the range (see `Verbs.admit`).
WILD = 16
# Sticky: an operand may be an infinity that an earlier call stored, so that exp has no bound.
CARRIED = 32
STICKY = WILD | CARRIED

NEGATIVE, MINUS_ZERO, PLUS_ZERO, POSITIVE, PLUS_INF, MINUS_INF, NOT_A_NUMBER = (
    1 << i for i in range(7)
)
REPRESENTATIVES = (-1.0, -0.0, 0.0, 1.0, np.inf, -np.inf, np.nan)
SETS = 1 << len(REPRESENTATIVES)


def of_values(values: Any) -> Any:
    """Return the one-element set that each value belongs to."""
    values = np.asarray(values)
    states = np.where(np.isfinite(values), FINITE, NAN)
    states = np.where(values == np.inf, PLUS, states)
    return np.where(values == -np.inf, MINUS, states).astype(np.uint8)


def classes(states: Any, below: Any, zero: Any, above: Any, minus_zero: Any, plus_zero: Any) -> Any:
    """Return sets over the seven classes.

    ``below``, ``zero``, ``above`` say whether a finite stored value may be negative, zero,
    positive;
    a zero may have the signs that ``minus_zero`` and ``plus_zero`` say.
    """
    flags = (below, zero, above, minus_zero, plus_zero)
    if isinstance(states, int) and not any(isinstance(flag, np.ndarray) for flag in flags):
        return classes_of_one(states, *(bool(flag) for flag in flags))
    states = np.asarray(states)
    finite = (states & FINITE) != 0
    result = np.where(finite & below, NEGATIVE, 0) | np.where(finite & above, POSITIVE, 0)
    result = result | np.where(finite & zero & minus_zero, MINUS_ZERO, 0)
    result = result | np.where(finite & zero & plus_zero, PLUS_ZERO, 0)
    result = result | np.where(states & PLUS, PLUS_INF, 0) | np.where(states & MINUS, MINUS_INF, 0)
    return result | np.where(states & NAN, NOT_A_NUMBER, 0)


def either_infinity(states: Any) -> Any:
    """Return sets with both infinities where there is one: quotients by zero differ in its sign."""
    infinities = PLUS | MINUS
    return np.where(states & infinities, states | infinities, states)


def without_infinities(states: Any) -> Any:
    """Return sets as a format without infinities stores them: NaN in their place."""
    lost = np.where(states & (PLUS | MINUS), NAN, 0)
    return (states & ~np.uint8(PLUS | MINUS)) | lost


def classes_of_one(
    states: int, below: bool, zero: bool, above: bool, minus_zero: bool, plus_zero: bool
) -> int:
    """Return `classes` of a single set, without the cost of arrays."""
    result = PLUS_INF if states & PLUS else 0
    result |= MINUS_INF if states & MINUS else 0
    result |= NOT_A_NUMBER if states & NAN else 0
    if states & FINITE:
        result |= NEGATIVE if below else 0
        result |= POSITIVE if above else 0
        result |= MINUS_ZERO if zero and minus_zero else 0
        result |= PLUS_ZERO if zero and plus_zero else 0
    return result


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "divide": np.divide,
    "sqrt": np.sqrt,
    "negative": np.negative,
    "absolute": np.abs,
    "hypot": np.hypot,
}


@cache
def table(verb: str) -> States:
    """Return the result set of every pair of operand sets (or of every operand set)."""
    function = FUNCTIONS[verb]
    values = np.asarray(REPRESENTATIVES)
    members = np.arange(SETS)[:, None] >> np.arange(len(values)) & 1
    with np.errstate(all="ignore"):
        if verb in ("sqrt", "negative", "absolute"):
            single = of_values(function(values))
            found = np.bitwise_or.reduce(np.where(members == 1, single, 0), axis=1)
            return np.asarray(found, np.uint8)
        pair = of_values(function(values[:, None], values[None, :]))
    rows = np.stack([np.bitwise_or.reduce(np.where(members == 1, row, 0), axis=1) for row in pair])
    full = np.stack(
        [np.bitwise_or.reduce(np.where(m[:, None] == 1, rows, 0), axis=0) for m in members]
    )
    return np.asarray(full, np.uint8)


def step(verb: str, operands: Sequence[Any]) -> Any:
    """Return the set of each result, given sets over the seven classes; overflow left out."""
    return table(verb)[tuple(operands)]
