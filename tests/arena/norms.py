"""Layer and root-mean-square normalization: two passes, Welford, quotient or reciprocal."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tests.arena.data import drawn
from tests.arena.frame import Bench, Family, Rng, Values, fault, right, with_stores
from tests.arena.orders import FREE, NORMAL, Order, loop
from tests.arena.sums import last_block, narrower
from tests.every_op.kernels_formats import SPECS, Spec, store

Run = Callable[..., Values]
EPS = 1e-5
TINY = {"float64": 2.0**-52}  # rms_norm's default eps by compute format


def table(rng: Rng, kind: str, count: int, size: int, spec: Spec) -> tuple[Values, ...]:
    return drawn(rng, kind, spec, (count, size))


def count(b: Bench, x: Values) -> Values:
    return b.number(x.shape[-1])


def moments(b: Bench, x: Values, order: Order) -> tuple[Values, Values]:
    """The deviations from the mean, and their mean square."""
    d = x - (order(b.m, x) / count(b, x))[..., None]
    return d, (order(b.m, d * d) / count(b, x))[..., None]


def layer_norm(order: Order = loop, reciprocal: bool = True, eps: float = EPS) -> Run:
    def run(b: Bench, x: Values) -> Values:
        d, var = moments(b, x, order)
        root = np.sqrt(var + b.number(eps))
        return d * (b.number(1) / root) if reciprocal else d / root

    return run


def rms_norm(order: Order = loop, reciprocal: bool = True, eps: float | None = None) -> Run:
    def run(b: Bench, x: Values) -> Values:
        inside = (order(b.m, x * x) / count(b, x))[..., None] + b.number(tiny(b, eps))
        root = np.sqrt(inside)
        return x * (b.number(1) / root) if reciprocal else x / root

    return run


def tiny(b: Bench, eps: float | None) -> float:
    return TINY.get(b.m.name, 2.0**-23) if eps is None else eps


def welford(b: Bench, x: Values) -> Values:
    """One pass over each row for mean and squares."""
    mean, total = x[..., 0], np.zeros_like(x[..., 0])
    for k in range(1, x.shape[-1]):
        d = x[..., k] - mean
        mean = mean + d / b.number(k + 1)
        total = total + d * (x[..., k] - mean)
    var = (total / count(b, x))[..., None]
    return (x - mean[..., None]) * (b.number(1) / np.sqrt(var + b.number(EPS)))


# -- what is broken ------------------------------------------------------------------------------


def outside(b: Bench, x: Values) -> Values:
    """eps added to the root."""
    d, var = moments(b, x, loop)
    return d / (np.sqrt(var) + b.number(EPS))


def unbiased(b: Bench, x: Values) -> Values:
    d, var = moments(b, x, loop)
    n = x.shape[-1]
    return d / np.sqrt(var * b.number(n / max(1, n - 1)) + b.number(EPS))


def no_mean(b: Bench, x: Values) -> Values:
    _, var = moments(b, x, loop)
    return x / np.sqrt(var + b.number(EPS))


def rms_for_layer(b: Bench, x: Values) -> Values:
    return rms_norm(eps=EPS)(b, x)


def one_pass(b: Bench, x: Values) -> Values:
    """The mean of squares less the squared mean."""
    mean = (loop(b.m, x) / count(b, x))[..., None]
    var = (loop(b.m, x * x) / count(b, x))[..., None] - mean * mean
    return (x - mean) / np.sqrt(np.maximum(var, 0) + b.number(EPS))


def narrow_moments(b: Bench, x: Values) -> Values:
    """Mean and variance stored in a narrower format."""
    name = "float32" if b.spec.name == "float64" else "bfloat16"
    mean = (loop(b.m, x) / count(b, x))[..., None]
    mean = b.m.load(store(mean.astype(np.float64), SPECS[name]))
    d = x - mean
    var = (loop(b.m, d * d) / count(b, x))[..., None]
    var = b.m.load(store(var.astype(np.float64), SPECS[name]))
    return d / np.sqrt(var + b.number(EPS))


def variance_for_root(b: Bench, x: Values) -> Values:
    d, var = moments(b, x, loop)
    return d / (var + b.number(EPS))


def part_of_row(b: Bench, x: Values) -> Values:
    """Squares of all but the last block, divided by n."""
    d, _ = moments(b, x, loop)
    var = (loop(b.m, last_block(d * d)) / count(b, x))[..., None]
    return d / np.sqrt(var + b.number(EPS))


def padded_count(b: Bench, x: Values) -> Values:
    n = b.number(-(-x.shape[-1] // 8) * 8)
    d = x - (loop(b.m, x) / n)[..., None]
    return d / np.sqrt((loop(b.m, d * d) / n)[..., None] + b.number(EPS))


def neighbour_row(run: Run) -> Run:
    """Each row normalized by the statistics of the row before."""

    def wrong(b: Bench, x: Values) -> Values:
        d, var = moments(b, x, loop)
        if x.ndim > 1:
            var = np.roll(var, 1, axis=-2)
        return d / np.sqrt(var + b.number(EPS))

    return wrong


def coarse(run: Run) -> Run:
    return lambda b, x: run(b, b.m.load(store(x.astype(np.float64), SPECS[narrower(b)])))


def estimated(b: Bench, x: Values) -> Values:
    """A reciprocal root of twelve bits."""
    d, var = moments(b, x, loop)
    inverse = (b.number(1) / np.sqrt(var + b.number(EPS))).astype(np.float64)
    return d * b.m.load(store(inverse, SPECS["tfloat32"]))


HARD = ("near_overflow", "wide_exponents", "subnormal", "constant_rows", "cancellation")
SHAPE = {"sizes": (1, 2, 7, 33, 100, 1000), "slow": HARD, "few": 66, "most": 16, "work": 4096}

LAYER = Family(
    group="norms",
    op="layer_norm",
    tensors=table,
    right=(
        *(right(name, layer_norm(order), "normal") for name, order in NORMAL.items()),
        right("quotient", layer_norm(reciprocal=False), "normal"),
        right("Welford", welford, longest=100),
        *(right(name, layer_norm(order)) for name, order in FREE.items()),
    ),
    broken=(
        fault("eps outside the root", outside),
        fault("eps missing", layer_norm(eps=0.0)),
        fault("wrong eps", layer_norm(eps=1e-6)),
        fault("unbiased where biased is asked for", unbiased),
        fault("mean not subtracted", no_mean),
        fault("rms_norm for layer_norm", rms_for_layer),
        fault("one pass that cancels", one_pass),
        fault("statistics in a narrower format", narrow_moments),
        fault("root missing", variance_for_root),
        fault("last block skipped", part_of_row),
        fault("divided by the padded n", padded_count),
        fault("statistics of another row", neighbour_row(layer_norm())),
        fault("estimated reciprocal root", estimated),
        fault("inputs in a narrower format", coarse(layer_norm())),
        *with_stores(layer_norm(), "truncating store", "NaN swallowed"),
    ),
    own=layer_norm(),
    **SHAPE,  # type: ignore[arg-type]
)

RMS = Family(
    group="norms",
    op="rms_norm",
    tensors=table,
    right=(
        *(right(name, rms_norm(order), "normal") for name, order in NORMAL.items()),
        right("quotient", rms_norm(reciprocal=False), "normal"),
        *(right(name, rms_norm(order)) for name, order in FREE.items()),
    ),
    broken=(
        fault("eps missing", rms_norm(eps=0.0)),
        fault("wrong eps", rms_norm(eps=1e-5)),
        fault("layer_norm for rms_norm", lambda b, x: layer_norm(eps=tiny(b, None))(b, x)),
        fault(
            "sum for mean",
            lambda b, x: x / np.sqrt(loop(b.m, x * x)[..., None] + b.number(tiny(b, None))),
        ),
        fault(
            "root missing",
            lambda b, x: (
                x / ((loop(b.m, x * x) / count(b, x))[..., None] + b.number(tiny(b, None)))
            ),
        ),
        fault(
            "last block skipped",
            lambda b, x: (
                x
                / np.sqrt(
                    (loop(b.m, last_block(x * x)) / count(b, x))[..., None]
                    + b.number(tiny(b, None))
                )
            ),
        ),
        fault(
            "first term dropped",
            lambda b, x: (
                x
                / np.sqrt(
                    (loop(b.m, (x * x)[..., 1:]) / count(b, x))[..., None] + b.number(tiny(b, None))
                )
            ),
        ),
        fault("inputs in a narrower format", coarse(rms_norm())),
        *with_stores(rms_norm(), "truncating store"),
    ),
    own=rms_norm(),
    **SHAPE,  # type: ignore[arg-type]
)

FAMILIES = (LAYER, RMS)
