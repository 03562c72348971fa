"""Functions of one and two numbers in the plain reading."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from exactref_core.arithmetic.plain_numbers import Plain, Wild, both, either, finite, without
from exactref_core.exact.double_double import Floats
from exactref_core.exact.elementary import Function
from exactref_core.exact.elementary_arrays import outside
from exactref_core.exact.exponentials import LEAST
from exactref_core.exact.plain import KERNELS, plain
from exactref_core.exact.plain_blocks import block_power, block_values
from exactref_core.exact.plain_pairs import PAIRS, plain_pair

__all__ = ["is_plain", "of_one", "of_two"]

# Functions whose kernels never return a negative number, nor have a negative value.
POSITIVE = ("exp", "exp2", "erfc")
# A little above log2 e: 1.44269504.
LOG2_E = 1.4427
# A little above the largest values.
TOPS = {"tanh": 1.001, "erf": 1.001, "erfc": 2.001}


def is_plain(function: Any) -> bool:
    """Return whether a function has a plain kernel."""
    return function.name in (KERNELS if isinstance(function, Function) else PAIRS)


def of_one(function: Function, x: Plain) -> Plain:
    """Return a function's values; at arguments outside its domain they are unknown."""
    x = within(function, x)
    name, shape = function.name, np.shape(x.value)
    value, positive = np.ravel(x.value), name in POSITIVE
    if isinstance(x.radius, float):
        found = block_values(name, value, x.relative, x.radius, x.top)
        if found is not None:
            result, relative, absolute, unknown = found
            least, top = sizes(name, x)
            given = None if unknown is None else unknown.reshape(shape)
            values = Plain(result.reshape(shape), relative, absolute, top, least, positive)
            return replace(values, unknown=either(x.unknown, given))
    pair = plain(function, value, flat_spread(x, shape))
    if pair is None:
        raise Wild
    result, radius = (part.reshape(shape) for part in pair)
    return finite(Plain(result, 0.0, radius, positive=positive, unknown=x.unknown))


def within(function: Function, x: Plain) -> Plain:
    """Return arguments of which those without a number for a value are unknown."""
    if function.poles is None:
        low = -math.inf if function.low is None else function.low
        high = math.inf if function.high is None else function.high
        if x.top < math.inf and low < -x.top and x.top < high:
            return x
        if low < np.min(x.value, initial=1.0) and np.max(x.value, initial=1.0) < high:
            return x
    given = outside(function, np.asarray(x.value)) != 0
    return without(x, given) if given.any() else x


def sizes(name: str, x: Plain) -> tuple[float, float]:
    """Return what no value is below and above in size, of a block's values."""
    if name == "exp" and x.top < -LEAST:
        power = math.ceil(x.top * LOG2_E)
        return math.ldexp(1.0, -power), math.ldexp(1.0, power)
    return 0.0, TOPS.get(name, math.inf)


def flat_spread(x: Plain, shape: tuple[int, ...]) -> Floats | None:
    """Return how far flat arguments may be from the exact ones; None where they are exact."""
    return None if x.exact else np.broadcast_to(np.asarray(x.spread()), shape).reshape(-1)


def of_two(function: Any, x: Plain, y: Plain) -> Plain:
    """Return the values of a function of two numbers."""
    shape = np.broadcast_shapes(np.shape(x.value), np.shape(y.value))
    one, other = (np.broadcast_to(z.value, shape).reshape(-1) for z in (x, y))
    if function.name == "pow" and x.exact and y.exact and np.min(one, initial=1.0) > 0:
        found = block_power(one, other, x.top, y.top)
        if found is not None:
            value = found[0].reshape(shape)
            return Plain(value, found[1], found[2], positive=True, unknown=both(x, y))
    pair = plain_pair(function.name, one, other, flat_spread(x, shape), flat_spread(y, shape))
    if pair is None:
        raise Wild
    value, radius = (part.reshape(shape) for part in pair)
    value = np.where(np.isfinite(radius), value, 0.0)
    return finite(Plain(value, 0.0, radius, unknown=both(x, y)))
