"""Soundness of steps and choices, alone and in chains: no simulated kernel falls outside."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import exactref as er
from tests.every_op.kernels import Machine
from tests.every_op.kernels_formats import SPECS, Spec, flush_store, store
from tests.every_op.kernels_judging import Judge, budget, some
from tests.every_op.kernels_orders import any_orders, columns, evaluate, normal_orders
from tests.every_op.kernels_values import KINDS, hostile, is_slow

FORMATS = ("float32", "float64", "bfloat16", "float16", "tfloat32", "float8_e5m2", "float8_e4m3fn")
Rows = tuple[np.ndarray, ...]
SLOPE = 0.01


def one(m: Machine) -> np.ndarray:
    return m.load(np.asarray(1.0))


def nudged(m: Machine, rng: np.random.Generator, x: np.ndarray) -> np.ndarray:
    """A library's reciprocal root: up to 1 ulp beside the rounded one, which is within 2."""
    root = m.divide(one(m), m.sqrt(x))
    side = rng.choice([-np.inf, np.inf], x.shape).astype(m.dtype)
    moved = np.nextafter(root, side)
    return np.where(np.isfinite(root) & (root != 0) & (rng.random(x.shape) < 0.7), moved, root)


def leaky(m: Machine, x: np.ndarray) -> np.ndarray:
    return np.where(x >= 0, x, m.multiply(x, m.load(np.asarray(SLOPE))))


# name: (how many operands, the reference, the kernels)
STEPS: dict[str, tuple[int, Callable[..., Any], list[Callable[..., np.ndarray]]]] = {
    "fma": (3, er.fma, [lambda m, rng, x, y, z: m.fma(x, y, z)]),
    "reciprocal": (1, er.reciprocal, [lambda m, rng, x: m.divide(one(m), x)]),
    "rsqrt": (1, er.rsqrt, [nudged, lambda m, rng, x: m.divide(one(m), m.sqrt(x))]),
    "square": (1, er.square, [lambda m, rng, x: m.multiply(x, x)]),
    "relu": (1, er.relu, [lambda m, rng, x: np.maximum(x, m.dtype.type(0))]),
    "leaky_relu": (
        1,
        lambda x, **how: er.leaky_relu(x, SLOPE, **how),
        [lambda m, rng, x: leaky(m, x)],
    ),
    "maximum": (2, er.maximum, [lambda m, rng, x, y: np.maximum(x, y)]),
    "fmin": (
        2,
        lambda x, y, **how: er.minimum(x, y, nan="ignore", **how),
        [lambda m, rng, x, y: np.fmin(x, y)],
    ),
    "clip": (3, er.clip, [lambda m, rng, x, y, z: np.minimum(np.maximum(x, y), z)]),
}


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("op", STEPS)
def test_alone(op: str, name: str) -> None:
    rng = np.random.default_rng([95, FORMATS.index(name), list(STEPS).index(op)])
    judge = Judge()
    count, reference, kernels = STEPS[op]
    for kind in some(rng, KINDS, 6):
        for output in (name, str(rng.choice(FORMATS))):
            for flush in (None, "always"):
                spec, given = SPECS[output], SPECS[name]
                compute = "float64" if "float64" in (name, output) else "float32"
                machine = Machine(compute, flush)
                rows = [hostile(rng, kind, (budget(20, 120), 4), given) for _ in range(count)]
                inputs = tuple(x[:, int(rng.integers(4))] for x in rows)
                if op == "rsqrt":
                    inputs = (np.abs(inputs[0]),)
                result = reference(*(er.asarray(x, name) for x in inputs), dtype=output)
                rule = {"flush_to_zero": True} if flush else {}
                case = judge.take(result, output, f"{op} {name} {output}", inputs, **rule)
                tiny = given.tiny if flush else 0.0
                for kernel in kernels[: 1 if op != "rsqrt" or flush else 2]:
                    with np.errstate(all="ignore"):
                        found = store(
                            kernel(machine, rng, *(machine.load(x, tiny) for x in inputs)), spec
                        )
                    found = flush_store(found, spec) if flush else found
                    for standard in ("normal", "any_order"):
                        case.covers(f"{op}, flush {flush}", found, standard)
    judge.verdict()


