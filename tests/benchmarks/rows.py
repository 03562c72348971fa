"""What is measured: references, and what they are compared with in the same process."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import flint
import ml_dtypes
import mpmath
import numpy as np

import exactref as er

__all__ = ["FULL", "GROWTH", "SMALL", "Row", "rows"]

Call = Callable[[], object]
ARB_BITS = 300


@dataclass(frozen=True)
class Row:
    """A reference, the work it stands for, its peers, and what it should reach.

    ``target`` is a ratio to the first peer, or a number of seconds where ``absolute``; ``work``
    counts multiply-adds or elements.
    """

    name: str
    subject: Call
    peers: dict[str, Call] = field(default_factory=dict)
    target: float | None = None
    work: int = 1
    absolute: bool = False


FULL = {"matmul": 512, "sum": 10**7, "softmax": 4096, "attention": 512, "exp": 10**7}
SMALL = {"matmul": 8, "sum": 64, "softmax": 4, "attention": 4, "exp": 64}
GROWTH = {"matmul": (256, 512, 1024), "sum": (10**5, 10**6, 10**7), "exp": (10**5, 10**6, 10**7)}


def rows(sizes: dict[str, int]) -> Iterator[Row]:
    """Yield every row at the sizes given."""
    yield from products(sizes["matmul"])
    yield from sums(sizes["sum"])
    yield from softmaxes(sizes["softmax"])
    yield from attentions(sizes["attention"])
    yield from functions(sizes["exp"])
    yield from calls()


def products(n: int) -> Iterator[Row]:
    """Yield the rows of n by n by n products."""
    rng = np.random.default_rng(0)
    wide, other = (rng.standard_normal((n, n)) for _ in range(2))
    base = {"numpy float64": lambda: wide @ other}
    for kind, target in ((np.float32, 2.5), (ml_dtypes.bfloat16, 4.5), (np.float16, 4.5)):
        a, b = wide.astype(kind), other.astype(kind)
        peers = dict(base)
        if kind is np.float32:
            peers |= {"python-flint arb_mat": lambda a=a, b=b: arb(a, b)}
        name = f"matmul {n}^3 {np.dtype(kind).name}: rounded"
        yield Row(name, lambda a=a, b=b: er.matmul(a, b).rounded, peers, target, n**3)
    a, b = wide.astype(np.float32), other.astype(np.float32)
    out = a @ b
    name = f"matmul {n}^3 float32"
    covers = {"any_order": 3.5, "normal": 7.0}
    for standard, target in covers.items():
        yield Row(
            f"{name}: covers({standard})",
            lambda standard=standard: er.matmul(a, b).covers(out, standard),
            base,
            target,
            n**3,
        )
    yield Row(f"{name}: tolerance()", lambda: er.matmul(a, b).tolerance(), base, 40.0, n**3)
    peers = {**base, "python-flint arb_mat": lambda: arb(wide, other)}
    name = f"matmul {n}^3 float64: rounded"
    yield Row(name, lambda: er.matmul(wide, other).rounded, peers, 10.0, n**3)


def arb(a: Any, b: Any) -> object:
    """Return an exact product by balls, from arrays to floats, end to end."""
    before, flint.ctx.prec = flint.ctx.prec, ARB_BITS
    try:
        product = flint.arb_mat(a.astype(float).tolist()) * flint.arb_mat(b.astype(float).tolist())
        return [float(x) for x in product.entries()]
    finally:
        flint.ctx.prec = before


def sums(n: int) -> Iterator[Row]:
    """Yield the rows of sums of n numbers."""
    rng = np.random.default_rng(0)
    for kind, target in ((np.float32, 4.0), (np.float64, 3.0)):
        x = rng.standard_normal(n).astype(kind)
        array, total = er.asarray(x), np.sum(x)
        peers = {"numpy": lambda x=x: np.sum(x), "math.fsum": lambda x=x: math.fsum(x)}
        name = f"sum {n:.0e} {np.dtype(kind).name}"
        yield Row(f"{name}: rounded", lambda a=array: er.sum(a).rounded, peers, target, n)
        yield Row(f"{name}: tolerance()", lambda a=array: er.sum(a).tolerance(), peers, None, n)
        covers = f"{name}: covers()"
        yield Row(covers, lambda a=array, t=total: er.sum(a).covers(t), peers, None, n)


def softmaxes(n: int) -> Iterator[Row]:
    """Yield the rows of an n by n softmax."""
    x = np.random.default_rng(0).standard_normal((n, n)).astype(np.float32)
    peers = {"numpy float32": lambda: plain_softmax(x)}
    name = f"softmax {n} x {n} float32: rounded"
    yield Row(name, lambda: er.softmax(x, axis=-1).rounded, peers, 3.5, n * n)


def plain_softmax(x: Any) -> Any:
    """Return a softmax as NumPy has it."""
    powers = np.exp(x - x.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def attentions(n: int) -> Iterator[Row]:
    """Yield the rows of attention, 8 heads of n queries and keys of 64 features."""
    rng = np.random.default_rng(0)
    q, k, v = (rng.standard_normal((1, 8, n, 64)).astype(np.float32) for _ in range(3))
    double = [x.astype(np.float64) for x in (q, k, v)]

    def plain(q: Any, k: Any, v: Any) -> Any:
        return plain_softmax(q @ k.swapaxes(-1, -2) / q.dtype.type(8)) @ v

    peers = {"numpy float32": lambda: plain(q, k, v), "numpy float64": lambda: plain(*double)}
    out = plain(q, k, v)
    name, work = f"attention 1 x 8 x {n} x 64 float32", 8 * n * n * 64 * 2
    attend = er.scaled_dot_product_attention
    yield Row(f"{name}: rounded", lambda: attend(q, k, v)["output"].rounded, peers, 6.0, work)
    covers = f"{name}: covers(any_order)"
    ask = lambda: attend(q, k, v)["output"].covers(out, "any_order")  # noqa: E731
    yield Row(covers, ask, peers, None, work)


def functions(n: int) -> Iterator[Row]:
    """Yield the rows of functions of n numbers."""
    x = (np.random.default_rng(0).standard_normal(n) * 3).astype(np.float32)
    few = x[:: max(1, n // 1000)].tolist()
    peers = {"numpy": lambda: np.exp(x), "mpmath, every 10000th": lambda: [*map(mpmath.exp, few)]}
    yield Row(f"exp {n:.0e} float32: rounded", lambda: er.exp(x).rounded, peers, 8.0, n)
    for kind in (np.float16, ml_dtypes.bfloat16):
        y = x.astype(kind)
        name = f"exp {n:.0e} {np.dtype(kind).name}: rounded"
        yield Row(name, lambda y=y: er.exp(y).rounded, {}, 2e-9 * n, n, absolute=True)
    for name in ("tanh", "erf", "log1p", "gelu"):
        function = getattr(er, name)
        part = np.abs(x[: n // 10])
        row = f"{name} {n // 10:.0e} float32: rounded"
        ask = lambda f=function, p=part: f(p).rounded  # noqa: E731
        yield Row(row, ask, {"numpy tanh": lambda p=part: np.tanh(p)}, None, n // 10)


def calls() -> Iterator[Row]:
    """Yield the rows of calls on tiny inputs: a result and its verdict."""
    rng = np.random.default_rng(0)
    x, y = (rng.standard_normal((4, 8)).astype(np.float32) for _ in range(2))
    outputs: dict[str, tuple[Callable[[], Any], Any]] = {
        "add 4 x 8": (lambda: er.add(x, y), x + y),
        "sum 4 x 8": (lambda: er.sum(x, axis=-1), x.sum(axis=-1)),
        "matmul 4 x 8 x 4": (lambda: er.matmul(x, y.T), x @ y.T),
        "exp 4 x 8": (lambda: er.exp(x), np.exp(x)),
        "softmax 4 x 8": (lambda: er.softmax(x, axis=-1), plain_softmax(x)),
    }
    for name, (call, out) in outputs.items():
        ask = lambda call=call, out=out: call().covers(out)  # noqa: E731
        yield Row(f"{name}: call and covers()", ask, {}, 0.3e-3, x.size, absolute=True)
