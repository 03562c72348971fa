"""What ``normal()`` returns is normal; "typical" is part of "normal", that of "any_order"."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import exactref as er
from tests.every_op.kernels_formats import MODES, SPECS
from tests.every_op.kernels_judging import budget, some
from tests.every_op.kernels_values import KINDS, hostile, is_slow
from tests.every_op.test_sound_complex import FORMATS as COMPLEX
from tests.every_op.test_sound_complex import whole

FORMATS = (*SPECS, *COMPLEX)


def drawn(rng: np.random.Generator, name: str, kind: str, shape: tuple[int, int]) -> er.Array:
    spec = SPECS[COMPLEX.get(name, name)]
    parts = [hostile(rng, kind, shape, spec) for _ in range(2 if name in COMPLEX else 1)]
    return er.asarray(whole(*parts) if len(parts) == 2 else parts[0], name)


def results(a: er.Array, b: er.Array, rule: dict[str, Any]) -> list[Any]:
    rows = a.shape[0]
    yes = [er.sum(a, axis=1), er.mean(a, axis=1), er.sum(a, axis=1, **rule)]
    left, right = a.reshape((rows, 1, -1)), b.reshape((rows, -1, 1))
    yes.append(er.matmul(left, right).reshape((rows,)))
    yes += [op(a, b) for op in (er.add, er.subtract, er.multiply, er.divide)]
    yes += [op(a) for op in (er.sqrt, er.abs, er.negative, er.square, er.reciprocal)]
    yes += [er.cumulative_sum(a, axis=1), er.vector_norm(a, axis=1), er.vecdot(a, b)]
    yes += [er.linear(a, b, b[:, 0]), er.einsum("ij,kj->ik", a, b), er.outer(a[0], b[0])]
    yes += [er.einsum("ij,ij->i", a, b), er.where(np.arange(a.shape[1]) % 2 == 0, a, b)]
    if not a.format.is_complex:
        yes += real_results(a, b)
    return [*yes, er.divide(er.sum(er.multiply(a, b), axis=1), er.mean(a, axis=1))]


def real_results(a: er.Array, b: er.Array) -> list[Any]:
    """Operations that take no complex numbers."""
    yes = [er.maximum(a, b), er.minimum(a, b, nan="ignore"), er.max(a, axis=1), er.min(a, axis=1)]
    yes += [er.clip(a, b, a), er.fma(a, b, a), er.rsqrt(a), er.relu(a), er.leaky_relu(a)]
    yes += [er.prod(a, axis=1), er.cumulative_prod(a, axis=1), er.var(a, axis=1)]
    yes += [
        er.std(a, axis=1, correction=0.5),
        er.astype(a, "bfloat16"),
        er.rsqrt(er.var(a, axis=1)),
    ]
    return [*yes, er.fma(er.sum(a, axis=1), er.max(b, axis=1), er.prod(b, axis=1))]


@pytest.mark.parametrize("name", FORMATS)
def test_covered_and_nested(name: str) -> None:
    rng = np.random.default_rng([50, FORMATS.index(name)])
    for kind in some(rng, KINDS, 2):
        for n in some(rng, (1, 3, 33, 65), 2):
            if is_slow(kind) and n > 33:
                continue
            shape = (budget(3, 6), n)
            a, b = drawn(rng, name, kind, shape), drawn(rng, name, str(rng.choice(KINDS)), shape)
            rule = {"rounding": str(rng.choice(list(MODES))), "overflow": "saturate"}
            for result in results(a, b, rule):
                assert result.covers(result.normal()).all(), (name, kind, result, a.tolist())
                (output,) = result.outputs.values()
                # Of up to 32 terms typical is normal.
                names = ("typical", "normal", "any_order")[0 if n > 33 else 1 :]
                for ranges in zip(*(output.ranges(name, False) for name in names), strict=True):
                    for one, other in pairwise(ranges):
                        assert not np.any(one.states & ~other.states)
                        finite = np.isfinite(one.low)
                        assert np.all(other.low[finite] <= one.low[finite])
                        assert np.all(one.high[finite] <= other.high[finite])
