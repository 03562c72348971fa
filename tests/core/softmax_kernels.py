"""Attention and softmax kernels in NumPy float32, one rounding at a time, written from textbooks.

Rows are vectorised; keys and features are walked in the order that a kernel of that kind walks
them. `Machine` is what the hardware does after each operation: nothing, a flush of subnormals to
zero, or library functions that are off by an ulp.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import ml_dtypes
import numpy as np

F32 = np.float32
Values = Any
NARROW = {"bfloat16": ml_dtypes.bfloat16, "float16": np.float16, None: np.float32}
LOG2E = 1.4426950408889634


@dataclass
class Machine:
    """How operations are stored: flushed or not, exp and log off by ulps or not."""

    flush: bool = False
    ulps: int = 0
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))

    def store(self, x: Values) -> Values:
        """A result as it is stored in float32."""
        x = np.asarray(x, F32)
        if self.flush:
            x = np.where(np.abs(x) < F32(2.0**-126), F32(0), x)
        return x

    def function(self, value: Values) -> Values:
        """A library function's float64 value stored with an error of up to ``ulps``."""
        x = np.asarray(value, F32)
        for _ in range(self.ulps):
            side = self.rng.integers(-1, 2, x.shape)
            away = np.where(side > 0, F32(np.inf), F32(0))
            moved = np.nextafter(x, away.astype(F32))
            x = np.where((side == 0) | (x == 0) | (x == 1), x, moved)
        return self.store(x)

    def exp(self, x: Values) -> Values:
        return self.function(np.exp(np.asarray(x, np.float64)))

    def exp2(self, x: Values) -> Values:
        return self.function(np.exp2(np.asarray(x, np.float64)))

    def tanh(self, x: Values) -> Values:
        return self.function(np.tanh(np.asarray(x, np.float64)))

    def log(self, x: Values) -> Values:
        return self.function(np.log(np.asarray(x, np.float64)))


def index_order(m: Machine, terms: Values, narrow: Any = F32) -> Values:
    """A loop over the last axis, each sum stored in a format."""
    total = np.asarray(terms[..., 0], narrow)
    for i in range(1, terms.shape[-1]):
        wide = total.astype(np.float64) + terms[..., i].astype(np.float64)
        total = np.asarray(wide, narrow)
        total = m.store(total) if narrow is F32 else total
    return m.store(total)


def block_order(m: Machine, terms: Values, size: int = 32) -> Values:
    """Blocks in index order, merged pairwise."""
    n = terms.shape[-1]
    sums = [index_order(m, terms[..., i : i + size]) for i in range(0, n, size)]
    while len(sums) > 1:
        pairs = [m.store(a + b) for a, b in zip(sums[::2], sums[1::2], strict=False)]
        sums = pairs + sums[len(pairs) * 2 :]
    return sums[0]


def random_tree(m: Machine, terms: Values) -> Values:
    """Two random partial sums are added until one is left."""
    parts = [terms[..., i] for i in range(terms.shape[-1])]
    while len(parts) > 1:
        i, j = sorted(m.rng.permutation(len(parts))[:2].tolist(), reverse=True)
        parts.append(m.store(parts.pop(i) + parts.pop(j)))
    return parts[0]


def lanes(m: Machine, terms: Values, width: int = 8) -> Values:
    """Running sums of every eighth term, added up at the end."""
    n = terms.shape[-1]
    sums = [index_order(m, terms[..., i::width]) for i in range(min(width, n))]
    return index_order(m, np.stack(sums, axis=-1))


Order = Callable[[Machine, Values], Values]


