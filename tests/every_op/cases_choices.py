"""Inputs of the operations that choose among numbers, and of those with three operands."""

from __future__ import annotations

from typing import Any

import numpy as np

from exactref_core.formats.format import Format
from exactref_core.op import Op

Rng = np.random.Generator
Arguments = tuple[tuple[np.ndarray, ...], dict[str, Any]]


def rule(rng: Rng) -> dict[str, Any]:
    return {"nan": "ignore"} if rng.random() < 0.5 else {}


def two(rng: Rng, op: Op, form: Format, count: int) -> Arguments:
    from tests.every_op.cases import two_operands

    return two_operands(rng, op, form, count)[0], rule(rng)


def reduced(rng: Rng, op: Op, form: Format, count: int) -> Arguments:
    from tests.every_op.cases import reduced as made

    tensors, params = made(rng, op, form, count)
    return tensors, params | rule(rng)


def three(rng: Rng, op: Op, form: Format, count: int) -> Arguments:
    """x, y and a third operand that is made for their product where there is one."""
    from tests.every_op.cases import pairs, values

    x, y = pairs(rng, form, count)
    z = values(rng, form, count)
    if op.name == "fma" and form.is_float:
        from tests.every_op.hostile import fit, partners

        with np.errstate(all="ignore"):
            product = fit(x * y, form)
        near = partners(rng, product, form)
        z = np.where(rng.random(count) < 0.5, near, z)
        z = np.where(rng.random(count) < 0.1, fit(-product, form), z)
    return (x, y, z), rule(rng) if op.name == "clip" else {}


def choices(rng: Rng, op: Op, form: Format, count: int) -> Arguments:
    tensors, _ = two(rng, op, form, count)
    shape = np.broadcast_shapes(*(x.shape for x in tensors))
    return tensors, {"condition": rng.random(shape) < 0.5}


def one(rng: Rng, op: Op, form: Format, count: int) -> Arguments:
    from tests.every_op.cases import values
    from tests.every_op.hostile import squares

    x = values(rng, form, count)
    if op.name == "rsqrt" and form.is_float:
        x = np.where(rng.random(count) < 0.9, np.abs(x), x)
        x = np.where(rng.random(count) < 0.3, squares(rng, form, count), x)
    if op.name == "leaky_relu":
        return (x,), {"negative_slope": float(rng.choice([0.01, 0.25, 0.0, -1.5, 3.0]))}
    return (x,), rule(rng) if op.name == "relu" else {}


MAKERS = {
    "maximum": two,
    "minimum": two,
    "max": reduced,
    "min": reduced,
    "clip": three,
    "fma": three,
    "where": choices,
    **dict.fromkeys(("astype", "rsqrt", "reciprocal", "square", "relu", "leaky_relu"), one),
}
