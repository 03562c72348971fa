"""Dot products and matrix products: orders over k, fused or not, tiles, split-K."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from tests.arena.data import drawn
from tests.arena.frame import Bench, Family, Rng, Values, fault, flushed, right, with_stores
from tests.arena.library import of_numpy, of_torch
from tests.arena.orders import DOUBLE, FREE, NORMAL, Order, loop, single, steps
from tests.arena.sums import SUM_FAULTS, accumulator, narrower
from tests.every_op.kernels_formats import SPECS, Spec, store

Run = Callable[..., Values]
SIDE = 8


def matrices(rng: Rng, kind: str, count: int, size: int, spec: Spec) -> tuple[Values, ...]:
    """A (count, k) and B (k, SIDE)."""
    return drawn(rng, kind, spec, (count, size), (size, SIDE), axes=(-1, -2), terms=size)


def terms(a: Values, b: Values) -> Values:
    """a_ik b_kj with k last."""
    return a[..., :, None, :] * np.swapaxes(b, -1, -2)[..., None, :, :]


def ordered(order: Order) -> Run:
    """Products rounded, then added in an order."""
    return lambda bench, a, b: order(bench.m, terms(a, b))


def exact_terms(order: Order) -> Run:
    """Products and sums in float64."""
    return lambda bench, a, b: order(bench.m, terms(a.astype(np.float64), b.astype(np.float64)))


def fused(size: int | None = None) -> Run:
    """Fused multiply-adds in index order, from zero; in blocks, whose sums are added in a tree."""

    def chain(bench: Bench, a: Values, b: Values) -> Values:
        total = np.zeros(
            (*np.broadcast_shapes(a.shape[:-2], b.shape[:-2]), a.shape[-2], b.shape[-1]),
            bench.m.dtype,
        )
        for k in range(a.shape[-1]):
            total = bench.m.fma(a[..., :, k, None], b[..., k, None, :], total)
        return total

    def run(bench: Bench, a: Values, b: Values) -> Values:
        step = size or max(1, a.shape[-1])
        parts = [
            chain(bench, a[..., i : i + step], b[..., i : i + step, :])
            for i in range(0, max(1, a.shape[-1]), step)
        ]
        while len(parts) > 1:
            pairs = [p + q for p, q in zip(parts[::2], parts[1::2], strict=False)]
            parts = pairs + parts[len(pairs) * 2 :]
        return parts[0]

    return run


def rounded_loop(name: Callable[[Bench], str]) -> Run:
    """Each partial sum stored in a narrower format."""

    def run(bench: Bench, a: Values, b: Values) -> Values:
        found = terms(a.astype(np.float64), b.astype(np.float64))
        total = np.zeros(found.shape[:-1])
        for k in range(found.shape[-1]):
            total = store(total + found[..., k], SPECS[name(bench)])
        return total

    return run


def coarse(name: Callable[[Bench], str]) -> Run:
    """Inputs read in a narrower format."""

    def run(bench: Bench, a: Values, b: Values) -> Values:
        p, q = (bench.m.load(store(x, SPECS[name(bench)])) for x in (a, b))
        return ordered(loop)(bench, p, q)

    return run


def tensor_core(bench: Bench, a: Values, b: Values) -> Values:
    """Sums of four products aligned to the largest and truncated to 24 bits."""
    found = terms(a.astype(np.float64), b.astype(np.float64))
    total = np.zeros(found.shape[:-1])
    for k in range(0, found.shape[-1], 4):
        part = np.concatenate([total[..., None], found[..., k : k + 4]], axis=-1)
        top = np.max(np.abs(part), axis=-1, keepdims=True)
        step = np.ldexp(1.0, np.frexp(np.where(np.isfinite(top), top, 1.0))[1] - 24)
        total = (np.trunc(part / step) * step).sum(axis=-1)
    return total


def tile(change: Callable[[Values], Values]) -> Run:
    """The last 4 x 4 tile of the result (or what there is of it) changed."""

    def run(bench: Bench, a: Values, b: Values) -> Values:
        found = np.array(ordered(loop)(bench, a, b))
        side = min(4, *found.shape[-2:])
        if side:
            part = found[..., -side:, -side:]
            found[..., -side:, -side:] = change(part)
        return found

    return run


def stale_block(bench: Bench, a: Values, b: Values) -> Values:
    """The second block of B read before it is loaded: the first is used again."""
    size = min(16, a.shape[-1] // 2)
    b = b.copy()
    if size:
        b[..., size : 2 * size, :] = b[..., :size, :]
    return ordered(loop)(bench, a, b)


def not_cleared(bench: Bench, a: Values, b: Values) -> Values:
    """Each row's accumulator starts from what the row before left."""
    found = ordered(loop)(bench, a, b)
    return found + np.concatenate([np.zeros_like(found[..., :1, :]), found[..., :-1, :]], axis=-2)


