"""Ways to compute softmax and log-sum-exp: whole rows, online, in base 2; and wrong ways."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from tests.arena.data import drawn
from tests.arena.frame import Bench, Fault, Rng, Values, fault, with_stores
from tests.arena.orders import Order, loop
from tests.arena.sums import accumulator, narrow_loop, narrower
from tests.every_op.kernels_formats import SPECS, Spec, store

Run = Callable[..., Values]
LOG2E = math.log2(math.e)


def scores(rng: Rng, kind: str, count: int, size: int, spec: Spec) -> tuple[Values, ...]:
    return drawn(rng, kind, spec, (count, size))


def exp(b: Bench, x: Values) -> Values:
    return np.exp(x.astype(np.float64)).astype(b.m.dtype)


def log(b: Bench, x: Values) -> Values:
    return np.log(x.astype(np.float64)).astype(b.m.dtype)


def base2(b: Bench, x: Values) -> Values:
    """e^x as 2 to the power of a rounded product."""
    return np.exp2((x * b.number(LOG2E)).astype(np.float64)).astype(b.m.dtype)


def gaps(x: Values) -> Values:
    """Distances from the maximum; none where there are no scores."""
    return x - x.max(axis=-1, keepdims=True) if x.shape[-1] else x


def parts(b: Bench, x: Values, order: Order = loop, power: Run = exp) -> tuple[Values, Values]:
    """Exponentials and their sum."""
    e = power(b, gaps(x))
    return e, order(b.m, e)[..., None]


def softmax(order: Order = loop, power: Run = exp, reciprocal: bool = False) -> Run:
    def run(b: Bench, x: Values) -> Values:
        e, total = parts(b, x, order, power)
        return e * (b.number(1) / total) if reciprocal else e / total

    return run


def log_softmax(order: Order = loop, through_sum: bool = False) -> Run:
    def run(b: Bench, x: Values) -> Values:
        _, total = parts(b, x, order)
        if through_sum:
            return x - (x.max(axis=-1, keepdims=True) + log(b, total))
        return gaps(x) - log(b, total)

    return run


def logsumexp(order: Order = loop) -> Run:
    def run(b: Bench, x: Values) -> Values:
        top = x.max(axis=-1)
        safe = np.where(np.isfinite(top), top, b.number(0))
        total = order(b.m, exp(b, x - safe[..., None]))
        found = safe + log(b, total)
        return np.where(np.isposinf(top), top, found) if np.isposinf(top).any() else found

    return run


def running(
    b: Bench, x: Values, size: int, rescaled: bool = True, guarded: bool = True
) -> tuple[Values, Values]:
    """The maximum and the sum of exponentials, rescaled at each block that has a larger one.

    Without the guard, a first block of -inf makes -inf - -inf of its distances.
    """
    top = np.full(x.shape[:-1], -np.inf, b.m.dtype)
    total = np.zeros(x.shape[:-1], b.m.dtype)
    for start in range(0, x.shape[-1], size):
        part = x[..., start : start + size]
        new = np.maximum(top, part.max(axis=-1))
        safe = np.where(np.isneginf(new), b.number(0), new) if guarded else new
        added = loop(b.m, exp(b, part - safe[..., None]))
        moved = exp(b, top - safe) if rescaled and start else np.ones_like(total)
        total = total * moved + added
        top = new
    return top, total


def online(size: int, rescaled: bool = True, guarded: bool = True) -> Run:
    def run(b: Bench, x: Values) -> Values:
        top, total = running(b, x, size, rescaled, guarded)
        return exp(b, x - top[..., None]) / total[..., None]

    return run


def online_sum(size: int) -> Run:
    def run(b: Bench, x: Values) -> Values:
        top, total = running(b, x, size)
        return top + log(b, total)

    return run


# -- what is broken ------------------------------------------------------------------------------


def no_maximum(b: Bench, x: Values) -> Values:
    e = exp(b, x)
    return e / loop(b.m, e)[..., None]


def coarse(run: Run) -> Run:
    return lambda b, x: run(b, b.m.load(store(x.astype(np.float64), SPECS[narrower(b)])))


def narrow_power(b: Bench, x: Values) -> Values:
    """Exponentials stored in a narrower format."""
    name = "float32" if b.spec.name == "float64" else "bfloat16"
    return b.m.load(store(exp(b, x).astype(np.float64), SPECS[name]))


def narrow_sum(b: Bench, x: Values) -> Values:
    e = exp(b, gaps(x))
    return e / narrow_loop(accumulator(b))(b, e).astype(b.m.dtype)[..., None]


def from_sums(change: Callable[[Values], Values]) -> Run:
    """The sum taken over other exponentials than there are."""

    def run(b: Bench, x: Values) -> Values:
        e = exp(b, gaps(x))
        return e / loop(b.m, change(e))[..., None]

    return run


def padded(e: Values) -> Values:
    """Keys up to a multiple of 8 counted with the score of the maximum."""
    short = -e.shape[-1] % 8
    return np.concatenate([e, np.ones_like(e[..., :1]).repeat(short, axis=-1)], axis=-1)


def masked_last(b: Bench, x: Values) -> Values:
    """The last key masked."""
    x = x.copy()
    x[..., -1:] = -np.inf
    return softmax()(b, x)


def with_eps(b: Bench, x: Values) -> Values:
    e, total = parts(b, x)
    return e / (total + b.number(1e-6))


def flushed(b: Bench, x: Values) -> Values:
    """Distant keys skipped."""
    e = exp(b, gaps(x))
    e = np.where(gaps(x) < -8, e.dtype.type(0), e)
    return e / loop(b.m, e)[..., None]


def other_axis(b: Bench, x: Values) -> Values:
    """Softmax over rows."""
    if x.ndim < 2 or not x.size:
        return softmax()(b, x)
    return np.swapaxes(softmax()(b, np.swapaxes(x, -1, -2)), -1, -2)


def scaled(change: float) -> Run:
    return lambda b, x: softmax()(b, x * b.number(change))


def lone_row(b: Bench, x: Values) -> Values:
    """A row of one term, returned as it is."""
    return x if x.shape[-1] == 1 else softmax()(b, x)


SOFTMAX_FAULTS: tuple[Fault, ...] = (
    fault("row of one term not normalized", lone_row),
    fault("maximum not subtracted", no_maximum),
    fault("base 2", softmax(power=lambda b, x: np.exp2(x))),
    fault("old sum not rescaled", online(16, rescaled=False)),
    fault("maximum of -inf not guarded", online(1, guarded=False)),
    fault("exponentials in a narrower format", softmax(power=narrow_power)),
    fault("sum in a narrower format", narrow_sum),
    fault("inputs in a narrower format", coarse(softmax())),
    fault("first term dropped", from_sums(lambda e: e[..., 1:])),
    fault("last term dropped", from_sums(lambda e: e[..., :-1])),
    fault("term doubled", from_sums(lambda e: np.concatenate([e, e[..., :1]], axis=-1))),
    fault("padding counted", from_sums(padded)),
    fault("last key masked", masked_last),
    fault("eps added to the sum", with_eps),
    fault("distant keys skipped", flushed),
    fault("wrong axis", other_axis),
    fault("wrong scale", scaled(1.0625)),
    fault("not normalized", lambda b, x: exp(b, gaps(x))),
    *with_stores(softmax(), "truncating store", "NaN swallowed", "flush to zero, undeclared"),
)
