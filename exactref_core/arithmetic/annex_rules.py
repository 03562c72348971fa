"""What a complex function of stored infinities and NaN may be."""

from __future__ import annotations

from exactref_core.arithmetic import states
from exactref_core.exact.annex import answer

__all__ = ["SINGLE", "answered"]

# Sets of one class: what is certainly stored.
SINGLE = (states.FINITE, states.PLUS, states.MINUS, states.NAN)


def answered(rule: tuple[str, int], x: float, y: float) -> int | None:
    """Return Annex G's set of a part at a point that is no number; None: the definition's own."""
    found = answer(rule, x, y)
    if found is None:
        return None
    values = [0.0 if found.quarters else found.value, *found.others]
    sets = 0
    for value in values:
        sets |= int(states.of_values(value))
    return sets
