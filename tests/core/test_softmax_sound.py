"""Kernels that only round where a correct one does are never outside their standard."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import exactref as er
from tests.core import softmax_kernels as kernels
from tests.core.softmax_cases import THOROUGH
from tests.core.softmax_hostile import KINDS, Hostile, hostile
from tests.core.softmax_kernels import (
    Kernel,
    Machine,
    block_order,
    index_order,
    lanes,
    random_tree,
)

ROUNDS = 12 if THOROUGH else 1
NORMAL = (
    Kernel(),
    Kernel(scaling="divide", divide="late reciprocal"),
    Kernel(divide="early"),
    Kernel(divide="early reciprocal", order=block_order, features=block_order),
    Kernel(block=32),
    Kernel(block=64, scaling="exp2", divide="late reciprocal"),
    Kernel(block=128, order=block_order),
    Kernel(scaling="exp2", order=block_order),
)
ANY_ORDER = (
    Kernel(block=1),
    Kernel(block=1, scaling="exp2", divide="late reciprocal"),
    Kernel(block=7, order=random_tree, features=random_tree),
    Kernel(scaling="query", features=lanes, order=lanes),
    Kernel(scaling="both", order=random_tree),
    Kernel(divide="early reciprocal", order=random_tree, features=random_tree),
    Kernel(block=16, scaling="query", order=lanes, divide="late reciprocal"),
)


@np.errstate(all="ignore")
def outside(
    kernel: Kernel, case: Hostile, m: Machine, result: Any, standard: str, output: str
) -> list[str]:
    """Which outputs of a kernel are not covered."""
    mean, lse = kernel.run(m, case)
    found = []
    for name, array, form in (("output", mean, output), ("logsumexp", lse, "float32")):
        one = result[name] if isinstance(result, er.Result) else result
        covered = one.covers(er.asarray(array, form), standard, flush_to_zero=m.flush)
        bad = np.argwhere(~covered.values().astype(bool))
        if bad.size:
            found.append(f"{name} {bad[0]}: {array[tuple(bad[0])]!r} by {kernel}")
    return found


def check(tested: tuple[Kernel, ...], standard: str, seed: int, kind: str, **options: Any) -> None:
    """Every kernel on cases of one kind, for float32 and for narrow inputs and outputs."""
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    for round_ in range(ROUNDS):
        for form in ("float32", ("bfloat16", "float16")[round_ % 2]):
            case = hostile(rng, kind, form)
            result = case.call()
            for kernel in tested:
                m = Machine(ulps=int(rng.integers(2)), rng=rng, **options)
                found = outside(kernel, case, m, result, standard, form)
                assert not found, (found, case)


@pytest.mark.parametrize("kind", KINDS)
def test_normal(kind: str) -> None:
    check(NORMAL, "normal", 1, kind)


@pytest.mark.parametrize("kind", KINDS)
def test_any_order(kind: str) -> None:
    check(NORMAL + ANY_ORDER, "any_order", 2, kind)


@pytest.mark.parametrize("kind", KINDS)
def test_flushing(kind: str) -> None:
    check(NORMAL[::2], "normal", 3, kind, flush=True)
    check(ANY_ORDER[::2], "any_order", 4, kind, flush=True)


ROUNDING = (
    {"weights": "bfloat16"},
    {"weights": "float16"},
    {"scores": "bfloat16"},
    {"scores": "float16"},
    {"accumulator": "bfloat16"},
    {"accumulator": "float16"},
    {"weights": "bfloat16", "scores": "bfloat16"},
)


@pytest.mark.parametrize("rounding", ROUNDING, ids=lambda r: "-".join(f"{k}-{r[k]}" for k in r))
def test_declared_roundings(rounding: dict[str, str]) -> None:
    rng = np.random.default_rng(5)
    algorithm = er.nn.attention.AttentionAlgorithm(**rounding)
    caught = 0
    kinds = ("normal", "ties", "cancelling values", "rising", "bool mask", "causal", "flat")
    for kind in kinds * ROUNDS:
        case = hostile(rng, kind)
        result = case.call(algorithm=algorithm)
        plain = case.call()
        for kernel in (Kernel(**rounding), Kernel(divide="early", **rounding)):
            if "weights" in rounding:
                kernel = replace(kernel, block=None if kernel.divide == "early" else 32)
            m = Machine(rng=rng)
            found = outside(kernel, case, m, result, "normal", "float32")
            assert not found, (found, case)
            caught += bool(outside(kernel, case, m, plain, "normal", "float32"))
    assert caught > 0


def rows(rng: np.random.Generator, kind: int, n: int) -> np.ndarray:
    """Rows of scores."""
    x = rng.standard_normal((3, n))
    if kind == 1:
        x *= 60
    elif kind == 2:
        x = np.rint(x)
    elif kind == 3:
        x = x * 1e-6 + 1e4
    elif kind == 4:
        x = np.where(rng.random(x.shape) < 0.5, -np.inf, x)
        x[:, 0] = 1.0
    elif kind == 5:
        x *= 1e30
    elif kind == 6:
        x *= 2.0**-140
    return x


@np.errstate(all="ignore")
def rows_outside(m: Machine, x: np.ndarray, form: str, order: Any, standard: str) -> list[Any]:
    """Which kernels of softmax, log-softmax and log-sum-exp are not covered."""
    given = er.asarray(x.tolist(), form)
    wide = given.values().astype(np.float32)
    found = []
    outputs = (
        (er.softmax, {}, kernels.softmax, {"reciprocal": False}),
        (er.softmax, {}, kernels.softmax, {"reciprocal": True}),
        (er.log_softmax, {}, kernels.log_softmax, {"through_lse": False}),
        (er.log_softmax, {}, kernels.log_softmax, {"through_lse": True}),
        (er.logsumexp, {"axis": -1}, kernels.logsumexp, {}),
    )
    for op, params, kernel, options in outputs:
        array = er.asarray(kernel(m, m.store(wide), order, **options), form)
        covered = op(given, **params).covers(array, standard, flush_to_zero=m.flush)
        if not covered.all():
            found.append((op.__name__, options, order.__name__, given, array))
    return found


@pytest.mark.parametrize("kind", range(7))
@pytest.mark.parametrize("flush", [False, True])
def test_rows(kind: int, flush: bool) -> None:
    rng = np.random.default_rng([6, kind])
    for n in (1, 2, 31, 32, 33, 100, 300) * 3 if THOROUGH else (1, 33, 100):
        for form in ("float32", "bfloat16", "float16") if THOROUGH else ("float32", "bfloat16"):
            if form == "float16" and kind == 5:
                continue
            x = rows(rng, kind, n)
            for order, standard in (
                (index_order, "normal"),
                (block_order, "normal"),
                (random_tree, "any_order"),
                (lanes, "any_order"),
            ):
                m = Machine(flush=flush, ulps=int(rng.integers(2)), rng=rng)
                assert not rows_outside(m, x, form, order, standard)
