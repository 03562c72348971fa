"""Sums and means along the last axis, in every order and with every fault of a sum."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.arena.data import drawn
from tests.arena.frame import (
    Bench,
    Family,
    Kernel,
    Rng,
    Values,
    fault,
    flushed,
    right,
    with_stores,
)
from tests.arena.library import of_torch
from tests.arena.orders import (
    DOUBLE,
    FREE,
    NORMAL,
    Order,
    loop,
    narrow_single,
    odd,
    single,
    steps,
    wide,
)
from tests.every_op.kernels_formats import SPECS, Spec, store

SIZES = (1, 2, 7, 32, 33, 100, 1000, 4096)
LONG = (*SIZES, 65536, 10**6)
Row = Callable[[Bench, Values], Values]


def one(rng: Rng, kind: str, count: int, size: int, spec: Spec) -> tuple[Values, ...]:
    """Rows of one tensor."""
    return drawn(rng, kind, spec, (count, size))


def ordered(finish: Callable[[Bench, Values, Values], Values]) -> tuple[Kernel, ...]:
    """A kernel for each order of adding; ``finish`` makes the result of a sum and the terms."""

    def run(order: Order) -> Row:
        return lambda b, x: finish(b, order(b.m, x), x)

    def rounded_to_odd(b: Bench, x: Values) -> Values:
        # Of what is stored, not of the sum: a mean may be finite where its sum is not.
        return odd(finish(b, wide(loop)(b.m, x), x))

    return (
        *(right(name, run(order), "normal") for name, order in NORMAL.items()),
        *(right(name, run(order), "normal", when=single) for name, order in DOUBLE.items()),
        right("float64, rounded to odd", rounded_to_odd, "normal", when=narrow_single),
        *(right(name, run(order)) for name, order in FREE.items()),
    )


def last_block(x: Values, size: int = 32) -> Values:
    """All but the last, possibly short, block."""
    return x[..., : (x.shape[-1] - 1) // size * size] if x.shape[-1] else x


def repeated(x: Values, place: int) -> Values:
    """One term twice."""
    return np.concatenate([x, x[..., place : place + 1]], axis=-1)


def stale(x: Values) -> Values:
    """The middle term read where the last one should have been."""
    x = x.copy()
    x[..., -1:] = x[..., x.shape[-1] // 2 : x.shape[-1] // 2 + 1]
    return x


def narrow_loop(name: str) -> Row:
    """A loop that stores each sum in a narrower format."""

    def run(b: Bench, x: Values) -> Values:
        total = np.zeros(x.shape[:-1])
        for k in range(x.shape[-1]):
            total = store(total + x[..., k].astype(np.float64), SPECS[name])
        return total

    return run


def narrowed(name: str, then: Row) -> Row:
    """A kernel that reads its inputs in a narrower format."""
    return lambda b, x: then(b, b.m.load(store(x, SPECS[name])))


def lost_update(b: Bench, x: Values) -> Values:
    """Two of four lanes write at once, and one write is lost."""
    parts = [loop(b.m, x[..., i::4]) for i in range(4)]
    return b.m.add(b.m.add(parts[0], parts[1]), parts[3] if x.shape[-1] > 3 else parts[2])


def tail(b: Bench, x: Values) -> Values:
    """The last block filled up with what memory held: the first terms."""
    short = -x.shape[-1] % 8
    return loop(b.m, np.concatenate([x, x[..., :short]], axis=-1))


def shifted(b: Bench, x: Values) -> Values:
    """Reads begin one element late and end in the next row."""
    flat = np.roll(x.reshape(-1), -1) if x.size else x.reshape(-1)
    return loop(b.m, flat.reshape(x.shape))


def wrong_axis(b: Bench, x: Values) -> Values:
    """Memory read column by column."""
    if not x.size:
        return loop(b.m, x)
    return loop(b.m, np.swapaxes(x.reshape(x.shape[-1], -1), 0, 1).reshape(x.shape))


def plain(b: Bench, x: Values) -> Values:
    return loop(b.m, x)


def sign(x: Values) -> Values:
    return np.concatenate([-x[..., :1], x[..., 1:]], axis=-1)


SUM_FAULTS: dict[str, Row] = {
    "first term dropped": lambda b, x: loop(b.m, x[..., 1:]),
    "last term dropped": lambda b, x: loop(b.m, x[..., :-1]),
    "term doubled": lambda b, x: loop(b.m, repeated(x, x.shape[-1] // 2)),
    "stale term": lambda b, x: loop(b.m, stale(x)),
    "last block skipped": lambda b, x: loop(b.m, last_block(x)),
    "sign of a term": lambda b, x: loop(b.m, sign(x)),
    "inputs in a narrower format": lambda b, x: narrowed(narrower(b), plain)(b, x),
    "lost update": lost_update,
    "uninitialised tail": tail,
    "reads shifted by one": shifted,
    "wrong axis": wrong_axis,
    "empty row not written": lambda b, x: (
        plain(b, x) if x.shape[-1] else np.ones(x.shape[:-1], b.m.dtype)
    ),
    "row of one term skipped": lambda b, x: plain(b, x[..., :0] if x.shape[-1] == 1 else x),
}


def narrower(b: Bench) -> str:
    return {"float64": "float32", "float32": "bfloat16", "float16": "bfloat16"}.get(
        b.spec.name, "float8_e5m2"
    )


def accumulator(b: Bench) -> str:
    """What a careless kernel accumulates in."""
    return {"float64": "float32", "float32": "bfloat16"}.get(b.spec.name, b.spec.name)


def then(finish: Callable[[Bench, Values, Values], Values], faulty: Row) -> Row:
    return lambda b, x: finish(b, np.asarray(faulty(b, x)).astype(b.m.dtype), x)


def sum_faults(finish: Callable[[Bench, Values, Values], Values]) -> tuple[Any, ...]:
    return (
        *(fault(kind, then(finish, run)) for kind, run in SUM_FAULTS.items()),
        fault(
            "narrower accumulator",
            then(finish, lambda b, x: narrow_loop(accumulator(b))(b, x)),
            longest=4096,
        ),
    )


def as_is(b: Bench, total: Values, x: Values) -> Values:
    return total


def divided(b: Bench, total: Values, x: Values) -> Values:
    return total / total.dtype.type(x.shape[-1])


def divided_by(change: Callable[[int], int]) -> Row:
    return lambda b, x: loop(b.m, x) / b.number(change(x.shape[-1]))


def magnitude(x: Values) -> Values:
    return np.abs(x).sum(axis=-1)


SUM = Family(
    group="sums",
    op="sum",
    tensors=one,
    right=(
        *ordered(as_is),
        flushed("index order", lambda b, x: steps(b.m, x)),
        *of_torch("sum", dim=-1, formats=("float32", "float64", "bfloat16")),
    ),
    broken=(*sum_faults(as_is), *with_stores(plain)),
    parameters={"axis": -1},
    formats=("float32", "bfloat16", "float16", "float64", "float8_e5m2", "float8_e4m3fn"),
    slow=("near_overflow", "wide_exponents"),
    sizes=(0, *LONG),
    magnitude=magnitude,
    own=plain,
)
MEAN = Family(
    group="sums",
    op="mean",
    tensors=one,
    right=(
        *ordered(divided),
        right("sum times 1/n", lambda b, x: loop(b.m, x) * (1 / b.number(x.shape[-1])), "normal"),
    ),
    broken=(
        *sum_faults(divided),
        fault("divided by n - 1", divided_by(lambda n: max(n - 1, 1))),
        fault("divided by n + 1", divided_by(lambda n: n + 1)),
        fault("divided by the padded n", divided_by(lambda n: -(-n // 32) * 32)),
        fault("not divided", plain),
        *with_stores(lambda b, x: divided(b, plain(b, x), x), "truncating store"),
    ),
    parameters={"axis": -1},
    slow=("near_overflow", "wide_exponents"),
    sizes=LONG,
    magnitude=lambda x: magnitude(x) / x.shape[-1],
    own=lambda b, x: divided(b, plain(b, x), x),
)


FAMILIES = (SUM, MEAN)
