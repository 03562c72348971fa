"""Attention kernels that store weights, scores and sums in declared formats, on hostile values.

Unlike those of `softmax_kernels` they keep their running sums in the accumulator's format across
blocks, rescale them there, and may scale inputs; values lie about its ends as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import exactref as er
from tests.core.softmax_cases import THOROUGH

F32 = np.float32
CASES = 400 if THOROUGH else 20
FORMATS = (None, "bfloat16", "float16", "float8_e5m2", "float8_e4m3fn")
BLOCKS = {
    "normal": {"two passes": None, "early": None, "blocks of 32": 32, "blocks of 64": 64},
    "any_order": {"two passes": None, "early": None, "one by one": 1, "blocks of 5": 5},
}


def narrow(x: Any, form: str | None) -> Any:
    """A float32 number as a format stores it."""
    return np.asarray(x, F32).astype(form or F32, copy=True).astype(F32)


def total(terms: Any, form: str | None, order: list[int]) -> Any:
    """A loop in a format: each term is added in float32 and the sum stored."""
    found = narrow(terms[order[0]], form)
    for i in order[1:]:
        found = narrow(found + terms[i], form)
    return found


@dataclass(frozen=True)
class Declared:
    """Formats of weights, scores and sums; None: float32."""

    weights: str | None
    scores: str | None
    accumulator: str | None

    def run(
        self, rng: np.random.Generator, arrays: tuple[Any, Any, Any], scale: float, way: Any
    ) -> tuple[Any, Any]:
        """One query's means and log-sum-exp."""
        (q, k, v), (standard, name, block) = arrays, way
        form, features = self.accumulator, list(range(len(q)))
        s = []
        for key in k:
            terms = narrow(narrow(q * key, None), form)
            if standard == "any_order":
                rng.shuffle(features)
            s.append(narrow(total(terms, form, features) * F32(scale), self.scores))
        scores = np.asarray(s, F32)
        top, size, mean = F32(-np.inf), F32(0), np.zeros(v.shape[1], F32)
        for start in range(0, len(k), block or len(k)):
            order = list(range(start, min(len(k), start + (block or len(k)))))
            if standard == "any_order":
                rng.shuffle(order)
            new = max(top, scores[order].max())
            p = np.exp((scores - new).astype(np.float64)).astype(F32)
            part = total(p, form, order)
            weights = narrow(p / part if name == "early" else p, self.weights)
            sums = total(weights[:, None] * v, form, order)
            if start:
                moved = F32(np.exp(np.float64(top - new)))
                size, mean = narrow(size * moved, form), narrow(mean * moved, form)
                size, mean = narrow(size + part, form), narrow(mean + sums, form)
            else:
                size, mean = part, sums
            top = new
        return mean if name == "early" else mean / size, top + F32(np.log(np.float64(size)))


def inputs(rng: np.random.Generator) -> tuple[Any, Any, Any]:
    """One query, keys and values about the ends of narrow formats and of float32."""
    n, e = int(rng.choice([1, 2, 3, 5, 31, 32, 33, 64, 65, 200])), int(rng.choice([1, 2, 8]))
    q = rng.standard_normal(e).astype(F32)
    k = rng.standard_normal((n, e)).astype(F32) * F32(rng.choice([1e-3, 0.3, 1, 4, 10]))
    sizes = [0, -6, -12, -20, -26, -135, -145, 10, 14, 16, 17]
    v = (rng.standard_normal((n, 2)) * 2.0 ** float(rng.choice(sizes))).astype(F32)
    if rng.random() < 0.3:
        v = np.abs(v)
    if rng.random() < 0.2:
        v = np.repeat(v[:1], n, axis=0)
    return q, k, v


@np.errstate(all="ignore")
@pytest.mark.parametrize("standard", ["normal", "any_order"])
def test_declared_formats(standard: str) -> None:
    rng = np.random.default_rng(11)
    assert narrow(1e9, "float8_e5m2") == np.inf
    assert ml_dtypes.finfo("float8_e4m3fn").max == 448
    for _ in range(CASES):
        chosen = [
            FORMATS[int(rng.integers(len(FORMATS)))] if rng.random() < share else None
            for share in (0.5, 0.3, 0.6)
        ]
        arrays, scale = inputs(rng), float(rng.choice([1, 0.25, 0.3, -1.5]))
        q, k, v = arrays
        algorithm = er.nn.attention.AttentionAlgorithm(*chosen)
        result = algorithm.result(q[None], k, v, scale=scale)
        for name, block in BLOCKS[standard].items():
            mean, lse = Declared(*chosen).run(rng, arrays, scale, (standard, name, block))
            for output, array in (("output", mean[None]), ("logsumexp", lse[None])):
                covered = result[output].covers(np.asarray(array, F32), standard)
                assert covered.all(), (chosen, name, output, array, arrays, scale)
