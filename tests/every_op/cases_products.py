"""Inputs of the operations made of products."""

from __future__ import annotations

from typing import Any

import numpy as np

from exactref_core.formats.format import Format
from exactref_core.op import Op

Rng = np.random.Generator
Arguments = tuple[tuple[np.ndarray, ...], dict[str, Any]]

SUBSCRIPTS = ("ij,jk->ik", "ij,kj->ki", "ij,kl->il", "ij,jk->k", "ij,jk->ijk", "ij,kj->jki")
LENGTHS = (1, 2, 3, 5, 8, 16, 33)


def linear(rng: Rng, op: Op, form: Format, count: int) -> Arguments:
    side = max(int(np.sqrt(count)), 1)
    x, w = factor_rows(rng, form, side, int(rng.choice(LENGTHS)))
    if rng.random() < 0.3:
        return (x, w), {}
    return (x, w, values(rng, form, side)), {}


def addmm(rng: Rng, op: Op, form: Format, count: int) -> Arguments:
    side = max(int(np.sqrt(count)), 1)
    a, b = factor_rows(rng, form, side, int(rng.choice(LENGTHS)))
    c = values(rng, form, side * side).reshape(side, side)
    c = c[:1] if rng.random() < 0.3 else c
    params = {}
    if rng.random() < 0.7:
        params = {name: int(rng.integers(-40, 41)) / 16 for name in ("alpha", "beta")}
    if rng.random() < 0.2:
        params["beta"] = 0
    return (c, a, b.T.copy()), params


def vecdot(rng: Rng, op: Op, form: Format, count: int) -> Arguments:
    a, b = factor_rows(rng, form, count, int(rng.choice(LENGTHS)))
    if rng.random() < 0.5:
        return (a, b), {}
    side = max(int(np.sqrt(count)), 1)
    return (a[:side].T[:, :, None].copy(), b[:side].T[:, None, :].copy()), {"axis": -3}


def outer(rng: Rng, op: Op, form: Format, count: int) -> Arguments:
    side = max(int(np.sqrt(count)), 1)
    return pairs(rng, form, side), {}


def tensordot(rng: Rng, op: Op, form: Format, count: int) -> Arguments:
    side = max(int(np.sqrt(count)), 1)
    a, b = factor_rows(rng, form, side, 6)
    x, y = a.reshape(side, 2, 3), b.reshape(side, 2, 3)
    choice = int(rng.integers(4))
    if choice == 0:
        return (x, y.transpose(1, 2, 0).copy()), {}
    if choice == 1:
        return (x, y), {"axes": ((-1, 1), (2, 1))}
    if choice == 2:
        return (a, b.T.copy()), {"axes": 1}
    return pairs(rng, form, side), {"axes": 0}


def einsum(rng: Rng, op: Op, form: Format, count: int) -> Arguments:
    side = max(int(np.sqrt(count / 2)), 1)
    n = int(rng.choice([1, 2, 3, 5]))
    a, b = factor_rows(rng, form, side, n)
    if rng.random() < 0.2:
        row = a[:, 0]
        square = np.broadcast_to(row, (side, side)).copy()
        one = str(rng.choice(["ij->i", "ii->i", "ij->ji"]))
        return (square,), {"subscripts": one}
    subscripts = str(rng.choice(SUBSCRIPTS))
    second = b if subscripts in ("ij,kj->ki", "ij,kj->jki", "ij,kl->il") else b.T.copy()
    if subscripts == "ij,jk->ijk":
        second = second[:, :3]
    return (a, second), {"subscripts": subscripts}


def pairs(rng: Rng, form: Format, count: int) -> tuple[np.ndarray, np.ndarray]:
    from tests.every_op.cases import pairs as made

    return made(rng, form, count)


def values(rng: Rng, form: Format, count: int) -> np.ndarray:
    from tests.every_op.cases import values as made

    return made(rng, form, count)


def factor_rows(rng: Rng, form: Format, count: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    from tests.every_op.cases import factor_rows as made

    return made(rng, form, count, n)


MAKERS = {
    "linear": linear,
    "addmm": addmm,
    "vecdot": vecdot,
    "outer": outer,
    "tensordot": tensordot,
    "einsum": einsum,
}
