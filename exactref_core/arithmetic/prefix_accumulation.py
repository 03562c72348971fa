"""Error bounds of all prefix sums of rows: what a standard asks of each, in a few passes for all.

The sums over the terms up to each are cumulative sums themselves. They err as those of whole rows
do (`exact.prefix_sums`), a shorter one by no more than its own share.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from exactref_core.arithmetic import states
from exactref_core.arithmetic.accumulation import total_error
from exactref_core.arithmetic.bound import ALGEBRA, Bound
from exactref_core.arithmetic.brackets import Bracket
from exactref_core.arithmetic.graph import Node, sum_format
from exactref_core.arithmetic.prefixes import PrefixSums, asks_norms
from exactref_core.arithmetic.step_sets import threshold
from exactref_core.exact.double_double import Floats
from exactref_core.exact.prefix_sums import SPAN, Ends, ends, from_block_starts

if TYPE_CHECKING:
    from exactref_core.arithmetic.bounds import FloatBounds

__all__ = ["sums"]


def sums(reading: FloatBounds, node: Node) -> tuple[Bracket, Any] | None:
    """Return the error bounds of all prefix sums, rows (m, n), and the rows of which more has to be
    known: that hold what is no number, or may overflow. None where norms are asked for."""
    n, form = node.shape[-1], sum_format(node)
    if asks_norms(reading.standard, n):
        return None
    source = node.operands[0]
    x = reading.fast.whole(source).map(lambda part: part.reshape(-1, n))
    given = reading.whole(source).map(lambda part: part.reshape(-1, n), source.shape)
    asked = asked_of(reading, x.high, np.broadcast_to(np.asarray(x.spread), x.high.shape))
    carried = errors_before(given.error) if np.any(given.error.high) else None
    columns = []
    for k in range(n):
        own = PrefixSums(*(column(part, k) for part in asked))
        taken = None if carried is None else column(carried, k)
        error = total_error(reading, form, k + 1, own, taken)
        columns.append([np.broadcast_to(end, len(x.high)) for end in (error.low, error.high)])
    low, high = (np.stack(side, axis=-1) for side in zip(*columns, strict=True))
    reach = asked[0].high if carried is None else (asked[0] + carried).high
    reach = reach * ALGEBRA.power(form.unit_roundoff, n).high * (1 + 2.0**-50)
    return Bracket(low, high), rows_apart(given, ~(reach < threshold(form)[0]))


def column(bracket: Bracket, k: int) -> Bracket:
    """Return what belongs to the first k + 1 terms."""
    return Bracket(bracket.low[:, k], bracket.high[:, k])


def rows_apart(given: Bound, near: Any) -> Any:
    """Return the rows that hold what is no number, or whose sums come near the threshold."""
    odd = near.any(axis=-1)
    if given.states is not None:
        odd |= (given.states != states.FINITE).any(axis=-1)
    if given.unsure is not None:
        odd |= given.unsure.any(axis=-1)
    return odd


def asked_of(reading: FloatBounds, rows: Floats, spread: Floats) -> list[Bracket]:
    """Return what `accumulation.sums_of` does, of the terms up to each."""
    n = rows.shape[-1]
    with np.errstate(all="ignore"):
        extra: Any = np.cumsum(spread, axis=-1) * (1 + 2.0**-20) if np.any(spread) else 0.0
        found = [moved(ends(np.cumsum(np.abs(rows), axis=-1), n + 4), extra)]
        if not (reading.standard.prefixes and reading.precise):
            return found
        prefixes = np.cumsum(rows, axis=-1)
        shift = 2 * np.arange(1, n + 1) * extra
        running = np.cumsum(np.abs(prefixes), axis=-1)
        found.append(moved(ends(running, 2 * n + 8), shift))
        if n <= SPAN:
            return [*found, found[1]]
        blocks = np.cumsum(np.abs(from_block_starts(prefixes)), axis=-1)
        return [*found, moved(ends(blocks, 2 * n + 8, running), shift)]


def moved(bounds: Ends, shift: Any) -> Bracket:
    """Return a bracket of what is off by ``shift`` more."""
    return Bracket(np.maximum(bounds[0] - shift, 0.0), bounds[1] + shift)


def errors_before(error: Bracket) -> Bracket:
    """Return the sums of the terms' errors up to each; without a bound from the first that has
    none on."""
    n = error.low.shape[-1]
    none = np.logical_or.accumulate(np.isinf(error.low), axis=-1)
    with np.errstate(all="ignore"):
        low, high = (np.cumsum(end, axis=-1) for end in (error.low, error.high))
        return Bracket(np.where(none, np.inf, ends(low, n + 4)[0]), ends(high, n + 4)[1])
