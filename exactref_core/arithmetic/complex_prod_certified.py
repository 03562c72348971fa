"""The certified reading of products of complex numbers, in index order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from exactref_core.arithmetic.certified import STEPS, Scalar
from exactref_core.arithmetic.graph import Node, sum_terms

if TYPE_CHECKING:
    from exactref_core.arithmetic.certified import CertifiedReading

__all__ = ["exact", "multiplied"]


def exact(reading: CertifiedReading, node: Node, flat: int) -> Scalar:
    """Return one part of one product."""
    key = ("complex_prod", node.operands[0], flat)
    if key not in reading.rows:
        values = reading.values(node.operands[0], sum_terms(node, np.asarray([flat]))[0])
        found = values[0], values[1]
        for pair in zip(values[2::2], values[3::2], strict=True):
            found = multiplied(reading.arithmetic, found, pair)
        reading.rows[key] = found
    return reading.rows[key][node.attrs.part]


def multiplied(arithmetic: Any, x: tuple[Scalar, Scalar], y: tuple[Scalar, Scalar]) -> Any:
    """Return (ac - bd) + (ad + bc)i by the rules of IEEE, part by part."""
    (a, b), (c, d) = x, y

    def step(verb: str, one: Scalar, other: Scalar) -> Scalar:
        return STEPS[verb](arithmetic, None, one, other)

    real = step("subtract", step("multiply", a, c), step("multiply", b, d))
    return real, step("add", step("multiply", a, d), step("multiply", b, c))