def factor(change: float) -> Run:
    return lambda bench, a, b: ordered(loop)(bench, a, b) * bench.number(change)


def over_terms(run: Callable[[Bench, Values], Values]) -> Run:
    return lambda bench, a, b: run(bench, terms(a, b))


def magnitude(a: Values, b: Values) -> Values:
    return np.matmul(np.abs(a), np.abs(b))


SHARED = (
    "first term dropped", "last term dropped", "term doubled", "stale term", "last block skipped",
    "sign of a term", "lost update", "uninitialised tail", "empty row not written",
    "row of one term skipped",
)  # fmt: skip


def of_any_rank(kernels: tuple[Any, ...]) -> tuple[Any, ...]:
    """Kernels of matrices that take vectors too."""

    def ranked(run: Run) -> Run:
        def wrapped(bench: Bench, a: Values, b: Values) -> Values:
            first, second = a.ndim == 1, b.ndim == 1
            found = run(bench, a[None] if first else a, b[:, None] if second else b)
            found = found[..., 0, :] if first else found
            return found[..., 0] if second else found

        return wrapped

    return tuple(replace(each, run=ranked(each.run)) for each in kernels)


MATMUL = Family(
    group="products",
    op="matmul",
    tensors=matrices,
    right=of_any_rank(
        (
            *(right(name, ordered(order), "normal") for name, order in NORMAL.items()),
            right("fused, index order", fused(), "normal", longest=100),
            right("fused, blocks of 32", fused(32), "normal", longest=100),
            *(right(name, exact_terms(o), "normal", when=single) for name, o in DOUBLE.items()),
            *(right(name, ordered(order)) for name, order in FREE.items()),
            right("fused, blocks of 8", fused(8), longest=100),
            *of_numpy("matmul", np.matmul),
            *of_torch("matmul"),
        )
    ),
    broken=of_any_rank(
        (
            *(fault(kind, over_terms(SUM_FAULTS[kind])) for kind in SHARED),
            fault("narrower accumulator", rounded_loop(accumulator)),
            fault("inputs in a narrower format", coarse(narrower)),
            fault("inputs in tfloat32", coarse(lambda b: "tfloat32")),
            fault("truncating tensor core", tensor_core),
            fault("transposed tile", tile(lambda t: np.swapaxes(t, -1, -2))),
            fault("tile not written", tile(np.zeros_like)),
            fault("rows of a tile shifted", tile(lambda t: np.roll(t, 1, axis=-2))),
            fault("stale block", stale_block),
            fault("accumulator not cleared", not_cleared),
            fault("wrong scale", factor(1 + 2.0**-6)),
            fault("result negated", factor(-1)),
            *with_stores(
                ordered(loop),
                "truncating store",
                "flush to zero, undeclared",
                "NaN swallowed",
                "infinity becomes the largest value",
            ),
        )
    ),
    formats=("float32", "bfloat16", "float16", "float64", "float8_e5m2"),
    sizes=(0, 1, 2, 7, 32, 33, 100, 1000),
    slow=("near_overflow", "wide_exponents"),
    few=64,
    most=8,
    work=2**13,
    magnitude=magnitude,
    own=ordered(loop),
)


def vectors(rng: Rng, kind: str, count: int, size: int, spec: Spec) -> tuple[Values, ...]:
    return drawn(rng, kind, spec, (count, size), (count, size), terms=size)


def dots(order: Order) -> Run:
    return lambda bench, x, y: order(bench.m, x * y)


def over_products(run: Callable[[Bench, Values], Values]) -> Run:
    return lambda bench, x, y: run(bench, x * y)


VECDOT = Family(
    group="products",
    op="vecdot",
    tensors=vectors,
    right=(
        *(right(name, dots(order), "normal") for name, order in NORMAL.items()),
        *(right(name, dots(order)) for name, order in FREE.items()),
        flushed("index order", lambda bench, x, y: steps(bench.m, bench.m.multiply(x, y))),
        *of_torch("vecdot", where="torch.linalg"),
    ),
    broken=(
        *(fault(kind, over_products(SUM_FAULTS[kind])) for kind in SHARED),
        fault(
            "products in a narrower format",
            lambda bench, x, y: loop(
                bench.m, bench.m.load(store((x * y).astype(np.float64), SPECS[narrower(bench)]))
            ),
        ),
        fault("second vector reversed", lambda bench, x, y: loop(bench.m, x * y[..., ::-1])),
        *with_stores(dots(loop), "truncating store"),
    ),
    parameters={"axis": -1},
    sizes=(0, 1, 2, 7, 33, 100, 1000, 4096),
    slow=("near_overflow", "wide_exponents"),
    few=256,
    most=64,
    magnitude=lambda x, y: np.abs(x * y).sum(axis=-1),
    own=dots(loop),
)

FAMILIES: tuple[Any, ...] = (MATMUL, VECDOT)
