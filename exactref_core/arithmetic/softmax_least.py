"""Numbers below the bounds of the softmax family, at once: what most outputs are judged by.

Of the rules in `softmax_rules` only what every key and every score has in common is kept. With F
the share of a power (`power_share`), A that of adding up numbers of one sign and r = F (1 + u)^n +
A, relative to L, errors are at least

- F w + r w + 2 u w of a weight w: those of e_i and of L over L, and the division;
- F + A of log L, as the change of a logarithm is at least its argument's relative one, u |x| of
  what is made of it and stored as x;
- (F + r + 3 u + A) sum w |v| + u |x| of a mean x: each stored weight and product, their sum, the
  rescaling.

What scores and values carry, gaps, underflows and flushes only add to them, and the cap only widens
them where it counts. A standard's bound on a sum is taken to grow with the terms as a whole, as
those of this library do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from exactref_core.arithmetic import softmax_rules
from exactref_core.arithmetic.approx import Approx
from exactref_core.arithmetic.bound import ALGEBRA, Bound, Clip, magnitude
from exactref_core.arithmetic.brackets import Bracket
from exactref_core.arithmetic.graph import Indices, Node
from exactref_core.arithmetic.prefixes import PrefixSums

if TYPE_CHECKING:
    from exactref_core.arithmetic.bounds import FloatBounds

__all__ = ["least_bound"]

Ends: TypeAlias = tuple[Any, Any]

# Bits of the formats whose roundings plain float64 does not come near.
NARROW = 24
DOWN = 1 - 2.0**-40


def least_bound(reading: FloatBounds, node: Node, flat: Indices | None) -> Bound | None:
    """Return a bound of which only the lower end says something, and a clip only from inside.

    None where that takes as much as the bound itself.
    """
    form, home = node.compute, type(reading.standard).__module__.partition(".")[0]
    if form is None or form.precision > NARROW or home != "exactref_core":
        return None
    sums, n = node.attrs.accumulator or form, node.operands[0].shape[-1]
    if softmax_rules.is_narrow(form, sums) or not n:
        return None
    unit = float(form.unit_roundoff)
    share = ALGEBRA.constant(softmax_rules.power_share(form, sums, reading.standard.rescales(n)))
    one = PrefixSums(Bracket(1.0, 1.0))
    added, row = softmax_rules.summed(
        ALGEBRA, form, sums, n, reading.standard.bracket, one, share, False
    )
    power, adding, total = (float(x.low) for x in (share, added, row))
    x = reading.value(node, flat)
    size = magnitude(x).low
    clip = None
    if node.verb == "weights":
        low = size * ((power + total + 2 * unit) * DOWN)
        clip = within(x.high.shape, 0.0, 1.0)
    elif node.verb == "attend":
        sizes = reading.fast.sizes.get(node) if flat is None else None
        if sizes is None:
            return None
        low = sizes.reshape(node.shape) * ((power + total + adding + 3 * unit) * DOWN)
        low += size * (unit * DOWN)
        clip = hull(reading, node, x)
    else:
        low = size * (unit * DOWN)
        low += (power + adding) * DOWN
    error = Bracket(low, np.full(low.shape, np.inf))
    return Bound(error, error, None, None, clip)


def within(shape: tuple[int, ...], low: Any, high: Any) -> Clip:
    """Return a clip that is known from inside."""
    inner = [np.broadcast_to(np.asarray(end, np.float64), shape) for end in (low, high)]
    outer = [np.broadcast_to(np.asarray(end), shape) for end in (-np.inf, np.inf)]
    return Clip((outer[0], inner[0]), (outer[1], inner[1]))


def hull(reading: FloatBounds, node: Node, x: Approx) -> Clip:
    """Return what means of the kept values certainly may be: the range of these and 0, widened by
    (2n + 8) u of the larger.

    Where the kept keys are not the first ones of each row, that of the mean and 0.
    """
    values, keep = reading.fast.whole(node.operands[1]).high, node.attrs.keep
    n = values.shape[-2]
    unit = 0.0 if node.compute is None else float(node.compute.unit_roundoff)
    if keep is None:
        low = np.min(values, axis=-2, keepdims=True, initial=0.0)
        high = np.max(values, axis=-2, keepdims=True, initial=0.0)
    else:
        count = np.count_nonzero(keep, axis=-1)
        low, high = of_first(values, keep, count) or mean_and_zero(x)
    wide = np.maximum(-low, high) * ((2 * n + 8) * unit * DOWN)
    return within(node.shape, low - wide, high + wide)


def of_first(values: Any, keep: Any, count: Any) -> Ends | None:
    """Return the least and the largest of 0 and the first ``count`` values, where these are kept.

    None where others are.
    """
    n = values.shape[-2]
    if np.any(keep != (np.arange(n) < count[..., None])):
        return None
    least = np.minimum(np.minimum.accumulate(values, axis=-2), 0.0)
    most = np.maximum(np.maximum.accumulate(values, axis=-2), 0.0)
    place = np.maximum(count - 1, 0)[..., None]
    shape = (*place.shape[:-1], values.shape[-1])
    place = np.broadcast_to(place, shape)
    low, high = (
        np.take_along_axis(np.broadcast_to(x, (*shape[:-2], *x.shape[-2:])), place, axis=-2)
        for x in (least, most)
    )
    none = (count == 0)[..., None]
    return np.where(none, 0.0, low), np.where(none, 0.0, high)


def mean_and_zero(x: Approx) -> Ends:
    """Return numbers between means and 0, next to the means."""
    least = magnitude(x).low
    return -np.where(x.high < 0, least, 0.0), np.where(x.high > 0, least, 0.0)
