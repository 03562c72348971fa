"""Norms, variances, products and scans along the last axis."""

from __future__ import annotations

import numpy as np

from tests.arena.frame import (
    Bench,
    Family,
    Values,
    fault,
    right,
    with_stores,
)
from tests.arena.orders import (
    FREE,
    NORMAL,
    Order,
    loop,
    neighbours,
    single,
    wide,
)
from tests.arena.sums import (
    SIZES,
    SUM_FAULTS,
    Row,
    accumulator,
    as_is,
    last_block,
    narrowed,
    narrower,
    one,
    plain,
    repeated,
    sign,
    stale,
    then,
)
from tests.every_op.kernels import Machine
from tests.every_op.kernels_deviations import two_passes, welford
from tests.every_op.kernels_formats import SPECS, store
from tests.every_op.kernels_orders import chain, columns

HARD = ("near_overflow", "wide_exponents", "subnormal")


def squares(order: Order) -> Row:
    return lambda b, x: np.sqrt(order(b.m, x * x))


NORM = Family(
    group="sums",
    op="vector_norm",
    tensors=one,
    right=(
        *(right(name, squares(order), "normal") for name, order in NORMAL.items()),
        *(right(name, squares(order)) for name, order in FREE.items()),
        right("float64", lambda b, x: np.sqrt(wide(loop)(b.m, wide_square(x))), when=single),
    ),
    broken=(
        *(
            fault(kind, then(as_is, lambda b, x, run=run: np.sqrt(run(b, x * x))))
            for kind, run in SUM_FAULTS.items()
            if kind != "sign of a term"
        ),
        fault("root missing", lambda b, x: loop(b.m, x * x)),
        fault("sum of magnitudes", lambda b, x: loop(b.m, np.abs(x))),
        fault(
            "mean instead of sum", lambda b, x: np.sqrt(loop(b.m, x * x) / b.number(x.shape[-1]))
        ),
        *with_stores(squares(loop), "truncating store"),
    ),
    parameters={"axis": -1},
    most=32,
    sizes=(0, *SIZES),
    slow=HARD,
    few=128,
    own=squares(loop),
)


def wide_square(x: Values) -> Values:
    return x.astype(np.float64) ** 2


def two_pass(b: Bench, x: Values, fused: bool = False, reciprocal: bool = False) -> Values:
    tree = chain(list(range(x.shape[-1])))
    total = two_passes(b.m, columns(x), tree, tree, fused, reciprocal)
    return total / b.number(x.shape[-1])


def array_two_pass(order: Order) -> Row:
    """For rows of any length: the sum of squared deviations from a stored mean."""

    def run(b: Bench, x: Values) -> Values:
        n = b.number(x.shape[-1])
        d = x - (order(b.m, x) / n)[..., None]
        return order(b.m, d * d) / n

    return run


def one_pass(b: Bench, x: Values) -> Values:
    """The mean of squares less the squared mean, which cancels."""
    n = b.number(x.shape[-1])
    mean = loop(b.m, x) / n
    return loop(b.m, x * x) / n - mean * mean


