"""Soundness of chains: every call stores its output, and the next one works on what was stored."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import exactref as er
from tests.every_op.kernels import Machine
from tests.every_op.kernels_formats import SPECS, Spec, store
from tests.every_op.kernels_judging import Judge, budget, some
from tests.every_op.kernels_orders import Tree, any_orders, columns, evaluate, normal_orders
from tests.every_op.kernels_values import KINDS, hostile, is_slow

FORMATS = ("float32", "float64", "bfloat16", "float16")
Run = tuple[Machine, Spec, Tree]


def total(run: Run, x: np.ndarray) -> np.ndarray:
    machine, spec, tree = run
    return store(evaluate(tree, columns(machine.load(x)), machine), spec)


def dot(run: Run, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    machine, spec, tree = run
    terms = list(zip(columns(machine.load(x)), columns(machine.load(y)), strict=True))
    return store(evaluate(tree, terms, machine, True), spec)


def step(run: Run, op: str, *values: np.ndarray) -> np.ndarray:
    machine, spec, _ = run
    with np.errstate(all="ignore"):
        return store(getattr(machine, op)(*(machine.load(v) for v in values)), spec)


def square_rows(run: Run, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """sqrt(sum(x * x) / sum(y * y))."""
    squares = [total(run, step(run, "multiply", v, v)) for v in (x, y)]
    return step(run, "sqrt", step(run, "divide", *squares))


# name: (the reference, the kernel)
CHAINS: dict[str, tuple[Callable[..., Any], Callable[..., np.ndarray]]] = {
    "sum + sum": (
        lambda x, y: er.add(er.sum(x, axis=1), er.sum(y, axis=1)),
        lambda run, x, y: step(run, "add", total(run, x), total(run, y)),
    ),
    "sum * sum": (
        lambda x, y: er.multiply(er.sum(x, axis=1), er.sum(y, axis=1)),
        lambda run, x, y: step(run, "multiply", total(run, x), total(run, y)),
    ),
    "sum / sum": (
        lambda x, y: er.divide(er.sum(x, axis=1), er.sum(y, axis=1)),
        lambda run, x, y: step(run, "divide", total(run, x), total(run, y)),
    ),
    "sum(x * y)": (
        lambda x, y: er.sum(er.multiply(x, y), axis=1),
        lambda run, x, y: total(run, step(run, "multiply", x, y)),
    ),
    "dot(x + y, y)": (
        lambda x, y: er.matmul(
            er.add(x, y)[:, None, :], er.asarray(y).reshape((*y.shape, 1))
        ).reshape(x.shape[:1]),
        lambda run, x, y: dot(run, step(run, "add", x, y), y),
    ),
    "sqrt(ratio of squares)": (
        lambda x, y: er.sqrt(
            er.divide(er.sum(er.multiply(x, x), axis=1), er.sum(er.multiply(y, y), axis=1))
        ),
        square_rows,
    ),
}


@pytest.mark.parametrize("chain", CHAINS)
@pytest.mark.parametrize("name", FORMATS)
def test_chain(name: str, chain: str) -> None:
    rng = np.random.default_rng([18, FORMATS.index(name), list(CHAINS).index(chain)])
    judge, spec = Judge(), SPECS[name]
    machine = Machine(spec.compute)
    reference, kernel = CHAINS[chain]
    for kind in some(rng, KINDS, 6):
        for n in some(rng, (1, 2, 5, 33, 64), 2):
            if is_slow(kind) and n > 5:
                continue
            rows = budget(3, 12)
            x = hostile(rng, kind, (rows, n), spec)
            y = hostile(rng, str(rng.choice(KINDS[:-2])), (rows, n), spec)
            result = reference(er.asarray(x, name), er.asarray(y, name))
            case = judge.take(result, name, chain, (x, y))
            for standard, orders in (
                ("normal", normal_orders(n)),
                ("any_order", any_orders(rng, n, 1)),
            ):
                for order, tree in orders:
                    found = kernel((machine, spec, tree), x, y)
                    case.covers(order, found, standard)
    judge.verdict()


def test_a_nan_among_elements_that_are_certified_one_by_one() -> None:
    x = er.asarray([[1.453125], [np.nan], [-1.59375]], "bfloat16")
    y = er.asarray([[-0.859375], [0.5859375], [-0.4375]], "bfloat16")
    result = er.matmul(er.add(x, y)[:, None, :], y.reshape((3, 1, 1))).reshape((3,))
    for standard in ("normal", "any_order"):
        assert result.covers(result.rounded, standard).all()
        assert result.may_be("nan", standard).tolist() == [False, True, False]


def test_an_infinity_that_an_earlier_call_saturates() -> None:
    """Stored as the largest number, it is one for the next call."""
    largest = SPECS["float32"].largest
    stored = er.sum(er.asarray([[np.inf, 1.0]], "float32"), axis=1, overflow="saturate")
    assert [end.tolist() for end in stored.finite_range()] == [[largest], [largest]]
    following = er.add(stored, er.asarray([1.0], "float32"))
    for value in (largest, np.inf):
        assert following.covers(er.asarray([value], "float32")).all()
    alone = er.add(er.sum(er.asarray([[np.inf]], "float32"), axis=1), er.asarray([1.0], "float32"))
    assert not alone.covers(er.asarray([largest], "float32")).any()