@dataclass(frozen=True)
class Kernel:
    """One way of computing attention in float32."""

    order: Order = index_order
    features: Order = index_order
    scaling: str = "product"  # product, divide, query, both, exp2
    block: int | None = None  # keys between rescalings; None: the whole row at once
    divide: str = "late"  # late, late reciprocal, early, early reciprocal
    weights: str | None = None
    scores: str | None = None
    accumulator: str | None = None

    def run(self, m: Machine, case: Any) -> tuple[Values, Values]:
        """Outputs and log-sum-exps of rows."""
        q, k, v = (m.store(x) for x in (case.q, case.k, case.v))
        base = self.base(case)
        s = self.scored(m, q, k, case)
        s = np.where(case.keep, s, F32(-np.inf))
        block = self.block or s.shape[-1]
        top = np.full(s.shape[:-1], F32(-np.inf))
        total = np.zeros(s.shape[:-1], F32)
        mean = np.zeros((*s.shape[:-1], v.shape[-1]), F32)
        for start in range(0, s.shape[-1], block):
            part = slice(start, start + block)
            new = np.maximum(top, s[..., part].max(axis=-1))
            safe = np.where(new == -np.inf, F32(0), new)
            p = self.power(m, m.store(s[..., part] - safe[..., None]), base)
            sums, tops = self.sums(m, p, v[part])
            if start:
                moved = np.where(top == -np.inf, F32(0), self.power(m, m.store(top - safe), base))
                total = m.store(m.store(total * moved) + sums)
                mean = m.store(m.store(mean * moved[..., None]) + tops)
            else:
                total, mean = sums, tops
            top = new
        return self.finish(m, top, total, mean, base)

    def base(self, case: Any) -> float:
        """The factor that scores are kept with: log2(e) ahead of exp2, where masks allow it.

        -FLT_MAX times it would be -inf, and empty its row.
        """
        lowest = case.bias is not None and np.any(case.bias == np.finfo(F32).min)
        return LOG2E if self.scaling == "exp2" and not lowest else 1.0

    def scored(self, m: Machine, q: Values, k: Values, case: Any) -> Values:
        """Scaled scores with the additive mask."""
        scale = case.scale
        if self.scaling == "query":
            q, scale = m.store(q * F32(scale)), None
        if self.scaling == "both":
            root = F32(np.sqrt(abs(scale)))
            q, k, scale = m.store(q * root), m.store(k * F32(np.sign(scale)) * root), None
        narrow = NARROW[self.accumulator]
        terms = m.store(q[:, None, :] * k[None, :, :])
        s = index_order(m, terms, narrow) if self.accumulator else self.features(m, terms)
        base = self.base(case)
        if case.cap:
            s = self.capped(m, s, scale, case.cap, base)
        elif scale is not None and self.scaling == "divide":
            s = m.store(s / F32(1 / scale))
        elif scale is not None:
            s = m.store(s * F32(scale * base))
        if self.scores:
            s = s.astype(NARROW[self.scores]).astype(F32)
        if case.bias is not None:
            s = m.store(s + case.bias * F32(base))
        return s

    def capped(self, m: Machine, s: Values, scale: Any, cap: float, base: float) -> Values:
        """Capped scores: step by step, or as flash kernels do, by scale / cap and cap * log2(e)."""
        if scale is None or self.scaling == "divide":
            s = s if scale is None else m.store(s * F32(scale))
            t = m.tanh(m.store(s / F32(cap)))
        else:
            t = m.tanh(m.store(s * m.store(F32(scale) / F32(cap))))
        return m.store(t * F32(cap * base))

    def power(self, m: Machine, gap: Values, base: float) -> Values:
        """Exponentials of gaps."""
        if self.scaling != "exp2":
            return m.exp(gap)
        return m.exp2(gap if base != 1 else m.store(gap * F32(LOG2E)))

    def sums(self, m: Machine, p: Values, v: Values) -> tuple[Values, Values]:
        """The sum of a block's exponentials and that of their products with values."""
        narrow = NARROW[self.accumulator]
        total = index_order(m, p, narrow) if self.accumulator else self.order(m, p)
        if self.divide.startswith("early"):
            safe = np.where(total == 0, F32(1), total)[..., None]
            p = m.store(p * m.store(1 / safe)) if "reciprocal" in self.divide else m.store(p / safe)
        if self.weights:
            p = p.astype(NARROW[self.weights]).astype(F32)
        terms = m.store(p[..., None, :] * np.swapaxes(v, 0, 1)[None])
        tops = index_order(m, terms, narrow) if self.accumulator else self.order(m, terms)
        return total, tops

    def finish(
        self, m: Machine, top: Values, total: Values, mean: Values, base: float
    ) -> tuple[Values, Values]:
        """The last division and the log-sum-exp."""
        empty = total == 0
        safe = np.where(empty, F32(1), total)
        if self.divide == "late":
            mean = m.store(mean / safe[..., None])
        elif self.divide == "late reciprocal":
            mean = m.store(mean * m.store(1 / safe)[..., None])
        natural = m.store(top * F32(np.log(2.0))) if base != 1 else top
        lse = m.store(natural + m.log(safe))
        gone = top == -np.inf
        return np.where(gone[..., None], F32(0), mean), np.where(gone, F32(-np.inf), lse)


def softmax(m: Machine, x: Values, order: Order, reciprocal: bool = False) -> Values:
    """Softmax along the last axis."""
    p = m.exp(m.store(x - x.max(axis=-1, keepdims=True)))
    total = order(m, p)[..., None]
    return m.store(p * m.store(1 / total)) if reciprocal else m.store(p / total)


def log_softmax(m: Machine, x: Values, order: Order, through_lse: bool = False) -> Values:
    """Log-softmax along the last axis, from x - max or from x."""
    top = x.max(axis=-1, keepdims=True)
    gaps = m.store(x - top)
    log = m.log(order(m, m.exp(gaps)))[..., None]
    return m.store(x - m.store(top + log)) if through_lse else m.store(gaps - log)


def logsumexp(m: Machine, x: Values, order: Order) -> Values:
    """Log-sum-exp along the last axis."""
    top = x.max(axis=-1)
    total = order(m, m.exp(m.store(x - top[..., None])))
    return m.store(top + m.log(total))
