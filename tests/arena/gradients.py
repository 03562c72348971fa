"""Gradients as kernels compute them, and with a term, a factor or an axis wrong."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tests.arena.data import drawn
from tests.arena.frame import Bench, Family, Rng, Values, fault, right, with_stores
from tests.arena.functions import sigmoid
from tests.arena.norms import EPS, count, moments
from tests.arena.orders import FREE, NORMAL, Order, loop
from tests.arena.products import ordered
from tests.arena.softmax_ways import softmax
from tests.every_op.kernels_formats import SPECS, Spec, store

Run = Callable[..., Values]
HARD = (
    "near_overflow", "wide_exponents", "subnormal", "ties", "cancellation", "signed_zeros",
    "integers", "constant_rows",
)  # fmt: skip


def pair(rng: Rng, kind: str, rows: int, size: int, spec: Spec) -> tuple[Values, ...]:
    """A gradient of the output and an input, alike in shape."""
    return drawn(rng, kind, spec, (rows, size), (rows, size))


def matrices(rng: Rng, kind: str, rows: int, size: int, spec: Spec) -> tuple[Values, ...]:
    """A gradient (m, n) and the matrices (m, k) and (k, n)."""
    return drawn(rng, kind, spec, (rows, size), (rows, 5), (5, size), terms=size)


def narrow(b: Bench, x: Values) -> Values:
    """A stored intermediate: in the output format, or in float32 where that is float64."""
    name = "float32" if b.spec.name == "float64" else "bfloat16"
    return b.m.load(store(x.astype(np.float64), SPECS[name]))


def of_softmax(order: Order = loop, apart: bool = False) -> Run:
    """w (g - sum g w), or w g - w sum g w."""

    def run(b: Bench, g: Values, x: Values) -> Values:
        w = softmax()(b, x)
        total = order(b.m, g * w)[..., None]
        return w * g - w * total if apart else w * (g - total)

    return run


def from_stored(b: Bench, g: Values, x: Values) -> Values:
    """From an output that was stored in a narrower format."""
    w = narrow(b, softmax()(b, x))
    return w * (g - loop(b.m, g * w)[..., None])


SOFTMAX = Family(
    group="gradients",
    op="backward.softmax",
    output="grad_x",
    tensors=pair,
    right=(
        *(right(name, of_softmax(order), "normal") for name, order in NORMAL.items()),
        right("products apart", of_softmax(apart=True), "normal"),
        *(right(name, of_softmax(order)) for name, order in FREE.items()),
    ),
    broken=(
        fault("gradient without its sum", lambda b, g, x: softmax()(b, x) * g),
        fault("sum not weighted", lambda b, g, x: softmax()(b, x) * (g - loop(b.m, g)[..., None])),
        fault(
            "mean for sum",
            lambda b, g, x: (
                softmax()(b, x) * (g - (loop(b.m, g * softmax()(b, x)) / count(b, x))[..., None])
            ),
        ),
        fault("diagonal alone", lambda b, g, x: g * softmax()(b, x) * (1 - softmax()(b, x))),
        fault("from an output stored narrow", from_stored),
        fault("gradient negated", lambda b, g, x: -of_softmax()(b, g, x)),
        fault(
            "first term dropped",
            lambda b, g, x: (
                softmax()(b, x) * (g - loop(b.m, (g * softmax()(b, x))[..., 1:])[..., None])
            ),
        ),
        *with_stores(of_softmax(), "truncating store"),
    ),
    parameters={"axis": -1},
    sizes=(2, 7, 33, 100),
    slow=HARD,
    few=33,
    most=16,
    work=2048,
    own=of_softmax(),
)


def of_silu(b: Bench, g: Values, x: Values) -> Values:
    s = sigmoid(b, x)
    return g * (s * (b.number(1) + x * (b.number(1) - s)))


SILU = Family(
    group="gradients",
    op="backward.silu",
    output="grad_x",
    tensors=pair,
    right=(
        right("s (1 + x (1 - s))", of_silu, "normal"),
        right(
            "y (1 - s) + s",
            lambda b, g, x: g * (x * sigmoid(b, x) * (b.number(1) - sigmoid(b, x)) + sigmoid(b, x)),
            "normal",
        ),
    ),
    broken=(
        fault("term missing", lambda b, g, x: g * sigmoid(b, x)),
        fault("gradient of sigmoid", lambda b, g, x: g * sigmoid(b, x) * (1 - sigmoid(b, x))),
        fault("gradient of the output ignored", lambda b, g, x: of_silu(b, np.ones_like(g), x)),
        fault(
            "sigmoid stored narrow",
            lambda b, g, x: (
                g * (narrow(b, sigmoid(b, x)) * (1 + x * (1 - narrow(b, sigmoid(b, x)))))
            ),
        ),
        fault(
            "at the output instead of the input", lambda b, g, x: of_silu(b, g, x * sigmoid(b, x))
        ),
        *with_stores(of_silu, "truncating store"),
    ),
    sizes=(33,),
    slow=HARD,
    few=66,
    most=32,
    climbers=4,  # most elements are certified one by one, tens of milliseconds each
    climbed=(1,),
    own=of_silu,
)


def of_matmul(order: Order = loop) -> Run:
    """g B^T."""
    return lambda b, g, x1, x2: ordered(order)(b, g, np.swapaxes(x2, -1, -2))


def not_transposed(b: Bench, g: Values, x1: Values, x2: Values) -> Values:
    """B read by rows where columns are meant."""
    turned = np.ascontiguousarray(x2).reshape(*x2.shape[:-2], x2.shape[-1], x2.shape[-2])
    return ordered(loop)(b, g, turned)


MATMUL = Family(
    group="gradients",
    op="backward.matmul",
    output="grad_A",
    shapes=[((m, n), (m, k), (k, n)) for m, n, k in ((1, 1, 1), (2, 7, 3), (5, 16, 2), (3, 33, 4))],
    tensors=matrices,
    right=(
        *(right(name, of_matmul(order), "normal") for name, order in NORMAL.items()),
        *(right(name, of_matmul(order)) for name, order in FREE.items()),
    ),
    broken=(
        fault("not transposed", not_transposed),
        fault(
            "last term dropped", lambda b, g, x1, x2: of_matmul()(b, g[..., :-1], x1, x2[..., :-1])
        ),
        fault("gradient stored narrow", lambda b, g, x1, x2: of_matmul()(b, narrow(b, g), x1, x2)),
        fault("halved", lambda b, g, x1, x2: of_matmul()(b, g, x1, x2) * b.number(0.5)),
        fault("accumulated onto the input", lambda b, g, x1, x2: of_matmul()(b, g, x1, x2) + x1),
        *with_stores(of_matmul(), "truncating store"),
    ),
    formats=("float32", "float16", "float64"),
    sizes=(1, 2, 7, 33, 100),
    slow=("near_overflow", "wide_exponents"),
    few=33,
    most=8,
    own=of_matmul(),
)


def of_layer_norm(order: Order = loop) -> Run:
    """r (g - mean(g) - h mean(g h))."""

    def run(b: Bench, g: Values, x: Values) -> Values:
        h, inverse = normalized(b, x, order)
        first = (order(b.m, g) / count(b, x))[..., None]
        second = (order(b.m, g * h) / count(b, x))[..., None]
        return inverse * ((g - first) - h * second)

    return run


def normalized(b: Bench, x: Values, order: Order = loop) -> tuple[Values, Values]:
    d, var = moments(b, x, order)
    inverse = b.number(1) / np.sqrt(var + b.number(EPS))
    return d * inverse, inverse


def parts_of(first: float, second: float) -> Run:
    """With factors before the two means."""

    def run(b: Bench, g: Values, x: Values) -> Values:
        h, inverse = normalized(b, x)
        means = [(loop(b.m, t) / count(b, x))[..., None] for t in (g, g * h)]
        return inverse * (g - b.number(first) * means[0] - h * b.number(second) * means[1])

    return run


LAYER = Family(
    group="gradients",
    op="backward.layer_norm",
    output="grad_x",
    tensors=pair,
    right=(
        *(right(name, of_layer_norm(order), "normal") for name, order in NORMAL.items()),
        *(right(name, of_layer_norm(order)) for name, order in FREE.items()),
    ),
    broken=(
        fault("gradient without its mean", parts_of(0, 1)),
        fault("gradient without its projection", parts_of(1, 0)),
        fault("statistics taken as constants", parts_of(0, 0)),
        fault("projection doubled", parts_of(1, 2)),
        fault(
            "reciprocal root missing",
            lambda b, g, x: of_layer_norm()(b, g, x) / normalized(b, x)[1],
        ),
        fault("gradient stored narrow", lambda b, g, x: of_layer_norm()(b, narrow(b, g), x)),
        *with_stores(of_layer_norm(), "truncating store"),
    ),
    sizes=(2, 7, 33, 100),
    slow=HARD,
    few=33,
    most=8,
    work=1024,
    own=of_layer_norm(),
)

FAMILIES = (SOFTMAX, SILU, MATMUL, LAYER)
