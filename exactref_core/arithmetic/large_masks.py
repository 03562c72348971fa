"""Additive masks so large that adding them to a score, rounded, leaves the mask.

In the compute format m + s rounds to m where |s| is below a fourth of the spacing above |m|: the
spacing below a power of two is half of that above it, and half of that is a tie. With an eighth
that holds of both times log2 e too, in base 2. However a score is computed, in any order, it is at
most scale * sum |q k| (1 + u)^(n + 16), and n + 2 smallest numbers: products and sums, scales of
both factors, a softcap's quotient and product. A tanh is at most 1, and rounds by 9 u.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from exactref_core.arithmetic.approx import Approx
from exactref_core.arithmetic.bound import ALGEBRA
from exactref_core.arithmetic.fast import FastReading
from exactref_core.arithmetic.graph import Node, is_float_input
from exactref_core.errors import InputError
from exactref_core.formats.catalogue import get_format
from exactref_core.formats.format import Format

__all__ = ["absorbed"]

ROOM = 1 + 2.0**-20


def magnitude(x: Approx) -> Any:
    """Return bounds on the magnitudes of inputs; inf for what is no number."""
    size = np.abs(x.high) + x.spread
    return size if x.special is None else np.where(x.special == 0, size, np.inf)


def largest_scores(
    tensors: tuple[Node, Node], scale: float, cap: float | None, sums: Format
) -> Any:
    """Return bounds on all scores that kernels may compute; ``sums`` is the narrowest format."""
    for name, node in zip(("query", "key"), tensors, strict=True):
        if not is_float_input(node):
            raise InputError(
                f'mask_sum="rounded" takes inputs, and {name} is the result of another call, of '
                f"which other values may be stored: give {name}.rounded, or a kernel's output"
            )
    reading = FastReading(False)
    q, k = (magnitude(reading.whole(node)) for node in tensors)
    n = q.shape[-1]
    with np.errstate(all="ignore"):
        size = np.matmul(q, np.swapaxes(k, -1, -2)) * (abs(scale) * ROOM * (1 + n * 2.0**-52))
        if cap is not None:
            size = np.fmin(size, cap)
        size *= ALGEBRA.power(sums.unit_roundoff, n + 16).high
        size += (n + 2) * float(sums.eta)
    return np.where(np.isnan(size), np.inf, size)


def absorbed(
    mask: Node, tensors: tuple[Node, Node], rules: Mapping[str, Any], compute: Format | None
) -> Any:
    """Return where the scores of queries and keys leave the finite values of a mask as they are."""
    scale, cap, algorithm = rules["scale"], rules["softcap"], rules["algorithm"]
    factor = tensors[0].shape[-1] ** -0.5 if scale is None else float(scale)
    form = compute or get_format("float64")
    declared = None if algorithm is None else algorithm.format("accumulator")
    sums = form if declared is None or declared.precision > form.precision else declared
    size = largest_scores(tensors, factor, float(cap) if cap else None, sums)
    values = FastReading(False).whole(mask).high
    _, exponent = np.frexp(values)  # |values| >= 2^(exponent - 1)
    return (values != 0) & (size < np.ldexp(1.0, exponent - form.precision) / 8)