Run = tuple[Machine, Spec, Any, np.random.Generator]


def total(run: Run, x: np.ndarray) -> np.ndarray:
    m, spec, tree, _ = run
    return store(evaluate(tree, columns(m.load(x)), m), spec)


def then(run: Run, op: str, *values: np.ndarray) -> np.ndarray:
    m, spec, _, rng = run
    with np.errstate(all="ignore"):
        return store(STEPS[op][2][0](m, rng, *(m.load(v) for v in values)), spec)


CHAINS: dict[str, tuple[Callable[..., Any], Callable[..., np.ndarray]]] = {
    "maximum of sums": (
        lambda x, y: er.maximum(er.sum(x, axis=1), er.sum(y, axis=1)),
        lambda run, x, y: then(run, "maximum", total(run, x), total(run, y)),
    ),
    "minimum of sums, NaN ignored": (
        lambda x, y: er.minimum(er.sum(x, axis=1), er.sum(y, axis=1), nan="ignore"),
        lambda run, x, y: then(run, "fmin", total(run, x), total(run, y)),
    ),
    "clip": (
        lambda x, y: er.clip(er.sum(x, axis=1), -1.0, er.sum(y, axis=1)),
        lambda run, x, y: then(run, "clip", total(run, x), -np.ones(len(x)), total(run, y)),
    ),
    "relu of a sum": (
        lambda x, y: er.relu(er.sum(er.multiply(x, y), axis=1)),
        lambda run, x, y: then(run, "relu", total(run, product(run, x, y))),
    ),
    "fma of sums": (
        lambda x, y: er.fma(er.sum(x, axis=1), er.sum(y, axis=1), er.sum(x, axis=1)),
        lambda run, x, y: then(run, "fma", total(run, x), total(run, y), total(run, x)),
    ),
    "rsqrt of a mean square": (
        lambda x, y: er.rsqrt(er.sum(er.square(x), axis=1)),
        lambda run, x, y: then(run, "rsqrt", total(run, product(run, x, x))),
    ),
    "largest element of a difference": (
        lambda x, y: er.max(er.subtract(x, y), axis=1),
        lambda run, x, y: largest(run, x, y),
    ),
    "where": (
        lambda x, y: er.where(er.asarray([True, False]), *sides(x, y)),
        lambda run, x, y: np.stack([total(run, x), y[:, 0]], 1),
    ),
}


def sides(x: Any, y: Any) -> tuple[Any, Any]:
    """A sum in one column, and inputs in the other."""
    return er.sum(x, axis=1, keepdims=True), y[:, :1]


def product(run: Run, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    m, spec, _, _ = run
    with np.errstate(all="ignore"):
        return store(m.multiply(m.load(x), m.load(y)), spec)


def largest(run: Run, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    m, spec, _, _ = run
    with np.errstate(all="ignore"):
        return np.asarray(store(m.subtract(m.load(x), m.load(y)), spec).max(axis=1))


@pytest.mark.parametrize("chain", CHAINS)
@pytest.mark.parametrize("name", FORMATS[:4])
def test_chains(name: str, chain: str) -> None:
    rng = np.random.default_rng([96, FORMATS.index(name), list(CHAINS).index(chain)])
    judge, spec = Judge(), SPECS[name]
    machine = Machine(spec.compute)
    reference, kernel = CHAINS[chain]
    for kind in some(rng, KINDS, 5):
        for n in some(rng, (1, 2, 5, 33), 2):
            if is_slow(kind) and n > 5:
                continue
            x = hostile(rng, kind, (budget(4, 12), n), spec)
            y = hostile(rng, str(rng.choice(KINDS[:-2])), x.shape, spec)
            case = judge.take(
                reference(er.asarray(x, name), er.asarray(y, name)), name, chain, (x, y)
            )
            for standard, orders in (
                ("normal", normal_orders(n)),
                ("any_order", any_orders(rng, n, 1)),
            ):
                for order, tree in orders:
                    case.covers(order, kernel((machine, spec, tree, rng), x, y), standard)
    judge.verdict()
