"""Attention in real arithmetic where every step errs by all it may, signs chosen to add up.

No kernel does worse: each product, sum, function and quotient is off by its full allowance in the
direction that moves the result away from the exact one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import exactref as er
from tests.core.softmax_cases import THOROUGH

CASES = 2_000 if THOROUGH else 40
U, ETA, LEAST = 2.0**-24, 2.0**-149, 2.0**-126
# Float64's own errors, and the third order of u, are far below a thousandth of u.
SLACK = 1e-12
BLOCKS = {"normal": (None, 32, 64), "any_order": (None, 1, 7)}


def off(x: Any, side: Any, units: float, etas: float = 0.0) -> Any:
    """A number off by units of u on a side, and by eta where it is subnormal; never beyond 0."""
    size = np.abs(x)
    moved = x + side * (units * U * size + np.where((size > 0) & (size < LEAST), etas * ETA, 0.0))
    return np.where(np.sign(moved) != np.sign(x), 0.0, moved)


def added(terms: Any, side: float) -> Any:
    """A loop, each sum off by u."""
    found = terms[0]
    for term in terms[1:]:
        found = found + term
        found = found + side * U * np.abs(found)
    return found


@dataclass(frozen=True)
class Case:
    """Float64 arrays of one query, keys, one column of values; what is added; which are kept."""

    q: Any
    k: Any
    v: Any
    bias: Any
    keep: Any
    scale: float
    exact_products: bool

    @property
    def exact_scores(self) -> Any:
        return self.k @ self.q * self.scale + self.bias

    def scores(self, sides: Any, sort: bool) -> Any:
        """Scores, each off as far as it may be on a side; large terms come first if sorted."""
        found = []
        for key, bias, side in zip(self.k, self.bias, sides, strict=True):
            terms = self.q * key
            turned = side * (1 if self.scale >= 0 else -1)
            if not self.exact_products:
                terms = off(terms, turned, 1, 0.5)
            if sort:
                terms = terms[np.argsort(-np.abs(terms))]
            score = off(added(terms, turned) * self.scale, side, 2, 0.5)
            found.append(off(score + bias, side, 1) if self.bias.any() else score)
        return np.asarray(found)

    def exact(self) -> tuple[float, float]:
        """The mean and the log-sum-exp."""
        s = self.exact_scores[self.keep]
        p = np.exp(s - s.max())
        return float(p @ self.v[self.keep] / p.sum()), float(s.max() + np.log(p.sum()))

    def worst(self, side: float, mean: bool, block: int | None, sort: bool) -> float:
        """The mean or the log-sum-exp of a kernel in blocks, moved to a side."""
        middle = self.exact()[0]
        sides = np.where(self.v >= middle, side, -side) if mean else np.full(len(self.k), side)
        s, down = self.scores(sides, sort), (-side if middle >= 0 else side) if mean else side
        kept = np.flatnonzero(self.keep)
        if sort and block:
            kept = kept[np.argsort(s[kept])]  # a new maximum at every key
        elif sort:
            kept = kept[np.argsort(-np.exp(s[kept] - s[kept].max()) * np.abs(self.v[kept]))]
        top = -np.inf
        size: Any = 0.0
        total: Any = 0.0
        for start in range(0, len(kept), block or len(kept)):
            part = kept[start : start + (block or len(kept))]
            new = max(top, s[part].max())
            p = [self.power(new - s[i], sides[i]) for i in part]
            sums = added(p, down)
            tops = added(
                [off(x * self.v[i], side, 1, 0.5) for x, i in zip(p, part, strict=True)], side
            )
            if start:
                towards = side * np.sign(total - middle * size) if mean else side
                moved = self.power(new - top, towards) if new > top else 1.0
                exact = new == top
                size = size if exact else off(size * moved, down, 1, 0.5)
                total = total if exact else off(total * moved, side, 1, 0.5)
                size, total = off(size + sums, down, 1), off(total + tops, side, 1)
            else:
                size, total = sums, tops
            top = new
        if mean:
            return float(off(total / size, side, 2, 0.5))
        log = off(np.log(size), side, 4)
        return float(log if abs(top) < SLACK * abs(log) else off(top + log, side, 1))

    def power(self, gap: Any, side: Any) -> Any:
        """exp(-gap), its argument and the function off."""
        return off(np.exp(-(gap - side * 3 * U * np.abs(gap))), side, 4, 2)


def case_of(rng: np.random.Generator) -> tuple[Case, er.Result]:
    """One random call."""
    n = int(rng.choice([1, 2, 2, 3, 4, 8, 31, 32, 33, 64, 65, 97]))
    e = int(rng.choice([1, 1, 2, 3, 8, 33]))
    q, k, v = (rng.standard_normal(s) for s in (e, (n, e), (n, 1)))
    kind = int(rng.integers(7))
    if kind == 0:
        q = q * float(rng.choice([20, 300, 1e3]))
    elif kind == 1:
        v = v + 1e4 * np.where(np.arange(n) % 2 == 0, 1, -1)[:, None]
    elif kind == 2:
        k = np.rint(k[rng.integers(0, min(n, 3), n)])
    elif kind == 3:
        v = v * 2.0 ** -float(rng.integers(120, 148))
    elif kind == 4:
        q, k = q * 1e-30, k * 1e-10
    elif kind == 5:
        q, k = np.abs(q), np.sort(np.abs(k), axis=0)[:: int(rng.choice([-1, 1]))] * 2
    form = str(rng.choice(["float32", "bfloat16"]))
    arrays = [er.asarray(x.tolist(), form) for x in (q[None], k, v)]
    params: dict[str, Any] = {"scale": float(rng.choice([1.0, 0.3, -0.5, 2.7, e**-0.5]))}
    keep, bias = np.ones(n, bool), np.zeros(n)
    choice = int(rng.integers(4))
    if choice == 0:
        keep = rng.random(n) < 0.7
        keep[int(rng.integers(n))] = True
        params["attn_mask"] = keep[None]
    elif choice == 1:
        given = rng.standard_normal(n).astype(np.float32) * np.float32(rng.choice([1, 30]))
        params["attn_mask"], bias = given[None], given.astype(np.float64)
    q, k, v = (x.values().astype(np.float64) for x in arrays)
    case = Case(q[0], k, v[:, 0], bias, keep, params["scale"], form == "bfloat16")
    return case, er.scaled_dot_product_attention(*arrays, dtype="float32", **params)


@np.errstate(all="ignore")
@pytest.mark.parametrize("standard", ["normal", "any_order"])
def test_no_kernel_does_worse(standard: str) -> None:
    rng = np.random.default_rng(12)
    for _ in range(CASES):
        case, result = case_of(rng)
        for name in ("output", "logsumexp"):
            low, high = (x.values().reshape(()) for x in result[name].finite_range(standard))
            for block in BLOCKS[standard]:
                for side in (1.0, -1.0):
                    got = case.worst(side, name == "output", block, standard == "any_order")
                    slack = SLACK * max(abs(low), abs(high))
                    assert low - slack <= got <= high + slack, (case, name, block, side, got)


def test_the_bound_of_a_log_sum_exp_is_reached() -> None:
    # One key: everything that errs adds up, and nothing else is in the bound.
    ratios = []
    rng = np.random.default_rng(13)
    for _ in range(50):
        q, k = rng.standard_normal((2, 1, 1)).astype(np.float32) * np.float32(3)
        result = er.scaled_dot_product_attention(q, k, k, scale=0.7)
        case = Case(
            q[0].astype(float), k.astype(float), k[:, 0].astype(float),
            np.zeros(1), np.ones(1, bool), 0.7, False,
        )  # fmt: skip
        low, high = (x.values().reshape(()) for x in result["logsumexp"].finite_range())
        width = case.worst(1.0, False, None, False) - case.worst(-1.0, False, None, False)
        ratios.append(width / (high - low))
    assert np.median(ratios) > 0.8
    assert max(ratios) <= 1
