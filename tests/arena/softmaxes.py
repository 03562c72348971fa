"""Softmax, its logarithm and log-sum-exp."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tests.arena.frame import Family, Kernel, fault, right, with_stores
from tests.arena.library import of_scipy, of_torch
from tests.arena.orders import FREE, NORMAL, Order, loop
from tests.arena.softmax_ways import (
    SOFTMAX_FAULTS,
    Run,
    base2,
    coarse,
    exp,
    gaps,
    log,
    log_softmax,
    logsumexp,
    narrow_power,
    online,
    online_sum,
    parts,
    scores,
    softmax,
)


def kernels(make: Callable[[Order], Run]) -> tuple[Kernel, ...]:
    return (
        *(right(name, make(order), "normal") for name, order in NORMAL.items()),
        *(right(name, make(order)) for name, order in FREE.items()),
    )


HARD = ("near_overflow", "wide_exponents", "subnormal", "ties", "cancellation", "signed_zeros")
COMMON = {
    "tensors": scores,
    "group": "softmax",
    "sizes": (1, 2, 7, 33, 100, 1000),
    "slow": HARD,
    "few": 66,
    "most": 32,
    "work": 4096,
}

SOFTMAX = Family(
    op="softmax",
    right=(
        *kernels(softmax),
        right("reciprocal", softmax(reciprocal=True), "normal"),
        right("base 2", softmax(power=base2), "normal"),
        right("online, blocks of 32", online(32), "normal"),
        right("online, blocks of 128", online(128), "normal"),
        right("online, key by key", online(1)),
        right("online, blocks of 8", online(8)),
        *of_torch("softmax", dim=-1, formats=("float32", "float64", "bfloat16")),
        *of_scipy("softmax", axis=-1),
    ),
    broken=SOFTMAX_FAULTS,
    parameters={"axis": -1},
    own=softmax(),
    **COMMON,  # type: ignore[arg-type]
)

LOG_SOFTMAX = Family(
    op="log_softmax",
    right=(
        *kernels(log_softmax),
        right("x - logsumexp", log_softmax(through_sum=True)),
        *of_torch("log_softmax", dim=-1),
    ),
    broken=(
        fault("logarithm of a rounded softmax", lambda b, x: log(b, softmax()(b, x))),
        fault("base 2", lambda b, x: gaps(x) - np.log2(parts(b, x)[1])),
        fault("maximum not subtracted", lambda b, x: x - log(b, loop(b.m, exp(b, x))[..., None])),
        fault("sum missing", lambda b, x: gaps(x)),
        fault(
            "first term dropped",
            lambda b, x: gaps(x) - log(b, loop(b.m, exp(b, gaps(x))[..., 1:])[..., None]),
        ),
        fault("inputs in a narrower format", coarse(log_softmax())),
        fault(
            "exponentials in a narrower format",
            lambda b, x: gaps(x) - log(b, loop(b.m, narrow_power(b, gaps(x)))[..., None]),
        ),
        *with_stores(log_softmax(), "truncating store"),
    ),
    parameters={"axis": -1},
    own=log_softmax(),
    **COMMON,  # type: ignore[arg-type]
)

LOGSUMEXP = Family(
    op="logsumexp",
    right=(
        *kernels(logsumexp),
        right("online, blocks of 32", online_sum(32), "normal"),
        right("online, key by key", online_sum(1)),
        *of_torch("logsumexp", dim=-1),
        *of_scipy("logsumexp", axis=-1),
    ),
    broken=(
        fault("maximum not subtracted", lambda b, x: log(b, loop(b.m, exp(b, x)))),
        fault("maximum not added", lambda b, x: log(b, loop(b.m, exp(b, gaps(x))))),
        fault("the maximum alone", lambda b, x: x.max(axis=-1)),
        fault("base 2", lambda b, x: x.max(axis=-1) + np.log2(loop(b.m, exp(b, gaps(x))))),
        fault(
            "first term dropped",
            lambda b, x: logsumexp()(b, x[..., 1:]) if (x.shape[-1] > 1) else x[..., 0],
        ),
        fault(
            "mean instead of sum",
            lambda b, x: logsumexp()(b, x) - log(b, np.asarray(b.number(x.shape[-1]))),
        ),
        fault("inputs in a narrower format", coarse(logsumexp())),
        fault(
            "exponentials in a narrower format",
            lambda b, x: x.max(axis=-1) + log(b, loop(b.m, narrow_power(b, gaps(x)))),
        ),
        *with_stores(logsumexp(), "truncating store"),
    ),
    parameters={"axis": -1},
    own=logsumexp(),
    **COMMON,  # type: ignore[arg-type]
)

FAMILIES = (SOFTMAX, LOG_SOFTMAX, LOGSUMEXP)
