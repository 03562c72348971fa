"""Elementwise operations that round once: arithmetic, fused multiply-add, casts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import exactref as er
from tests.arena.data import drawn
from tests.arena.frame import (
    Bench,
    Family,
    Fault,
    Rng,
    Tensors,
    Values,
    fault,
    flushed,
    right,
    through,
    with_stores,
)
from tests.arena.library import of_numpy
from tests.arena.orders import single
from tests.arena.sums import narrower
from tests.every_op.kernels_formats import SPECS, Spec, store

FORMATS = ("float32", "bfloat16", "float16", "float64", "float8_e5m2", "float8_e4m3fn")
COUNT = 4096
Run = Callable[..., Values]


def flat(tensors: int) -> Tensors:
    def make(rng: Rng, kind: str, count: int, size: int, spec: Spec) -> tuple[Values, ...]:
        shapes = ((count,),) * tensors
        return drawn(rng, kind, spec, *shapes, axes=(None,), terms=1)

    return make


def swapped(run: Run) -> Run:
    return lambda b, x, y: run(b, y, x)


def coarse(run: Run) -> Run:
    """Inputs read in a narrower format."""
    return lambda b, *xs: run(b, *(b.m.load(store(x, SPECS[narrower(b)])) for x in xs))


def tail_of(run: Run) -> Run:
    """The last of the elements not written: they hold zeros."""

    def wrong(b: Bench, *xs: Values) -> Values:
        found = np.array(run(b, *xs))
        flat_view = found.reshape(-1)
        flat_view[flat_view.size - (flat_view.size + 7) // 8 :] = 0
        return found

    return wrong


def neighbour(run: Run) -> Run:
    """Each element computed from its neighbour's first input."""
    return lambda b, x, *rest: run(b, np.roll(x, 1, axis=-1) if x.ndim else x, *rest)


def usual(run: Run) -> tuple[Fault, ...]:
    """The faults that any elementwise kernel can have."""
    return (
        fault("inputs in a narrower format", coarse(run)),
        fault("uninitialised tail", tail_of(run)),
        fault("reads shifted by one", neighbour(run)),
        *with_stores(run),
    )


def wide(run: Callable[..., Any]) -> Run:
    """In float64, rounded once, or twice where the output is narrower than the machine."""
    return lambda b, *xs: run(*(x.astype(np.float64) for x in xs))


def unsigned_zero(run: Run) -> Run:
    """Adds 0, which takes the sign of -0."""
    return lambda b, *xs: run(b, *xs) + b.number(0)


def lone(op: str, run: Callable[..., Any], tensors: int, *more: Fault, **options: Any) -> Family:
    """An operation that rounds once, in the machine, or in float64."""
    direct: Run = lambda b, *xs: run(*xs)  # noqa: E731
    return Family(
        group="elementwise",
        op=op,
        tensors=flat(tensors),
        right=(
            right("direct", direct, "normal"),
            right("in float64", wide(run), "normal", when=single),
            flushed("direct", lambda b, *xs: b.m.flushed(run(*xs))),
            *of_numpy(op, run),
        ),
        broken=(*usual(direct), *more),
        formats=FORMATS,
        slow=(),
        most=COUNT,
        own=direct,
        **options,
    )


def estimated_root(b: Bench, x: Values) -> Values:
    """x times a reciprocal root."""
    return x * (b.number(1) / np.sqrt(x))


LONE = (
    lone(
        "add",
        np.add,
        2,
        fault("wrong operation", lambda b, x, y: x - y),
        fault("second operand dropped", lambda b, x, y: x),
    ),
    lone(
        "multiply",
        np.multiply,
        2,
        fault("wrong operation", lambda b, x, y: x + y),
        fault("sign dropped", lambda b, x, y: np.abs(x * y)),
        fault(
            "through logarithms",
            lambda b, x, y: np.sign(x) * np.sign(y) * np.exp(np.log(np.abs(x)) + np.log(np.abs(y))),
        ),
    ),
    lone(
        "divide",
        np.divide,
        2,
        fault("operands swapped", lambda b, x, y: y / x),
        fault("reciprocal and product", lambda b, x, y: x * (b.number(1) / y)),
        fault("eps added to the divisor", lambda b, x, y: x / (y + b.number(1e-6))),
        fault("clamped divisor", lambda b, x, y: x / np.maximum(y, b.number(1e-6))),
        fault("sign of a zero lost", lambda b, x, y: x / (y + b.number(0))),
        fault(
            "sign by comparison",
            lambda b, x, y: np.where(y < 0, -(x / np.abs(y)), x / np.abs(y)),
        ),
    ),
    lone(
        "sqrt",
        np.sqrt,
        1,
        fault("x times rsqrt(x)", estimated_root),
        fault("root of the magnitude", lambda b, x: np.sqrt(np.abs(x))),
        fault("eps inside the root", lambda b, x: np.sqrt(x + b.number(1e-6))),
    ),
)


def fma(b: Bench, x: Values, y: Values, z: Values) -> Values:
    return b.m.fma(x, y, z).reshape(np.broadcast_shapes(x.shape, y.shape, z.shape))


FMA = Family(
    group="elementwise",
    op="fma",
    tensors=flat(3),
    right=(right("fused", fma, "normal"),),
    broken=(
        fault("product rounded first", lambda b, x, y, z: x * y + z),
        fault("addend dropped", lambda b, x, y, z: x * y),
        fault("sign of the addend", lambda b, x, y, z: fma(b, x, y, -z)),
        fault("factor doubled", lambda b, x, y, z: fma(b, x, x, z)),
    ),
    formats=("float32", "bfloat16", "float16"),
    slow=(),
    most=1024,
    own=lambda b, x, y, z: x * y + z,
)


def doubles(rng: Rng, kind: str, count: int, size: int, spec: Spec) -> tuple[Values, ...]:
    """float64 numbers, half of them at or near the middle of two numbers of the format."""
    x = rng.standard_normal(count) * 2.0 ** rng.integers(-6, 6, count)
    near = store(x, spec)
    step = np.ldexp(1.0, np.frexp(np.where(near == 0, 1, near))[1] - 1 - spec.bits)
    tie = near + step * rng.choice([-1, 1], count)
    nudge = np.ldexp(tie, -int(rng.integers(28, 50))) * rng.choice([-1, 0, 1], count)
    return (np.where(rng.random(count) < 0.5, x, tie + nudge),)


def identity(b: Bench, x: Values) -> Values:
    return x


CAST = Family(
    group="elementwise",
    op="astype",
    tensors=doubles,
    right=(right("one rounding", identity, "normal", library=True),),
    broken=(
        *(
            fault(f.kind, identity, finish=f.finish, library=True)
            for f in with_stores(
                identity, "truncating store", "store rounds up", "ties away from zero"
            )
        ),
        fault("double rounding", identity, finish=through("float32"), library=True),
        fault("double rounding, from odd bits", identity, finish=through("float16"), library=True),
    ),
    call=lambda tensors, name: er.astype(tensors[0], name),
    formats=("bfloat16", "float16", "float32"),
    slow=(),
    most=COUNT,
)

FAMILIES = (*LONE, FMA, CAST)