def half_mean(b: Bench, x: Values) -> Values:
    half = x[..., : max(1, x.shape[-1] // 2)]
    d = x - (loop(b.m, half) / b.number(half.shape[-1]))[..., None]
    return loop(b.m, d * d) / b.number(x.shape[-1])


VAR = Family(
    group="sums",
    op="var",
    tensors=one,
    most=32,
    right=(
        *(right(f"two passes, {name}", array_two_pass(o), "normal") for name, o in NORMAL.items()),
        right("two passes, fused", lambda b, x: two_pass(b, x, True), "normal", longest=100),
        right("two passes, 1/n", lambda b, x: two_pass(b, x, False, True), "normal", longest=100),
        *(
            right(
                f"Welford, factored {factored}",
                lambda b, x, factored=factored: (
                    welford(b.m, columns(x), factored, False) / b.number(x.shape[-1])
                ),
                "normal",
                longest=1000,
            )
            for factored in (False, True)
        ),
        *(right(f"two passes, {name}", array_two_pass(o)) for name, o in FREE.items()),
    ),
    broken=(
        fault(
            "unbiased where biased is asked for",
            lambda b, x: (
                array_two_pass(loop)(b, x) * b.number(x.shape[-1] / max(1, x.shape[-1] - 1))
            ),
        ),
        fault("one pass that cancels", one_pass),
        fault(
            "row of one term divided by zero",
            lambda b, x: array_two_pass(loop)(b, x) / b.number(0 if x.shape[-1] == 1 else 1),
        ),
        fault("mean of half of the terms", half_mean),
        fault("mean not subtracted", lambda b, x: loop(b.m, x * x) / b.number(x.shape[-1])),
        fault("root taken", lambda b, x: np.sqrt(array_two_pass(loop)(b, x))),
        fault(
            "first term dropped",
            lambda b, x: array_two_pass(loop)(b, x[..., 1:]) if (x.shape[-1] > 1) else plain(b, x),
        ),
        fault(
            "last block skipped",
            lambda b, x: (
                array_two_pass(loop)(b, last_block(x))
                if (x.shape[-1] > 32)
                else array_two_pass(loop)(b, x)
            ),
        ),
        fault(
            "inputs in a narrower format",
            lambda b, x: narrowed(narrower(b), array_two_pass(loop))(b, x),
        ),
        *with_stores(array_two_pass(loop), "truncating store", "flush to zero, undeclared"),
    ),
    parameters={"axis": -1},
    sizes=(1, 2, 7, 33, 100, 1000),
    slow=HARD,
    few=128,
    own=array_two_pass(loop),
)


class Multiplying(Machine):
    """A machine whose sums are products."""

    def add(self, a: Values, b: Values) -> Values:
        return self.multiply(a, b)


def multiplied(order: str) -> Row:
    def run(b: Bench, x: Values) -> Values:
        if order == "loop":
            return (
                np.multiply.accumulate(x, axis=-1)[..., -1]
                if x.shape[-1]
                else (np.ones(x.shape[:-1], x.dtype))
            )
        if not x.shape[-1]:
            return np.ones(x.shape[:-1], x.dtype)
        return neighbours(Multiplying(b.m.name), x)

    return run


PROD = Family(
    group="sums",
    op="prod",
    tensors=one,
    most=64,
    right=(
        right("index order", multiplied("loop"), "normal"),
        right("pairwise", multiplied("tree")),
        right("reversed", lambda b, x: multiplied("loop")(b, x[..., ::-1])),
    ),
    broken=(
        fault("first term dropped", lambda b, x: multiplied("loop")(b, x[..., 1:])),
        fault("term doubled", lambda b, x: multiplied("loop")(b, repeated(x, 0))),
        fault("stale term", lambda b, x: multiplied("loop")(b, stale(x))),
        fault("sign of a term", lambda b, x: multiplied("loop")(b, sign(x))),
        fault("sum instead of product", plain),
        fault(
            "empty row not written",
            lambda b, x: (
                multiplied("loop")(b, x) if x.shape[-1] else np.zeros(x.shape[:-1], x.dtype)
            ),
        ),
        fault(
            "inputs in a narrower format",
            lambda b, x: narrowed(narrower(b), multiplied("loop"))(b, x),
        ),
    ),
    parameters={"axis": -1},
    sizes=(0, 1, 2, 7, 33, 100),
    slow=HARD,
    few=128,
    own=multiplied("loop"),
)


def scan(b: Bench, x: Values) -> Values:
    return np.add.accumulate(x, axis=-1)


def doubling(b: Bench, x: Values) -> Values:
    """Each element joined with the one 1, 2, 4, ... before it."""
    step = 1
    while step < x.shape[-1]:
        x = np.concatenate([x[..., :step], x[..., :-step] + x[..., step:]], axis=-1)
        step *= 2
    return x


SCAN = Family(
    group="sums",
    op="cumulative_sum",
    tensors=one,
    most=16,
    right=(right("index order", scan, "normal"), right("doubling", doubling)),
    broken=(
        fault("exclusive scan", lambda b, x: scan(b, x) - x),
        fault("from the end", lambda b, x: scan(b, x[..., ::-1])[..., ::-1]),
        fault(
            "carry lost at a block",
            lambda b, x: np.concatenate(
                [scan(b, x[..., i : i + 32]) for i in range(0, max(1, x.shape[-1]), 32)], axis=-1
            ),
        ),
        fault("narrower accumulator", lambda b, x: narrow_scan(b, x)),
    ),
    parameters={"axis": -1},
    sizes=(1, 7, 33, 100),
    own=scan,
)


def narrow_scan(b: Bench, x: Values) -> Values:
    total, found = np.zeros(x.shape[:-1]), []
    for k in range(x.shape[-1]):
        total = store(total + x[..., k].astype(np.float64), SPECS[accumulator(b)])
        found.append(total)
    return np.stack(found, axis=-1) if found else x


FAMILIES = (NORM, VAR, PROD, SCAN)
